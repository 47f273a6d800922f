//! Kernel's data on a process: its memory, and its context switches.

use crate::Result;
use serde::Serialize;
use std::fs;

/// Process whose resources are measured from outside.
#[derive(Clone, Copy, Debug)]
pub struct Observed(u32);

/// Memory of a process, in bytes (`/proc/PID/smaps_rollup`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Resident memory, shared pages included.
    pub resident: u64,
    /// Resident memory, with each page divided by the number of processes that share it.
    pub proportional: u64,
    /// Private memory that belongs to no file: heap and stacks.
    pub anonymous: u64,
}

/// Number of context switches of the process's threads, over their lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Switches {
    /// Voluntary context switches: a thread had to wait.
    pub voluntary: u64,
    /// Involuntary context switches: the scheduler ran another thread.
    pub involuntary: u64,
}

impl Switches {
    /// Returns the sum of both kinds: which kind is counted depends on timing, as a thread that
    /// wakes the other side up may lose the processor before it waits itself.
    #[must_use]
    pub const fn in_all(self) -> u64 {
        self.voluntary + self.involuntary
    }
}

impl Observed {
    /// Returns a view of the process with the given id.
    #[must_use]
    pub const fn of(process: u32) -> Self {
        Self(process)
    }

    /// Returns the processor time of the process's present threads in nanoseconds.
    ///
    /// # Errors
    /// The process is gone, or the kernel does not tell.
    pub fn processor_time(self) -> Result<u64> {
        let mut times: Vec<u64> = Vec::new();
        for thread in fs::read_dir(format!("/proc/{}/task", self.0))? {
            // A thread may end meanwhile.
            if let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) {
                let first = text.split_whitespace().next().unwrap_or_default();
                times.push(first.parse()?);
            }
        }
        match times.is_empty() {
            true => Err("the kernel does not tell the processor time of threads".into()),
            false => Ok(times.iter().sum()),
        }
    }

    /// Returns the memory that it uses.
    ///
    /// # Errors
    /// The process is gone, or the kernel does not tell.
    pub fn memory(self) -> Result<Memory> {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.0))?;
        memory(&text).ok_or_else(|| "the kernel does not tell a process's memory".into())
    }

    /// Returns the number of its threads.
    ///
    /// # Errors
    /// The process is gone.
    pub fn threads(self) -> Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/task", self.0))?.count())
    }

    /// Returns the number of context switches of the process's threads.
    ///
    /// # Errors
    /// The process is gone.
    pub fn switches(self) -> Result<Switches> {
        let mut all = Switches::default();
        for thread in fs::read_dir(format!("/proc/{}/task", self.0))? {
            // A thread may end meanwhile.
            if let Ok(text) = fs::read_to_string(thread?.path().join("status")) {
                all.voluntary += number(&text, "voluntary_ctxt_switches").unwrap_or_default();
                all.involuntary += number(&text, "nonvoluntary_ctxt_switches").unwrap_or_default();
            }
        }
        Ok(all)
    }
}

fn memory(rollup: &str) -> Option<Memory> {
    let octets = |name| Some(number(rollup, name)? * 1024);
    Some(Memory {
        resident: octets("Rss")?,
        proportional: octets("Pss")?,
        anonymous: octets("Anonymous")?,
    })
}

/// Returns the number in the line that begins with `NAME:`, in the line's own unit.
fn number(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        let value = value.split_whitespace().next()?;
        (key == name).then(|| value.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kilobytes_become_octets_and_names_match_whole() {
        let text = "0-1 r--p 0 00:00 0 [rollup]\nRss:    12 kB\nPss:  8 kB\nPss_Anon: 1 kB\nAnonymous:   4 kB\n";
        let memory = memory(text).unwrap();
        assert_eq!(memory.resident, 12 * 1024);
        assert_eq!(memory.proportional, 8 * 1024);
        assert_eq!(memory.anonymous, 4 * 1024);
        assert_eq!(super::memory("Rss: 1 kB\n"), None);
    }

    #[test]
    fn switches_are_told_apart_though_one_name_ends_with_the_other() {
        let text = "voluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(number(text, "voluntary_ctxt_switches"), Some(7));
        assert_eq!(number(text, "nonvoluntary_ctxt_switches"), Some(3));
    }

    #[test]
    fn this_process_has_memory_threads_and_switches() {
        let this = Observed::of(std::process::id());
        assert!(this.memory().unwrap().resident > 0);
        assert!(this.threads().unwrap() >= 1);
        this.switches().unwrap();
        assert!(this.processor_time().unwrap() > 0);
    }
}
