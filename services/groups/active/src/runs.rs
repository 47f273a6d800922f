//! Numbers of the last requests of members' runs: a request is run once, and in the order of its run, whatever the log does.
//!
//! A log knows the ids of entries for a time only, and one whose servers were stopped may store an entry long after the member has
//! given it up. All members have to decide alike, so that what counts is in the log, and stored with the state.

use std::collections::HashMap;

use crate::records::Run;

/// Maximum number of runs that are known; beyond, the one whose last request is longest ago is forgotten.
const MOST: usize = 1_000;

/// Runs by their random numbers.
#[derive(Debug, Default)]
pub(crate) struct Runs(HashMap<u64, Run>);

impl Runs {
    /// Notes a request of the log. Returns false if it has come before, or a later one of its run has: then no member runs it.
    pub(crate) fn note(&mut self, run: u64, number: u64, position: u64) -> bool {
        let is_new = self.0.get(&run).is_none_or(|last| last.number < number);
        if is_new {
            self.insert(Run {
                run,
                number,
                position,
            });
        }
        is_new
    }

    fn insert(&mut self, run: Run) {
        self.0.insert(run.run, run);
        if self.0.len() > MOST
            && let Some(oldest) = self.0.values().min_by_key(|run| run.position)
        {
            let oldest = oldest.run;
            self.0.remove(&oldest);
        }
    }

    /// Returns all of them, in the order of their positions.
    pub(crate) fn to_records(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = self.0.values().cloned().collect();
        runs.sort_by_key(|run| run.position);
        runs
    }

    /// Replaces them by those of a state.
    pub(crate) fn replace(&mut self, runs: Vec<Run>) {
        self.0.clear();
        for run in runs {
            self.insert(run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_comes_again_or_behind_a_later_one_is_not_new() {
        let mut runs = Runs::default();
        assert!(runs.note(7, 0, 1) && runs.note(7, 1, 2) && runs.note(7, 4, 3));
        assert!(!runs.note(7, 4, 4), "the log has it twice");
        assert!(!runs.note(7, 2, 5), "it was given up, and has come late");
        assert!(runs.note(8, 2, 6), "another run has numbers of its own");
        let mut other = Runs::default();
        other.note(9, 9, 9);
        other.replace(runs.to_records());
        assert!(!other.note(7, 4, 10) && other.note(7, 5, 11) && other.note(9, 1, 12));
    }

    #[test]
    fn runs_are_bounded_and_the_one_longest_ago_is_forgotten() {
        let mut runs = Runs::default();
        for run in 0..=MOST as u64 {
            assert!(runs.note(run, 5, run));
        }
        assert_eq!(runs.to_records().len(), MOST);
        assert_eq!(runs.to_records()[0].run, 1);
        assert!(!runs.note(1, 5, 2_000));
    }
}
