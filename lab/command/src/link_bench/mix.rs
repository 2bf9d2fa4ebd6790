//! The operations, and their frequencies.

use super::LinkBenchError;

/// The default maximum number of links in a list.
const LIST_LIMIT: usize = 10_000;

/// An operation on a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A node is added.
    AddNode,
    /// The version, time and data of a node are replaced, if it was not deleted.
    UpdateNode,
    /// A node is deleted. Its links stay.
    DeleteNode,
    /// A node is read.
    GetNode,
    /// A link is put, whether it exists or not.
    AddLink,
    /// A link is deleted.
    DeleteLink,
    /// A link that mostly exists is put again.
    UpdateLink,
    /// The links of a node are counted.
    CountLinks,
    /// One or several links of a node are read.
    GetLinks,
    /// The newest links of a node are read.
    ListLinks,
}

impl Operation {
    /// All operations.
    pub const ALL: [Operation; 10] = [
        Operation::AddNode,
        Operation::UpdateNode,
        Operation::DeleteNode,
        Operation::GetNode,
        Operation::AddLink,
        Operation::DeleteLink,
        Operation::UpdateLink,
        Operation::CountLinks,
        Operation::GetLinks,
        Operation::ListLinks,
    ];

    /// Returns true if the operation changes the store.
    #[must_use]
    pub fn is_write(self) -> bool {
        !matches!(
            self,
            Operation::GetNode | Operation::CountLinks | Operation::GetLinks | Operation::ListLinks
        )
    }
}

/// The frequencies of the operations.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Shares in the order of [`Operation::ALL`]; their sum is 1.
    shares: [f64; Operation::ALL.len()],
    older: f64,
    list_limit: usize,
}

/// The mix of LinkBench: 69 % reads.
impl Default for Mix {
    fn default() -> Self {
        let percent = |operation| match operation {
            Operation::AddNode => 2.573_278_9,
            Operation::UpdateNode => 7.366_437,
            Operation::DeleteNode => 1.011_591_4,
            Operation::GetNode => 12.932_668_3,
            Operation::AddLink => 8.988_660_1,
            Operation::DeleteLink => 2.990_766_4,
            Operation::UpdateLink => 8.012_212_5,
            Operation::CountLinks => 4.886_356_7,
            Operation::GetLinks => 0.526_114_2,
            Operation::ListLinks => 50.711_914_5,
        };
        Mix::of(percent, 0.003)
    }
}

impl Mix {
    /// The mix of Facebook's caches in front of the graph of LinkBench: 99.8 % reads ("TAO:
    /// Facebook's Distributed Data Store for the Social Graph", USENIX ATC 2013, figure 3). A link
    /// that changes its type counts as an update.
    #[must_use]
    pub fn tao() -> Self {
        let (reads, writes) = (0.998, 0.002);
        // Lists, some of them limited to a range of time.
        let (range, time_range) = (40.9, 2.8);
        let weight = |operation| match operation {
            Operation::GetLinks => reads * 15.7,
            Operation::ListLinks => reads * (range + time_range),
            Operation::CountLinks => reads * 11.7,
            Operation::GetNode => reads * 28.9,
            Operation::AddLink => writes * 52.5,
            Operation::DeleteLink => writes * 8.3,
            Operation::UpdateLink => writes * 0.9,
            Operation::AddNode => writes * 16.5,
            Operation::UpdateNode => writes * 20.7,
            Operation::DeleteNode => writes * 2.0,
        };
        let mix = Mix::of(weight, time_range / (range + time_range));
        // The figures of writes are rounded, and add up to a little more than 100.
        mix.scaled(writes)
    }

    fn of(weight: impl Fn(Operation) -> f64, older: f64) -> Self {
        let weights = Operation::ALL.map(weight);
        let total: f64 = weights.iter().sum();
        Mix { shares: weights.map(|weight| weight / total), older, list_limit: LIST_LIMIT }
    }

    /// Changes the share of writes, from 0 to 1. The ratios among reads and among writes stay.
    ///
    /// # Errors
    /// The number is not a share.
    pub fn with_writes(&self, share: f64) -> Result<Self, LinkBenchError> {
        if !(0.0..=1.0).contains(&share) {
            return Err(LinkBenchError::WriteShare(share));
        }
        Ok(self.scaled(share))
    }

    fn scaled(&self, writes: f64) -> Self {
        let before = self.writes();
        let scaled = |operation: Operation| {
            let scale = if operation.is_write() { writes / before } else { (1.0 - writes) / (1.0 - before) };
            self.share(operation) * scale
        };
        Mix { list_limit: self.list_limit, ..Mix::of(scaled, self.older) }
    }

    /// Changes the maximum number of links in a list, 10,000 by default.
    #[must_use]
    pub fn with_list_limit(&self, limit: usize) -> Self {
        Mix { list_limit: limit, ..self.clone() }
    }

    /// The maximum number of links in a list.
    #[must_use]
    pub fn list_limit(&self) -> usize {
        self.list_limit
    }

    /// The share of an operation in all requests.
    #[must_use]
    pub fn share(&self, operation: Operation) -> f64 {
        self.shares[operation as usize]
    }

    /// The share of writes in all requests.
    #[must_use]
    pub fn writes(&self) -> f64 {
        let writes = Operation::ALL.into_iter().filter(|operation| operation.is_write());
        writes.map(|operation| self.share(operation)).sum()
    }

    /// The share of lists that begin at a time in the past instead of now.
    #[must_use]
    pub fn older(&self) -> f64 {
        self.older
    }

    pub(super) fn shares(&self) -> &[f64] {
        &self.shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-6
    }

    #[test]
    fn operations_are_where_their_numbers_say() {
        for (position, operation) in Operation::ALL.into_iter().enumerate() {
            assert_eq!(operation as usize, position, "{operation:?}");
        }
    }

    #[test]
    fn shares_add_up_and_are_those_that_were_published() {
        let mix = Mix::default();
        assert!(close(mix.writes(), 0.309_429_463), "{}", mix.writes());
        assert!(close(mix.share(Operation::ListLinks), 0.507_119_145));
        let tao = Mix::tao();
        assert!(close(tao.writes(), 0.002), "{}", tao.writes());
        assert!(close(tao.share(Operation::GetNode), 0.998 * 0.289));
        for mix in [mix, tao] {
            assert!(close(mix.shares.iter().sum(), 1.0));
        }
    }

    #[test]
    fn another_share_of_writes_leaves_both_sides_as_they_are() {
        let mix = Mix::default();
        for share in [0.0, 0.25, 0.75, 1.0] {
            let other = mix.with_writes(share).unwrap();
            assert!(close(other.writes(), share));
            let ratio = |mix: &Mix, one, other| mix.share(one) / mix.share(other);
            if share > 0.0 {
                let (one, two) = (Operation::AddLink, Operation::DeleteNode);
                assert!(close(ratio(&other, one, two), ratio(&mix, one, two)));
            }
            if share < 1.0 {
                let (one, two) = (Operation::ListLinks, Operation::GetNode);
                assert!(close(ratio(&other, one, two), ratio(&mix, one, two)));
            }
        }
        let short = mix.with_list_limit(7).with_writes(0.5).unwrap();
        assert_eq!((mix.list_limit(), short.list_limit()), (10_000, 7));
        for share in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(mix.with_writes(share), Err(LinkBenchError::WriteShare(_))), "{share}");
        }
    }
}
