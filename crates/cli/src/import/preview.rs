//! Shows what an import would do.

use super::command;
use super::plan::Plan;
use super::tables::Table;
use crate::console::Console;
use crate::error::CliError;
use crate::stored::declared::record_text;
use crate::stored::schema;
use crate::stored::target::Target;
use crate::text;
use hedgerow_formats::SurveyColumn;
use serde::Serialize;

/// A plan, for output.
#[derive(Debug, Serialize)]
struct Preview {
    store: String,
    /// True if the store does not exist.
    created: bool,
    keys: &'static str,
    label: String,
    /// The type of the values of the label's edges.
    values: Option<String>,
    vertex_properties: Option<String>,
    /// Files with named columns.
    tables: Vec<File>,
    /// Edges, and pairs of vertices, in the files; unknown if they were not compared.
    rows: Option<u64>,
    edges: Option<u64>,
    pairs: Option<u64>,
    /// The time zone of times without an offset, if there are some.
    time_zone: Option<String>,
    /// The command that says the same; `None` if options cannot express a name.
    command: Option<String>,
}

/// A file with named columns.
#[derive(Debug, Serialize)]
struct File {
    file: String,
    rows: u64,
    columns: Vec<Column>,
    first_rows: Vec<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Column {
    name: String,
    /// The type of its cells, or the key that it holds.
    holds: String,
}

/// Prints the plan as the result of the command.
pub fn print(plan: &Plan, target: &Target<'_>, console: &Console) -> Result<(), CliError> {
    console.print(&Preview::of(plan, target), Preview::describe)
}

/// Shows at a terminal what was inferred, and asks whether to go on.
pub fn confirm(plan: &Plan, target: &Target<'_>, console: &Console) -> bool {
    if plan.args.yes || !console.can_ask() {
        return true;
    }
    console.note(Preview::of(plan, target).describe().trim_end());
    console.asks("Import?", true)
}

impl Preview {
    fn of(plan: &Plan, target: &Target<'_>) -> Self {
        let args = &plan.args;
        let count = |count: fn(&super::repeats::Repeats) -> u64| plan.repeats.as_ref().map(count);
        let vertices = Some(&target.vertices).filter(|vertices| !vertices.fields.is_empty());
        Preview {
            store: args.store.display().to_string(),
            created: plan.is_new,
            keys: schema::keys(target.keys),
            label: target.schema.name.clone(),
            values: schema::values(&target.schema),
            vertex_properties: vertices.map(|schema| record_text(None, schema)),
            tables: plan.vertices.iter().chain(&plan.tables).map(File::of).collect(),
            rows: count(|repeats| repeats.rows),
            edges: count(|repeats| repeats.edges),
            pairs: count(|repeats| repeats.pairs),
            time_zone: plan.time_zone(),
            command: command::text(args),
        }
    }

    fn describe(&self) -> String {
        let made = if self.created { "new" } else { "existing" };
        let values =
            self.values.as_ref().map_or("without values".into(), |values| format!("values of type {values}"));
        let mut table = vec![
            ("store", format!("{}, {made}, keys {}", self.store, self.keys)),
            ("label", format!("{:?}, {values}", self.label)),
        ];
        table.extend(self.vertex_properties.clone().map(|properties| ("vertices", properties)));
        for file in &self.tables {
            let columns = file.columns.iter().map(|column| format!("{} ({})", column.name, column.holds));
            table.push(("file", format!("{}: {}", file.file, columns.collect::<Vec<_>>().join(", "))));
            table.extend(file.first_rows.iter().map(|row| ("", row.join(" | "))));
        }
        if let (Some(rows), Some(edges), Some(pairs)) = (self.rows, self.edges, self.pairs) {
            let (rows, edges) = (text::counted(rows, "row", "rows"), text::counted(edges, "edge", "edges"));
            let pairs = text::counted(pairs, "pair of vertices", "pairs of vertices");
            table.push(("rows", format!("{rows}: {edges} between {pairs}")));
        }
        if let Some(zone) = &self.time_zone {
            table
                .push(("times", format!("without an offset are taken as {zone}: --time-zone names another")));
        }
        table.extend(self.command.clone().map(|command| ("command", command)));
        text::table(&table)
    }
}

impl File {
    fn of(table: &Table) -> Self {
        File {
            file: table.path.display().to_string(),
            rows: table.rows,
            columns: table.columns.iter().map(|column| Column::of(column, table.keys().len())).collect(),
            first_rows: table.first.clone(),
        }
    }
}

impl Column {
    fn of(column: &SurveyColumn, keys: usize) -> Self {
        let holds = match (column.key(), keys) {
            (Some(_), 1) => "key".to_owned(),
            (Some(0), _) => "source".to_owned(),
            (Some(_), _) => "destination".to_owned(),
            (None, _) => column.value_type().to_string(),
        };
        Column { name: column.name().to_owned(), holds }
    }
}
