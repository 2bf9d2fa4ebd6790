//! Progress bars for operations that may take longer than a second.

use crate::console::Console;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Interval at which a bar is redrawn on its own.
const TICK: Duration = Duration::from_millis(200);

/// A bar for the bytes of an input file; without a total if that is unknown.
pub fn of_bytes(console: &Console, what: &str, total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}",
        None => "{msg} {spinner} {binary_bytes} {binary_bytes_per_sec}",
    };
    bar(console, what, total, template)
}

/// A bar for a known number of steps.
pub fn of_steps(console: &Console, what: &str, total: u64) -> ProgressBar {
    bar(console, what, Some(total), "{msg} {wide_bar} {human_pos}/{human_len} {eta}")
}

/// A spinner for work of unknown length.
pub fn spinner(console: &Console, what: &str) -> ProgressBar {
    bar(console, what, None, "{msg} {spinner} {elapsed}")
}

fn bar(console: &Console, what: &str, total: Option<u64>, template: &str) -> ProgressBar {
    if !console.shows_progress() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template).expect("the template is a constant of this file");
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    bar.set_style(style);
    bar.set_message(what.to_string());
    bar.enable_steady_tick(TICK);
    bar
}
