//! The type of a column, inferred from its cells.

use super::value::Cell;
use super::zone::Zone;
use hedgerow_model::ValueType;

/// The narrowest type that fits all cells seen so far, without loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Guess {
    /// No cell so far, except nulls.
    #[default]
    Unknown,
    Bool,
    /// Whole numbers: some of them negative, or above the largest `i64`.
    Whole {
        negative: bool,
        large: bool,
    },
    Fraction,
    /// Times, some of them without an offset.
    Time {
        needs_zone: bool,
    },
    Text,
}

impl Guess {
    /// Takes a cell into account.
    pub fn see(&mut self, cell: Cell<'_>) {
        if *self != Guess::Text && cell != Cell::Null {
            *self = self.join(Guess::of(cell));
        }
    }

    /// The type that fits the cells of both.
    pub fn join(self, other: Guess) -> Guess {
        match (self, other) {
            (Guess::Unknown, guess) | (guess, Guess::Unknown) => guess,
            (Guess::Whole { negative, large }, Guess::Whole { negative: also, large: too }) => {
                Guess::Whole { negative: negative || also, large: large || too }
            }
            (Guess::Time { needs_zone }, Guess::Time { needs_zone: also }) => {
                Guess::Time { needs_zone: needs_zone || also }
            }
            (Guess::Whole { .. }, Guess::Fraction) | (Guess::Fraction, Guess::Whole { .. }) => {
                Guess::Fraction
            }
            (guess, other) if guess == other => guess,
            _ => Guess::Text,
        }
    }

    /// The type of properties that hold these cells.
    pub fn value_type(self) -> ValueType {
        match self {
            Guess::Bool => ValueType::Bool,
            Guess::Whole { large: false, .. } => ValueType::I64,
            Guess::Whole { negative: false, .. } => ValueType::U64,
            Guess::Fraction => ValueType::F64,
            Guess::Time { .. } => ValueType::Timestamp,
            Guess::Unknown | Guess::Whole { .. } | Guess::Text => ValueType::String,
        }
    }

    /// Returns true if all cells are keys that are numbers.
    pub fn is_number_key(self) -> bool {
        matches!(self, Guess::Whole { negative: false, .. })
    }

    /// The narrowest type of a field of a CSV file.
    pub fn of_text(text: &str) -> Guess {
        Guess::of(Cell::Text(text))
    }

    /// The narrowest type of a cell.
    fn of(cell: Cell<'_>) -> Guess {
        if cell == Cell::Null {
            return Guess::Unknown;
        }
        // Numbers in quotation marks are text, times are not.
        if let Cell::Json(text) = cell
            && text.starts_with('"')
        {
            return Guess::time(&cell.text()).unwrap_or(Guess::Text);
        }
        let text = cell.shown();
        if let Some(digits) = digits(text) {
            // Numbers with leading zeros name something: they are no quantities.
            let is_canonical = digits == "0" || !digits.starts_with('0');
            return match (text.parse::<i64>(), text.parse::<u64>()) {
                _ if !is_canonical => Guess::Text,
                (Ok(number), _) => Guess::Whole { negative: number < 0, large: false },
                (_, Ok(_)) => Guess::Whole { negative: false, large: true },
                _ => Guess::Text,
            };
        }
        let is = |value_type| cell.property(value_type, &Zone::default()).is_some();
        if is(ValueType::F64) {
            Guess::Fraction
        } else if is(ValueType::Bool) {
            Guess::Bool
        } else {
            Guess::time(text).unwrap_or(Guess::Text)
        }
    }

    fn time(text: &str) -> Option<Guess> {
        Some(Guess::Time { needs_zone: Zone::is_needed(text)? })
    }
}

/// The digits of a whole number, without its minus sign.
fn digits(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn guess(cells: &[&str]) -> Guess {
        let mut guess = Guess::default();
        cells.iter().for_each(|cell| guess.see(Cell::Text(cell)));
        guess
    }

    #[test]
    fn the_narrowest_type_fits_all_cells() {
        for (cells, value_type) in [
            (&["1", "-2"][..], ValueType::I64),
            (&["1", "18446744073709551615"], ValueType::U64),
            (&["-1", "18446744073709551615"], ValueType::String),
            (&["123456789012345678901234"], ValueType::String),
            (&["1", "2.5", "1e3"], ValueType::F64),
            (&["007", "12"], ValueType::String),
            (&["0", "10"], ValueType::I64),
            (&["true", "False", "TRUE"], ValueType::Bool),
            (&["true", "1"], ValueType::String),
            (&["2024-01-01", "2024-01-01 00:00:00", "9999-12-31T23:59:59Z"], ValueType::Timestamp),
            (&["2024-01-01", "soon"], ValueType::String),
            (&["2024-01-01", "5"], ValueType::String),
            (&["anna", ""], ValueType::String),
            (&[], ValueType::String),
        ] {
            assert_eq!(guess(cells).value_type(), value_type, "{cells:?}");
        }
        assert_eq!(guess(&["2024-01-01T00:00:00Z"]), Guess::Time { needs_zone: false });
        assert_eq!(guess(&["2024-01-01T00:00:00Z", "2024-01-01"]), Guess::Time { needs_zone: true });
        let mut strings = Guess::default();
        strings.see(Cell::Json("\"2024-01-01\""));
        assert_eq!(strings, Guess::Time { needs_zone: true });
        strings.see(Cell::Json("\"5\""));
        assert_eq!(strings, Guess::Text);
    }

    proptest! {
        #[test]
        fn every_cell_has_the_inferred_type(
            cells in prop::collection::vec("-?[0-9]{1,21}|[0-9.e+-]{1,6}|true|False|nan|20[0-9]{2}-0[1-9]-01( 1[0-9]:00:00)?|[ab ]{0,3}", 1..5),
        ) {
            let cells: Vec<_> = cells.iter().map(String::as_str).collect();
            let value_type = guess(&cells).value_type();
            for cell in cells {
                prop_assert!(Cell::Text(cell).property(value_type, &Zone::default()).is_some(), "{cell:?} {value_type}");
            }
        }
    }
}
