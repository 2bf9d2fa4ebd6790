//! The cost and the benefit of freeing garbage.

use super::setup::{AFRESH, FEW, Setup, bytes};
use crate::link_bench::options;
use hedgerow::{Compaction, EngineKind, Graph};
use hedgerow_driver::{Bench, Failure, Turn};

/// Each mode of compaction, with the suffix of its metrics; the baseline comes first.
const WAYS: [(Compaction, &str); 3] = [
    (Compaction::ByWriters, "-compaction-by-writers"),
    (Compaction::InBackground, "-compaction-in-background"),
    (Compaction::Off, "-compaction-off"),
];

const BY_WRITERS: &str = "compaction by writers";

/// Runs the mix on a new graph for each mode, one after the other, so that no graph has garbage of
/// earlier requests.
pub(super) fn measure(
    bench: &mut Bench<'_>,
    setup: &Setup<'_>,
    turn: Turn,
    kind: EngineKind,
) -> Result<(), Failure> {
    let turn = Turn { threads: FEW, ..turn };
    let mut by_writers = None;
    for (compaction, ending) in WAYS {
        bench.begin(turn, &format!(" in memory, {}", ending.trim_start_matches('-').replace('-', " ")))?;
        let mut store = setup.load(Graph::in_memory(options(kind).compaction(compaction))?)?;
        let rate = setup.ask(&mut store, &setup.mix, turn.threads)?.rate();
        let after = bytes(&store);
        let afresh = setup.bytes_afresh(&store, kind)?;
        let baseline = (BY_WRITERS, *by_writers.get_or_insert(rate));
        bench.record_against(turn, &format!("throughput{ending}"), "requests/s", rate, baseline);
        bench.record_against(turn, &format!("memory-after{ending}"), "bytes", after, (AFRESH, afresh));
    }
    Ok(())
}
