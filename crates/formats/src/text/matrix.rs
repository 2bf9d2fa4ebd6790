//! The first lines of a Matrix Market file ("The Matrix Market Exchange Formats", section 2).

use super::fields::Fields;
use crate::error::{Fault, Problem};

/// The beginning of the first line of a Matrix Market file.
pub(crate) const BANNER: &[u8] = b"%%MatrixMarket";

/// Allowed empty rows, plus [`ROWS_PER_ENTRY`] for every entry.
const EMPTY_ROWS: u64 = 1 << 20;

/// Every row becomes a vertex: a small file must not expand to a huge graph.
const ROWS_PER_ENTRY: u64 = 64;

/// The kind of entries of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    pub values: Values,
    pub symmetry: Symmetry,
    /// Number of rows, and of columns.
    pub size: u64,
    /// Number of entries according to the file.
    pub entries: u64,
}

/// The value of an entry after row and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    None,
    Whole,
    Real,
}

/// The relation of an entry to its mirror image across the diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symmetry {
    None,
    Symmetric,
    /// The mirror image is the negative.
    Skew,
}

/// Returns the maximum number of rows of a matrix with this number of entries.
pub(crate) fn most_rows(entries: u64) -> u64 {
    let limit = entries.saturating_mul(ROWS_PER_ENTRY).saturating_add(EMPTY_ROWS);
    limit.min(u64::from(u32::MAX) - 1) // the maximum number of vertices
}

impl Matrix {
    /// Parses the first line; the sizes are still missing.
    pub fn of_banner(line: &[u8]) -> Result<Self, Fault> {
        let fault = Fault { problem: Problem::NotAMatrix, start: 0, end: line.len() };
        let lower = line.to_ascii_lowercase();
        let words: Vec<&[u8]> =
            lower.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
        let [banner, object, layout, values, symmetry] = words[..] else { return Err(fault) };
        if !banner.eq_ignore_ascii_case(BANNER) || object != b"matrix" || layout != b"coordinate" {
            return Err(fault);
        }
        let values = match values {
            b"pattern" => Values::None,
            b"integer" => Values::Whole,
            b"real" => Values::Real,
            _ => return Err(fault),
        };
        let symmetry = match symmetry {
            b"general" => Symmetry::None,
            b"symmetric" => Symmetry::Symmetric,
            b"skew-symmetric" if values != Values::None => Symmetry::Skew,
            _ => return Err(fault),
        };
        Ok(Matrix { values, symmetry, size: 0, entries: 0 })
    }

    /// Adds the sizes of the first line that is not a comment.
    pub fn with_sizes(self, line: &[u8]) -> Result<Self, Fault> {
        let whole = |problem| Fault { problem, start: 0, end: line.len() };
        let mut fields = Fields::new(line);
        let mut number = || fields.key::<u64>().ok().flatten().ok_or(whole(Problem::NotSizes));
        let (rows, columns, entries) = (number()?, number()?, number()?);
        if fields.next().is_some() {
            return Err(whole(Problem::NotSizes));
        }
        if rows != columns {
            return Err(whole(Problem::NotSquare));
        }
        let limit = most_rows(entries);
        if rows > limit {
            return Err(whole(Problem::TooManyRows { limit }));
        }
        Ok(Matrix { size: rows, entries, ..self })
    }

    /// The problem of an entry with too many or too few columns.
    pub fn columns_problem(&self) -> Problem {
        match self.values {
            Values::None => Problem::NotAPatternEntry,
            Values::Whole | Values::Real => Problem::NotAnEntry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_say_what_the_entries_are() {
        let matrix = Matrix::of_banner(b"%%matrixmarket MATRIX coordinate Integer skew-symmetric ").unwrap();
        assert_eq!((matrix.values, matrix.symmetry), (Values::Whole, Symmetry::Skew));
        let matrix = matrix.with_sizes(b" 4 4\t6").unwrap();
        assert_eq!((matrix.size, matrix.entries), (4, 6));
        for line in [
            "%%MatrixMarket",
            "%%MatrixMarket matrix coordinate real",
            "%%MatrixMarket matrix array real general",
            "%%MatrixMarket matrix coordinate complex general",
            "%%MatrixMarket matrix coordinate real hermitian",
            "%%MatrixMarket matrix coordinate pattern skew-symmetric",
            "%%MatrixMarket vector coordinate real general",
            "%%MatrixMarket matrix coordinate real general more",
            "1 2 3",
            "",
        ] {
            assert_eq!(
                Matrix::of_banner(line.as_bytes()).unwrap_err().problem,
                Problem::NotAMatrix,
                "{line}"
            );
        }
    }

    #[test]
    fn sizes_are_three_numbers_of_a_square_that_is_not_empty_space() {
        let matrix = Matrix::of_banner(b"%%MatrixMarket matrix coordinate pattern general").unwrap();
        let problem = |line: &str| matrix.with_sizes(line.as_bytes()).unwrap_err().problem;
        for line in ["3 3", "3 3 x", "-3 3 3", "3 3 3 3", "3 3 1.5", "18446744073709551616 1 1"] {
            assert_eq!(problem(line), Problem::NotSizes, "{line}");
        }
        assert_eq!(problem("3 4 5"), Problem::NotSquare);
        assert_eq!(problem("1048577 1048577 0"), Problem::TooManyRows { limit: 1 << 20 });
        let most = u64::from(u32::MAX) - 1;
        assert!(matrix.with_sizes(format!("{most} {most} {}", u64::MAX).as_bytes()).is_ok());
        assert_eq!(problem("4294967295 4294967295 4294967295"), Problem::TooManyRows { limit: most });
    }
}
