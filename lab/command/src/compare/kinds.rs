//! Kinds of stores, chosen by their names.

/// Finds the kind among `kinds` that `name_of` calls `name`; the error lists all names.
pub fn named<K>(
    kinds: &'static [K],
    name_of: impl Fn(&K) -> &'static str,
    name: &str,
) -> Result<&'static K, String> {
    kinds.iter().find(|kind| name_of(kind) == name).ok_or_else(|| {
        let names: Vec<_> = kinds.iter().map(name_of).collect();
        format!("no such store was built; there are: {}", names.join(", "))
    })
}
