//! Rows as a table for people.

use super::Row;

const HEADER: [&str; 8] = ["workload", "metric", "engine", "threads", "median", "min", "max", "ratio"];

/// A line per row. A star marks contract rows; ratios name their baseline unless it is CSR.
pub(super) fn of(rows: &[Row]) -> String {
    let lines: Vec<[String; 8]> = rows.iter().map(cells).collect();
    let mut widths = HEADER.map(str::len);
    for line in &lines {
        widths.iter_mut().zip(line).for_each(|(width, cell)| *width = cell.chars().count().max(*width));
    }
    let mut table = String::new();
    let mut before = "";
    write_line(&mut table, &HEADER.map(str::to_owned), &widths, None);
    for (row, line) in rows.iter().zip(&lines) {
        if row.workload != before {
            table.push('\n');
        }
        before = row.workload;
        write_line(&mut table, line, &widths, row.baseline);
    }
    table
}

fn write_line(table: &mut String, cells: &[String; 8], widths: &[usize; 8], baseline: Option<&str>) {
    for (position, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if position > 0 {
            table.push_str("  ");
        }
        // Names are left-aligned, numbers right-aligned.
        table.push_str(&match position {
            0..=2 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
    }
    if let Some(baseline) = baseline {
        table.push_str(&format!("  to {baseline}"));
    }
    table.truncate(table.trim_end_matches(' ').len());
    table.push('\n');
}

fn cells(row: &Row) -> [String; 8] {
    let star = if row.contract { "* " } else { "  " };
    let ratio = row.ratio_to_csr.or(row.ratio).map(|ratio| format!("{ratio:.3}"));
    [
        row.workload.to_owned(),
        format!("{star}{}", row.metric),
        row.engine.to_owned(),
        row.threads.to_string(),
        quantity(row.median, row.unit),
        quantity(row.min, row.unit),
        quantity(row.max, row.unit),
        ratio.unwrap_or_default(),
    ]
}

/// A value with three digits and a prefix of its unit. Times use the usual units.
fn quantity(value: f64, unit: &str) -> String {
    match (value.abs(), unit) {
        (1e9.., "ns") => with_digits(value / 1e9, "s"),
        (1e6.., "ns") => with_digits(value / 1e6, "ms"),
        (1e3.., "ns") => with_digits(value / 1e3, "µs"),
        (1e9.., _) => with_digits(value / 1e9, &format!("G{unit}")),
        (1e6.., _) => with_digits(value / 1e6, &format!("M{unit}")),
        (1e3.., _) => with_digits(value / 1e3, &format!("k{unit}")),
        (..1e-3, "s") => with_digits(value * 1e6, "µs"),
        (..1.0, "s") => with_digits(value * 1e3, "ms"),
        _ => with_digits(value, unit),
    }
}

fn with_digits(value: f64, unit: &str) -> String {
    let digits = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits_and_a_prefix() {
        assert_eq!(quantity(27_940_000.0, "edges/s"), "27.9 Medges/s");
        assert_eq!(quantity(0.0341, "s"), "34.1 ms");
        assert_eq!(quantity(1_230.0, "ns"), "1.23 µs");
        assert_eq!(quantity(7.06, "bytes"), "7.06 bytes");
        assert_eq!(quantity(2.5, "s"), "2.50 s");
        assert_eq!(quantity(0.000_412, "s"), "412 µs");
        assert_eq!(quantity(0.93, "x"), "0.93 x");
        assert_eq!(quantity(0.0, "bytes"), "0.00 bytes");
    }

    #[test]
    fn columns_are_aligned_and_contract_rows_marked() {
        let row = Row {
            dataset: "kron-6".into(),
            workload: "snapshot",
            engine: "rapid",
            threads: 1,
            metric: "time".into(),
            unit: "ns",
            median: 200.0,
            min: 199.0,
            max: 2000.0,
            ratio_to_csr: None,
            ratio: Some(1.25),
            baseline: Some("the same on an empty graph"),
            contract: true,
        };
        let table = of(&[row.clone(), Row { contract: false, ratio: None, baseline: None, ..row }]);
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[2].contains("* time") && lines[2].ends_with("1.250  to the same on an empty graph"));
        let column = |line: &str| line.find("rapid");
        assert_eq!(column(lines[2]), column(lines[3]));
        assert_eq!(lines[0].find("engine"), column(lines[2]));
    }
}
