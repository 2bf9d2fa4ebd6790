//! The checker's protocol: one line of JSON per transaction, and one per answer.

use serde::{Deserialize, Serialize};

/// A transaction from the checker: `{"value":[["append",3,7],["r",4,null]]}`.
#[derive(Debug, Deserialize)]
pub struct Request {
    /// The steps of the transaction, in order.
    pub value: Vec<MicroOperation>,
}

/// A step of a transaction.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "(String, u64, Option<i64>)")]
pub enum MicroOperation {
    /// Appends an element to a list.
    Append {
        /// The list.
        list: u64,
        /// The element, unique in its list.
        element: i64,
    },
    /// Reads a whole list.
    Read {
        /// The list.
        list: u64,
    },
}

impl MicroOperation {
    /// The list that the operation reads or appends to.
    pub fn list(self) -> u64 {
        match self {
            MicroOperation::Append { list, .. } | MicroOperation::Read { list } => list,
        }
    }

    /// Returns true if the operation changes the list.
    pub fn is_append(self) -> bool {
        matches!(self, MicroOperation::Append { .. })
    }
}

impl TryFrom<(String, u64, Option<i64>)> for MicroOperation {
    type Error = String;

    fn try_from((name, list, element): (String, u64, Option<i64>)) -> Result<Self, String> {
        match (name.as_str(), element) {
            ("append", Some(element)) => Ok(MicroOperation::Append { list, element }),
            ("r", None) => Ok(MicroOperation::Read { list }),
            _ => Err(format!("{name:?} with {element:?} is neither an append nor a read")),
        }
    }
}

/// The outcome of a transaction.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Answer {
    /// The transaction committed.
    Ok {
        /// The steps, with the values read.
        value: Vec<Answered>,
    },
    /// The transaction certainly changed nothing.
    Fail {
        /// The reason.
        error: String,
    },
    /// The outcome is unknown.
    Info {
        /// The reason.
        error: String,
    },
}

/// A step of a committed transaction: its name, its list, and the element appended or the elements
/// read.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Answered {
    /// An append.
    Append(&'static str, u64, i64),
    /// A read.
    Read(&'static str, u64, Vec<i64>),
}

impl Answered {
    /// The answer to an append.
    pub fn append(list: u64, element: i64) -> Self {
        Answered::Append("append", list, element)
    }

    /// The answer to a read.
    pub fn read(list: u64, elements: Vec<i64>) -> Self {
        Answered::Read("r", list, elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_are_those_of_the_checker() {
        let request: Request =
            serde_json::from_str(r#"{"value":[["append",3,7],["r",4,null]]}"#).expect("a request");
        let expected = [MicroOperation::Append { list: 3, element: 7 }, MicroOperation::Read { list: 4 }];
        assert_eq!(request.value, expected);
        assert!(serde_json::from_str::<Request>(r#"{"value":[["w",3,7]]}"#).is_err());
        let answer = Answer::Ok { value: vec![Answered::append(3, 7), Answered::read(4, vec![1, 7])] };
        let line = serde_json::to_string(&answer).expect("an answer");
        assert_eq!(line, r#"{"type":"ok","value":[["append",3,7],["r",4,[1,7]]]}"#);
    }
}
