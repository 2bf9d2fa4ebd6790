//! A vertex or an edge that differs or changes, as it is printed.

use super::content::Content;
use crate::keys::{self, JsonKey};
use hedgerow::Key;
use hedgerow_formats::csv_field;
use serde::Serialize;

/// The columns of an item in a CSV file, after that of the change.
pub const COLUMNS: &str = "object,label,from,to,edge_key,before,after";

/// A vertex or an edge, with its content before and after.
#[derive(Debug, Serialize)]
pub struct Item<'a> {
    /// `vertex` or `edge`.
    pub object: &'static str,
    /// The label of an edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'a str>,
    /// The key of a vertex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<JsonKey>,
    /// The ends of an edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<JsonKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<JsonKey>,
    /// The number of a parallel edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_key: Option<u64>,
    /// The value or the properties; null if there are none, or they are not known.
    pub before: Option<Content>,
    pub after: Option<Content>,
}

impl<'a> Item<'a> {
    pub fn vertex(key: Key, [before, after]: [Option<Content>; 2]) -> Self {
        let (label, from, to, edge_key) = (None, None, None, None);
        Item { object: "vertex", label, key: Some(key.into()), from, to, edge_key, before, after }
    }

    pub fn edge(
        label: &'a str,
        (from, to): (Key, Key),
        edge_key: Option<u64>,
        [before, after]: [Option<Content>; 2],
    ) -> Self {
        let (label, from, to) = (Some(label), Some(from.into()), Some(to.into()));
        Item { object: "edge", label, key: None, from, to, edge_key, before, after }
    }

    /// The item in a line, after a sign. The content before and after it only if there are both.
    pub fn line(&self, sign: &str, names_labels: bool) -> String {
        let label = self.label.filter(|_| names_labels).map(|label| keys::word(&label));
        let ends = [&self.key, &self.from, &self.to].into_iter().flatten().map(JsonKey::to_string);
        let content = |content: &Option<Content>| content.as_ref().map_or(String::new(), Content::to_string);
        let contents = match (content(&self.before), content(&self.after)) {
            (before, after) if self.before.is_some() && self.after.is_some() => {
                format!("{before} -> {after}")
            }
            (before, after) => before + &after,
        };
        let words = [sign.to_owned(), self.object.to_owned()].into_iter().chain(ends).chain(label);
        let words = words.chain(Some(contents).filter(|contents| !contents.is_empty()));
        words.collect::<Vec<_>>().join(" ")
    }

    /// The item as a line of a CSV file, after the change. A vertex has its key in the column
    /// `from`.
    pub fn fields(&self, change: &str) -> String {
        let key = |key: &JsonKey| match key {
            JsonKey::Text(text) => text.clone(),
            JsonKey::Number(number) => number.to_string(),
        };
        let content = |content: &Option<Content>| {
            content.as_ref().map(Content::to_string).filter(|content| !content.is_empty())
        };
        let fields = [
            Some(change.to_owned()),
            Some(self.object.to_owned()),
            self.label.map(str::to_owned),
            self.key.as_ref().or(self.from.as_ref()).map(key),
            self.to.as_ref().map(key),
            self.edge_key.map(|number| number.to_string()),
            content(&self.before),
            content(&self.after),
        ];
        fields.map(|field| field.map_or(String::new(), |field| csv_field(&field).into_owned())).join(",")
    }
}
