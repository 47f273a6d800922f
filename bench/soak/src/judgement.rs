//! Judgement of a process: its resources at the end compared with those at the start.

use crate::child::Usage;
use serde::Serialize;

/// Length of a run, in minutes, from which it counts as long, so that the strict bound of growth
/// holds.
pub(crate) const STRICT_FROM: f64 = 10.0;
/// Allowed growth of memory from the second quarter to the last in a long run, as a fraction.
pub(crate) const STRICT: f64 = 0.02;
/// Allowed growth of memory in a short run, as a fraction; such a run has hardly warmed up in its
/// second quarter.
pub(crate) const LOOSE: f64 = 0.10;
/// Growth of memory that is always allowed in a short run, in bytes.
pub(crate) const LOOSE_BYTES: f64 = 2.0 * 1024.0 * 1024.0;
/// Allowed growth of small blocks of the heap from the first idle phase to the last, in bytes: less
/// than a byte for each call of three minutes.
pub(crate) const SMALL_BLOCKS: u64 = 512 * 1024;

/// Number of spare threads that a server with a thread for each connection may keep: they receive
/// while a connection's own thread is in an upcall.
const KEPT: usize = 16;

/// Process whose resources the soak test watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Who {
    /// Server process.
    Server,
    /// Client process.
    Client,
}

impl Who {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }

    /// Returns the number of threads that the process may have at the end beyond those at the
    /// start.
    const fn kept(self) -> usize {
        match self {
            Self::Server => KEPT,
            Self::Client => 0,
        }
    }
}

/// Resources that a process used, and the faults found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Judgement {
    /// Process that the judgement is about.
    pub(crate) process: Who,
    /// Resources of the idle process after the warm-up.
    pub(crate) quiet: Usage,
    /// Resources of the idle process at the end of the run.
    pub(crate) end: Usage,
    /// Median resident memory in the second quarter, in bytes.
    pub(crate) second_quarter: f64,
    /// Median resident memory in the last quarter, in bytes.
    pub(crate) last_quarter: f64,
    /// Growth allowed from the second quarter to the last, in bytes.
    pub(crate) allowed: f64,
    /// Faults found in the process's use of resources.
    pub(crate) faults: Vec<String>,
}

/// Judges a process by the resources that it used each second under load, while idle, and at the
/// end.
pub(crate) fn judge(
    process: Who,
    loaded: &[Usage],
    (quiet, end): (Usage, Usage),
    minutes: f64,
) -> Judgement {
    let quarter = loaded.len() / 4;
    let second_quarter = median(loaded.get(quarter..2 * quarter).unwrap_or_default());
    let last_quarter = median(loaded.get(3 * quarter..).unwrap_or_default());
    let allowed = match minutes >= STRICT_FROM {
        true => STRICT * second_quarter,
        false => (LOOSE * second_quarter).max(LOOSE_BYTES),
    };
    let mut faults = Vec::new();
    let grown = last_quarter - second_quarter;
    if grown > allowed {
        faults.push(format!(
            "its memory has grown by {:.0} KiB from the second to the last quarter, {:.0} KiB are allowed",
            grown / 1024.0,
            allowed / 1024.0
        ));
    }
    let grown = end.small_blocks.saturating_sub(quiet.small_blocks);
    if grown > SMALL_BLOCKS {
        faults.push(format!(
            "the small blocks of its heap, counted while it is idle, have grown by {} KiB, {} KiB are allowed",
            grown / 1024,
            SMALL_BLOCKS / 1024
        ));
    }
    for (what, before, after, kept) in [
        ("threads", quiet.threads, end.threads, process.kept()),
        ("descriptors", quiet.descriptors, end.descriptors, 0),
    ] {
        if after > before + kept {
            faults.push(format!(
                "it ends with {after} {what}, of {before} in the beginning"
            ));
        }
    }
    Judgement {
        process,
        quiet,
        end,
        second_quarter,
        last_quarter,
        allowed,
        faults,
    }
}

