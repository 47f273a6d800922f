//! Releases: what makes each operation run, how often, and by when it has to end.
//!
//! Rates and deadlines pass from suppliers to consumers. An operation that is called by several
//! suppliers has a stream of jobs for each of them (several rates of one operation); a conjunction has
//! one stream for all. An operation that a caller of its own host calls two-way runs in the caller's
//! thread: it lengthens the caller's jobs, and has no stream.

mod inlined;

use crate::analysis::Task;
use crate::analysis::blocking::CriticalSection;
use crate::model::{Kind, Model};
use crate::time::Time;
use inlined::{Effect, Inlined};
use punctual_idl::diagnostic::Diagnostic;

/// Maximum number of streams of a model. Many paths through few operations reach it.
pub const MOST_STREAMS: usize = 200_000;

/// Stream of jobs of one operation, with one rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Index of the operation.
    pub operation: usize,
    /// Index of the operation whose releases start the chain of calls.
    pub source: usize,
    /// Number of jobs that one release of the source causes.
    pub jobs: u64,
    /// Work of these jobs together. The jitter is that of the source's
    /// clock, zero for others.
    pub task: Task,
    /// Critical sections of a job.
    pub sections: Vec<CriticalSection>,
    /// Streams that release this one, of which it awaits all; empty for a source.
    pub released_by: Vec<Release>,
}

/// Release of one stream by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Index of the supplier's stream.
    pub stream: usize,
    /// Maximum time of the message.
    pub message: Time,
    /// Number of calls by each job of the supplier, if it awaits their replies.
    pub awaited: Option<u64>,
}

/// Returns the streams of a model; a stream follows the streams that release it.
///
/// # Errors
/// Rates that contradict each other, two-way calls of conjunctions, too many streams.
pub fn streams(model: &Model) -> Result<Vec<Stream>, Vec<Diagnostic>> {
    let mut propagation = Propagation {
        model,
        inlined: Inlined::of(model)?,
        incoming: vec![Vec::new(); model.operations.len()],
        streams: Vec::new(),
        faults: inlined::faults(model),
    };
    for &operation in &model.order {
        propagation.visit(operation);
        if propagation.streams.len() > MOST_STREAMS {
            let name = &model.operations[operation].name;
            let message = format!(
                "more than {MOST_STREAMS} paths of calls: `{name}` is one of the operations at which they meet"
            );
            return Err(vec![model.error_at(
                operation,
                message,
                "reached too often",
            )]);
        }
    }
    match propagation.faults.is_empty() {
        true => Ok(propagation.streams),
        false => Err(propagation.faults),
    }
}

/// Call that releases an operation, before it is a stream.
#[derive(Clone, Copy)]
struct Incoming {
    stream: usize,
    effect: Effect,
}

struct Propagation<'m> {
    model: &'m Model,
    inlined: Inlined,
    incoming: Vec<Vec<Incoming>>,
    streams: Vec<Stream>,
    faults: Vec<Diagnostic>,
}

