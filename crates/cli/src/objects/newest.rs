//! The order of `neighbors --newest`: by a time, or by commit.

use super::args::NewestArgs;
use crate::error::StoredError;
use hedgerow::{ColumnType, EdgeSchema, EngineKind, LabelSchema, Newest, RecordSchema};

/// The name of the order of commits for `--by`, unless a property has this name.
const COMMIT: &str = "commit";

/// A read of the newest edges.
pub struct NewestFirst {
    pub wanted: Newest,
    /// True to order by commit.
    pub by_commit: bool,
}

impl NewestFirst {
    /// The read that the options request, for a label in a store made with this engine; `None`
    /// without such options.
    pub fn of(args: &NewestArgs, label: &LabelSchema, engine: &str) -> Result<Option<Self>, StoredError> {
        if !args.is_given() {
            return Ok(None);
        }
        let keeps_order = engine.parse().is_ok_and(EngineKind::keeps_commit_order);
        let wanted = args.wanted();
        Ok(Some(match args.by() {
            Some(COMMIT) if !has_property(label, COMMIT) => {
                if !keeps_order {
                    return Err(refused(
                        args,
                        format!(
                            "the store keeps no order of commits: it was made with engine {engine}, and tel does"
                        ),
                    ));
                }
                NewestFirst { wanted: wanted.by_commit(), by_commit: true }
            }
            Some(property) => NewestFirst { wanted: wanted.by_property(property), by_commit: false },
            None if has_time(label) => NewestFirst { wanted, by_commit: false },
            None if keeps_order => NewestFirst { wanted: wanted.by_commit(), by_commit: true },
            None => {
                let problem = format!(
                    "the edges of {:?} have no time, which would be a property of type timestamp or an integer beside each edge: --by names a \
                     property of type i64 or u64 that is one",
                    label.name
                );
                return Err(refused(args, problem));
            }
        }))
    }
}

/// The error for options that cannot order edges.
pub fn refused(args: &NewestArgs, problem: String) -> StoredError {
    let option = args.by().map_or_else(|| "--newest".to_owned(), |by| format!("--by {by:?}"));
    StoredError::Time { option, problem }
}

fn has_property(label: &LabelSchema, name: &str) -> bool {
    let is_property = |schema: &RecordSchema| schema.fields.iter().any(|field| field.name == name);
    label.edges.record().is_some_and(is_property) || label.edges.key() == Some(name)
}

/// Returns true if the schema of the label determines the time of its edges.
fn has_time(label: &LabelSchema) -> bool {
    match &label.edges {
        EdgeSchema::Value(column) => matches!(column, ColumnType::U32 | ColumnType::U64 | ColumnType::I64),
        EdgeSchema::Record(schema) => schema.time().is_some(),
        EdgeSchema::Parallel(_) => true,
        EdgeSchema::Topology => false,
    }
}