impl Judgement {
    /// Returns the growth of resident memory from the second quarter to the last, in percent.
    pub(crate) fn growth(&self) -> f64 {
        100.0 * (self.last_quarter / self.second_quarter - 1.0)
    }
}

/// Returns the median resident memory of the samples, in bytes.
#[allow(clippy::cast_precision_loss)]
fn median(samples: &[Usage]) -> f64 {
    let mut all: Vec<u64> = samples.iter().map(|one| one.memory.resident).collect();
    all.sort_unstable();
    let middle = all.len() / 2;
    match (all.len() % 2, all.get(middle)) {
        (_, None) => 0.0,
        (1, Some(&one)) => one as f64,
        (_, Some(&one)) => (one + all[middle - 1]) as f64 / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_bench::process::Memory;

    const MIB: u64 = 1 << 20;

    fn usage(resident: u64, threads: usize) -> Usage {
        Usage {
            memory: Memory {
                resident,
                ..Memory::default()
            },
            threads,
            descriptors: 10,
            small_blocks: 1_000_000,
        }
    }

    /// Judges a process with the given memory in each quarter, in MiB.
    fn judged(quarters: [u64; 4], minutes: f64) -> Judgement {
        let loaded: Vec<Usage> = quarters
            .iter()
            .flat_map(|&mib| [usage(mib * MIB, 5); 9])
            .collect();
        judge(Who::Client, &loaded, (usage(0, 4), usage(0, 4)), minutes)
    }

    #[test]
    fn what_grows_by_more_than_a_fiftieth_is_refused_in_a_long_run() {
        assert!(judged([10, 200, 300, 204], 60.0).faults.is_empty());
        assert_eq!(judged([10, 200, 200, 205], 60.0).faults.len(), 1);
        assert!(judged([10, 200, 200, 100], 60.0).faults.is_empty());
    }

    #[test]
    fn a_short_run_is_judged_by_a_tenth_or_two_mebibytes() {
        assert!(judged([10, 200, 200, 220], 3.0).faults.is_empty());
        assert_eq!(judged([10, 200, 200, 221], 3.0).faults.len(), 1);
        assert!(judged([1, 4, 4, 6], 3.0).faults.is_empty());
        assert_eq!(judged([1, 4, 4, 7], 3.0).faults.len(), 1);
    }

    #[test]
    fn small_blocks_that_are_left_are_a_fault_in_a_run_of_any_length() {
        let loaded = [usage(MIB, 4); 8];
        for (more, minutes, faults) in [
            (SMALL_BLOCKS, 3.0, 0),
            (SMALL_BLOCKS + 1024, 3.0, 1),
            (SMALL_BLOCKS + 1024, 60.0, 1),
        ] {
            let quiet = usage(0, 4);
            let end = Usage {
                small_blocks: quiet.small_blocks + more,
                ..quiet
            };
            let judged = judge(Who::Server, &loaded, (quiet, end), minutes);
            assert_eq!(judged.faults.len(), faults, "{:?}", judged.faults);
        }
    }

    #[test]
    fn a_thread_that_is_left_is_a_fault_but_for_those_that_a_server_keeps() {
        let loaded = [usage(MIB, 9); 8];
        let quiet = (usage(0, 4), usage(0, 5));
        let left = judge(Who::Client, &loaded, quiet, 3.0);
        assert_eq!(
            left.faults,
            ["it ends with 5 threads, of 4 in the beginning"]
        );
        assert!(judge(Who::Server, &loaded, quiet, 3.0).faults.is_empty());
        let left = (usage(0, 4), usage(0, 4 + KEPT + 1));
        assert_eq!(judge(Who::Server, &loaded, left, 3.0).faults.len(), 1);
    }

    #[test]
    fn a_descriptor_that_is_left_is_a_fault() {
        let loaded = [usage(MIB, 4); 8];
        for who in [Who::Client, Who::Server] {
            let left = |more: usize| {
                let end = Usage {
                    descriptors: 10 + more,
                    ..usage(0, 4)
                };
                judge(who, &loaded, (usage(0, 4), end), 3.0).faults.len()
            };
            assert_eq!((left(0), left(1)), (0, 1));
        }
    }
}
