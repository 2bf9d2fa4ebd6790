//! Clients of a store, each on its own thread, sending one request after the other.

use super::{Request, Requests, Served};
use hedgerow::kernels::CancelToken;
use hedgerow_driver::Failure;
use hedgerow_driver::monitor::Latencies;
use hedgerow_driver::watch::check;
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Minimum number of requests of all clients together, even in a short time, so that there are
/// reads and writes.
const LEAST_REQUESTS: usize = 64;

/// The measurements of clients.
#[derive(Debug)]
pub struct Measured {
    elapsed: Duration,
    /// Latencies of reads.
    pub reads: Latencies,
    /// Latencies of writes.
    pub writes: Latencies,
    /// Everything found, added and removed.
    pub served: Served,
}

impl Measured {
    fn nothing() -> Self {
        let (reads, writes) = (Latencies::new(), Latencies::new());
        Measured { elapsed: Duration::ZERO, reads, writes, served: Served::default() }
    }

    /// Latencies of reads and writes together.
    pub fn latencies(&self) -> Latencies {
        let mut latencies = self.reads.clone();
        latencies.merge(&self.writes);
        latencies
    }

    fn requests(&self) -> u64 {
        self.reads.count() + self.writes.count()
    }

    /// Requests per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.requests() as f64 / self.elapsed.as_secs_f64()
    }

    fn note(&mut self, is_write: bool, latency: Duration, served: Served) {
        let latencies = if is_write { &mut self.writes } else { &mut self.reads };
        latencies.record(latency);
        self.served += served;
    }

    fn merge(&mut self, other: &Measured) {
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.served += other.served;
    }
}

/// Runs one client per element of `requests` until the closure `beside` returns, or a little
/// longer.
///
/// # Errors
/// The errors of `serve` and `beside`, a thread that cannot be started, and cancellation.
pub fn run<T, E: From<Failure> + Send>(
    requests: Vec<Requests<'_>>,
    serve: impl Fn(&Request<'_>) -> Result<Served, E> + Sync,
    cancel: &CancelToken,
    beside: impl FnOnce() -> Result<T, E>,
) -> Result<(Measured, T), E> {
    let (stop, serve) = (&AtomicBool::new(false), &serve);
    let least = LEAST_REQUESTS.div_ceil(requests.len().max(1)) as u64;
    // Histograms are large: allocate them before the measurement.
    let clients: Vec<_> = requests.into_iter().map(|requests| (requests, Measured::nothing())).collect();
    let (mut measured, begin) = (Measured::nothing(), Instant::now());
    let (seen, result) = thread::scope(|scope| {
        let start = |(requests, seen)| {
            let client = move || client(requests, seen, serve, (stop, least), cancel);
            thread::Builder::new().spawn_scoped(scope, client)
        };
        let started: Result<Vec<_>, _> = clients.into_iter().map(start).collect();
        let result = beside();
        // Stop the clients even if `beside` failed.
        stop.store(true, Ordering::Release);
        let join = |client: thread::ScopedJoinHandle<'_, _>| {
            client.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
        };
        let started = started.map_err(Failure::from)?;
        let seen = started.into_iter().map(join).collect::<Result<Vec<Measured>, E>>()?;
        Ok::<_, E>((seen, result?))
    })?;
    measured.elapsed = begin.elapsed();
    seen.iter().for_each(|seen| measured.merge(seen));
    Ok((measured, result))
}

/// Sends requests until it is stopped, but at least a minimum number. Latencies exclude the time of
/// making requests.
fn client<E: From<Failure>>(
    mut requests: Requests<'_>,
    mut seen: Measured,
    serve: &impl Fn(&Request<'_>) -> Result<Served, E>,
    (stop, least): (&AtomicBool, u64),
    cancel: &CancelToken,
) -> Result<Measured, E> {
    let (epoch, began) = (now(), Instant::now());
    let mut finished = began;
    loop {
        let time = epoch + (finished - began).as_micros() as i64;
        let request = requests.next_request(time);
        let started = Instant::now();
        let served = serve(&request)?;
        finished = Instant::now();
        seen.note(request.operation().is_write(), finished - started, served);
        check(cancel)?;
        if stop.load(Ordering::Acquire) && seen.requests() >= least {
            return Ok(seen);
        }
    }
}

/// Microseconds since 1970-01-01 UTC.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_micros() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link_bench::{BaseGraph, Content, Mix, Operation};
    use hedgerow::VertexId;
    use hedgerow_sync::Mutex;

    /// Four clients of a graph of ten nodes and one link.
    fn asked(
        serve: impl Fn(&Request<'_>) -> Result<Served, Failure> + Sync,
        cancel: &CancelToken,
        time: Duration,
    ) -> Result<Measured, Failure> {
        let (offsets, ends) = ([0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [VertexId::new(5)]);
        let (base, content) = (BaseGraph::new(&offsets, &ends).unwrap(), Content::new(1));
        let client = |client| Requests::new(base, &content, &Mix::default(), 1, client);
        let beside = || {
            thread::sleep(time);
            Ok(())
        };
        run((0..4).map(client).collect(), serve, cancel, beside).map(|(measured, ())| measured)
    }

    #[test]
    fn every_request_is_timed_and_counted_and_reads_are_kept_from_writes() {
        let operations = Mutex::new(Vec::new());
        let serve = |request: &Request<'_>| {
            let operation = request.operation();
            operations.lock().push(operation);
            Ok(Served { links_added: u64::from(operation == Operation::AddLink), ..Served::default() })
        };
        let measured = asked(serve, &CancelToken::new(), Duration::from_millis(20)).unwrap();
        let operations = std::mem::take(&mut *operations.lock());
        let writes = operations.iter().filter(|operation| operation.is_write()).count() as u64;
        assert_eq!(measured.writes.count(), writes);
        assert_eq!(measured.reads.count(), operations.len() as u64 - writes);
        assert_eq!(measured.latencies().count(), operations.len() as u64);
        let added = operations.iter().filter(|operation| **operation == Operation::AddLink).count();
        assert_eq!(measured.served.links_added, added as u64);
        assert!(measured.elapsed >= Duration::from_millis(20) && measured.rate() > 0.0);
    }

    #[test]
    fn clients_ask_some_times_at_least() {
        let served = |_: &Request<'_>| Ok(Served { found: 1, ..Served::default() });
        let measured = asked(served, &CancelToken::new(), Duration::ZERO).unwrap();
        assert!(measured.served.found >= LEAST_REQUESTS as u64);
        assert_eq!(measured.latencies().count(), measured.served.found);
    }

    #[test]
    fn a_client_that_fails_and_a_run_that_is_stopped_end_the_others() {
        let wrong = || Failure::WrongResult {
            what: "a link".to_owned(),
            found: "one".to_owned(),
            expected: "another".to_owned(),
        };
        let failing = |request: &Request<'_>| match request.operation() {
            Operation::AddLink => Err(wrong()),
            _ => Ok(Served::default()),
        };
        let failed = asked(failing, &CancelToken::new(), Duration::from_millis(20));
        assert!(matches!(failed, Err(Failure::WrongResult { .. })));

        let cancel = CancelToken::new();
        cancel.cancel();
        let stopped = asked(|_| Ok(Served::default()), &cancel, Duration::ZERO);
        assert!(matches!(stopped, Err(Failure::Cancelled)));
    }
}
