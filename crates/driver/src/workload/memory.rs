//! Bytes per edge after the load.

use crate::bench::{Bench, Turn};
use crate::{Failure, Workload};

pub(super) static WORKLOAD: Workload = Workload {
    name: "memory",
    description: "bytes per edge after the load",
    contract_metric: "bytes-per-edge",
    is_default: true,
    is_on_store: false,
    scales: false,
    seconds: |_, _| 0.1,
    measure,
};

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    // The static graph comes last: the arrays from which it is built would leave free memory to the
    // others.
    for engine in bench.engines().into_iter().rev() {
        // The result depends neither on threads nor on chance, so one repetition is enough.
        let turn = Turn { threads: 1, repetition: 0, engine };
        bench.begin(turn, "")?;
        let (bytes, reserved, resident_growth) = match engine.kind {
            None => (bench.csr()?.memory_bytes(), None, bench.csr_resident_growth()),
            Some(kind) => {
                let loaded = bench.loaded(engine, kind)?;
                let memory = loaded.graph.memory();
                (memory.total_bytes(), Some(memory.reserved_bytes), loaded.resident_growth)
            }
        };
        let edges = bench.data.stream().len() as f64;
        bench.record(turn, "bytes-per-edge", "bytes", bytes as f64 / edges);
        bench.record(turn, "total", "bytes", bytes as f64);
        if let Some(reserved) = reserved {
            bench.record(turn, "reserved", "bytes", reserved as f64);
        }
        if let Some(growth) = resident_growth {
            bench.record(turn, "resident-growth", "bytes", growth as f64);
        }
    }
    Ok(())
}
