//! Limits of processor time and memory set by the process's control group (cgroup v2's `cpu.max`
//! and `memory.max`, v1's `cpu.cfs_quota_us` and `memory.limit_in_bytes`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Mount point of the control groups, relative to the root directory.
const MOUNTED_AT: &str = "sys/fs/cgroup";

/// File in which the kernel lists the process's own groups, below the root.
const OWN_GROUPS: &str = "proc/self/cgroup";

/// Returns the quota of processor time that the process may use: 0.5 is half of one processor.
/// `None` without a limit, or where none can be read. Read once, at the first call.
#[must_use]
pub fn processors() -> Option<f64> {
    static QUOTA: OnceLock<Option<f64>> = OnceLock::new();
    *QUOTA.get_or_init(|| processors_under(Path::new("/")).ok()?)
}

/// Returns the quota of [`processors`] for the machine whose files are below `root`; reads them at
/// each call.
///
/// # Errors
/// The reason why the process's control groups are unknown.
pub fn processors_under(root: &Path) -> io::Result<Option<f64>> {
    let groups = fs::read_to_string(root.join(OWN_GROUPS))?;
    Ok(smallest(&root.join(MOUNTED_AT), &groups))
}

/// Returns the control groups that may limit what a controller counts for this process: its own,
/// and the groups around it, from the inside out. `root` is the folder that holds the machine's
/// files.
///
/// # Errors
/// The reason why the process's control groups are unknown.
pub fn groups_under(root: &Path, controller: &str) -> io::Result<Vec<(PathBuf, Version)>> {
    let groups = fs::read_to_string(root.join(OWN_GROUPS))?;
    Ok(on_the_path(&root.join(MOUNTED_AT), &groups, controller).collect())
}

/// Returns the bytes of memory that the process may use: the limit of its control group, or the
/// machine's memory if that is less. `None` where neither can be read. Read once, at the first
/// call.
#[must_use]
pub fn memory() -> Option<u64> {
    static MEMORY: OnceLock<Option<u64>> = OnceLock::new();
    *MEMORY.get_or_init(|| {
        let root = Path::new("/");
        let groups = fs::read_to_string(root.join(OWN_GROUPS)).unwrap_or_default();
        let allowed = least_memory(&root.join(MOUNTED_AT), &groups);
        let there = machine_memory(&fs::read_to_string("/proc/meminfo").unwrap_or_default());
        allowed.into_iter().chain(there).min()
    })
}

/// Returns `MemTotal`, which is in units of 1,024 bytes.
fn machine_memory(info: &str) -> Option<u64> {
    let total = info
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Returns the smallest processor-time quota among a control group and its ancestors.
fn smallest(mounted_at: &Path, groups: &str) -> Option<f64> {
    let quotas = on_the_path(mounted_at, groups, "cpu");
    let quotas = quotas.filter_map(|(group, version)| match version {
        Version::One => of_version_1(&group),
        Version::Two => of_version_2(&group),
    });
    quotas.reduce(f64::min)
}

/// Returns the smallest memory limit, in bytes, among a control group and its ancestors.
fn least_memory(mounted_at: &Path, groups: &str) -> Option<u64> {
    let limits = on_the_path(mounted_at, groups, "memory");
    let limits = limits.filter_map(|(group, version)| {
        let file = match version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        // `max` does not parse as a number. Version 1 has a number larger than any machine instead.
        let text = fs::read_to_string(group.join(file)).ok()?;
        text.trim().parse().ok()
    });
    limits.min()
}

/// Version of the Linux control groups (cgroups).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 1, with a separate hierarchy for each controller.
    One,
    /// Version 2, with one hierarchy for all controllers.
    Two,
}

/// Returns the groups that `/proc/self/cgroup` lists, and the groups around them, as far as they
/// may limit what that controller counts.
fn on_the_path(
    mounted_at: &Path,
    groups: &str,
    controller: &str,
) -> impl Iterator<Item = (PathBuf, Version)> {
    groups.lines().flat_map(move |line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (
            fields.next().unwrap_or_default(),
            fields.next().unwrap_or_default(),
        );
        let (root, version) = match controllers.split(',').any(|one| one == controller) {
            true => (mounted_at.join(controller), Version::One),
            false => (mounted_at.to_owned(), Version::Two),
        };
        let group = root.join(path.trim_start_matches('/'));
        let up_to_root: Vec<_> = group
            .ancestors()
            .take_while(|one| one.starts_with(&root))
            .map(|one| (one.to_owned(), version))
            .collect();
        up_to_root
    })
}

