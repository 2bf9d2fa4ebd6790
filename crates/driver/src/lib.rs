//! The test driver: one set of workloads for every engine, measured side by side. Other programs
//! add their own engines and workloads to its lists.
//!
//! Modeled on the test driver of "Revisiting the Design of In-Memory Dynamic Graph Storage"
//! (section 5.2): a generator of workloads, an executor that runs the same loops on every engine,
//! and a monitor of throughput, latency and memory. Every engine is measured in one process and one
//! run, repetitions take turns over the engines, and every median is compared with the static
//! CSR's. `docs/bench.md` describes each workload and its fairness.
//!
//! | file | what it does |
//! |---|---|
//! | `engines` | the engines and their names |
//! | `data_set/` | graphs by name or from a file, as shuffled streams of adjacency entries |
//! | `settings` | the settings of a run: engines, workloads, extent |
//! | `expected` | the expected duration of a run |
//! | `bench`, `run` | workloads and the state that they share; running them in order |
//! | `workload/` | one file per workload, and the list of all |
//! | `load`, `weighted` | filling an engine, without and with weights |
//! | `monitor` | times, latencies and resident memory |
//! | `stores`, `disk` | the folders of workloads on stores; the speed of the disk alone |
//! | `samples`, `statistics`, `answers` | measured figures, their medians; results that must agree |
//! | `report/` | rows with ratios, as JSON and as a table |
//!
//! ```
//! use hedgerow_driver::{DataSet, ENGINES, Engine, Settings, WORKLOADS, Watch, Workload};
//!
//! let data = DataSet::named("kron-6", 1, &Watch::default())?;
//! let settings = Settings {
//!     engines: vec![Engine::named("rapid", ENGINES)?],
//!     workloads: vec![Workload::named("scan-ordered", WORKLOADS)?],
//!     ..Settings::quick()
//! };
//! let report = hedgerow_driver::run(&data, &settings, &Watch::default())?;
//! assert!(report.results.iter().any(|row| row.engine == "rapid" && row.ratio_to_csr.is_some()));
//! # Ok::<(), hedgerow_driver::BenchError>(())
//! ```

mod answers;
mod bench;
mod data_set;
mod disk;
mod engines;
mod error;
pub mod expected;
pub mod load;
pub mod monitor;
mod report;
mod run;
mod samples;
mod settings;
mod statistics;
mod stores;
pub mod watch;
mod weighted;
mod workload;

pub use answers::Answer;
pub use bench::{Bench, Turn, Workload, pool};
pub use data_set::{DataSet, Entry};
pub use engines::{ENGINES, Engine};
pub use error::{BenchError, Failure};
pub use report::{Build, DataSetFacts, Machine, Report, Row};
pub use run::run;
pub use settings::{Extent, Settings};
pub use stores::{StoreFacts, TemporaryStore};
pub use watch::{Step, Watch};
pub use workload::{WORKLOADS, kernels, scan};
