//! The usual names of the columns of keys, compared without regard to case.

/// Names of the column of a vertex's key.
pub(super) const KEY: &[&str] = &["key", "id"];

/// Names of the column where an edge starts.
pub(super) const SOURCE: &[&str] = &["source", "src", "from"];

/// Names of the column where an edge ends.
pub(super) const DESTINATION: &[&str] = &["destination", "dst", "target", "to"];

/// Further names of the columns where an edge starts and ends, which count only in pairs. The
/// earlier pair counts if a file has several.
pub(super) const PAIRS: &[(&str, &str)] = &[
    (":START_ID", ":END_ID"),
    ("source_id", "target_id"),
    ("source_id", "destination_id"),
    ("src_id", "dst_id"),
    ("from_id", "to_id"),
    ("from_node", "to_node"),
    ("payer", "payee"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("caller", "callee"),
    ("follower", "followee"),
    ("subject", "object"),
    ("head", "tail"),
    ("source", "dest"),
    ("from", "dest"),
    ("start", "end"),
    ("node1", "node2"),
    ("u", "v"),
];

/// Returns true if `name` is a usual name of the column of a vertex's key, ignoring case.
#[must_use]
pub fn is_name_of_key(name: &str) -> bool {
    KEY.iter().any(|usual| is_named(name, usual)) || is_named(name, ":ID")
}

/// Returns true if these are usual names of the columns where an edge starts and ends, ignoring
/// case.
#[must_use]
pub fn is_name_of_ends(source: &str, destination: &str) -> bool {
    let is_among = |name: &str, names: &[&str]| names.iter().any(|usual| is_named(name, usual));
    let is_pair = |(start, end): &(&str, &str)| is_named(source, start) && is_named(destination, end);
    is_among(source, SOURCE) && is_among(destination, DESTINATION) || PAIRS.iter().any(is_pair)
}

/// Returns true if the name of a column is this usual name, maybe between blanks, or with a group
/// in parentheses after it, as in `:START_ID(Person)`.
pub(super) fn is_named(name: &str, usual: &str) -> bool {
    let name = name.trim();
    let group = name.get(usual.len()..);
    name.get(..usual.len()).is_some_and(|start| start.eq_ignore_ascii_case(usual))
        && group.is_some_and(|group| {
            group.is_empty() || usual.starts_with(':') && group.starts_with('(') && group.ends_with(')')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognized_in_pairs() {
        for (source, destination) in
            [("Source", "target"), ("src", "TO"), ("payer", "Payee"), (":START_ID(Person)", ":END_ID")]
        {
            assert!(is_name_of_ends(source, destination), "{source} {destination}");
        }
        for (source, destination) in
            [("to", "from"), ("payer", "to"), ("source", "amount"), ("start", "to"), ("u(x)", "v")]
        {
            assert!(!is_name_of_ends(source, destination), "{source} {destination}");
        }
        assert!(is_name_of_key("ID") && is_name_of_key(":ID(Person)") && !is_name_of_key("name"));
    }
}
