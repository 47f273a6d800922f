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
//! it met it, so that one miss does not hide the others.

mod processor;

use crate::analysis::Response;
use crate::analysis::blocking::{Blocking, Protocol};
use crate::release::Stream;
use crate::strategy::Dispatching;
use crate::time::Time;
use processor::Resident;

/// Work after which the search is given up, in pairs of streams of one processor that were compared.
const EFFORT: u64 = 2_000_000_000;

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
    /// Streams, each after those that release it.
    pub streams: &'s [Stream],
    /// Place of each stream; `None` for those that are left out.
    pub places: &'s [Option<Place>],
    /// Order of dispatching of each level of each processor.
    pub levels: &'s [Vec<Dispatching>],
    /// Protocol of the mutexes.
    pub protocol: Protocol,
}

/// Response time of a stream, and what it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndToEnd {
    /// Worst response, counted from the release of the chain's source.
    pub response: Response,
    /// Release jitter, counted from the release of the chain's source.
    pub jitter: Time,
    /// Time for which a job awaits replies of other hosts.
    pub suspended: Time,
    /// Blocking by streams of lower levels.
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
    let mut left = EFFORT;
    let is_complete = loop {
        let Some(rest) = left.checked_sub(search.cost_of_round()) else {
            break false;
        };
        left = rest;
        if !search.round() {
            break true;
        }
    };
    if !is_complete {
        search.give_up();
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
    blocking: Vec<Blocking>,
    states: Vec<State>,
    /// Streams whose replies each stream awaits: stream, number of calls, time of a message.
    awaited: Vec<Vec<(usize, u64, Time)>>,
    /// Processors whose streams have changed since they were analysed.
    stale: Vec<bool>,
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
            stale: vec![true; processors.len()],
            processors,
            blocking: vec![Blocking::default(); chains.streams.len()],
            states: chains.streams.iter().map(State::at_first).collect(),
            awaited: vec![Vec::new(); chains.streams.len()],
        };
        for (index, stream) in chains.streams.iter().enumerate() {
            for release in &stream.released_by {
                if let Some(times) = release.awaited {
                    search.awaited[release.stream].push((index, times, release.message));
                }
            }
        }
        if search.cost_of_round() <= EFFORT {
            search.set_blocking();
        }
        search
    }

    /// Returns the work of analysing the processors that have changed: each stream with all others,
    /// and the passing on.
    fn cost_of_round(&self) -> u64 {
        let stale = self.processors.iter().zip(&self.stale);
        let stale = stale.filter(|(_, stale)| **stale);
        let pairs = stale.map(|(streams, _)| (streams.len() as u64).pow(2));
        pairs.sum::<u64>() + self.states.len() as u64
    }

    /// Computes the blocking, which no jitter changes.
    fn set_blocking(&mut self) {
        for at in 0..self.processors.len() {
            let residents = self.residents(at);
            let found = processor::blocking(&residents, self.chains.protocol);
            for (&stream, blocking) in self.processors[at].iter().zip(found) {
                let by = blocking.by.into_iter().map(|mut cause| {
                    cause.task = self.processors[at][cause.task];
                    cause
                });
                self.blocking[stream] = Blocking {
                    time: blocking.time,
                    by: by.collect(),
                };
            }
        }
    }

    /// Analyses the processors whose streams have changed, then passes the responses on; returns
    /// whether this changed a stream.
    fn round(&mut self) -> bool {
        for at in 0..self.processors.len() {
            if std::mem::take(&mut self.stale[at]) {
                self.analyse(at);
            }
        }
        let mut changed = false;
        for index in 0..self.states.len() {
            changed |= self.pass_on(index);
        }
        changed
    }

    fn analyse(&mut self, at: usize) {
        let residents = self.residents(at);
        let found = processor::responses(&residents, &self.chains.levels[at]);
        for (&index, found) in self.processors[at].iter().zip(found) {
            let state = &mut self.states[index];
            (state.response, state.local) = (found.response, found.local);
        }
    }

    fn residents(&self, at: usize) -> Vec<Resident<'s>> {
        let residents = self.processors[at].iter().map(|&index| {
            let (stream, state) = (&self.chains.streams[index], &self.states[index]);
            Resident {
                task: &stream.task,
                sections: &stream.sections,
                level: self.chains.places[index].map_or(0, |place| place.level),
                jitter: state.jitter,
                suspended: state.suspended,
                before: state.response,
                blocking: self.blocking[index].time,
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
            self.stale[place.processor] = true;
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
        let awaited = self.awaited[index].iter().map(|&(callee, times, message)| {
            let deadline = self.chains.streams[callee].task.deadline;
            let local = self.states[callee].local.bound().unwrap_or(deadline);
            (message * 2 + local.min(deadline)) * times
        });
        awaited.sum()
    }

    fn awaiting(&self, index: usize) -> impl Iterator<Item = usize> {
        let releases = self.chains.streams[index].released_by.iter();
        let awaiting = releases.filter(|release| release.awaited.is_some());
        awaiting.map(|release| release.stream)
    }

    /// Takes back all responses: the search came to no end.
    fn give_up(&mut self) {
        for state in &mut self.states {
            state.response = Response::Unbounded;
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
                blocking,
            })
        };
        all.map(outcome).collect()
    }
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

    /// Returns the latest end of a job that the analysis of other streams takes for true.
    fn latest(&self, deadline: Time) -> Time {
        self.response.bound().unwrap_or(deadline).min(deadline)
    }
}
