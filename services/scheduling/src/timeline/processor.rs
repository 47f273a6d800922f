//! Processors of a simulation, and the jobs that may run on them.

use super::program::Program;
use crate::time::Time;
use std::collections::BTreeMap;

/// Processor and its jobs.
#[derive(Default)]
pub(super) struct Processor {
    /// Jobs that may run.
    pub(super) ready: Vec<usize>,
    /// Number of times that a job was chosen.
    pub(super) look: u64,
    pub(super) running: Option<usize>,
    /// Job to be served; it may have lent its turn to the running job (priority inheritance).
    pub(super) served: Option<usize>,
    pub(super) since: Time,
    /// `true` if a job was added or removed since the last choice.
    pub(super) has_changed: bool,
    pub(super) is_stale: bool,
    /// Level of the first jobs that lock each mutex.
    pub(super) ceilings: BTreeMap<usize, usize>,
    /// Streams of each level that lock each mutex.
    pub(super) lockers: BTreeMap<(usize, usize), Vec<Locker>>,
}

/// Stream that locks a mutex.
pub(super) struct Locker {
    pub(super) stream: usize,
    /// Least time from the release of a job to its deadline.
    pub(super) shortest: Time,
    /// Least laxity of a job at its release.
    pub(super) laxity: Time,
}

impl Processor {
    /// Makes the processors of the streams' places.
    pub(super) fn all(programs: &[Program], count: usize) -> Vec<Self> {
        let mut processors: Vec<Self> = (0..count).map(|_| Self::default()).collect();
        for (stream, program) in programs.iter().enumerate() {
            let Some(place) = program.place else { continue };
            let processor = &mut processors[place.processor];
            for section in &program.sections {
                let ceiling = processor.ceilings.entry(section.mutex);
                let ceiling = ceiling.or_insert(place.level);
                *ceiling = place.level.min(*ceiling);
                let key = (section.mutex, place.level);
                processor.lockers.entry(key).or_default().push(Locker {
                    stream,
                    shortest: program.shortest,
                    laxity: program.shortest - program.wcet,
                });
            }
        }
        processors
    }

    /// Adds a job that may run.
    pub(super) fn add(&mut self, job: usize) {
        self.ready.push(job);
        self.has_changed = true;
    }

    pub(super) fn remove(&mut self, job: usize) {
        self.ready.retain(|&one| one != job);
        self.has_changed = true;
        self.running = None;
    }
}
