//! The command that says what was inferred.

use super::args::ImportArgs;
use crate::options::ColumnsName;
use crate::stored::declared::{labels_text, properties_text, quoted};
use crate::stored::target::TargetArgs;
use clap::ValueEnum;
use std::path::Path;

/// The command for an import with these options; `None` if options cannot express a name.
pub fn text(args: &ImportArgs) -> Option<String> {
    let ImportArgs { files, store, format, target, .. } = args;
    let TargetArgs { label, labels, vertex_properties, .. } = target;
    let path = |path: &Path| path.display().to_string();
    let mut words: Vec<_> = files.iter().map(|file| path(file)).collect();
    let mut say = |option: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([option.to_owned(), value]);
        }
    };
    say("--vertices", format.vertices.as_deref().map(path));
    say("--store", Some(path(store)));
    say("--keys", name(format.keys));
    say("--labels", if labels.is_empty() { None } else { Some(labels_text(labels)?) });
    let is_only = |name: &String| labels.len() == 1 && labels[0].name == *name;
    say("--label", label.clone().filter(|name| !is_only(name)));
    let has_properties = !vertex_properties.is_empty();
    say("--vertex-properties", if has_properties { Some(properties_text(vertex_properties)?) } else { None });
    say("--format", name(Some(format.format)).filter(|name| name != "auto"));
    say(
        "--columns",
        match &format.columns {
            ColumnsName::Auto => None,
            ColumnsName::Names(names) => Some(names.join(",")),
            columns => name(Some(columns.clone())),
        },
    );
    say("--source-column", args.source_column.clone());
    say("--destination-column", args.destination_column.clone());
    say("--number-column", args.number_column.clone());
    say("--ignore", (!args.ignore.is_empty()).then(|| args.ignore.join(",")));
    say(
        "--delimiter",
        args.delimiter.map(|byte| match byte {
            b'\t' => "tab".to_owned(),
            byte => char::from(byte).to_string(),
        }),
    );
    say("--time-zone", args.time_zone.as_ref().map(ToString::to_string));
    say("--on-repeat", name(args.on_repeat));
    say("--engine", args.target.engine.map(|engine| engine.name().to_owned()));
    let flags = [
        ("--undirected", args.target.undirected),
        ("--reverse", args.target.reverse),
        ("--weights", args.target.weights),
        ("--atomic", args.atomic),
    ];
    let flags = flags.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag.to_owned());
    let words = words.iter().map(|word| quoted(word)).chain(flags);
    Some(format!("hedgerow import {}", words.collect::<Vec<_>>().join(" ")))
}

fn name<T: ValueEnum>(value: Option<T>) -> Option<String> {
    Some(value?.to_possible_value()?.get_name().to_owned())
}
