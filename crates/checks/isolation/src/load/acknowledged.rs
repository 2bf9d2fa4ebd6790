//! Acknowledgements of a process before it is killed: lines on its output, which its parent keeps.

use hedgerow::CommitTimestamp;
use std::fmt;

/// A result of the graph that a process acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// The store is open.
    Open,
    /// A client's commits up to `number` have returned, none of them with a timestamp after `at`.
    Committed {
        /// The client.
        client: u64,
        /// The client's last commit.
        number: u64,
        /// The position of that commit in the order of commits, or a later one.
        at: CommitTimestamp,
        /// The count that the commit reached in the shared ledger, if it counted there.
        chained: Option<u64>,
    },
    /// Every commit up to this one is permanent: a flush or a checkpoint has returned.
    Durable(CommitTimestamp),
}

impl Acknowledged {
    /// Parses a line; `None` if it is not an acknowledgement.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let kind = words.next()?;
        let numbers: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().ok()?;
        match (kind, &numbers[..]) {
            ("open", []) => Some(Acknowledged::Open),
            ("durable", &[at]) => Some(Acknowledged::Durable(CommitTimestamp(at))),
            ("committed", &[client, number, at, ref chained @ ..]) if chained.len() < 2 => {
                let chained = chained.first().copied();
                Some(Acknowledged::Committed { client, number, at: CommitTimestamp(at), chained })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Acknowledged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Acknowledged::Open => f.write_str("open"),
            Acknowledged::Durable(at) => write!(f, "durable {at}"),
            Acknowledged::Committed { client, number, at, chained } => {
                write!(f, "committed {client} {number} {at}")?;
                chained.map_or(Ok(()), |position| write!(f, " {position}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let at = CommitTimestamp(7);
        for line in [
            Acknowledged::Open,
            Acknowledged::Durable(at),
            Acknowledged::Committed { client: 1, number: 2, at, chained: None },
            Acknowledged::Committed { client: 1, number: 2, at, chained: Some(3) },
        ] {
            assert_eq!(Acknowledged::parse(&line.to_string()), Some(line));
        }
        assert_eq!(Acknowledged::parse("committed 1 2"), None);
        assert_eq!(Acknowledged::parse("committed 1 2 3 4 5"), None);
    }
}
