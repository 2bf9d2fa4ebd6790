//! The first levels, written at once.

use super::segments::SegmentWriter;
use super::{FlushPart, LevelOptions, LevelTree, Target};
use crate::levels::manifest::{FileEntry, FlushPoint, MAX_LEVEL};
use crate::levels::merge::{VersionBatch, VersionSource};
use hedgerow_model::EngineError;
use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

impl LevelTree {
    /// Writes adjacencies that are empty, durably, each as one sorted run on the first level that
    /// has room for it, without changing what views read. The sources of a part follow one another,
    /// each in segments of its own, and have one version of each edge, which every snapshot sees.
    /// O(edges), on the threads of `pool`.
    ///
    /// # Errors
    /// A file could not be written, or a source could not be read. Files may be left, which are
    /// removed when the levels are opened for writing.
    pub fn write_first<S: VersionSource + Send>(
        &self,
        FlushPart { adjacency, sources }: FlushPart<S>,
        pool: Option<&ThreadPool>,
    ) -> Result<Vec<FileEntry>, EngineError> {
        let target = Target { adjacency, level: 1, segment_bytes: self.options.segment_bytes };
        let write = |mut source: S| {
            let (mut writer, mut batch) = (SegmentWriter::new(self, target)?, VersionBatch::default());
            loop {
                batch.clear();
                source.read(&mut batch)?;
                if batch.is_empty() {
                    return writer.finish().map(<[FileEntry]>::to_vec);
                }
                writer.push(batch.all())?;
            }
        };
        let written: Result<Vec<_>, EngineError> = match pool {
            Some(pool) => pool.install(|| sources.into_par_iter().map(write).collect()),
            None => sources.into_iter().map(write).collect(),
        };
        let mut files: Vec<_> = written?.into_iter().flatten().collect();
        let level = self.options.level_for(files.iter().map(|file| file.bytes).sum());
        files.iter_mut().for_each(|file| file.level = level);
        Ok(files)
    }

    /// Begins with these files, durably, at the flush point `reached`.
    ///
    /// # Errors
    /// A file could not be read, or the manifest could not be written.
    pub fn begin_with(&self, files: &[FileEntry], reached: FlushPoint) -> Result<(), EngineError> {
        let opened = files.iter().map(|file| self.open_file(*file)).collect::<Result<_, _>>()?;
        self.install(opened, &[], Some(reached))
    }
}

impl LevelOptions {
    /// The first level below level 0 that has room for an adjacency of this size.
    fn level_for(&self, bytes: u64) -> u32 {
        (1..MAX_LEVEL).find(|level| self.capacity(*level) >= bytes).unwrap_or(MAX_LEVEL)
    }
}
