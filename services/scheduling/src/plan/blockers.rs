//! Shorter sections of operations of lower levels, after which those that they block meet their deadlines.

use super::mend::MOST_STREAMS;
use super::{Plan, Verdict};
use crate::analysis::blocking::{CriticalSection, Locking, blocking};
use crate::analysis::fixed_priority::Prioritized;
use crate::analysis::{Preemption, Task};
use crate::assignment::lineup::Lineup;
use crate::assignment::sensitivity::largest;
use crate::model::{Model, Operation};
use crate::strategy::{Dispatching, Strategy};
use crate::time::Time;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Number of sections that are tried at most, over all processors: each costs a search and a plan.
const MOST_TRIED: usize = 32;

/// Section of one operation that mends a processor by being shorter: one that holds a mutex, or one without preemption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blocker {
    /// Index of the processor in [`Plan::processors`] that misses deadlines.
    pub processor: usize,
    /// Name of the operation.
    pub operation: String,
    /// Name of the mutex; `None` for a section without preemption.
    pub mutex: Option<String>,
    /// Longest time that mends the processor: of the lock in the model, or of the part of a job between two points of
    /// preemption (keys `section` or `segments`, also of an operation that is not preempted at all).
    pub time: Time,
}

/// Section that blocks a stream which misses its deadline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Section {
    stream: usize,
    mutex: Option<usize>,
}

impl Plan {
    /// Returns sections of single operations that block streams which miss their deadlines, each with the longest time
    /// with which all deadlines of the processor are met, as are all that this plan meets. Each was confirmed by a plan
    /// of the changed model.
    ///
    /// Processors of static priorities and at most 500 streams are searched, the longest sections first, and 32 of them
    /// at most. A section that several operations of one thread have is left out, as is one that would be shorter than
    /// the last segment.
    #[must_use]
    pub fn blockers(&self, model: &Model, strategy: &dyn Strategy) -> Vec<Blocker> {
        let processors = 0..self.processors.len();
        let sections =
            processors.flat_map(|at| self.sections(at).into_iter().map(move |one| (at, one)));
        let tried = sections.take(MOST_TRIED);
        let found = tried.filter_map(|(at, section)| self.blocker(model, strategy, at, section));
        let mut blockers: Vec<Blocker> = found.collect();
        // Of an operation with several streams, a section may have been found for each.
        let mut seen = BTreeSet::new();
        blockers.retain(|one| seen.insert((one.operation.clone(), one.mutex.clone())));
        blockers
    }

    /// Returns the sections of a processor by which streams are blocked that miss their deadlines, the longest first.
    fn sections(&self, processor: usize) -> Vec<Section> {
        let analysed = &self.analysed;
        let levels = &analysed.levels[processor];
        let is_static = levels.iter().all(|level| *level == Dispatching::Static);
        let here = analysed.residents(processor);
        if !is_static || !self.is_complete || here.len() > MOST_STREAMS {
            return Vec::new();
        }
        let late = here
            .iter()
            .filter(|&&one| self.streams[one].verdict == Verdict::Misses);
        let outcomes = late.filter_map(|&one| analysed.outcomes[one].as_ref());
        let mut longest: BTreeMap<Section, Time> = BTreeMap::new();
        for cause in outcomes.flat_map(|outcome| &outcome.blocking.by) {
            let (stream, mutex) = (cause.task, cause.mutex);
            let length = longest.entry(Section { stream, mutex }).or_default();
            *length = cause.length.max(*length);
        }
        let mut sections: Vec<_> = longest.into_iter().collect();
        sections.sort_by_key(|(section, length)| (std::cmp::Reverse(*length), *section));
        sections.into_iter().map(|(section, _)| section).collect()
    }

    /// Searches the longest time of a section that mends a processor.
    fn blocker(
        &self,
        model: &Model,
        strategy: &dyn Strategy,
        processor: usize,
        section: Section,
    ) -> Option<Blocker> {
        let owner = self.owner(model, section)?;
        let own = &model.operations[owner];
        let (least, now) = range(own, section.mutex)?;
        let fits = |nanos| self.fits_with(processor, section, own, Time::from_nanos(nanos));
        let last = now.as_nanos().checked_sub(1)?;
        let time = Time::from_nanos(largest(least.as_nanos(), last, fits)?);
        let mut changed = model.clone();
        shorten(&mut changed.operations[owner], section.mutex, time);
        let after = self.after_change(&changed, strategy).ok()?;
        self.is_mended_in(processor, &after).then(|| Blocker {
            processor,
            operation: own.name.clone(),
            mutex: section.mutex.map(|mutex| model.mutexes[mutex].clone()),
            time,
        })
    }

