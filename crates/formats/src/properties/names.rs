//! The usual names of the columns of keys, compared without regard to case.

/// Names of the column of a vertex's key.
pub(super) const KEY: &[&str] = &["key", "id"];

/// Names of the column where an edge starts.
pub(super) const SOURCE: &[&str] = &["source", "src", "from"];

/// Names of the column where an edge ends.
pub(super) const DESTINATION: &[&str] = &["destination", "dst", "target", "to"];

/// Words in the names of the columns where an edge starts and ends: `payer` and `payee`,
/// `from_account` and `to_account`.
const WORDS: &[(&str, &str)] = &[
    ("from", "to"),
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("src", "dst"),
    ("payer", "payee"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("caller", "callee"),
    ("follower", "followee"),
];

/// Names of the columns where an edge starts and ends if these are the first columns.
const FIRST: &[(&str, &str)] =
    &[("subject", "object"), ("head", "tail"), ("start", "end"), ("node1", "node2"), ("u", "v")];

/// Returns the columns where an edge starts and ends, if their names differ only in a pair of
/// words, or if they are the first two and have a pair of usual names.
pub(super) fn pair_of_ends(names: &[&str]) -> Option<(usize, usize)> {
    let position = |wanted: &dyn Fn(&str) -> bool| names.iter().position(|name| wanted(name));
    let start = position(&|name| is_named(name, ":START_ID"));
    if let Some(ends) = start.zip(position(&|name| is_named(name, ":END_ID"))) {
        return Some(ends);
    }
    let words: Vec<_> = names.iter().map(|name| words(name)).collect();
    let with_other = |source: usize, start: &str, end: &str| {
        let name = Some(&words[source]).filter(|name| name.iter().any(|word| word == start))?;
        let other = name.iter().map(|word| if word == start { end } else { word });
        let destination = words.iter().position(|name| name.iter().eq(other.clone()))?;
        Some((source, destination))
    };
    let of_words = WORDS
        .iter()
        .find_map(|(start, end)| (0..words.len()).find_map(|source| with_other(source, start, end)));
    let is_first = |(start, end): &(&str, &str)| is_named(names[0], start) && is_named(names[1], end);
    of_words.or_else(|| (names.len() >= 2 && FIRST.iter().any(is_first)).then_some((0, 1)))
}

/// Returns true if a word of the name says that an edge starts or ends there.
#[must_use]
pub fn hints_at_end(name: &str) -> bool {
    let is_hint = |word: &String| WORDS.iter().any(|(start, end)| word == start || word == end);
    words(name).iter().any(is_hint)
}

/// The words of a name, in lower case: `fromAccount` has two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || was_lower && character.is_uppercase() {
            words.push(String::new());
        }
        was_lower = character.is_lowercase();
        if character.is_alphanumeric() {
            words.last_mut().expect("there is a first word").extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns true if `name` is a usual name of the column of a vertex's key, ignoring case.
#[must_use]
pub fn is_name_of_key(name: &str) -> bool {
    KEY.iter().any(|usual| is_named(name, usual)) || is_named(name, ":ID")
}

/// Returns true if these are usual names of the columns where an edge starts and ends, ignoring
/// case.
#[must_use]
pub fn is_name_of_ends(source: &str, destination: &str) -> bool {
    is_source_and_destination(source, destination) || pair_of_ends(&[source, destination]) == Some((0, 1))
}

/// Returns true if these are the first names of the columns where an edge starts and ends, which
/// hardly name vertices.
#[must_use]
pub(crate) fn is_source_and_destination(source: &str, destination: &str) -> bool {
    let is_among = |name: &str, names: &[&str]| names.iter().any(|usual| is_named(name, usual));
    is_among(source, SOURCE) && is_among(destination, DESTINATION)
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
        for (source, destination) in [
            ("to", "from"),
            ("payer", "to"),
            ("source", "amount"),
            ("start", "to"),
            ("u(x)", "v"),
            ("a", "a"),
        ] {
            assert!(!is_name_of_ends(source, destination), "{source} {destination}");
        }
        assert_eq!(pair_of_ends(&["date", "from_account", "toAccount", "To Account"]), Some((1, 2)));
        assert_eq!(pair_of_ends(&["tx", "sender iban", "recipient-iban"]), Some((1, 2)));
        assert_eq!(pair_of_ends(&["station_a", "station_b", "start", "end"]), None);
        assert!(hints_at_end("recipient_iban") && !hints_at_end("total"));
        assert!(is_name_of_key("ID") && is_name_of_key(":ID(Person)") && !is_name_of_key("name"));
    }
}