/// Reads `cpu.max`: microseconds, or `max`, in a period of microseconds.
fn of_version_2(group: &Path) -> Option<f64> {
    let text = fs::read_to_string(group.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota, period)
}

/// Reads two files of microseconds; the quota is -1 without a limit.
fn of_version_1(group: &Path) -> Option<f64> {
    let read = |name| fs::read_to_string(group.join(name)).ok();
    share(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?)
}

fn share(quota: &str, period: &str) -> Option<f64> {
    // `max` and -1 do not parse as this type.
    let quota: u32 = quota.trim().parse().ok()?;
    let period: u32 = period.trim().parse().ok().filter(|&period| period > 0)?;
    Some(f64::from(quota) / f64::from(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Groups(PathBuf);

    impl Groups {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("quota-{}-{name}", std::process::id()));
            fs::create_dir_all(&root).unwrap();
            Self(root)
        }

        fn write(&self, file: &str, text: &str) {
            let file = self.0.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
    }

    impl Drop for Groups {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_smallest_quota_on_the_path_to_the_root_holds() {
        let groups = Groups::new("v2");
        groups.write("cpu.max", "max 100000\n");
        groups.write("system/cpu.max", "150000 100000\n");
        groups.write("system/orb/cpu.max", "400000 100000\n");
        let quota = |path: &str| smallest(&groups.0, &format!("0::{path}\n"));
        assert_eq!(quota("/system/orb"), Some(1.5));
        assert_eq!(quota("/system/orb/not-there"), Some(1.5));
        assert_eq!(quota("/"), None);
    }

    #[test]
    fn groups_of_version_1_have_two_files() {
        let groups = Groups::new("v1");
        groups.write("cpu/app/cpu.cfs_quota_us", "50000\n");
        groups.write("cpu/app/cpu.cfs_period_us", "100000\n");
        groups.write("cpu/free/cpu.cfs_quota_us", "-1\n");
        groups.write("cpu/free/cpu.cfs_period_us", "100000\n");
        let quota =
            |path: &str| smallest(&groups.0, &format!("4:memory:/x\n3:cpu,cpuacct:{path}\n"));
        assert_eq!(quota("/app"), Some(0.5));
        assert_eq!(quota("/free"), None);
    }

    #[test]
    fn groups_are_told_from_the_inside_out() {
        let machine = Groups::new("under");
        assert!(processors_under(&machine.0).is_err());
        assert!(groups_under(&machine.0, "cpu").is_err());
        machine.write(OWN_GROUPS, "2:cpu:/app\n");
        machine.write("sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "50000\n");
        machine.write("sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n");
        assert_eq!(processors_under(&machine.0).unwrap(), Some(0.5));
        let all = machine.0.join("sys/fs/cgroup/cpu");
        assert_eq!(
            groups_under(&machine.0, "cpu").unwrap(),
            [(all.join("app"), Version::One), (all, Version::One)]
        );
    }

    #[test]
    fn the_least_memory_on_the_path_to_the_root_holds() {
        let groups = Groups::new("memory");
        groups.write("memory.max", "max\n");
        groups.write("system/memory.max", "268435456\n");
        groups.write("memory/app/memory.limit_in_bytes", "134217728\n");
        let least = |line: &str| least_memory(&groups.0, line);
        assert_eq!(least("0::/system/orb\n"), Some(256 << 20));
        assert_eq!(least("0::/\n"), None);
        assert_eq!(least("7:memory:/app\n"), Some(128 << 20));
        assert_eq!(
            machine_memory("MemTotal:  2048 kB\nMemFree: 1 kB\n"),
            Some(2 << 20)
        );
        assert!(memory().is_some());
    }

    #[test]
    fn what_is_not_understood_is_no_limit() {
        let groups = Groups::new("odd");
        groups.write("cpu.max", "lots of it\n");
        assert_eq!(smallest(&groups.0, "0::/\nwhat is this\n"), None);
    }
}
