//! Results of readers, which must be equal on every engine, or the run fails.

use crate::Failure;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The comparable part of a reader's result.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A number that must be equal.
    Exact(u64),
    /// Numbers that may differ by rounding: sums of the same terms in another order.
    Ranks(Vec<f64>),
}

/// Tolerance for the sum of all differences of ranks, whose sum is 1.
const RANKS_TOLERANCE: f64 = 1e-9;

impl Answer {
    /// A list, represented by its hash.
    #[must_use]
    pub fn hashed(list: &impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        list.hash(&mut hasher);
        Answer::Exact(hasher.finish())
    }

    fn agrees(&self, other: &Answer) -> bool {
        match (self, other) {
            (Answer::Exact(one), Answer::Exact(other)) => one == other,
            (Answer::Ranks(one), Answer::Ranks(other)) => {
                let difference: f64 = one.iter().zip(other).map(|(one, other)| (one - other).abs()).sum();
                one.len() == other.len() && difference < RANKS_TOLERANCE
            }
            _ => false,
        }
    }

    fn describe(&self) -> String {
        match self {
            Answer::Exact(number) => number.to_string(),
            Answer::Ranks(ranks) => format!("ranks that sum to {}", ranks.iter().sum::<f64>()),
        }
    }
}

/// The first answer to each question, with which all later answers must agree.
#[derive(Debug, Default)]
pub(crate) struct Answers(HashMap<String, Answer>);

impl Answers {
    pub(crate) fn check(&mut self, what: &str, answer: Answer) -> Result<(), Failure> {
        match self.0.entry(what.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(answer);
                Ok(())
            }
            Entry::Occupied(entry) if entry.get().agrees(&answer) => Ok(()),
            Entry::Occupied(entry) => {
                let (found, expected) = (answer.describe(), entry.get().describe());
                Err(Failure::WrongResult { what: what.to_owned(), found, expected })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_number_is_refused_and_another_rounding_is_not() {
        let mut answers = Answers::default();
        answers.check("sum", Answer::Exact(5)).unwrap();
        answers.check("sum", Answer::Exact(5)).unwrap();
        let error = answers.check("sum", Answer::Exact(6)).unwrap_err().to_string();
        assert!(error.contains("sum is 6 where 5"), "{error}");

        answers.check("ranks", Answer::Ranks(vec![0.5, 0.5])).unwrap();
        answers.check("ranks", Answer::Ranks(vec![0.5 + 1e-12, 0.5])).unwrap();
        assert!(answers.check("ranks", Answer::Ranks(vec![0.6, 0.4])).is_err());
        assert!(answers.check("ranks", Answer::Ranks(vec![0.5])).is_err());
        assert!(answers.check("ranks", Answer::Exact(1)).is_err());
    }
}
