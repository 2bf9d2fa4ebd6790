//! Reads everything before anything is imported.

use super::context::Context;
use super::importer::no_weight;
use super::sources::Source;
use crate::error::CliError;
use crate::input::cause_of;
use crate::progress;
use hedgerow::{AsKey, Error, KeyKind, KeyRef, VertexId};
use hedgerow_formats::{Batch, PropertyBatch, PropertyOptions, VertexKey};

/// Reads all files to their ends. Fails where an import would.
pub fn read_all<K: VertexKey + AsKey>(context: Context<'_>) -> Result<(), CliError> {
    let Context { sources, target, threads, console, interrupt, .. } = context;
    let mut batch = Batch::<K>::new();
    for source in sources.iter() {
        if let Some(options) = context.properties(source) {
            read_lines::<K>(context, source, &options)?;
            continue;
        }
        let mut reader = sources.open::<K>(source, target.chunk)?;
        let bar = progress::of_bytes(console, "validating", reader.progress().total);
        while reader.read_batch_on(threads.pool(), &mut batch)? {
            interrupt.check()?;
            if target.keys == KeyKind::Dense {
                let ends = batch.edges.iter().flat_map(|edge| [&edge.source, &edge.destination]);
                let checked = check_ids(batch.vertices.iter().chain(ends));
                checked.map_err(|error| cause_of(error, &mut reader))?;
            }
            let unweighted = batch.edges.iter().find(|edge| edge.weight.is_none());
            if let (true, Some(edge)) = (target.is_weighted(), unweighted) {
                return Err(cause_of(no_weight(edge, source.path()), &mut reader));
            }
            bar.set_position(reader.progress().done);
        }
        bar.finish_and_clear();
        interrupt.check()?;
    }
    Ok(())
}

/// Like [`read_all`], for a file whose lines carry properties.
fn read_lines<K: VertexKey + AsKey>(
    context: Context<'_>,
    source: Source<'_>,
    options: &PropertyOptions,
) -> Result<(), CliError> {
    let Context { target, threads, console, interrupt, .. } = context;
    let mut reader = source.open_properties::<K>(options)?;
    let bar = progress::of_bytes(console, "validating", reader.progress().total);
    let mut batch = PropertyBatch::new();
    while reader.read_batch_on(threads.pool(), &mut batch)? {
        interrupt.check()?;
        if target.keys == KeyKind::Dense {
            let ends = batch.edges.iter().flat_map(|edge| [&edge.source, &edge.destination]);
            check_ids(batch.vertices.iter().map(|(key, _)| key).chain(ends))?;
        }
        bar.set_position(reader.progress().done);
    }
    bar.finish_and_clear();
    interrupt.check()
}

/// Checks that all keys are vertex ids.
fn check_ids<'a, K: AsKey + 'a>(keys: impl Iterator<Item = &'a K>) -> Result<(), CliError> {
    for key in keys {
        if let KeyRef::Number(number) = key.as_key() {
            VertexId::try_from(number).map_err(Error::from)?;
        }
    }
    Ok(())
}
