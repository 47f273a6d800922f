//! How much processor time the process's control group lets it have (cgroup v2's `cpu.max`, v1's
//! `cpu.cfs_quota_us`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where control groups are mounted.
const MOUNTED_AT: &str = "/sys/fs/cgroup";

/// Processors' worth of time that the process may use, at most: 0.5 is half of one processor. `None` without a
/// limit, or where none can be read. Read once, when it is first asked for.
#[must_use]
pub fn processors() -> Option<f64> {
    static QUOTA: OnceLock<Option<f64>> = OnceLock::new();
    *QUOTA.get_or_init(|| {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        smallest(Path::new(MOUNTED_AT), &groups)
    })
}

/// The smallest quota of the groups that `/proc/self/cgroup` lists, and of those that they are in.
fn smallest(mounted_at: &Path, groups: &str) -> Option<f64> {
    let quotas = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (
            fields.next().unwrap_or_default(),
            fields.next().unwrap_or_default(),
        );
        let (root, read): (PathBuf, fn(&Path) -> Option<f64>) =
            match controllers.split(',').any(|one| one == "cpu") {
                true => (mounted_at.join("cpu"), of_version_1),
                false => (mounted_at.to_owned(), of_version_2),
            };
        let group = root.join(path.trim_start_matches('/'));
        let up_to_root: Vec<PathBuf> = group
            .ancestors()
            .take_while(|one| one.starts_with(&root))
            .map(Path::to_owned)
            .collect();
        up_to_root.into_iter().filter_map(move |one| read(&one))
    });
    quotas.reduce(f64::min)
}

/// `cpu.max`: microseconds, or `max`, in a period of microseconds.
fn of_version_2(group: &Path) -> Option<f64> {
    let text = fs::read_to_string(group.join("cpu.max")).ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    share(quota, period)
}

/// Two files of microseconds; the quota is -1 without a limit.
fn of_version_1(group: &Path) -> Option<f64> {
    let read = |name| fs::read_to_string(group.join(name)).ok();
    share(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?)
}

fn share(quota: &str, period: &str) -> Option<f64> {
    // `max` and -1 are no numbers of this kind.
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
    fn what_is_not_understood_is_no_limit() {
        let groups = Groups::new("odd");
        groups.write("cpu.max", "lots of it\n");
        assert_eq!(smallest(&groups.0, "0::/\nwhat is this\n"), None);
    }
}
