//! Options of `hedgerow import`.

use crate::args::{FormatArgs, MemoryArgs, at_least_one, threads};
use crate::stored::args::{DurabilityName, engine};
use crate::stored::schema;
use clap::{Args, ValueEnum};
use hedgerow::{ColumnType, EdgeSchema, EngineKind, Field, LabelSchema, RecordSchema, ValueType};
use std::num::NonZeroUsize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
An import that is interrupted goes on where it was when the same command is given again.

Examples:
  hedgerow import wiki-Vote.txt --store wiki
  hedgerow import kron.wel.zst --store kron --undirected --weights
  hedgerow import 2024.csv 2025.csv.gz --store calls --columns timestamp --atomic --json
  hedgerow import knows.txt --store friends --keys text --labels knows,likes:f64 --label knows
  hedgerow import knows.txt --store bank --labels knows,pays:amount=f64+note=string --vertex-properties name=string";

/// `hedgerow import`
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_args(|arg| match arg.get_id().as_str() {
        "keys" => arg.help("What vertex keys are [default: what they are in the store, in a new one number]"),
        "format" => arg.help("The format of the files"),
        _ => arg,
    })
)]
pub struct ImportArgs {
    /// The graph files, plain or compressed by gzip or Zstandard, in this order; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The directory of the store, which is made if there is none
    #[arg(long, value_name = "DIR")]
    pub store: PathBuf,
    /// The engine that holds the graph meanwhile, and that a new store is made with [default: the store's, in a new one rapid]
    #[arg(long, value_name = "NAME", value_parser = engine)]
    pub engine: Option<EngineKind>,
    /// Every edge of a new store is seen from both ends
    #[arg(long, conflicts_with = "reverse")]
    pub undirected: bool,
    /// A new directed store keeps in-neighbours, too, for twice the memory
    #[arg(long)]
    pub reverse: bool,
    /// The labels of a new store, separated by commas, each NAME, or NAME:TYPE with the type of its values: u32, u64, i64,
    /// f32 or f64, or NAME:PROPERTY=TYPE+PROPERTY=TYPE with the properties of its records: bool, i64, f64, string, bytes or
    /// timestamp, with ! behind the type if each edge must have it [default: the one of --label, or edge]
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = label)]
    pub labels: Vec<LabelSchema>,
    /// The properties of the vertices of a new store, separated by commas, each PROPERTY=TYPE
    #[arg(long, value_name = "PROPERTIES", value_delimiter = ',', value_parser = property)]
    pub vertex_properties: Vec<Field>,
    /// The label that the edges get [default: the first of the store]
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// Keep the weights of the edges, as values of type f64: every edge must have one
    #[arg(long)]
    pub weights: bool,
    /// When a commit is done
    #[arg(long, value_enum, default_value_t = DurabilityName::Sync)]
    pub durability: DurabilityName,
    /// Edges and vertices per commit
    #[arg(long, value_name = "N", default_value = "1048576", value_parser = at_least_one)]
    pub chunk: NonZeroUsize,
    /// Read all files to their ends first: nothing is imported if anything is wrong with them
    #[arg(long)]
    pub atomic: bool,
    /// Begin with the first line of the files, and give up an interrupted import of others, or of another program
    #[arg(long)]
    pub anew: bool,
    /// Whether a checkpoint is written in the end
    #[arg(long, value_enum, default_value_t = When::Auto)]
    pub checkpoint: When,
    /// Threads for reading and for commits; by default one per core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub format: FormatArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// Whether a checkpoint is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// If the log has grown larger than the checkpoint that there is
    Auto,
    /// In any case
    Always,
    /// The log alone holds what was imported
    Never,
}

/// A label with what lies on its edges.
fn label(text: &str) -> Result<LabelSchema, String> {
    let (name, edges) = match text.rsplit_once(':') {
        None => (text, EdgeSchema::Topology),
        Some((name, fields)) if fields.contains('=') => {
            let fields = fields.split('+').map(property).collect::<Result<_, _>>()?;
            (name, EdgeSchema::Record(RecordSchema { fields }))
        }
        Some((name, column)) => (name, EdgeSchema::Value(self::column(column)?)),
    };
    if name.is_empty() {
        return Err("expected NAME, NAME:TYPE or NAME:PROPERTY=TYPE".into());
    }
    Ok(LabelSchema { name: name.into(), edges })
}

fn column(name: &str) -> Result<ColumnType, String> {
    let columns = [ColumnType::U32, ColumnType::U64, ColumnType::I64, ColumnType::F32, ColumnType::F64];
    let column = columns.into_iter().find(|column| column.to_string() == name);
    column.ok_or_else(|| format!("{name:?} is no type of values: expected u32, u64, i64, f32 or f64"))
}

/// A property of a record.
fn property(text: &str) -> Result<Field, String> {
    let types = [
        ValueType::Bool,
        ValueType::I64,
        ValueType::F64,
        ValueType::String,
        ValueType::Bytes,
        ValueType::Timestamp,
    ];
    let (name, name_of_type) = text.split_once('=').ok_or("expected PROPERTY=TYPE")?;
    let (name_of_type, nullable) = match name_of_type.strip_suffix('!') {
        Some(required) => (required, false),
        None => (name_of_type, true),
    };
    let value_type = types.into_iter().find(|value_type| schema::property(*value_type) == name_of_type);
    let value_type = value_type.ok_or_else(|| {
        format!(
            "{name_of_type:?} is no type of properties: expected bool, i64, f64, string, bytes or timestamp"
        )
    })?;
    if name.is_empty() {
        return Err("expected PROPERTY=TYPE".into());
    }
    Ok(Field { name: name.into(), value_type, nullable })
}
