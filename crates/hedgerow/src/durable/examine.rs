//! Checks and repairs of stores. Both read the store as opening it does, into a graph that is
//! thrown away.

use crate::engine_kind::EngineKind;
use crate::engines::TypedStore;
use crate::error::Error;
use crate::options::GraphOptions;
use hedgerow_log::files::{EngineFiles, FileError, FileSystem};
use hedgerow_log::{CheckReport, Repair, StoreError, StoreFiles};
use hedgerow_model::{CommitTimestamp, FileProblem};
use hedgerow_pipeline::{Batches, Error as Cause, damage, manifest_path};
use hedgerow_sync::Arc;
use std::path::Path;
use std::time::Instant;

/// The maximum number of checks of a store that another process writes to meanwhile.
const LOOKS: usize = 16;

/// See [`check`](crate::store::check).
pub(crate) fn check(files: &Arc<dyn FileSystem>) -> Result<CheckReport, Error> {
    let mut before: Option<String> = None;
    for look in 1.. {
        let mut report = hedgerow_log::check(files, in_engine_files(files))?;
        let is_log_damaged = !report.problems.is_empty();
        check_engine_files(files, &mut report)?;
        if report.problems.is_empty() {
            report.problems.extend(read(files).err().map(|error| damage_of(files, error)).transpose()?);
        }
        let is_only_log = is_log_damaged && report.engine_files.is_none();
        if report.problems.is_empty() || is_only_log || look == LOOKS {
            return Ok(report);
        }
        // While another process writes, retry before reporting damage.
        let found = format!("{:?}", report.problems);
        if before.replace(found.clone()) == Some(found) {
            return Ok(report);
        }
    }
    unreachable!("the last look returns")
}

/// Returns the last commit in the engine's own files; zero if there are none or they cannot be
/// read.
fn in_engine_files(files: &Arc<dyn FileSystem>) -> CommitTimestamp {
    let opened = || {
        let options = options_of(&StoreFiles::open_read_only(Arc::clone(files)).ok()?).ok()?;
        options.engine_or_default().owns_files().then(|| typed_store_of(options, files).ok())?
    };
    opened().map_or(CommitTimestamp::ZERO, |typed| typed.store.in_files_through())
}

/// Adds the report and the problems of the engine's own files, if there are any and the manifest
/// can be read.
fn check_engine_files(files: &Arc<dyn FileSystem>, report: &mut CheckReport) -> Result<(), Error> {
    let Ok(store) = StoreFiles::open_read_only(Arc::clone(files)) else { return Ok(()) };
    report.engine_files = TypedStore::check_files(&options_of(&store)?, files, &mut |_| {})?;
    let problems = report.engine_files.iter().flat_map(|found| &found.problems);
    report.problems.extend(problems.map(|problem| in_store(&**files, problem)));
    Ok(())
}

/// Converts a problem of a file of the engine to a store error.
fn in_store(files: &dyn FileSystem, FileProblem { file, offset, what }: &FileProblem) -> StoreError {
    let path = files.location().join(file);
    match *offset {
        Some(offset) => StoreError::Damaged { path, offset, what: what.clone() },
        None => StoreError::Missing { path },
    }
}

/// Converts an error to the damage that it reports; passes on other errors.
fn damage_of(files: &Arc<dyn FileSystem>, error: Error) -> Result<StoreError, Error> {
    match error.into_pipeline()? {
        // An error of the engine, unless the file system failed.
        Cause::Read(error) if error.cause().downcast_ref::<FileError>().is_none() => {
            let (place, offset) = error.file_and_offset();
            let path = files.location().join(Path::new(place).file_name().unwrap_or_default());
            Ok(StoreError::Damaged { path, offset: offset.unwrap_or(0), what: error.cause().to_string() })
        }
        cause => Ok(damage(cause)?),
    }
}

/// Reads everything into a graph, as opening the store does.
fn read(files: &Arc<dyn FileSystem>) -> Result<(), Error> {
    let store = StoreFiles::open_read_only(Arc::clone(files))?;
    let options = options_of(&store)?;
    let batches = Batches::of(&options.settings());
    let typed = typed_store_of(options, files)?;
    let (checkpoint, begin) = (store.open_checkpoint()?, Instant::now());
    typed.store.restore(&store, checkpoint.as_ref(), begin, batches, None)?;
    Ok(())
}

/// Creates an empty graph, or one on the engine's own files, which are only read.
fn typed_store_of(options: GraphOptions, files: &Arc<dyn FileSystem>) -> Result<TypedStore, Error> {
    let owns_files = options.engine_or_default().owns_files();
    TypedStore::new(options, owns_files.then(|| EngineFiles::read_only(Arc::clone(files))))
}

/// See [`recover_to_last_valid`](crate::store::recover_to_last_valid).
pub(crate) fn recover(files: Arc<dyn FileSystem>) -> Result<Repair, Error> {
    let mut store = StoreFiles::open(files)?;
    let options = options_of(&store)?;
    if options.engine_or_default().owns_files() {
        return recover_beside_files(&mut store, options);
    }
    let batches = Batches::of(&options.settings());
    let mut typed = TypedStore::new(options, None)?;
    let loaded = typed.store.load_all_but_log(&store, batches);
    let damaged = match loaded {
        Ok(()) => None,
        Err(error) => {
            typed = TypedStore::new(options_of(&store)?, None)?;
            Some(damage(error)?)
        }
    };
    Ok(typed.store.repair(&mut store, damaged, batches)?)
}

/// Repairs a store whose engine keeps edges in files of its own: cuts the log at its first damage,
/// and keeps these files. Sets damaged files aside, which requires a log with every commit from the
/// first one.
fn recover_beside_files(store: &mut StoreFiles, options: GraphOptions) -> Result<Repair, Error> {
    let files = Arc::clone(store.files());
    let found = TypedStore::check_files(&options, &files, &mut |_| {})?
        .and_then(|found| found.problems.into_iter().next());
    let problem = match found {
        Some(problem) => in_store(&*files, &problem),
        None => match cut_log(store, options, &files) {
            Ok(repair) => return Ok(repair),
            Err(error) => damage_of(&files, error)?,
        },
    };
    // The graph might not fit into memory, so the next opening tells whether the commits fit each
    // other.
    let mut repair =
        store.recover(Some(problem), CommitTimestamp::ZERO, |_, _| Ok::<bool, StoreError>(true))?;
    repair.set_aside = store.set_engine_files_aside()?;
    Ok(repair)
}

/// Cuts the log at its first damage, or at the first commit that does not fit the graph.
fn cut_log(
    store: &mut StoreFiles,
    options: GraphOptions,
    files: &Arc<dyn FileSystem>,
) -> Result<Repair, Error> {
    let batches = Batches::of(&options.settings());
    let typed = typed_store_of(options, files)?;
    typed.store.load_all_but_log(store, batches)?;
    Ok(typed.store.repair(store, None, batches)?)
}

/// Returns the options of the store's graph. All engines that keep edges in memory read the same
/// stores, so these use the default engine, which is always compiled.
pub(super) fn options_of(store: &StoreFiles) -> Result<GraphOptions, Error> {
    let path = manifest_path(&**store.files());
    let options = GraphOptions::new().for_store(&store.manifest().options, &path)?;
    Ok(match options.engine_or_default().owns_files() {
        true => options,
        false => options.engine(EngineKind::default()),
    })
}
