//! The histogram of the degrees as a picture.

use super::degrees::Degrees;
use crate::error::CliError;
use crate::picture;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

/// The size of one histogram, in pixels.
const SIZE: (u32, u32) = (900, 420);

/// The gap between two bars, as a fraction of a bar.
const GAP: f64 = 0.1;

/// Draws one histogram below the other, in the format SVG.
pub fn write(path: &Path, title: &str, degrees: &[Degrees]) -> Result<(), CliError> {
    picture::write(path, draw(title, degrees))
}

fn draw(title: &str, degrees: &[Degrees]) -> Result<String, Box<dyn Error>> {
    let mut picture = String::new();
    {
        let size = (SIZE.0, SIZE.1 * degrees.len() as u32);
        let root = SVGBackend::with_string(&mut picture, size).into_drawing_area();
        root.fill(&WHITE)?;
        for (area, degrees) in root.split_evenly((degrees.len(), 1)).iter().zip(degrees) {
            draw_histogram(area, &format!("{title}: {}", degrees.name()), degrees)?;
        }
        root.present()?;
    }
    Ok(picture)
}

/// Bars of vertices over bins of degrees. Both axes are logarithmic, so that rare degrees stay
/// visible.
fn draw_histogram<B: DrawingBackend<ErrorType: 'static>>(
    area: &DrawingArea<B, plotters::coord::Shift>,
    caption: &str,
    degrees: &Degrees,
) -> Result<(), Box<dyn Error>> {
    let bins = degrees.bins();
    let most = bins.iter().map(|(_, vertices)| *vertices).max().unwrap_or(0).max(1);
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..bins.len().max(1) as f64, (0.5..most as f64 * 2.0).log_scale())?;
    let label = |place: &f64| {
        let is_centre = (place.fract() - 0.5).abs() < 1e-6;
        bins.get(*place as usize).filter(|_| is_centre).map_or(String::new(), |(degrees, _)| degrees.clone())
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(4 * bins.len().max(1))
        .x_label_formatter(&label)
        .y_label_formatter(&|vertices| format!("{vertices}"))
        .x_desc("neighbors")
        .y_desc("vertices")
        .draw()?;
    let bars = (0..).zip(&bins).filter(|(_, (_, vertices))| *vertices > 0);
    chart.draw_series(bars.map(|(place, (_, vertices))| {
        let place = f64::from(place);
        Rectangle::new([(place + GAP, 0.5), (place + 1.0 - GAP, *vertices as f64)], BLUE.mix(0.6).filled())
    }))?;
    Ok(())
}
