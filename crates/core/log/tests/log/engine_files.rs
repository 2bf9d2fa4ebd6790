//! An engine's own files, next to the files of the log.

use hedgerow_log::files::{EngineFiles, FileSystem, OpenMode};
use hedgerow_testing::simulated::SimulatedFiles;
use std::io::ErrorKind;
use std::sync::Arc;

#[test]
fn nothing_changes_after_the_store_is_closed() {
    let all: Arc<dyn FileSystem> = Arc::new(SimulatedFiles::new(1));
    all.create_directory().unwrap();
    let files = EngineFiles::new(Arc::clone(&all));
    let file = files.open("engine-1", OpenMode::Create).unwrap();
    file.write_all_at(b"kept", 0).unwrap();
    files.close();
    assert!(files.is_read_only());
    let changes = [
        file.write_at(b"lost", 0).map(drop),
        file.set_length(0),
        file.sync(),
        files.open("engine-2", OpenMode::Create).map(drop),
        files.rename("engine-1", "engine-2"),
        files.remove("engine-1"),
        files.sync_directory(),
    ];
    for changed in changes {
        assert_eq!(changed.unwrap_err().source.kind(), ErrorKind::ReadOnlyFilesystem);
    }
    assert_eq!(file.read_from(0).unwrap(), b"kept");
    assert_eq!(all.list().unwrap(), ["engine-1"]);
}
