//! End-to-end response times of chains of calls, over several processors and hosts: holistic
//! analysis (Tindell and Clark 1994).
//!
//! The worst response of a stream is the release jitter of those that it releases. As responses
//! depend on the jitter of all streams of a processor, both are computed anew until nothing changes.
//! All response times count from the release of the chain's source.
//!
//! A caller that awaits a reply of another host is suspended meanwhile. Its own response contains the
//! suspension; for others its jobs have that much more jitter (Chen et al. 2019).
//!
//! Where a stream misses its deadline the set does not fit; the streams behind it are analysed as if
//! it met it, so that one miss does not hide the others. Streams of its processor that a suspended stream may
//! preempt have no bound then: after replies that are late, its jobs may run one after the other for any time. A
//! caller has none if the reply that it awaits may be late.

mod processor;
mod reuse;

use crate::analysis::blocking::{Blocking, Protocol};
use crate::analysis::{Response, Task};
use crate::release::Stream;
use crate::strategy::Dispatching;
use crate::time::Time;
use processor::Resident;
pub(crate) use processor::{Locker, by_itself, if_interrupted, seen_by_others};
pub(crate) use reuse::analyse_since;

/// Work after which the search is given up, in pairs of streams of one processor that were compared.
const EFFORT: u64 = 200_000_000;

/// Place of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index of the processor, over all hosts.
    pub processor: usize,
    /// Level of the processor; level 0 is served first.
    pub level: usize,
}

/// Streams with their places.
#[derive(Clone, Copy, Debug)]
pub struct Chains<'s> {
    /// Streams; a stream follows the streams that release it.
    pub streams: &'s [Stream],
    /// Place of each stream; `None` for those that are left out.
    pub places: &'s [Option<Place>],
    /// Order of dispatching of each level of each processor.
    pub levels: &'s [Vec<Dispatching>],
    /// Protocol of the mutexes.
    pub protocol: Protocol,
    /// Time that the platform takes of each processor ([`Task::interference`]); processors behind the end of the
    /// slice lose none.
    pub interference: &'s [Option<Task>],
}

/// Response time of a stream, and the inputs of its analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndToEnd {
    /// Worst response, counted from the release of the chain's source.
    pub response: Response,
    /// Release jitter, counted from the release of the chain's source.
    pub jitter: Time,
    /// Time for which a job awaits replies of other hosts.
    pub suspended: Time,
    /// Blocking of one job by streams of lower levels, of all its parts.
    pub blocking: Blocking,
}

/// Outcome of the analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// Outcome of each stream; `None` for those that are left out.
    pub streams: Vec<Option<EndToEnd>>,
    /// `false` if the analysis was given up, as too many streams influence one another: then no
    /// response has a bound.
    pub is_complete: bool,
}

/// Analyses chains.
///
/// # Panics
/// If a place does not exist.
#[must_use]
pub fn analyse(chains: &Chains<'_>) -> Analysis {
    let mut search = Search::new(chains);
    let is_complete = search.is_possible()
        && loop {
            match search.round() {
                None => break false,
                Some(false) => break true,
                Some(true) => {}
            }
        };
    match is_complete {
        true => search.take_back(),
        false => search.give_up(),
    }
    Analysis {
        streams: search.outcomes(),
        is_complete,
    }
}

struct Search<'s> {
    chains: &'s Chains<'s>,
    /// Streams of each processor.
    processors: Vec<Vec<usize>>,
    /// Blocking of each stream before each part of a job.
    blocking: Vec<Blocking>,
    /// Number of replies that each stream awaits in a release.
    replies: Vec<u64>,
    states: Vec<State>,
    /// Streams whose replies each stream awaits: stream, number of calls in each release, time of a
    /// message.
    awaited: Vec<Vec<(usize, u64, Time)>>,
    /// Number of changes of each processor's streams.
    changes: Vec<u64>,
    /// Number of changes of its processor up to the analysis of each stream.
    seen: Vec<Option<u64>>,
    /// Responses of levels that are analysed as a whole, and the number of changes up to then.
    bands: Vec<Option<(u64, processor::Bands)>>,
    /// Work that is left.
    effort: u64,
}

