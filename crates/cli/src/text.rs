//! Formats figures for people.

use hedgerow_formats::text_of_timestamp;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use indicatif::{BinaryBytes as Bytes, HumanCount as Count};

/// A rate in thousands or millions: `3.42 M edges/s`.
pub fn edges_per_second(count: u64, elapsed: Duration) -> String {
    let rate = rate(count, elapsed);
    match rate {
        0.0..1e3 => format!("{rate:.0} edges/s"),
        1e3..1e6 => format!("{:.1} k edges/s", rate / 1e3),
        _ => format!("{:.2} M edges/s", rate / 1e6),
    }
}

/// A count with its noun: `1 thread`, `1,000 threads`.
pub fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{} {}", Count(count), if count == 1 { one } else { several })
}

/// A number of edges: `1,000`, or `at most 1,000` if the engine counts later.
#[derive(Clone, Copy, Debug)]
pub struct Edges(pub hedgerow::Count);

impl Edges {
    /// The lower bound, if the number is not known exactly.
    pub fn at_least(self) -> Option<u64> {
        self.0.exact().is_none().then_some(self.0.at_least())
    }

    /// With the noun: `1 edge`, `at most 1,000 edges`.
    pub fn with_noun(self) -> String {
        format!("{self} {}", if self.0.at_most() == 1 { "edge" } else { "edges" })
    }

    /// Returns true if it is known that there are no edges.
    pub fn are_none(self) -> bool {
        self.0.at_most() == 0
    }
}

impl std::fmt::Display for Edges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bound = if self.0.exact().is_some() { "" } else { "at most " };
        write!(f, "{bound}{}", Count(self.0.at_most()))
    }
}

/// The number, or its upper bound.
impl serde::Serialize for Edges {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0.at_most())
    }
}

/// A rate per second; 0 if no time has passed.
pub fn rate(count: u64, elapsed: Duration) -> f64 {
    if elapsed.is_zero() { 0.0 } else { count as f64 / elapsed.as_secs_f64() }
}

/// A duration with three digits: `1.23 s`, `45.6 ms`, `789 µs`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        1.0.. => (seconds, "s"),
        1e-3.. => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "µs"),
    };
    let digits = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    format!("{value:.digits$} {unit}")
}

/// A duration that prints like [`duration`], and is a number of seconds in JSON.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds(pub Duration);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&duration(self.0))
    }
}

impl serde::Serialize for Seconds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0.as_secs_f64())
    }
}

/// A time in microseconds since 1970, in RFC 3339 and UTC: `2026-01-31T12:00:00Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(pub u64);

impl Moment {
    /// The present.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
    }

    /// The time since then; zero if it is in the future.
    pub fn age(self) -> Duration {
        Duration::from_micros(Moment::now().0.saturating_sub(self.0))
    }
}

/// A commit and the age of its time: `12, 5 seconds ago`.
pub fn commit_made(commit: u64, time: Option<Moment>) -> String {
    let age = time.map_or(String::new(), |time| format!(", {} ago", roughly(time.age())));
    format!("{}{age}", Count(commit))
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match i64::try_from(self.0).ok().and_then(text_of_timestamp) {
            Some(time) => f.write_str(&time),
            // Beyond the year 9999.
            None => write!(f, "{} microseconds since 1970", self.0),
        }
    }
}

impl serde::Serialize for Moment {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A duration that is only known roughly, in a unit without a fraction: `5 minutes`.
pub fn roughly(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let rounded = |seconds: f64| seconds.round().max(1.0) as u64;
    match seconds {
        5400.0.. => counted(rounded(seconds / 3600.0), "hour", "hours"),
        90.0.. => counted(rounded(seconds / 60.0), "minute", "minutes"),
        _ => counted(rounded(seconds), "second", "seconds"),
    }
}

/// An aligned table of names and values.
pub fn table(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:<width$}  {value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits_and_a_unit() {
        let text = |nanoseconds| duration(Duration::from_nanos(nanoseconds));
        assert_eq!(text(0), "0.00 µs");
        assert_eq!(text(12_340), "12.3 µs");
        assert_eq!(text(1_234_000), "1.23 ms");
        assert_eq!(text(999_000_000), "999 ms");
        assert_eq!(text(61_000_000_000), "61.0 s");
    }

    #[test]
    fn moments_are_times_in_utc() {
        assert_eq!(Moment(1_769_860_800_500_000).to_string(), "2026-01-31T12:00:00.500000Z");
        assert_eq!(Moment(u64::MAX).to_string(), "18446744073709551615 microseconds since 1970");
    }

    #[test]
    fn rough_durations_are_whole() {
        let text = |seconds| roughly(Duration::from_secs_f64(seconds));
        assert_eq!([0.01, 1.4, 89.0].map(text), ["1 second", "1 second", "89 seconds"]);
        assert_eq!([90.0, 300.0, 7300.0].map(text), ["2 minutes", "5 minutes", "2 hours"]);
    }

    #[test]
    fn rates_choose_their_unit() {
        assert_eq!(edges_per_second(500, Duration::from_secs(1)), "500 edges/s");
        assert_eq!(edges_per_second(5_000, Duration::from_secs(2)), "2.5 k edges/s");
        assert_eq!(edges_per_second(3_420_000, Duration::from_secs(1)), "3.42 M edges/s");
        assert_eq!(edges_per_second(1, Duration::ZERO), "0 edges/s");
    }

    #[test]
    fn one_is_not_plural() {
        let edges = [0, 1, 2000].map(|count| counted(count, "edge", "edges"));
        assert_eq!(edges, ["0 edges", "1 edge", "2,000 edges"]);
        let bounded = [(1, 1), (0, 1), (5, 2000)].map(|(low, high)| hedgerow::Count::between(low, high));
        let edges = bounded.map(|count| Edges(count).with_noun());
        assert_eq!(edges, ["1 edge", "at most 1 edge", "at most 2,000 edges"]);
    }

    #[test]
    fn tables_are_aligned() {
        let rows = [("a", "1".to_string()), ("bcd", "2".to_string())];
        assert_eq!(table(&rows), "a    1\nbcd  2\n");
    }
}
