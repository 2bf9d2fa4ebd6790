//! Named choices on the command line.

/// A choice with a name on the command line.
pub trait Named: Copy + PartialEq + 'static {
    /// Every choice and its name.
    const NAMES: &'static [(&'static str, Self)];

    /// The name of this choice.
    #[must_use]
    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, choice)| *choice == self).map_or("", |(name, _)| name)
    }

    /// Returns the choice with this name.
    ///
    /// # Errors
    /// No choice has this name; the message lists all names.
    fn of_name(name: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(other, _)| *other == name).map(|(_, choice)| *choice);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}