#[derive(Clone, Copy)]
struct State {
    jitter: Time,
    suspended: Time,
    response: Response,
    /// Response counted from the actual release, for a caller that awaits it.
    local: Response,
}

impl<'s> Search<'s> {
    fn new(chains: &'s Chains<'s>) -> Self {
        let mut processors = vec![Vec::new(); chains.levels.len()];
        for (index, place) in chains.places.iter().enumerate() {
            if let Some(place) = place {
                processors[place.processor].push(index);
            }
        }
        let mut search = Self {
            chains,
            changes: vec![0; processors.len()],
            bands: vec![None; processors.len()],
            seen: vec![None; chains.streams.len()],
            effort: EFFORT,
            processors,
            blocking: vec![Blocking::default(); chains.streams.len()],
            replies: replies(chains.streams),
            states: chains.streams.iter().map(State::at_first).collect(),
            awaited: vec![Vec::new(); chains.streams.len()],
        };
        for (index, stream) in chains.streams.iter().enumerate() {
            for release in &stream.released_by {
                if let Some(times) = release.awaited {
                    let calls = times.saturating_mul(chains.streams[release.stream].jobs);
                    search.awaited[release.stream].push((index, calls, release.message));
                }
            }
        }
        search.set_blocking();
        search
    }

    /// Returns whether each processor can be analysed once at least.
    fn is_possible(&self) -> bool {
        let works = self.processors.iter().map(|streams| pairs(streams.len()));
        works.fold(0, u64::saturating_add) <= EFFORT
    }

    /// Deducts work from the effort that is left; returns `None` if the limit of effort is exceeded.
    fn spend(&mut self, work: usize) -> Option<()> {
        self.effort = self.effort.checked_sub(work as u64)?;
        Some(())
    }

    /// Computes the blocking, which no jitter changes. Of a processor with too many streams none is
    /// computed: its analysis will be given up.
    fn set_blocking(&mut self) {
        for at in 0..self.processors.len() {
            if pairs(self.processors[at].len()) > EFFORT {
                continue;
            }
            let residents = self.residents(at);
            let found = processor::blocking(&residents, self.chains.protocol);
            for (place, blocking) in found.into_iter().enumerate() {
                let stream = self.processors[at][place];
                self.blocking[stream] = self.named(at, blocking);
            }
        }
    }

    /// Names the blocking streams of a processor by their indices.
    fn named(&self, at: usize, mut blocking: Blocking) -> Blocking {
        for cause in &mut blocking.by {
            cause.task = self.processors[at][cause.task];
        }
        blocking
    }

    /// Analyses each stream whose processor has changed, after passing on to it the responses of those
    /// that release it; returns whether anything changed, or `None` if the work is too much.
    fn round(&mut self) -> Option<bool> {
        let mut changed = false;
        self.spend(self.states.len())?;
        for index in 0..self.states.len() {
            changed |= self.pass_on(index);
            if let Some(place) = self.chains.places[index] {
                changed |= self.analyse(index, place)?;
            }
        }
        Some(changed)
    }

    /// Analyses a stream if its processor has changed; returns whether its response changed.
    fn analyse(&mut self, index: usize, place: Place) -> Option<bool> {
        let changes = self.changes[place.processor];
        if self.seen[index] == Some(changes) {
            return Some(false);
        }
        self.seen[index] = Some(changes);
        self.spend(self.processors[place.processor].len())?;
        let found = self.found(index, place)?;
        let is_awaited = self.awaiting(index).next().is_some();
        let state = &mut self.states[index];
        let before = (state.response, state.local);
        state.local = found.local;
        if !is_awaited {
            state.response = found.response;
        }
        let changed = before != (state.response, state.local);
        if changed && !state.suspended.is_zero() {
            // Others see the time between its parts.
            self.changes[place.processor] += 1;
        }
        Some(changed)
    }