impl Propagation<'_> {
    /// Makes the streams of an operation; its callers have been visited.
    fn visit(&mut self, operation: usize) {
        let incoming = std::mem::take(&mut self.incoming[operation]);
        let own = &self.model.operations[operation];
        let runs_itself = own.threads > 0 || !self.inlined.is_called[operation];
        if let Some(period) = own.period.filter(|_| runs_itself) {
            self.add(operation, operation, (period, 1, own.jitter), Vec::new());
        }
        match own.kind {
            Kind::Conjunction => self.join(operation, &incoming),
            Kind::Operation | Kind::Disjunction => {
                for one in incoming {
                    self.follow(operation, one);
                }
            }
        }
    }

    /// Adds the stream that one call releases.
    fn follow(&mut self, operation: usize, incoming: Incoming) {
        let supplier = &self.streams[incoming.stream];
        let jobs = incoming.effect.times.saturating_mul(supplier.jobs);
        let (source, period) = (supplier.source, supplier.task.period);
        let release = self.release(operation, incoming);
        self.check_rate(operation, incoming.stream, jobs);
        self.add(operation, source, (period, jobs, Time::ZERO), vec![release]);
    }

    /// Adds the stream of a conjunction, which all suppliers release together.
    fn join(&mut self, operation: usize, incoming: &[Incoming]) {
        let Some(first) = incoming.first() else {
            return;
        };
        let supplier = &self.streams[first.stream];
        let (source, period) = (supplier.source, supplier.task.period);
        let calls = |one: &Incoming| {
            let supplier = &self.streams[one.stream];
            one.effect.times.saturating_mul(supplier.jobs)
        };
        let jobs = calls(first);
        let differs =
            |one: &&Incoming| self.streams[one.stream].source != source || calls(one) != jobs;
        if let Some(other) = incoming.iter().find(differs) {
            let fault = self.unequal(operation, [(first, jobs), (other, calls(other))]);
            self.faults.push(fault);
        }
        let releases = incoming.iter().map(|&one| self.release(operation, one));
        let releases = releases.collect();
        self.add(operation, source, (period, jobs, Time::ZERO), releases);
    }

    /// Makes the error of a conjunction whose suppliers do not call it in step.
    fn unequal(&self, operation: usize, suppliers: [(&Incoming, u64); 2]) -> Diagnostic {
        let described = suppliers.map(|(incoming, calls)| {
            let supplier = &self.streams[incoming.stream];
            format!(
                "`{}` calls it {calls} times in {} of `{}`",
                self.name(supplier.operation),
                supplier.task.period,
                self.name(supplier.source),
            )
        });
        let message = format!(
            "conjunction `{}` awaits suppliers that are not in step: {}, {}",
            self.name(operation),
            described[0],
            described[1],
        );
        let fault = self.model.error_at(operation, message, "awaits both");
        fault.with_help("let one operation release all of them, equally often")
    }

    fn release(&self, operation: usize, incoming: Incoming) -> Release {
        let host = |operation: usize| self.model.operations[operation].host;
        let from = self.streams[incoming.stream].operation;
        Release {
            stream: incoming.stream,
            message: self
                .model
                .message_time(host(from), host(operation))
                .unwrap_or_default(),
            awaited: incoming.effect.two_way.then_some(incoming.effect.times),
        }
    }

    /// Checks that an operation is not called more often than its own period says.
    fn check_rate(&mut self, operation: usize, supplier: usize, jobs: u64) {
        let own = &self.model.operations[operation];
        let supplier = &self.streams[supplier];
        let Some(least) = own
            .period
            .filter(|_| inlined::expects(self.model, operation))
        else {
            return;
        };
        let period = supplier.task.period;
        if least * jobs <= period {
            return;
        }
        let times = if jobs == 1 {
            String::new()
        } else {
            format!("{jobs} times ")
        };
        let message = format!(
            "`{}` expects calls {least} apart, and `{}` calls it {times}every {period}",
            own.name,
            self.name(supplier.operation),
        );
        let fault = self.model.error_at(operation, message, "called more often");
        self.faults.push(fault.with_help(
            "lengthen the caller's period, or shorten this one; with `threads = 1` the operation runs by \
             its own period besides",
        ));
    }

    fn add(
        &mut self,
        operation: usize,
        source: usize,
        (period, jobs, jitter): (Time, u64, Time),
        released_by: Vec<Release>,
    ) {
        let inherited = released_by
            .iter()
            .map(|release| self.streams[release.stream].task.deadline);
        let inherited = inherited.min().unwrap_or(period);
        let own = self.model.operations[operation].deadline;
        let deadline = own.unwrap_or(inherited);
        let called = self.inlined.deadline[operation].unwrap_or(deadline);
        let wcet = self.inlined.demand[operation] * jobs;
        if wcet > Time::LONGEST {
            let message = format!(
                "the {jobs} jobs of `{}` in each period of `{}` take longer than a day",
                self.name(operation),
                self.name(source),
            );
            let fault = self.model.error_at(operation, message, "called too often");
            self.faults.push(fault);
        }
        let stream = self.streams.len();
        self.streams.push(Stream {
            operation,
            source,
            jobs,
            task: Task::new(wcet.min(Time::LONGEST), period)
                .with_deadline(deadline.min(called))
                .with_jitter(jitter)
                .with_preemption(self.inlined.preemption(operation, jobs)),
            sections: self.inlined.sections[operation].clone(),
            released_by,
        });
        for at in 0..self.inlined.expecting[operation].len() {
            let (expecting, times) = self.inlined.expecting[operation][at];
            self.check_rate(expecting, stream, times.saturating_mul(jobs));
        }
        for &effect in &self.inlined.effects[operation] {
            self.incoming[effect.operation].push(Incoming { stream, effect });
        }
    }

    fn name(&self, operation: usize) -> &str {
        &self.model.operations[operation].name
    }
}
