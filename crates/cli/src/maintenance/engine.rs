//! The output of `hedgerow info` about an engine that keeps edges in its own files.

use crate::text;
use hedgerow::store::{EngineReport, LevelReport, StoredPart};
use hedgerow::{Catalog, LabelId};
use serde::Serialize;

/// The files of an engine, and its memory.
#[derive(Debug, Serialize)]
pub struct EngineFiles {
    parts: Vec<Part>,
    files: u64,
    bytes: u64,
    versions: u64,
    /// Files of the engine that are in no level: replaced and unfinished ones.
    unlisted: Unlisted,
    memory: Memory,
    cache: Cache,
}

/// The vertices, or the edges of a label by one end.
#[derive(Debug, Serialize)]
struct Part {
    /// `vertices` or `edges`.
    of: &'static str,
    /// The label and the direction of edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<&'static str>,
    levels: Vec<Level>,
    bytes: u64,
    /// Versions of edges or vertices, deletions and replaced ones included.
    versions: u64,
    bytes_per_version: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Level {
    level: u32,
    files: u64,
    bytes: u64,
    versions: u64,
}

#[derive(Debug, Serialize)]
struct Unlisted {
    files: u64,
    bytes: u64,
}

/// Memory use, in bytes.
#[derive(Debug, Serialize)]
struct Memory {
    recent: usize,
    indexes: usize,
    vertices: usize,
    cache: usize,
    budget: usize,
}

/// Reads of blocks since the graph was opened.
#[derive(Debug, Serialize)]
struct Cache {
    hits: u64,
    misses: u64,
}

impl EngineFiles {
    pub fn of(report: &EngineReport, catalog: &Catalog) -> Self {
        let LevelReport { files, versions, .. } = report.totals();
        let (unlisted, memory) = (report.unlisted, report.memory);
        let part = |part: &hedgerow::store::PartReport| {
            let totals = part.totals();
            let name = |label: LabelId| catalog.label(label).map(|schema| schema.name.clone());
            let (of, label, direction) = match part.part {
                StoredPart::Vertices => ("vertices", None, None),
                StoredPart::Edges { label, direction } => ("edges", name(label), Some(direction.name())),
            };
            let bytes_per_version =
                (totals.versions > 0).then(|| totals.files.bytes as f64 / totals.versions as f64);
            let levels = part.levels.iter().map(|level| Level {
                level: level.level,
                files: level.files.files,
                bytes: level.files.bytes,
                versions: level.versions,
            });
            let (levels, bytes, versions) = (levels.collect(), totals.files.bytes, totals.versions);
            Part { of, label, direction, levels, bytes, versions, bytes_per_version }
        };
        EngineFiles {
            parts: report.parts.iter().map(part).collect(),
            files: files.files,
            bytes: files.bytes,
            versions,
            unlisted: Unlisted { files: unlisted.files, bytes: unlisted.bytes },
            memory: Memory {
                recent: memory.recent_bytes,
                indexes: memory.index_bytes,
                vertices: memory.vertex_bytes,
                cache: memory.cache_bytes,
                budget: memory.budget_bytes,
            },
            cache: Cache { hits: report.cache.hits, misses: report.cache.misses },
        }
    }

    /// The figures as rows of a table.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let bytes = |bytes: u64| text::Bytes(bytes).to_string();
        let files = |count: u64| text::counted(count, "file", "files");
        let versions = |count: u64| text::counted(count, "version", "versions");
        let mut rows = vec![(
            "edge files",
            format!("{}, {}, {}", files(self.files), bytes(self.bytes), versions(self.versions)),
        )];
        for part in &self.parts {
            let name = match (&part.label, part.direction) {
                (Some(label), Some(direction)) => format!("{label:?}, {direction}"),
                _ => part.of.to_owned(),
            };
            let per_version =
                part.bytes_per_version.map(|bytes| format!(", {bytes:.1} bytes each")).unwrap_or_default();
            let of_part = versions(part.versions);
            rows.push(("", format!("{name}: {}, {of_part}{per_version}", bytes(part.bytes))));
            rows.extend(part.levels.iter().map(|level| {
                let (files, size, of_level) =
                    (files(level.files), bytes(level.bytes), versions(level.versions));
                ("", format!("  level {}: {files}, {size}, {of_level}", level.level))
            }));
        }
        if self.unlisted.files > 0 {
            let Unlisted { files: count, bytes: size } = self.unlisted;
            rows.push(("replaced", format!("{}, {}, in no level", files(count), bytes(size))));
        }
        let Memory { recent, indexes, vertices, cache, budget } = self.memory;
        let of = |size: usize| bytes(size as u64);
        rows.push((
            "memory",
            format!(
                "{} of recent commits and {} of blocks, of at most {}; {} of indexes, {} of vertices",
                of(recent),
                of(cache),
                of(budget),
                of(indexes),
                of(vertices)
            ),
        ));
        let Cache { hits, misses } = self.cache;
        if hits + misses > 0 {
            let (hits, misses) = (text::Count(hits), text::Count(misses));
            rows.push(("blocks read", format!("{misses} from disk, {hits} from memory")));
        }
        rows
    }
}