    /// Returns the responses of a stream.
    fn found(&mut self, index: usize, place: Place) -> Option<processor::Found> {
        let at = place.processor;
        let own = self.processors[at].binary_search(&index).unwrap_or(0);
        let residents = self.residents(at);
        let levels = &self.chains.levels[at];
        let on = processor::On {
            levels,
            protocol: self.chains.protocol,
            platform: self.chains.interference.get(at).and_then(Option::as_ref),
        };
        if levels[place.level] == Dispatching::Static {
            return Some(processor::of_static(&residents, own, on));
        }
        let changes = self.changes[at];
        if self.bands[at]
            .as_ref()
            .is_none_or(|(then, _)| *then != changes)
        {
            self.spend(residents.len().pow(2))?;
            let bands = processor::bands(&residents, on);
            self.bands[at] = Some((changes, bands));
        }
        let (_, bands) = self.bands[at].as_ref()?;
        let found = bands[own].map(|response| processor::Found {
            response,
            local: response,
        });
        Some(found.unwrap_or_else(|| processor::of_static(&residents, own, on)))
    }

    fn residents(&self, at: usize) -> Vec<Resident<'s>> {
        let residents = self.processors[at].iter().map(|&index| {
            let (stream, state) = (&self.chains.streams[index], &self.states[index]);
            Resident {
                task: &stream.task,
                jobs: stream.jobs,
                sections: &stream.sections,
                level: self.chains.places[index].map_or(0, |place| place.level),
                jitter: state.jitter,
                suspended: state.suspended,
                before: state.response,
                blocking: self.blocking[index].time,
                replies: self.replies[index],
            }
        });
        residents.collect()
    }

    /// Sets the jitter of a stream by its suppliers, and its suspension by those whose replies it
    /// awaits; returns whether either changed.
    fn pass_on(&mut self, index: usize) -> bool {
        let jitter = self.jitter(index);
        let suspended = self.suspended(index);
        let is_awaited = self.awaiting(index).next().is_some();
        let state = &mut self.states[index];
        if is_awaited {
            // The caller is suspended until then, and ends later.
            state.response = Response::Within(jitter);
        }
        if (state.jitter, state.suspended) == (jitter, suspended) {
            return false;
        }
        (state.jitter, state.suspended) = (jitter, suspended);
        if let Some(place) = self.chains.places[index] {
            self.changes[place.processor] += 1;
        }
        true
    }

    /// Returns the latest release of a stream, counted from that of its source.
    fn jitter(&self, index: usize) -> Time {
        let stream = &self.chains.streams[index];
        let latest = stream.released_by.iter().map(|release| {
            let supplier = &self.chains.streams[release.stream];
            let latest = self.states[release.stream].latest(supplier.task.deadline);
            match release.awaited {
                // The caller has its reply by then.
                Some(_) => latest,
                None => latest + release.message,
            }
        });
        latest.fold(stream.task.jitter, Time::max)
    }

    /// Returns the time for which a job awaits replies.
    fn suspended(&self, index: usize) -> Time {
        let awaited = self.awaited[index].iter().map(|&(callee, calls, message)| {
            let deadline = self.chains.streams[callee].task.deadline;
            let local = self.states[callee].local.bound().unwrap_or(deadline);
            (message * 2 + local.min(deadline)) * calls
        });
        awaited.sum()
    }

    fn awaiting(&self, index: usize) -> impl Iterator<Item = usize> {
        let releases = self.chains.streams[index].released_by.iter();
        let awaiting = releases.filter(|release| release.awaited.is_some());
        awaiting.map(|release| release.stream)
    }

    /// Takes back the responses that assume of a suspended stream that it ends by its deadline, or of a callee that it
    /// replies by its deadline, where that is not proved.
    fn take_back(&mut self) {
        loop {
            let processors = 0..self.processors.len();
            let mut unproved: Vec<usize> = processors.flat_map(|at| self.behind_late(at)).collect();
            unproved.extend((0..self.states.len()).filter(|&index| self.awaits_late(index)));
            unproved.retain(|&index| self.states[index].has_bound());
            if unproved.is_empty() {
                return;
            }
            for index in unproved {
                // Callers of it, and streams behind it, are found in the next turn.
                self.states[index].take_back();
            }
        }
    }

    /// Returns whether a stream awaits a reply that is not proved to come by the deadline of the callee.
    fn awaits_late(&self, index: usize) -> bool {
        self.awaited[index].iter().any(|&(callee, _, _)| {
            let deadline = self.chains.streams[callee].task.deadline;
            !self.states[callee].local.meets(deadline)
        })
    }

    /// Returns the streams of a processor that wait for a suspended stream which is not proved to end by its deadline:
    /// those of its level and of lower ones, and itself if another suspended stream has its level.
    fn behind_late(&self, at: usize) -> Vec<usize> {
        let streams = self.processors[at].iter().copied();
        let level = |index: usize| self.chains.places[index].map(|place| place.level);
        let suspended = streams
            .clone()
            .filter(|&index| !self.states[index].suspended.is_zero());
        let late = suspended.clone().filter(|&index| {
            let deadline = self.chains.streams[index].task.deadline;
            !self.states[index].response.meets(deadline)
        });
        let Some(first) = late.filter_map(level).min() else {
            return Vec::new();
        };
        let mut of_first = suspended.filter(|&index| level(index) == Some(first));
        let alone = of_first.next().filter(|_| of_first.next().is_none());
        let behind = |&index: &usize| level(index) >= Some(first) && Some(index) != alone;
        streams.filter(behind).collect()
    }

    /// Takes back all responses: the search came to no end.
    fn give_up(&mut self) {
        for state in &mut self.states {
            state.take_back();
        }
    }

    fn outcomes(self) -> Vec<Option<EndToEnd>> {
        let all = self.states.iter().zip(self.blocking).enumerate();
        let outcome = |(index, (state, blocking)): (usize, (&State, Blocking))| {
            self.chains.places[index]?;
            Some(EndToEnd {
                response: state.response,
                jitter: state.jitter,
                suspended: state.suspended,
                blocking: repeated(blocking, self.replies[index].saturating_add(1)),
            })
        };
        all.map(outcome).collect()
    }
}

