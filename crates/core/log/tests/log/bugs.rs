//! The tests find each planted bug within a thousand seeds.

use crate::cuts::store_of;
use crate::damage::{Kind, damage_one, leave_remains};
use crate::failures::fail_operations;
use crate::power::lose_power;
use crate::workload::Sessions;
use hedgerow_log::planted::{PlantedBug, plant};
use hedgerow_testing::sample::Sample;
use hedgerow_testing::simulated::FaultKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The test that finds a bug.
#[derive(Clone, Copy, Debug)]
enum Search {
    Power,
    PowerInShortSessions,
    Failures(FaultKind),
    Damage(Kind),
    Remains,
}

/// The search and the seed that find each bug.
const FOUND: [(PlantedBug, Search, u64); 21] = [
    (PlantedBug::SkipSync, Search::Power, 0),
    (PlantedBug::AcknowledgeEarly, Search::Power, 0),
    (PlantedBug::SkipSyncAtRoll, Search::Power, 2),
    (PlantedBug::ListSegmentLate, Search::Power, 0),
    (PlantedBug::SkipDirectorySync, Search::Power, 0),
    (PlantedBug::SkipManifestSync, Search::Power, 0),
    (PlantedBug::OverwriteManifest, Search::Power, 0),
    (PlantedBug::RemoveBeforeManifest, Search::Power, 2),
    (PlantedBug::PruneTooMuch, Search::Power, 1),
    (PlantedBug::IgnoreChecksum, Search::Damage(Kind::Closed), 0),
    (PlantedBug::UnboundChecksum, Search::Remains, 0),
    (PlantedBug::CutDamage, Search::Damage(Kind::WithoutMark), 0),
    (PlantedBug::SkipSyncInRecovery, Search::Power, 10),
    (PlantedBug::LeaveTornTail, Search::Power, 0),
    (PlantedBug::RetrySync, Search::Failures(FaultKind::Device), 0),
    (PlantedBug::IgnoreWriteError, Search::Failures(FaultKind::NoSpace), 0),
    (PlantedBug::IgnoreShortWrite, Search::Failures(FaultKind::Short), 0),
    (PlantedBug::ClaimTooMuch, Search::Power, 2),
    (PlantedBug::MarkEarly, Search::Power, 0),
    (PlantedBug::SkipSyncOfJoined, Search::PowerInShortSessions, 0),
    (PlantedBug::JoinUnannounced, Search::PowerInShortSessions, 0),
];

/// Returns true if a search finds a problem.
fn finds(search: Search, seed: u64) -> bool {
    let run = || match search {
        Search::Power => lose_power(seed, Sessions::Long, 60, 2, &Sample::ALL).map(drop),
        Search::PowerInShortSessions => lose_power(seed, Sessions::Short, 60, 2, &Sample::ALL).map(drop),
        Search::Failures(kind) => {
            fail_operations(seed, Sessions::Long, 40, kind, false, &Sample::ALL).map(drop)
        }
        Search::Damage(kind) => {
            let intact = kind.store();
            (0..500).try_for_each(|case| damage_one(&intact, seed * 500 + case, kind).map(drop))
        }
        Search::Remains => {
            let intact = store_of(60, false);
            (0..100).try_for_each(|case| leave_remains(&intact, seed * 100 + case))
        }
    };
    !matches!(catch_unwind(AssertUnwindSafe(run)), Ok(Ok(())))
}

#[test]
fn planted_bugs_are_found() {
    for (bug, search, seed) in FOUND {
        assert!(!finds(search, seed), "{search:?} with seed {seed} finds something without a bug");
        plant(Some(bug));
        let found = finds(search, seed);
        plant(None);
        assert!(found, "{bug:?} is not found by {search:?} with seed {seed}");
    }
}

/// Searches for the first seed that finds each bug.
#[test]
#[ignore = "takes minutes; prints the table above"]
fn search_for_planted_bugs() {
    for (bug, search, _) in FOUND {
        plant(Some(bug));
        let seed = (0..1000).find(|seed| finds(search, *seed));
        plant(None);
        eprintln!("{bug:?}: {search:?} {seed:?}");
        assert!(seed.is_some(), "{bug:?}");
    }
}
