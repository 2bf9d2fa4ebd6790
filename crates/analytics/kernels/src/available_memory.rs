//! The memory that is available now, to the system and to the control groups of this process.

#[cfg(target_os = "linux")]
pub(crate) use linux::available_bytes;

/// Returns the bytes that the system has available; `None` if it does not report them.
#[cfg(not(target_os = "linux"))]
pub(crate) fn available_bytes() -> Option<u64> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    Some(system.available_memory()).filter(|bytes| *bytes > 0)
}

/// Linux reports it in a few files, which take less time to read than a library to compile.
#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::Path;

    /// The files of control groups that limit memory.
    struct ControlGroups {
        /// The start of the line of `/proc/self/cgroup` that names the group, after its number.
        line: &'static str,
        folder: &'static str,
        limit: &'static str,
        used: &'static str,
        /// The lines of `memory.stat` on cached pages of files, which are given back on demand.
        cached: [&'static str; 2],
    }

    const VERSIONS: [ControlGroups; 2] = [
        ControlGroups {
            line: ":",
            folder: "sys/fs/cgroup",
            limit: "memory.max",
            used: "memory.current",
            cached: ["active_file", "inactive_file"],
        },
        ControlGroups {
            line: "memory:",
            folder: "sys/fs/cgroup/memory",
            limit: "memory.limit_in_bytes",
            used: "memory.usage_in_bytes",
            cached: ["total_active_file", "total_inactive_file"],
        },
    ];

    /// Returns the bytes that the system and the control groups of this process have available;
    /// `None` if neither reports them.
    pub(crate) fn available_bytes() -> Option<u64> {
        available_below(Path::new("/"))
    }

    fn available_below(root: &Path) -> Option<u64> {
        let of_system = line(&root.join("proc/meminfo"), "MemAvailable:").map(|kibibytes| kibibytes * 1024);
        let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
        let of_groups = groups.lines().filter_map(|group| {
            let (_, group) = group.split_once(':')?;
            let version = VERSIONS.iter().find(|version| group.starts_with(version.line))?;
            version.available(root, group.strip_prefix(version.line)?)
        });
        of_system.into_iter().chain(of_groups).min()
    }

    impl ControlGroups {
        /// Returns the bytes that a group and the groups that contain it have left.
        fn available(&self, root: &Path, group: &str) -> Option<u64> {
            let folder = root.join(self.folder);
            let group = Path::new(group.trim_start_matches('/'));
            group.ancestors().filter_map(|group| self.left(&folder.join(group))).min()
        }

        fn left(&self, folder: &Path) -> Option<u64> {
            let number = |file| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
            let statistics = folder.join("memory.stat");
            let cached = self.cached.iter().filter_map(|name| line(&statistics, name)).sum();
            let used = number(self.used)?.saturating_sub(cached);
            Some(number(self.limit)?.saturating_sub(used))
        }
    }

    /// Returns the number in the line of a file that begins with `name`.
    fn line(file: &Path, name: &str) -> Option<u64> {
        let text = fs::read_to_string(file).ok()?;
        let mut lines = text.lines().map(str::split_ascii_whitespace);
        lines.find_map(|mut words| (words.next()? == name).then(|| words.next()?.parse().ok())?)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Writes files below a new folder, and returns the bytes that are available by them.
        fn available(files: &[(&str, &str)]) -> Option<u64> {
            let root = tempfile::tempdir().expect("a folder is created");
            for (file, text) in files {
                let path = root.path().join(file);
                fs::create_dir_all(path.parent().expect("files are in folders")).expect("it is created");
                fs::write(path, text).expect("it is written");
            }
            available_below(root.path())
        }

        const SYSTEM: (&str, &str) = ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:   1000 kB\n");

        #[test]
        fn the_system_alone_is_asked_if_no_group_has_a_limit() {
            assert_eq!(available(&[]), None);
            assert_eq!(available(&[SYSTEM]), Some(1000 << 10));
            let unlimited = [
                SYSTEM,
                ("proc/self/cgroup", "0::/\n"),
                ("sys/fs/cgroup/memory.max", "max\n"),
                ("sys/fs/cgroup/memory.current", "5\n"),
            ];
            assert_eq!(available(&unlimited), Some(1000 << 10));
        }

        #[test]
        fn the_tightest_group_counts_without_its_cached_files() {
            let files = [
                SYSTEM,
                ("proc/self/cgroup", "0::/outer/inner\n"),
                ("sys/fs/cgroup/outer/memory.max", "5000\n"),
                ("sys/fs/cgroup/outer/memory.current", "4000\n"),
                ("sys/fs/cgroup/outer/memory.stat", "anon 100\nactive_file 30\ninactive_file 4\nfile 9\n"),
                ("sys/fs/cgroup/outer/inner/memory.max", "9000\n"),
                ("sys/fs/cgroup/outer/inner/memory.current", "10\n"),
            ];
            assert_eq!(available(&files), Some(1034));
        }

        #[test]
        fn groups_of_the_first_version_are_found_by_their_controller() {
            let files = [
                SYSTEM,
                ("proc/self/cgroup", "11:cpu:/job\n4:memory:/job\n0::/\n"),
                ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "700\n"),
                ("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "600\n"),
                ("sys/fs/cgroup/memory/job/memory.stat", "total_active_file 50\ntotal_inactive_file 60\n"),
            ];
            assert_eq!(available(&files), Some(210));
        }
    }
}