/// Returns the number of replies that each stream awaits in a release.
pub(crate) fn replies(streams: &[Stream]) -> Vec<u64> {
    let mut replies = vec![0u64; streams.len()];
    for release in streams.iter().flat_map(|stream| &stream.released_by) {
        let calls = release.awaited.unwrap_or_default();
        let calls = calls.saturating_mul(streams[release.stream].jobs);
        replies[release.stream] = replies[release.stream].saturating_add(calls);
    }
    replies
}

/// Returns the blocking of all parts of a job: after each reply it awaits, lower levels may hold it up
/// again.
pub(crate) fn repeated(mut blocking: Blocking, parts: u64) -> Blocking {
    for cause in &mut blocking.by {
        cause.length = cause.length * parts;
    }
    blocking.time = blocking.time * parts;
    blocking
}

/// Returns the number of pairs of streams.
fn pairs(streams: usize) -> u64 {
    (streams as u64).saturating_mul(streams as u64)
}

impl State {
    fn at_first(stream: &Stream) -> Self {
        Self {
            jitter: stream.task.jitter,
            suspended: Time::ZERO,
            response: Response::Within(Time::ZERO),
            local: Response::Within(stream.task.wcet),
        }
    }

    /// Returns whether a response was found that has not been taken back.
    fn has_bound(&self) -> bool {
        [self.response, self.local]
            .iter()
            .any(|response| response.bound().is_some())
    }

    fn take_back(&mut self) {
        (self.response, self.local) = (Response::Unbounded, Response::Unbounded);
    }

    /// Returns the latest end of a job that the analysis of other streams takes for true.
    fn latest(&self, deadline: Time) -> Time {
        self.response.bound().unwrap_or(deadline).min(deadline)
    }
}
