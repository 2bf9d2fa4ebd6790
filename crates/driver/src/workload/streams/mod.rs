//! A program that follows a graph: how fast it pulls, what it costs a writer, and how soon it knows
//! of a commit.
//!
//! | file | content |
//! |---|---|
//! | `subject.rs` | a graph, its writer and its subscription |
//! | `components.rs` | components of a stream of edges |

mod components;
mod subject;

use crate::bench::{Bench, Turn};
use crate::data_set::Entry;
use crate::expected::seconds;
use crate::monitor::Latencies;
use crate::{Failure, Workload};
use components::Components;
use hedgerow::{EngineKind, SubscribeOptions};
use subject::{Place, Subject, Way};

pub(super) static WORKLOAD: Workload = Workload {
    name: "streams",
    description: "changes pulled by a subscription, after a writer and beside it",
    contract_metric: "throughput",
    is_default: false,
    is_on_store: true,
    scales: false,
    seconds: |settings, entries| 16.0 * seconds(settings.streamed_edges().min(entries), 1.0),
    measure,
};

const WRITER: &str = "the writer of the stream";
const ALONE: &str = "the writer without a subscription";

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let stream = bench.data.stream();
    let entries = &stream[..stream.len().min(bench.settings.streamed_edges())];
    for place in [Place::Memory, Place::Store] {
        for (turn, kind) in bench.turns_with_stores() {
            if place == Place::Memory && kind.owns_files() {
                continue;
            }
            for way in [Way::Stream, Way::ByCall] {
                bench.begin(turn, &format!(" {place}, {way}"))?;
                match way {
                    Way::Stream => streamed(bench, turn, kind, place, entries)?,
                    _ => by_call(bench, turn, kind, place, entries)?,
                }
            }
        }
    }
    Ok(())
}

/// The rates of a stream: of its writer, of a subscription afterwards, and of both at a time.
fn streamed(
    bench: &mut Bench<'_>,
    turn: Turn,
    kind: EngineKind,
    place: Place,
    entries: &[Entry],
) -> Result<(), Failure> {
    let subject = || Subject::new(bench, kind, place, &SubscribeOptions::new().keep_bytes(u64::MAX));
    let rate = |seconds: f64| entries.len() as f64 / seconds;

    let alone = rate(subject()?.write_alone(entries, Way::Stream)?);
    let keeps_all = SubscribeOptions::new().memory(usize::MAX).keep_bytes(u64::MAX);
    let mut backlog = Subject::new(bench, kind, place, &keeps_all)?;
    let written = rate(backlog.write(entries, Way::Stream)?);
    let pulled = rate(backlog.pull(entries.len(), |_| {})?);
    drop(backlog);

    let (writer, _) = subject()?.write_and_pull(entries, Way::Stream, |_, _| {})?;
    let mut components = Components::new(bench.data.vertices());
    let (_, until_pulled) =
        subject()?.write_and_pull(entries, Way::Stream, |changes, _| components.add(changes))?;
    components.check(entries)?;

    let ending = place.ending();
    let (writer, components) = (rate(writer), rate(until_pulled));
    for (metric, rate, baseline) in [
        ("throughput", pulled, (WRITER, written)),
        ("throughput-components", components, (WRITER, written)),
        ("writer-throughput", writer, (ALONE, alone)),
        ("writer-throughput-unpulled", written, (ALONE, alone)),
    ] {
        bench.record_against(turn, &format!("{metric}{ending}"), "edges/s", rate, baseline);
    }
    bench.record(turn, format!("writer-throughput-alone{ending}"), "edges/s", alone);
    Ok(())
}

/// The rate of a writer by single calls, and the time from each call to the subscription.
fn by_call(
    bench: &mut Bench<'_>,
    turn: Turn,
    kind: EngineKind,
    place: Place,
    entries: &[Entry],
) -> Result<(), Failure> {
    let options = SubscribeOptions::new().undurable(true).keep_bytes(u64::MAX);
    let subject = || Subject::new(bench, kind, place, &options);
    let rate = |seconds: f64| entries.len() as f64 / seconds;
    let alone = rate(subject()?.write_alone(entries, Way::ByCall)?);
    let mut at_full_speed = Latencies::new();
    let (writer, _) = subject()?.write_and_pull(entries, Way::ByCall, |changes, times| {
        times.since_calls(changes).for_each(|latency| at_full_speed.record(latency));
    })?;
    let some = &entries[..entries.len().min(bench.settings.paused_edges())];
    let mut with_pauses = Latencies::new();
    subject()?.write_and_pull(some, Way::WithPauses, |changes, times| {
        times.since_calls(changes).for_each(|latency| with_pauses.record(latency));
    })?;

    let ending = place.ending();
    let metric = format!("writer-throughput-by-call{ending}");
    bench.record_against(turn, &metric, "edges/s", rate(writer), (ALONE, alone));
    for (latencies, of) in [(at_full_speed, ""), (with_pauses, "-with-pauses")] {
        for (metric, value) in latencies.percentiles() {
            bench.record(turn, format!("{metric}{of}{ending}"), "ns", value);
        }
    }
    Ok(())
}
