//! The time of an edge, by which `--since`, `--until` and `--newest` select.

use super::filter::read_failed;
use super::layout::{Kind, Layout, Place, Row};
use crate::error::{CliError, StoredError};
use crate::options::{at_least_one, edge_time};
use clap::Args;
use hedgerow::{Error, ValueRef};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;

/// Edges by their time.
#[derive(Debug, Args)]
pub struct TimeArgs {
    /// Only edges of this time or later: for timestamps a time such as 2026-01-31T12:00:00Z, a date
    /// or microseconds since 1970, else the number itself
    #[arg(long, help_heading = "By time", value_name = "TIME", value_parser = edge_time, allow_negative_numbers = true)]
    since: Option<i128>,
    /// Only edges of this time or earlier
    #[arg(long, help_heading = "By time", value_name = "TIME", value_parser = edge_time, allow_negative_numbers = true)]
    until: Option<i128>,
    /// Only the N newest of all edges that match, the newest first
    #[arg(long, help_heading = "By time", value_name = "N", value_parser = at_least_one)]
    pub newest: Option<NonZeroUsize>,
    /// The property that is the time, of type timestamp, i64 or u64; by default the only timestamp,
    /// or the integer value of the edge, or the number of parallel edges
    #[arg(long, help_heading = "By time", value_name = "PROPERTY")]
    time_property: Option<String>,
}

/// The place of the time in the edges of a label, and the wanted times.
pub struct Clock {
    place: Place,
    wanted: RangeInclusive<i128>,
}

impl Clock {
    /// The time of an edge; `None` if it is null, or not wanted.
    #[inline]
    pub fn time(&self, row: &Row<'_>) -> Result<Option<i128>, Error> {
        let time = match row.get(self.place).map_err(read_failed)? {
            ValueRef::I64(time) | ValueRef::Timestamp(time) => Some(i128::from(time)),
            ValueRef::U64(time) => Some(time.into()),
            _ => None,
        };
        Ok(time.filter(|time| self.wanted.contains(time)))
    }
}

impl TimeArgs {
    /// The clock of a label; `None` if no option asks for the time.
    pub fn clock(&self, layout: &Layout) -> Result<Option<Clock>, CliError> {
        let TimeArgs { since, until, newest, time_property } = self;
        if since.is_none() && until.is_none() && newest.is_none() && time_property.is_none() {
            return Ok(None);
        }
        let place = match time_property {
            Some(name) => named(layout, name),
            None => only_time(layout),
        };
        let place = place.map_err(|problem| StoredError::Time { option: self.option(), problem })?;
        let wanted = since.unwrap_or(i128::MIN)..=until.unwrap_or(i128::MAX);
        Ok(Some(Clock { place, wanted }))
    }

    /// The option that needs the time, for messages.
    fn option(&self) -> String {
        match self {
            TimeArgs { time_property: Some(name), .. } => format!("--time-property {name:?}"),
            TimeArgs { newest: Some(_), .. } => "--newest".to_owned(),
            TimeArgs { since: Some(_), .. } => "--since".to_owned(),
            _ => "--until".to_owned(),
        }
    }
}

/// The place of a property that is to be the time.
fn named(layout: &Layout, name: &str) -> Result<Place, String> {
    match layout.column(name) {
        Some((place, Kind::Time | Kind::Whole)) => Ok(place),
        Some(_) => Err("a time is of type timestamp, i64 or u64".to_owned()),
        None => {
            let times = layout.columns().filter(|(_, _, kind)| matches!(kind, Kind::Time | Kind::Whole));
            let times: Vec<String> = times.map(|(name, ..)| format!("{name:?}")).collect();
            let known = if times.is_empty() { "none that is a time".to_owned() } else { times.join(", ") };
            Err(format!(
                "edges of the label {:?} have no such property, but {known}; --label selects a label",
                layout.name
            ))
        }
    }
}

/// The place of the time in a label that says which it is: the only timestamp; without any, the
/// integer value or the number of parallel edges.
fn only_time(layout: &Layout) -> Result<Place, String> {
    let times: Vec<_> = layout.columns().filter(|(_, _, kind)| *kind == Kind::Time).collect();
    let of_edge =
        || layout.columns().find(|(_, place, kind)| (*place, *kind) == (Place::Number, Kind::Whole));
    let name = &layout.name;
    match times.as_slice() {
        [(_, place, _)] => Ok(*place),
        [] => of_edge().map(|(_, place, _)| place).ok_or_else(|| {
            format!("the edges of {name:?} have no time, which would be a property of type timestamp or an integer as their value: --time-property names a property of type i64 or u64 that is one, --label a label that has one")
        }),
        _ => {
            let names: Vec<String> = times.iter().map(|(name, ..)| format!("{name:?}")).collect();
            Err(format!("the edges of {name:?} have several times, {}: --time-property names one", names.join(" and ")))
        }
    }
}
