//! The costs, as a table.

use super::structures::REFERENCE;
use anyhow::Result;
use serde::Serialize;
use std::fmt::Write;

/// The median costs of a structure for one graph.
#[derive(Debug, Serialize)]
pub struct Costs {
    pub scale: u32,
    pub edges: usize,
    pub structure: &'static str,
    /// Nanoseconds to find the first neighbor.
    pub seek: f64,
    /// Nanoseconds for each further neighbor.
    pub scan: f64,
}

/// One line per graph and structure.
pub fn table(costs: &[Costs]) -> Result<String> {
    let mut text = String::new();
    writeln!(
        text,
        "{:<8} {:>11} {:<12} {:>12} {:>16} {:>10} {:>10}",
        "graph", "edges", "structure", "seek ns", "per edge ns", "over csr", "over csr"
    )?;
    for Costs { scale, edges, structure, seek, scan } in costs {
        let csr = costs.iter().find(|other| other.scale == *scale && other.structure == REFERENCE);
        let over = |one: f64, of: fn(&Costs) -> f64| csr.map_or(f64::NAN, |csr| one / of(csr));
        let (seeks, scans) = (over(*seek, |csr| csr.seek), over(*scan, |csr| csr.scan));
        writeln!(
            text,
            "kron-{scale:<3} {edges:>11} {structure:<12} {seek:>12.1} {scan:>16.3} {seeks:>10.2} {scans:>10.2}"
        )?;
    }
    Ok(text)
}
