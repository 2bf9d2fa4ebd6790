//! Aggregates on the command line, and their meaning for the labels of a selection.

use super::accumulator::{Accumulator, Operation};
use super::cell::{Cell, printed};
use super::filter::borrowed;
use super::layout::{Kind, Layout, Place, names_of};
use crate::error::{CliError, StoredError};
use crate::options::at_least_one;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use hedgerow::Value;
use std::num::NonZeroUsize;

/// The options of aggregates: their names, operations and help.
const OPTIONS: [(&str, Operation, &str); 4] = [
    ("sum", Operation::Sum, "Print the sum of a property, or of the values; of whole numbers exactly"),
    ("min", Operation::Min, "Print the least value of a property"),
    ("max", Operation::Max, "Print the greatest value of a property"),
    ("mean", Operation::Mean, "Print the mean of a property"),
];

const HEADING: &str = "Aggregates";

/// Aggregates over the edges that match, and their groups.
#[derive(Clone, Debug, Default)]
pub struct AggregateArgs {
    /// In the order of the command line, each once.
    pub aggregates: Vec<Aggregate>,
    /// The column whose values make groups.
    pub by: Option<String>,
    /// The number of groups to print, of those with the largest first aggregate.
    pub top: Option<NonZeroUsize>,
}

/// An aggregate of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    operation: Operation,
    /// Empty for the number of edges.
    property: String,
}

