//! Helpers of the short runs of fuzz targets: their seeds, and random damage.

use rand::RngExt;
use rand::rngs::StdRng;
use std::path::{Path, PathBuf};

/// Returns the seeds of a fuzz target, in the order of their names.
#[must_use]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/seeds").join(target);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{target} has no seeds");
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Makes one to three changes: flips a bit, cuts off a tail, inserts bytes, or doubles or removes a
/// piece.
pub fn damage(bytes: &mut Vec<u8>, random: &mut StdRng) {
    for _ in 0..random.random_range(1..=3) {
        let at = random.random_range(0..=bytes.len());
        let end = random.random_range(at..=bytes.len().min(at + 20));
        match random.random_range(0..5) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes.truncate(at),
            2 => drop(bytes.splice(at..at, random.random::<[u8; 3]>())),
            3 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            _ => drop(bytes.drain(at..end)),
        }
    }
}
