//! What the kernel says of a process: its memory, and how often it was switched.

use crate::Result;
use serde::Serialize;
use std::fs;

/// A process, looked at from outside.
#[derive(Clone, Copy, Debug)]
pub struct Observed(u32);

/// Its memory, in octets (`/proc/PID/smaps_rollup`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// All that is in memory for it, what it shares included.
    pub resident: u64,
    /// The same, with each page divided by how many share it.
    pub proportional: u64,
    /// What is its own and no file's: heap and stacks.
    pub anonymous: u64,
}

/// Times that its threads gave the processor to others, as long as they live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Switches {
    /// As they had to wait.
    pub voluntary: u64,
    /// As others were to run.
    pub involuntary: u64,
}

impl Switches {
    /// Either way: who wakes the other side up may be switched from before it waits itself.
    #[must_use]
    pub const fn in_all(self) -> u64 {
        self.voluntary + self.involuntary
    }
}

impl Observed {
    /// The process of that number.
    #[must_use]
    pub const fn of(process: u32) -> Self {
        Self(process)
    }

    /// How much memory it uses.
    ///
    /// # Errors
    /// When it is gone, or the kernel does not say.
    pub fn memory(self) -> Result<Memory> {
        let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.0))?;
        memory(&text).ok_or_else(|| "the kernel does not tell a process's memory".into())
    }

    /// How many threads it has.
    ///
    /// # Errors
    /// When it is gone.
    pub fn threads(self) -> Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/task", self.0))?.count())
    }

    /// How often its threads were switched.
    ///
    /// # Errors
    /// When it is gone.
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

/// The number behind `NAME:`, in the unit that it is given in.
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
    }
}