/// A derived parser would lose the order of the options.
impl Args for AggregateArgs {
    fn augment_args(command: Command) -> Command {
        let arg = |name: &'static str, help: &'static str| {
            Arg::new(name).long(name).help(help).help_heading(HEADING)
        };
        let count = arg("count", "Print the number of edges that match, instead of the edges");
        let by = arg(
            "by",
            "Print a line for each source, destination, label, or value of a property: the value, and the aggregates",
        );
        let top = arg("top", "Print only the N groups with the largest first aggregate, the largest first");
        let properties =
            OPTIONS.map(|(name, _, help)| arg(name, help).value_name("PROPERTY").action(ArgAction::Append));
        let group = ArgGroup::new("aggregates").args(["count", "sum", "min", "max", "mean"]).multiple(true);
        command
            .arg(count.action(ArgAction::SetTrue).conflicts_with("newest"))
            .args(properties.map(|property| property.conflicts_with("newest")))
            .arg(by.value_name("COLUMN").requires("aggregates"))
            .arg(top.value_name("N").value_parser(at_least_one).requires("by"))
            .group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AggregateArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        if matches.get_flag("count") {
            let count = Aggregate { operation: Operation::Count, property: String::new() };
            given.extend(matches.index_of("count").map(|index| (index, count)));
        }
        for (name, operation, _) in OPTIONS {
            let properties = matches.get_many::<String>(name).into_iter().flatten().cloned();
            let aggregates = properties.map(|property| Aggregate { operation, property });
            given.extend(matches.indices_of(name).into_iter().flatten().zip(aggregates));
        }
        given.sort_by_key(|(index, _)| *index);
        let mut aggregates = Vec::new();
        for (_, aggregate) in given {
            if !aggregates.contains(&aggregate) {
                aggregates.push(aggregate);
            }
        }
        let (by, top) = (matches.get_one("by").cloned(), matches.get_one("top").copied());
        Ok(AggregateArgs { aggregates, by, top })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The columns of a table of groups, resolved for the labels of a selection.
pub struct Table {
    pub by: Option<By>,
    pub columns: Vec<Column>,
    /// Print times as numbers.
    pub raw_times: bool,
}

/// The column whose values make groups.
pub enum By {
    Source,
    Destination,
    Label,
    Property(Places),
}

/// The aggregate of a property.
pub struct Column {
    /// The name in output: `count`, `sum(amount)`.
    pub name: String,
    pub operation: Operation,
    /// The property; for the number of edges nowhere.
    pub places: Places,
}

/// A property in the labels of a selection.
pub struct Places {
    /// The place in each label.
    pub by_label: Vec<Place>,
    /// True if all fractions are 32-bit floats.
    pub is_single: bool,
    /// True if there are no fractions.
    is_whole: bool,
}

impl Table {
    /// Resolves the options for labels.
    pub fn of(args: &AggregateArgs, layouts: &[Layout], raw_times: bool) -> Result<Self, CliError> {
        let columns = args.aggregates.iter().map(|aggregate| aggregate.column(layouts));
        let columns = columns.collect::<Result<_, _>>()?;
        let by = args.by.as_deref().map(|by| By::of(by, layouts)).transpose()?;
        Ok(Table { by, columns, raw_times })
    }

    /// Returns true if edges of a label are read with their values or properties.
    pub fn reads_data(&self, label: usize) -> bool {
        let by = match &self.by {
            Some(By::Property(places)) => Some(places),
            _ => None,
        };
        let mut places = by.into_iter().chain(self.columns.iter().map(|column| &column.places));
        places.any(|places| places.by_label[label] != Place::Null)
    }
}

impl By {
    fn of(name: &str, layouts: &[Layout]) -> Result<Self, StoredError> {
        let places = places("--by", name, layouts, &["source", "destination", "label"]);
        Ok(match (places, name) {
            (Ok((places, _)), _) => By::Property(places),
            (Err(_), "source") => By::Source,
            (Err(_), "destination") => By::Destination,
            (Err(_), "label") => By::Label,
            (Err(error), _) => return Err(error),
        })
    }
}

impl Aggregate {
    fn column(&self, layouts: &[Layout]) -> Result<Column, StoredError> {
        let Aggregate { operation, property } = self;
        let option = match operation {
            Operation::Count => {
                let by_label = vec![Place::Null; layouts.len()];
                let places = Places { by_label, is_single: false, is_whole: true };
                return Ok(Column { name: "count".to_owned(), operation: *operation, places });
            }
            Operation::Sum => "--sum",
            Operation::Min => "--min",
            Operation::Max => "--max",
            Operation::Mean => "--mean",
        };
        let (places, kinds) = places(option, property, layouts, &[])?;
        let wrong = |problem: String| StoredError::Property { option, given: property.clone(), problem };
        let needs_number = matches!(operation, Operation::Sum | Operation::Mean);
        if let Some(kind) = kinds.iter().find(|kind| needs_number && !kind.is_number()) {
            return Err(wrong(format!("only numbers are added, and each of its values is {}", kind.noun())));
        }
        if kinds.iter().any(|kind| !kind.is_comparable(kinds[0])) {
            return Err(wrong("its type differs between labels: --label selects one".to_owned()));
        }
        let name = format!("{}({property})", option.trim_start_matches('-'));
        Ok(Column { name, operation: *operation, places })
    }
}

/// The places and types of a property in labels, at least one of which has it. `others` are further
/// names that the option takes.
fn places(
    option: &'static str,
    name: &str,
    layouts: &[Layout],
    others: &[&str],
) -> Result<(Places, Vec<Kind>), StoredError> {
    let found: Vec<_> = layouts.iter().map(|layout| layout.column(name)).collect();
    let kinds: Vec<Kind> = found.iter().flatten().map(|(_, kind)| *kind).collect();
    if kinds.is_empty() {
        let problem = format!("there is no such property: expected {}", names_of(layouts, others));
        return Err(StoredError::Property { option, given: name.to_owned(), problem });
    }
    let by_label = found.iter().map(|found| found.map_or(Place::Null, |(place, _)| place)).collect();
    let is_single = !kinds.contains(&Kind::Float);
    let is_whole = kinds.iter().all(|kind| *kind == Kind::Whole);
    Ok((Places { by_label, is_single, is_whole }, kinds))
}

impl Column {
    /// The figure of an accumulator.
    pub fn figure(&self, accumulator: &Accumulator, raw_times: bool) -> Cell {
        match accumulator {
            Accumulator::Count(edges) => Cell::Whole((*edges).into()),
            Accumulator::Sum(sum) if self.places.is_whole => Cell::Whole(sum.whole()),
            Accumulator::Sum(sum) => Cell::Value(Value::F64(sum.float())),
            Accumulator::Mean(_, 0) => Cell::Value(Value::Null),
            Accumulator::Mean(sum, values) => Cell::Value(Value::F64(sum.float() / *values as f64)),
            Accumulator::Extreme(value, _) => {
                Cell::Value(printed(borrowed(value), self.places.is_single, raw_times))
            }
        }
    }
}
