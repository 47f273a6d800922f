//! Processes that an earlier activator has started, and that go on.
//!
//! A process bears the marks of the activator that has started it in its environment: the activator's name, the server's, and the
//! repository's reference. Those of the same user that have all of them, and lead a group of processes as started ones do, are the
//! activator's.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};
use rustix::time::Timespec;

/// Variables that a process has from its activator.
pub(super) const SERVER: &str = "PUNCTUAL_IMR_SERVER";
pub(super) const ACTIVATOR: &str = "PUNCTUAL_IMR_ACTIVATOR";
/// Variable with the id of a start, from repositories that share their servers.
pub(crate) const START: &str = "PUNCTUAL_IMR_START";

/// Process that goes on.
pub(super) struct Found {
    pub(super) pid: i32,
    pub(super) descriptor: OwnedFd,
    pub(super) server: String,
    /// Id of its start.
    pub(super) start: Option<String>,
}

/// Returns the processes that have all of some variables, and the name of a server.
pub(super) fn processes(marks: &[(String, String)]) -> Vec<Found> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| process(pid, marks)).collect()
}

fn process(number: i32, marks: &[(String, String)]) -> Option<Found> {
    let folder = Path::new("/proc").join(number.to_string());
    let user = std::fs::metadata(&folder).ok()?.uid();
    let pid = Pid::from_raw(number)?;
    if user != geteuid().as_raw() || group(&folder)? != number {
        return None;
    }
    let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let environment = std::fs::read(folder.join("environ")).ok()?;
    let server = server_in(&environment, marks)?;
    let start = value_in(&environment, START);
    // If it has not ended by now, what was read is of the process that the descriptor means.
    let mut watched = [PollFd::new(&descriptor, PollFlags::IN)];
    let at_once = Timespec::try_from(Duration::ZERO).ok()?;
    (poll(&mut watched, Some(&at_once)) == Ok(0)).then_some(())?;
    Some(Found {
        pid: number,
        descriptor,
        server,
        start,
    })
}

/// Returns the process group, which may be 0: that of a process outside of this namespace.
fn group(folder: &Path) -> Option<i32> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    // The program's name may have blanks and parentheses in it; its state, its parent and its group follow.
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_ascii_whitespace().nth(2)?.parse().ok()
}

/// Returns the server's name in an environment that has all of some variables.
fn server_in(environment: &[u8], marks: &[(String, String)]) -> Option<String> {
    let variables = || environment.split(|octet| *octet == 0);
    let has = |(name, value): &(String, String)| {
        let wanted = format!("{name}={value}");
        variables().any(|one| one == wanted.as_bytes())
    };
    if !marks.iter().all(has) {
        return None;
    }
    value_in(environment, SERVER)
}

/// Returns the value of a variable in an environment.
fn value_in(environment: &[u8], name: &str) -> Option<String> {
    let prefix = format!("{name}=");
    let mut variables = environment.split(|octet| *octet == 0);
    let value = variables.find_map(|one| one.strip_prefix(prefix.as_bytes()))?;
    String::from_utf8(value.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_this_process_is_read() {
        let group = group(Path::new("/proc/self"));
        let own = rustix::process::getpgrp();
        assert_eq!(group, Some(own.as_raw_nonzero().get()));
    }

    #[test]
    fn a_process_is_known_by_all_of_its_marks() {
        let marks = [
            (ACTIVATOR.to_owned(), "here".to_owned()),
            ("ImplRepoServiceIOR".to_owned(), "IOR:1".to_owned()),
        ];
        let of = |text: &str| server_in(text.as_bytes(), &marks);
        let all = "A=b\0PUNCTUAL_IMR_ACTIVATOR=here\0ImplRepoServiceIOR=IOR:1\0PUNCTUAL_IMR_SERVER=plant\0";
        assert_eq!(of(all).as_deref(), Some("plant"));
        for (mark, another) in [("=here", "=there"), ("IOR:1", "IOR:12"), ("_SERVER", "")] {
            assert_eq!(of(&all.replace(mark, another)), None, "{another}");
        }
        assert_eq!(of(""), None);
    }
}
