//! The costs as a picture: two diagrams over the number of edges, on logarithmic axes.

use super::costs::Costs;
use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::ops::Range;

/// The size of each of the two diagrams, in pixels.
const SIZE: (u32, u32) = (560, 460);

/// Draws the diagrams side by side, as SVG.
pub fn draw(costs: &[Costs]) -> Result<String> {
    let mut picture = String::new();
    {
        let root = SVGBackend::with_string(&mut picture, (2 * SIZE.0, SIZE.1)).into_drawing_area();
        let failed = |error: &dyn std::error::Error| anyhow!("the picture cannot be drawn: {error}");
        root.fill(&WHITE).map_err(|error| failed(&error))?;
        let areas = root.split_evenly((1, 2));
        diagram(&areas[0], "to the first neighbor", costs, |costs| costs.seek)?;
        diagram(&areas[1], "to each further one", costs, |costs| costs.scan)?;
        root.present().map_err(|error| failed(&error))?;
    }
    Ok(picture)
}

fn diagram(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    caption: &str,
    costs: &[Costs],
    cost: fn(&Costs) -> f64,
) -> Result<()> {
    let Range { start, end } = around(costs.iter().map(|costs| costs.edges as f64));
    // The legend needs space next to the lines.
    let edges = start..end * 4.0;
    let heights = around(costs.iter().map(cost));
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(edges.log_scale(), heights.log_scale())?;
    chart
        .configure_mesh()
        .x_label_formatter(&|edges| format!("{:.1} M", edges / 1e6))
        .x_desc("edges")
        .y_desc("nanoseconds")
        .draw()?;
    let mut names: Vec<&str> = Vec::new();
    costs.iter().for_each(|costs| {
        if !names.contains(&costs.structure) {
            names.push(costs.structure);
        }
    });
    for (number, name) in names.into_iter().enumerate() {
        let color = Palette99::pick(number).to_rgba();
        let points: Vec<(f64, f64)> = costs
            .iter()
            .filter(|costs| costs.structure == name)
            .map(|costs| (costs.edges as f64, cost(costs).max(f64::MIN_POSITIVE)))
            .collect();
        let marks = points.iter().map(|point| Circle::new(*point, 3, color.filled()));
        chart.draw_series(marks)?;
        let line = LineSeries::new(points, color.stroke_width(2));
        chart
            .draw_series(line)?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .draw()?;
    Ok(())
}

/// A range with some margin around the values.
fn around(values: impl Iterator<Item = f64> + Clone) -> Range<f64> {
    let positive = values.filter(|value| *value > 0.0);
    let (least, most) = positive
        .fold((f64::MAX, 0.0), |(least, most): (f64, f64), value| (least.min(value), most.max(value)));
    least.min(most) / 1.6..most.max(f64::MIN_POSITIVE) * 1.6
}
