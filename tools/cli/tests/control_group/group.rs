//! Control group with a limit of memory, and the memory that is drawn in it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval between two looks at the memory.
const LOOKS: Duration = Duration::from_millis(20);
/// Number of looks for each number that is printed.
const SHOWN: usize = 25;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A control group, removed when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
    version: Version,
}

#[derive(Clone, Copy, Debug)]
enum Version {
    One,
    Two,
}

impl Group {
    /// Makes a group whose processes may have so many bytes.
    ///
    /// # Errors
    /// The reason for people if there can be none.
    pub(crate) fn new(name: &str, memory: usize) -> Result<Self, String> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("punctual-{}-{number}-{name}", std::process::id());
        let two = Path::new("/sys/fs/cgroup");
        let controllers = fs::read_to_string(two.join("cgroup.subtree_control"));
        let (parent, version) = match controllers {
            Ok(controllers) if controllers.contains("memory") => (two.to_owned(), Version::Two),
            _ => (two.join("memory"), Version::One),
        };
        let folder = parent.join(name);
        fs::create_dir(&folder).map_err(|error| {
            format!(
                "{}: {error}: root and a memory controller are needed",
                folder.display()
            )
        })?;
        let group = Self { folder, version };
        let limits = match version {
            Version::One => ["memory.limit_in_bytes", "memory.memsw.limit_in_bytes"],
            Version::Two => ["memory.max", "memory.swap.max"],
        };
        let [first, second] = limits.map(|file| group.folder.join(file));
        fs::write(&first, memory.to_string())
            .map_err(|error| format!("{}: {error}", first.display()))?;
        // Without swapping there is no such file, and no need.
        let swap = match version {
            Version::One => memory,
            Version::Two => 0,
        };
        let _ = fs::write(second, swap.to_string());
        Ok(group)
    }

    /// Returns the file that processes enter by.
    pub(crate) fn processes(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// Records the memory from now on.
    pub(crate) fn watch(&self) -> Watched {
        let ends = Arc::new(AtomicBool::new(false));
        let (folder, version, ending) = (self.folder.clone(), self.version, ends.clone());
        let looks = std::thread::spawn(move || {
            let mut looks = Vec::new();
            while !ending.load(Ordering::Relaxed) {
                looks.push(drawn(&folder, version));
                std::thread::sleep(LOOKS);
            }
            looks
        });
        Watched { ends, looks }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its last process may still be leaving.
        for _ in 0..100 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(LOOKS);
        }
    }
}

/// Returns the bytes that the group's processes have drawn, without pages of files.
fn drawn(folder: &Path, version: Version) -> usize {
    let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let wanted: &[&str] = match version {
        Version::One => &["rss"],
        Version::Two => &["anon", "sock", "kernel_stack"],
    };
    let numbers = stat.lines().filter_map(|line| {
        let (name, number) = line.split_once(' ')?;
        wanted
            .contains(&name)
            .then(|| number.parse::<usize>().ok())?
    });
    numbers.sum()
}

/// Record of memory.
#[derive(Debug)]
pub(crate) struct Watched {
    ends: Arc<AtomicBool>,
    looks: JoinHandle<Vec<usize>>,
}

impl Watched {
    pub(crate) fn end(self) -> Memory {
        self.ends.store(true, Ordering::Relaxed);
        Memory(self.looks.join().unwrap())
    }
}

/// Memory over time.
#[derive(Debug)]
pub(crate) struct Memory(Vec<usize>);

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let highest = |looks: &[usize]| looks.iter().max().copied().unwrap_or_default() >> 20;
        let half_seconds: Vec<String> = self
            .0
            .chunks(SHOWN)
            .map(|looks| highest(looks).to_string())
            .collect();
        write!(
            f,
            "{} MiB at most ({})",
            highest(&self.0),
            half_seconds.join(" ")
        )
    }
}
