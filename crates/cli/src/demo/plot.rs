//! The course of the demo as a picture: the rate of the writers, and below it, over an equal time
//! axis, the times of the readers' kernels.

use super::live::Sample;
use super::outcome::Outcome;
use super::readers::Held;
use crate::error::CliError;
use crate::picture;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// The size of the picture, in pixels.
const SIZE: (u32, u32) = (900, 520);

/// Maximum number of periods whose rates are drawn.
const PERIODS: u32 = 60;

/// The color of lines and letters, followed by the colors of curves: legible on white and on black,
/// so that the picture needs no background.
const INK: RGBColor = RGBColor(125, 125, 125);
const WRITTEN: RGBColor = RGBColor(52, 131, 214);
const PAGERANK: RGBColor = RGBColor(214, 103, 24);
const BFS: RGBColor = RGBColor(47, 153, 92);

/// Draws the course of a demo, in the format SVG.
pub fn write(path: &Path, title: &str, outcome: &Outcome) -> Result<(), CliError> {
    picture::write(path, draw(title, outcome))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw(title: &str, outcome: &Outcome) -> Result<String, Box<dyn Error>> {
    let mut picture = String::new();
    if let Some(Sample { at: start, .. }) = outcome.samples.first().copied() {
        let root = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
        let snapshots = &outcome.reading.snapshots;
        let ends = snapshots.iter().map(|snapshot| snapshot.opened + snapshot.held);
        let end = ends.chain(outcome.samples.last().map(|sample| sample.at)).max().unwrap_or(start);
        let seconds = 0.0..(end - start).as_secs_f64().max(f64::MIN_POSITIVE);
        let (upper, lower) = root.split_vertically(SIZE.1 / 2);
        draw_rates(&upper, title, seconds.clone(), &rates(&outcome.samples))?;
        draw_kernels(&lower, seconds, start, snapshots)?;
        root.present()?;
    }
    Ok(picture)
}

/// The edges written per second, by the second in the middle of each period.
fn rates(samples: &[Sample]) -> Vec<(f64, f64)> {
    let [first, .., last] = samples else { return Vec::new() };
    let period = (last.at - first.at) / PERIODS;
    let (mut rates, mut before) = (Vec::new(), *first);
    for sample in samples {
        let taken = sample.at - before.at;
        if taken >= period && taken > Duration::ZERO {
            let middle = (before.at - first.at + taken / 2).as_secs_f64();
            rates.push((middle, (sample.rows - before.rows) as f64 / taken.as_secs_f64()));
            before = *sample;
        }
    }
    rates
}

fn draw_rates(
    area: &Area<'_>,
    title: &str,
    seconds: Range<f64>,
    rates: &[(f64, f64)],
) -> Result<(), Box<dyn Error>> {
    let most = rates.iter().map(|(_, rate)| *rate).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{title}: written beside the readers"), ("sans-serif", 18).into_font().color(&INK))
        .margin(10)
        .x_label_area_size(24)
        .y_label_area_size(84)
        .build_cartesian_2d(seconds, 0.0..most * 1.1)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .axis_style(INK)
        .bold_line_style(INK.mix(0.3))
        .light_line_style(TRANSPARENT)
        .label_style(("sans-serif", 13).into_font().color(&INK))
        .y_labels(5)
        .y_label_formatter(&|rate| format!("{:.1} M", rate / 1e6))
        .y_desc("edges per second")
        .draw()?;
    let curve = PathElement::new(rates.to_vec(), WRITTEN.stroke_width(2));
    chart.draw_series([curve])?;
    Ok(())
}

/// Draws a bar for each run of a kernel, over the time of the run, at the height of its duration.
fn draw_kernels(
    area: &Area<'_>,
    seconds: Range<f64>,
    start: Instant,
    snapshots: &[Held],
) -> Result<(), Box<dyn Error>> {
    let bar = |begin: Instant, taken: Duration| {
        let (begin, taken) = ((begin - start).as_secs_f64(), taken.as_secs_f64());
        // The axis is logarithmic.
        [(begin, taken.max(1e-6)), (begin + taken, taken.max(1e-6))]
    };
    let pagerank: Vec<_> = snapshots.iter().map(|held| bar(held.opened, held.pagerank)).collect();
    let bfs: Vec<_> = snapshots.iter().map(|held| bar(held.opened + held.pagerank, held.bfs)).collect();
    let times = || pagerank.iter().chain(&bfs).map(|bar| bar[0].1);
    let (least, most) = (times().fold(1.0, f64::min), times().fold(1e-3, f64::max));
    let mut chart = ChartBuilder::on(area)
        .caption("kernels on snapshots, one after the other", ("sans-serif", 18).into_font().color(&INK))
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(84)
        .build_cartesian_2d(seconds, (least / 2.0..most * 2.0).log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .axis_style(INK)
        .bold_line_style(INK.mix(0.3))
        .light_line_style(TRANSPARENT)
        .label_style(("sans-serif", 13).into_font().color(&INK))
        .y_labels(5)
        .y_label_formatter(&|taken| format!("{} ms", taken * 1e3))
        .x_desc("seconds")
        .y_desc("time of a kernel")
        .draw()?;
    for (name, color, bars) in [("PageRank", PAGERANK, pagerank), ("BFS", BFS, bfs)] {
        let drawn = bars.into_iter().map(|bar| PathElement::new(bar, color.stroke_width(3)));
        chart
            .draw_series(drawn)?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font(("sans-serif", 13).into_font().color(&INK))
        .border_style(INK.mix(0.3))
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_time_between_samples() {
        let start = Instant::now();
        let sample =
            |milliseconds: u64, rows| Sample { at: start + Duration::from_millis(milliseconds), rows };
        let rates = rates(&[sample(0, 0), sample(500, 1000), sample(1500, 1500)]);
        assert_eq!(rates, [(0.25, 2000.0), (1.0, 500.0)]);
        assert!(super::rates(&[sample(0, 0)]).is_empty());
    }
}
