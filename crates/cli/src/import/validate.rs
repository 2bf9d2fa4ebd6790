//! Reading everything before anything is imported.

use super::Context;
use super::importer::no_weight;
use crate::error::CliError;
use crate::progress;
use hedgerow::{AsKey, Error, KeyKind, KeyRef, VertexId};
use hedgerow_formats::{Batch, VertexKey};

/// Reads all files to their ends. Fails where an import would.
pub fn read_all<K: VertexKey + AsKey>(context: Context<'_>) -> Result<(), CliError> {
    let Context { args, sources, target, threads, console, interrupt } = context;
    let mut batch = Batch::<K>::new();
    for source in sources.iter() {
        let mut reader = sources.open::<K>(source, args.chunk.get())?;
        let bar = progress::of_bytes(console, "validating", reader.progress().total);
        while reader.read_batch_on(threads.pool(), &mut batch)? {
            interrupt.check()?;
            if target.keys == KeyKind::Dense {
                check_ids(&batch)?;
            }
            let unweighted = batch.edges.iter().find(|edge| edge.weight.is_none());
            if let (true, Some(edge)) = (target.is_weighted(), unweighted) {
                return Err(no_weight(edge, source.path()));
            }
            bar.set_position(reader.progress().done);
        }
        bar.finish_and_clear();
        interrupt.check()?;
    }
    Ok(())
}

/// Whether all keys are vertex ids.
fn check_ids<K: AsKey>(batch: &Batch<K>) -> Result<(), CliError> {
    let ends = batch.edges.iter().flat_map(|edge| [&edge.source, &edge.destination]);
    for key in batch.vertices.iter().chain(ends) {
        if let KeyRef::Number(number) = key.as_key() {
            VertexId::try_from(number).map_err(Error::from)?;
        }
    }
    Ok(())
}
