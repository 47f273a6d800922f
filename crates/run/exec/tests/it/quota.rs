//! In a control group whose quota is less than its processors no thread spins before it blocks: the
//! time would be taken from calls. Needs root, and a control group's file system; says why it is
//! skipped without them.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_exec::{Look, Spin};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Environment variable that marks the child process, which spins.
const CHILD: &str = "PUNCTUAL_TEST_LOOKS";
const MOUNTED_AT: &str = "/sys/fs/cgroup";

/// Control group of this test's own, with the quota of half a processor.
struct Group(PathBuf);

impl Group {
    fn make() -> io::Result<Self> {
        let name = format!("punctual-test-{}", std::process::id());
        let version_1 = Path::new(MOUNTED_AT).join("cpu");
        if version_1.join("cgroup.procs").exists() {
            let group = Self(version_1.join(name));
            fs::create_dir(&group.0)?;
            fs::write(group.0.join("cpu.cfs_period_us"), "100000")?;
            fs::write(group.0.join("cpu.cfs_quota_us"), "50000")?;
            return Ok(group);
        }
        let group = Self(Path::new(MOUNTED_AT).join(name));
        fs::create_dir(&group.0)?;
        fs::write(group.0.join("cpu.max"), "50000 100000")?;
        Ok(group)
    }

    fn take_in(&self, process: u32) -> io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), process.to_string())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its process has ended; a group left behind shows in the file system.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Returns the number of polls in the first wait, of one millisecond, of a child process; in the
/// control group, if one is given.
fn looks(group: Option<&Group>) -> io::Result<u32> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([
            "--exact",
            "quota::a_quota_below_the_processors_ends_looking",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let moved = group.map_or(Ok(()), |group| group.take_in(child.id()));
    // The process spins once it has been moved.
    drop(child.stdin.take().map(|mut input| input.write_all(b"go\n")));
    let mut output = String::new();
    if let Some(mut told) = child.stdout.take() {
        told.read_to_string(&mut output)?;
    }
    child.wait()?;
    moved?;
    let told = output.split("looks: ").nth(1);
    let number = told.and_then(|told| told.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| io::Error::other(output.clone()))
}

fn look_once_told() {
    let _ = io::stdin().read_line(&mut String::new());
    let spin = Spin::new(Duration::from_millis(1), Look::Memory);
    let mut looks = 0_u32;
    let found: Option<()> = spin.until(|| {
        looks += 1;
        None
    });
    assert_eq!(found, None);
    println!("looks: {looks} ");
}

#[test]
fn a_quota_below_the_processors_ends_looking() {
    if std::env::var_os(CHILD).is_some() {
        return look_once_told();
    }
    let outside = looks(None).unwrap();
    if outside == 1 {
        return eprintln!("skipped: this process may not look as it is");
    }
    let group = match Group::make() {
        Ok(group) => group,
        Err(error) => return eprintln!("skipped: no control group can be made: {error}"),
    };
    match looks(Some(&group)) {
        Ok(looks) => assert_eq!(looks, 1),
        Err(error) => eprintln!("skipped: no process can be moved to a control group: {error}"),
    }
}