    /// Returns the only operation of a stream's thread that has a section; `None` of several, of which each would have
    /// to be shorter, and where a section may contain the work of other operations.
    fn owner(&self, model: &Model, section: Section) -> Option<usize> {
        let thread = model.in_threads([self.analysed.streams[section.stream].operation]);
        let has = |&&one: &&usize| {
            let operation = &model.operations[one];
            match section.mutex {
                Some(mutex) => operation.sections.iter().any(|one| one.mutex == mutex),
                None => operation.preemption != Preemption::Full,
            }
        };
        let mut owners = thread.iter().filter(has);
        let owner = *owners.next()?;
        let contains_others = section.mutex.is_none() && model.in_threads([owner]).len() > 1;
        (owners.next().is_none() && !contains_others).then_some(owner)
    }

    /// Returns whether all streams of a processor meet their deadlines, with their jitter as it is, if a section is
    /// shorter.
    fn fits_with(&self, processor: usize, section: Section, own: &Operation, time: Time) -> bool {
        let analysed = &self.analysed;
        let here = analysed.residents(processor);
        let changed: Vec<(Task, Vec<CriticalSection>)> = here
            .iter()
            .map(|&index| {
                let stream = &analysed.streams[index];
                let (mut task, mut sections) = (stream.task.clone(), stream.sections.clone());
                match section.mutex {
                    _ if index != section.stream => (),
                    Some(mutex) => set_length(&mut sections, mutex, time),
                    None if stream.jobs > 1 || task.wcet != own.times.worst => {
                        task.preemption = Preemption::Floating { longest: time };
                    }
                    None => task.preemption = shorter(own.preemption, time),
                }
                (task, sections)
            })
            .collect();
        let locking = here.iter().zip(&changed);
        let locking: Vec<_> = locking
            .map(|(&index, (task, sections))| Locking {
                prioritized: Prioritized {
                    task,
                    priority: analysed.priority(index),
                },
                sections,
            })
            .collect();
        let blocked = blocking(&locking, analysed.protocol);
        let tasks = here.iter().zip(&changed).zip(blocked);
        let tasks: Vec<Task> = tasks
            .map(|((&index, (task, _)), blocking)| analysed.own_as(index, task, blocking.time))
            .collect();
        Lineup::new(&analysed.prioritized(processor, &tasks)).fits()
    }
}

/// Returns the shortest and the present time of an operation's section.
fn range(operation: &Operation, mutex: Option<usize>) -> Option<(Time, Time)> {
    let nanosecond = Time::from_nanos(1);
    let Some(mutex) = mutex else {
        return match operation.preemption {
            Preemption::Full => None,
            Preemption::None => Some((nanosecond, operation.times.worst)),
            Preemption::Segments { longest, last } => Some((last, longest)),
            Preemption::Floating { longest } => Some((nanosecond, longest)),
        };
    };
    let held = operation.sections.iter().filter(|one| one.mutex == mutex);
    let longest = held.map(|one| one.length).max()?;
    Some((nanosecond, longest))
}

/// Makes an operation's section shorter.
fn shorten(operation: &mut Operation, mutex: Option<usize>, time: Time) {
    match mutex {
        Some(mutex) => set_length(&mut operation.sections, mutex, time),
        None => operation.preemption = shorter(operation.preemption, time),
    }
}

fn set_length(sections: &mut [CriticalSection], mutex: usize, time: Time) {
    for section in sections.iter_mut().filter(|one| one.mutex == mutex) {
        section.length = section.length.min(time);
    }
}

/// Returns points of preemption with shorter sections between them.
fn shorter(preemption: Preemption, longest: Time) -> Preemption {
    match preemption {
        Preemption::Full => Preemption::Full,
        Preemption::None | Preemption::Floating { .. } => Preemption::Floating { longest },
        Preemption::Segments { last, .. } => Preemption::Segments { longest, last },
    }
}
