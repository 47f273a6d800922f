//! Description of a stream's jobs, as the simulation executes them.

use crate::analysis::Preemption;
use crate::chains::Place;
use crate::model::Model;
use crate::plan::Plan;
use crate::release::Stream;
use crate::strategy::Dispatching;
use crate::time::Time;

/// Jobs of a stream.
pub(super) struct Program {
    pub(super) place: Option<Place>,
    pub(super) dispatching: Dispatching,
    pub(super) wcet: Time,
    pub(super) period: Time,
    pub(super) deadline: Time,
    /// Shortest time from the release of a job to its deadline.
    pub(super) shortest: Time,
    /// First release, if the stream releases itself.
    pub(super) first: Option<Time>,
    /// Number of streams that release this one together.
    pub(super) suppliers: usize,
    pub(super) sections: Vec<Section>,
    pub(super) preemption: Preemption,
    /// Streams that the end of a job releases, with the times of the messages.
    pub(super) consumers: Vec<(usize, Time)>,
    pub(super) callees: Vec<Callee>,
}

/// Part of a job that holds a mutex, in execution time of the job.
#[derive(Clone, Copy)]
pub(super) struct Section {
    pub(super) mutex: usize,
    pub(super) from: Time,
    pub(super) to: Time,
}

/// Stream whose reply a job awaits.
#[derive(Clone, Copy)]
pub(super) struct Callee {
    pub(super) stream: usize,
    pub(super) request: Time,
    /// Time of the reply, and of the messages of all calls but the first.
    pub(super) reply: Time,
}

/// Describes the streams of a plan.
pub(super) fn programs(model: &Model, plan: &Plan) -> Vec<Program> {
    let analysed = &plan.analysed;
    let mut programs: Vec<Program> = analysed
        .streams
        .iter()
        .enumerate()
        .map(|(index, stream)| program(model, plan, index, stream))
        .collect();
    for (index, stream) in analysed.streams.iter().enumerate() {
        if analysed.places[index].is_some() {
            link(&mut programs, index, stream);
        }
    }
    programs
}

fn program(model: &Model, plan: &Plan, index: usize, stream: &Stream) -> Program {
    let analysed = &plan.analysed;
    let place = analysed.places[index];
    let dispatching = place.map(|place| analysed.levels[place.processor][place.level]);
    let outcome = analysed.outcomes[index].as_ref();
    let jitter = outcome.map_or(stream.task.jitter, |outcome| outcome.jitter);
    let is_source = stream.released_by.is_empty();
    Program {
        place,
        dispatching: dispatching.unwrap_or(Dispatching::Static),
        wcet: stream.task.wcet,
        period: stream.task.period,
        deadline: stream.task.deadline,
        shortest: stream.task.deadline - jitter,
        first: is_source.then(|| model.operations[stream.source].offset),
        suppliers: stream.released_by.len(),
        sections: sections(stream),
        preemption: stream.task.preemption,
        consumers: Vec::new(),
        callees: Vec::new(),
    }
}

/// Places the critical sections of a job one after the other at its start.
///
/// A section nests with the part of a job that cannot be preempted: one that would overlap the begin
/// of the last segment, or the end of a floating section, is cut there.
fn sections(stream: &Stream) -> Vec<Section> {
    let wcet = stream.task.wcet;
    let border = match stream.task.preemption {
        Preemption::Full | Preemption::None => wcet,
        Preemption::Floating { longest } => longest.min(wcet),
        Preemption::Segments { last, .. } => wcet - last,
    };
    let mut from = Time::ZERO;
    let mut sections = Vec::with_capacity(stream.sections.len());
    for section in &stream.sections {
        let most = if from < border { border } else { wcet };
        let to = (from + section.length).min(most);
        if from < to {
            let mutex = section.mutex;
            sections.push(Section { mutex, from, to });
        }
        from = to;
    }
    sections
}

/// Registers a stream with the streams that release it.
fn link(programs: &mut [Program], index: usize, stream: &Stream) {
    for release in &stream.released_by {
        let supplier = &mut programs[release.stream];
        match release.awaited {
            None => supplier.consumers.push((index, release.message)),
            Some(times) => supplier.callees.push(Callee {
                stream: index,
                request: release.message,
                reply: release.message * times.saturating_mul(2).saturating_sub(1),
            }),
        }
    }
}

impl Program {
    /// Returns the critical section in which a job is after some execution.
    pub(super) fn section(&self, executed: Time) -> Option<&Section> {
        let mut sections = self.sections.iter();
        sections.find(|section| section.from <= executed && executed < section.to)
    }

    /// Returns the next execution time at which a job may be preempted.
    pub(super) fn next_preemption_point(&self, executed: Time) -> Time {
        match self.preemption {
            Preemption::Full => executed,
            Preemption::None => self.wcet,
            Preemption::Floating { longest } => executed.max(longest.min(self.wcet)),
            Preemption::Segments { longest, last } => {
                let begin_of_last = self.wcet - last;
                if executed >= begin_of_last {
                    return self.wcet;
                }
                let length = longest.as_nanos().max(1);
                let whole = executed.as_nanos() / length + 1;
                (longest * whole).min(begin_of_last)
            }
        }
    }

    /// Returns whether a job may not be preempted after some execution.
    pub(super) fn is_inside_segment(&self, executed: Time) -> bool {
        let begin = match self.preemption {
            Preemption::Full => return false,
            Preemption::None | Preemption::Floating { .. } => Time::ZERO,
            Preemption::Segments { longest, last } => {
                let begin_of_last = self.wcet - last;
                let length = longest.as_nanos().max(1);
                let begin = longest * (executed.as_nanos() / length);
                match executed >= begin_of_last {
                    true => begin_of_last,
                    false => begin.max(self.end_of_section(executed)),
                }
            }
        };
        executed > begin && executed < self.next_preemption_point(executed)
    }

    /// Returns the end of the critical section before some execution: as segments do not overlap
    /// sections, it begins a new segment.
    fn end_of_section(&self, executed: Time) -> Time {
        let ends = self.sections.iter().map(|section| section.to);
        let before = ends.filter(|&end| end <= executed);
        before.max().unwrap_or_default()
    }

    /// Returns the execution time at which a job has to be looked at again: its end, the end of a
    /// critical section, or a point of preemption.
    pub(super) fn next_stop(&self, executed: Time) -> Time {
        let section = self.section(executed).map(|section| section.to);
        let point = self.next_preemption_point(executed);
        let point = Some(point).filter(|&point| point > executed);
        let stops = [section, point].into_iter().flatten();
        stops.fold(self.wcet, Time::min)
    }
}
