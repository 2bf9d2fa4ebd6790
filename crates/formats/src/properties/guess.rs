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
    /// Whole numbers: some of them negative, above the largest `i64`, or too large for a 64-bit
    /// float to hold all near them.
    Whole {
        negative: bool,
        large: bool,
        wide: bool,
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
            (Guess::Whole { negative, large, wide }, Guess::Whole { negative: n, large: l, wide: w }) => {
                Guess::Whole { negative: negative || n, large: large || l, wide: wide || w }
            }
            (Guess::Time { needs_zone }, Guess::Time { needs_zone: also }) => {
                Guess::Time { needs_zone: needs_zone || also }
            }
            (Guess::Whole { wide: false, .. }, Guess::Fraction)
            | (Guess::Fraction, Guess::Whole { wide: false, .. }) => Guess::Fraction,
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

    /// Returns true if 64-bit floats hold all cells, which are numbers.
    pub fn fits_float(self) -> bool {
        matches!(self, Guess::Whole { wide: false, .. } | Guess::Fraction)
    }

    /// Returns true if the cells can be keys, and are no fractions, times or truths.
    pub fn may_be_key(self) -> bool {
        matches!(self, Guess::Unknown | Guess::Whole { .. } | Guess::Text)
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
            let is_canonical = text == "0" || !digits.starts_with('0');
            return match (text.parse::<i64>(), text.parse::<u64>()) {
                _ if !is_canonical => Guess::Text,
                (Ok(number), _) => {
                    Guess::Whole { negative: number < 0, large: false, wide: number.unsigned_abs() > EXACT }
                }
                (_, Ok(_)) => Guess::Whole { negative: false, large: true, wide: true },
                _ => Guess::Text,
            };
        }
        if is_short_fraction(text) {
            return Guess::Fraction;
        }
        let is = |value_type| cell.property(value_type, &Zone::default()).is_some();
        if is(ValueType::F64) {
            if is_exact(text) { Guess::Fraction } else { Guess::Text }
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

/// The largest whole number up to which 64-bit floats hold all.
const EXACT: u64 = 1 << 53;

/// Digits that 64-bit floats have exactly, whatever the number.
const DIGITS: usize = 15;

/// Returns true if the nearest 64-bit float has all digits of a number, written without a plus
/// sign, which telephone numbers have; or if the text is written for a float that is no number.
fn is_exact(text: &str) -> bool {
    match text.parse::<f64>() {
        Ok(float) if float.is_finite() => {
            !text.starts_with('+') && significant(text) == significant(&format!("{float:e}"))
        }
        _ => ["NaN", "Infinity", "-Infinity"].contains(&text),
    }
}

/// Returns true for digits around a point, so few that 64-bit floats have them exactly. Most
/// fractions are, and this is faster than to parse and write one.
fn is_short_fraction(text: &str) -> bool {
    let number = text.strip_prefix('-').unwrap_or(text);
    let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    number.len() <= DIGITS
        && number.split_once('.').is_some_and(|(before, after)| is_whole(before) && is_whole(after))
}

/// The digits of a number between the first and the last that is not 0.
fn significant(number: &str) -> String {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
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
            (&["9007199254740993", "1.5"], ValueType::String),
            (&["1.5", "9007199254740992"], ValueType::F64),
            (&["1234567890123456.78"], ValueType::String),
            (&["0.30000000000000004", "9.50", "-1.5e-7"], ValueType::F64),
            (&["+41791234567"], ValueType::String),
            (&["-0"], ValueType::String),
            (&["nan"], ValueType::String),
            (&["1.5", "NaN"], ValueType::F64),
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
