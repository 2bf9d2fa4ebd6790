//! Stores whose newest commit is dated in the future.

use crate::common::Folder;
use hedgerow::{GraphOptions, LabelId, ManualClock, WriteGraph};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[test]
fn a_store_that_is_ahead_of_the_clock_is_noted_and_read() {
    let folder = Folder::new();
    let clock = ManualClock::default();
    let options = GraphOptions::new().clock(&clock);
    let graph = options.create(folder.path("store")).unwrap();
    clock.set(1_000_000);
    graph.put_edge(LabelId::DEFAULT, 1, 2).unwrap();
    // No machine that runs this test has such a clock.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    clock.set((now + Duration::from_secs(3600)).as_micros() as u64);
    graph.put_edge(LabelId::DEFAULT, 1, 3).unwrap();
    graph.close().unwrap();

    let noted = |arguments: &str| {
        let output = folder.hedgerow(arguments).success().get_output().clone();
        let (text, note) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(note.starts_with("note: the newest commit in store carries a time"), "{note}");
        text
    };
    let later = (now + Duration::from_secs(1800)).as_micros();
    assert_eq!(noted("neighbors 1 --store store").lines().count(), 2);
    assert_eq!(noted(&format!("neighbors 1 --store store --as-of-time {later}")).lines().count(), 2);
    assert_eq!(noted("neighbors 1 --store store --as-of 1").lines().count(), 1);
    noted("put edge 1 4 --store store");
    let refused = ["ahead of this machine's clock", "open the state after a commit"];
    folder.fails("neighbors 1 --store store --as-of-time 2000000", 3, &refused);
}
