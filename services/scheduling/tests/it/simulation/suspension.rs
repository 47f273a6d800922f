//! Jobs that lock mutexes by any protocol, preempted anywhere, between segments or not at all, and callers that await
//! replies of other hosts, by fixed priorities and deadlines: whatever a plan admits ends by its computed response,
//! whenever callers call and however soon they get a reply.

use std::collections::BTreeMap;
use std::fmt::Write;

use punctual_scheduling::Time;
use punctual_scheduling::analysis::blocking::Protocol;
use punctual_scheduling::analysis::{Preemption, Task};
use punctual_scheduling::model::{Model, read};
use punctual_scheduling::plan::{Plan, PlannedStream, Verdict, plan};
use punctual_scheduling::strategy::by_name;

use super::engine::{Holds, Piece, Rules, Source, Until, run, signed};
use super::for_sets;
use super::sets::{Kinds, Random};

const KINDS: Kinds = Kinds {
    jitter: true,
    late_deadlines: true,
    unpreempted: false,
};

/// Operation of the simulated host, and the code of a job.
#[derive(Debug)]
struct Operation {
    task: Task,
    /// Execution time of the operation that it calls on a host of its own, and number of calls.
    calls: Option<(u64, u64)>,
    /// Longest time for which each mutex is held.
    locks: BTreeMap<usize, u64>,
    pieces: Vec<Piece>,
}

/// Factor of all times: a job that comes just after another has locked waits for a unit less than the section.
const FINER: u64 = 5;

/// Returns a task with a period and a deadline that are longer by a factor.
fn with_times(mut task: Task, factor: u64) -> Task {
    task.period = task.period * factor;
    task.deadline = task.deadline * factor;
    task
}

/// Draws an operation with calls, mutexes or none, preempted anywhere, between segments, or not at all.
fn operation(mut task: Task, may_call: bool, random: &mut Random) -> Operation {
    for time in [
        &mut task.wcet,
        &mut task.period,
        &mut task.deadline,
        &mut task.jitter,
    ] {
        *time = *time * FINER;
    }
    let (wcet, period) = (task.wcet.as_nanos(), task.period.as_nanos());
    let is_caller = may_call && wcet > 1 && random.one_in(2);
    let far = random.within(1, period.div_ceil(4));
    let calls = is_caller.then(|| (far, random.within(1, 2)));
    if !random.one_in(3) {
        task.preemption = random.preemption(wcet);
    }
    let mut operation = Operation {
        task,
        calls,
        locks: BTreeMap::new(),
        pieces: Vec::new(),
    };
    operation.code(random);
    operation
}

impl Operation {
    /// Draws where a job calls and locks: it executes before its calls and after them.
    fn code(&mut self, random: &mut Random) {
        let wcet = self.task.wcet.as_nanos();
        let (far, calls) = self.calls.unwrap_or((0, 0));
        let mut cuts: Vec<u64> = (0..calls).map(|_| random.within(1, wcet - 1)).collect();
        cuts.extend([0, wcet]);
        cuts.sort_unstable();
        let is_locking = !random.one_in(4);
        for (number, cut) in cuts.windows(2).enumerate() {
            if number > 0 {
                self.push(far, Holds::Away);
            }
            let units = units(&self.task, cut[1] - cut[0], random);
            let mut next = 0;
            let mut mutex = random.within(0, 1) as usize;
            while is_locking && next < units.len() && (next == 0 || random.one_in(2)) {
                let first = random.within(next as u64, units.len() as u64 - 1) as usize;
                let last = random.within(first as u64, units.len() as u64 - 1) as usize;
                self.free(&units[next..first]);
                self.locked(&units[first..=last], mutex, random);
                (next, mutex) = (last + 1, 1 - mutex);
            }
            self.free(units.get(next..).unwrap_or_default());
        }
    }

    /// Adds parts of a job that lock nothing.
    fn free(&mut self, units: &[Unit]) {
        for unit in units {
            self.push(unit.length, unit.holds(None));
        }
    }

    /// Adds parts of a job with a section around them, or within the only one.
    fn locked(&mut self, units: &[Unit], mutex: usize, random: &mut Random) {
        let before = self.pieces.len();
        if let [unit] = units {
            let length = random.within(1, unit.length);
            let from = random.within(0, unit.length - length);
            self.push(from, unit.holds(None));
            self.push(length, unit.holds(Some(mutex)));
            self.push(unit.length - length - from, unit.holds(None));
            for piece in self.pieces.iter_mut().skip(before + 1) {
                piece.is_joined = unit.is_unpreempted;
            }
        } else {
            for unit in units {
                self.push(unit.length, unit.holds(Some(mutex)));
            }
        }
        let added = self.pieces.get(before..).unwrap_or_default().iter();
        let held = added.filter(|piece| {
            let holds = [Holds::Mutex(mutex), Holds::ProcessorAnd(mutex)];
            holds.contains(&piece.holds)
        });
        let length = held.map(|piece| piece.length.unsigned_abs()).sum();
        let longest = self.locks.entry(mutex).or_insert(length);
        *longest = length.max(*longest);
    }

    fn push(&mut self, length: u64, holds: Holds) {
        if length > 0 {
            self.pieces.push(Piece::new(length.cast_signed(), holds));
        }
    }

    /// Returns the time from the begin of a job to its first section, if nothing holds it up.
    fn first_section(&self) -> i64 {
        let pieces = self.pieces.iter();
        let is_free = |piece: &&Piece| matches!(piece.holds, Holds::Nothing | Holds::Away);
        pieces.take_while(is_free).map(|piece| piece.length).sum()
    }

    /// Writes the operation, and the one that it calls, as tables of a model in microseconds.
    fn write(&self, text: &mut String, number: usize) {
        let Task {
            wcet,
            period,
            deadline,
            jitter,
            ..
        } = &self.task;
        let micros = [wcet, period, deadline, jitter].map(|time| time.as_nanos());
        let [wcet, period, deadline, jitter] = micros;
        writeln!(
            text,
            "[operation.o{number}]\nhost = 'here'\nwcet = '{wcet}us'\nperiod = '{period}us'\n\
             deadline = '{deadline}us'\njitter = '{jitter}us'"
        )
        .unwrap();
        let micros = |time: Time| time.as_nanos();
        match self.task.preemption {
            Preemption::Full => (),
            Preemption::None => writeln!(text, "preemption = 'none'").unwrap(),
            Preemption::Segments { longest, last } => {
                let (longest, last) = (micros(longest), micros(last));
                writeln!(
                    text,
                    "segments = {{ longest = '{longest}us', last = '{last}us' }}"
                )
                .unwrap();
            }
            Preemption::Floating { longest } => {
                writeln!(text, "section = '{}us'", micros(longest)).unwrap();
            }
        }
        let locks = self.locks.iter();
        let locks =
            locks.map(|(mutex, time)| format!("{{ mutex = 'm{mutex}', time = '{time}us' }}"));
        writeln!(text, "locks = [{}]", locks.collect::<Vec<_>>().join(", ")).unwrap();
        if let Some((far, times)) = self.calls {
            writeln!(
                text,
                "calls = [{{ operation = 'far{number}', times = {times} }}]\n\
                 [host.host{number}]\n[operation.far{number}]\nhost = 'host{number}'\nwcet = '{far}us'\n\
                 [[message]]\nfrom = 'here'\nto = 'host{number}'\ntime = '0us'"
            )
            .unwrap();
        }
    }
}

/// Part of a job between two points of preemption, or one that is preempted anywhere.
#[derive(Clone, Copy)]
struct Unit {
    length: u64,
    is_unpreempted: bool,
}

impl Unit {
    fn holds(self, mutex: Option<usize>) -> Holds {
        match (self.is_unpreempted, mutex) {
            (false, None) => Holds::Nothing,
            (true, None) => Holds::Processor,
            (false, Some(mutex)) => Holds::Mutex(mutex),
            (true, Some(mutex)) => Holds::ProcessorAnd(mutex),
        }
    }
}

/// Draws the points of preemption of a part of a job that executes for a time; only of a whole job is the last
/// segment certain to be as long as stated.
fn units(task: &Task, time: u64, random: &mut Random) -> Vec<Unit> {
    let unit = |length, is_unpreempted| Unit {
        length,
        is_unpreempted,
    };
    let units = match task.preemption {
        Preemption::Full => vec![unit(time, false)],
        Preemption::None => vec![unit(time, true)],
        Preemption::Floating { longest } => {
            let longest = longest.as_nanos().min(time);
            let from = random.within(0, time - longest);
            let after = time - longest - from;
            vec![unit(from, false), unit(longest, true), unit(after, false)]
        }
        Preemption::Segments { longest, last } => {
            let last = last.as_nanos().min(time);
            let (mut rest, mut units) = (time - last, Vec::new());
            while rest > 0 {
                let most = longest.as_nanos().min(rest);
                let length = match random.one_in(2) {
                    true => most,
                    false => random.within(1, most),
                };
                units.push(unit(length, true));
                rest -= length;
            }
            units.push(unit(last, true));
            units
        }
    };
    units.into_iter().filter(|unit| unit.length > 0).collect()
}

/// Writes the model of operations.
fn model(operations: &[Operation], strategy: &str, protocol: &str) -> String {
    let mut text = format!(
        "strategy = '{strategy}'\nmutexes = ['m0', 'm1']\nlock_protocol = '{protocol}'\n[host.here]\n"
    );
    for (number, operation) in operations.iter().enumerate() {
        operation.write(&mut text, number);
    }
    text
}

/// Returns the stream of each operation.
fn streams<'p>(plan: &'p Plan, operations: &[Operation]) -> Vec<&'p PlannedStream> {
    let numbers = 0..operations.len();
    let first = |number| plan.streams_of(&format!("o{number}")).next().unwrap();
    numbers.map(|number| &plan.streams[first(number)]).collect()
}

/// Returns the ceiling of each mutex, of priorities, or by deadline the floor.
fn ceilings(
    operations: &[Operation],
    streams: &[&PlannedStream],
    by_deadline: bool,
) -> BTreeMap<usize, i64> {
    let mut ceilings = BTreeMap::new();
    for (operation, stream) in operations.iter().zip(streams) {
        let (level, task) = (priority(stream), &operation.task);
        let due = signed(task.deadline) - signed(task.jitter);
        for &mutex in operation.locks.keys() {
            let own = if by_deadline { due } else { level };
            let ceiling = ceilings.entry(mutex).or_insert(own);
            *ceiling = match by_deadline {
                true => own.min(*ceiling),
                false => own.max(*ceiling),
            };
        }
    }
    ceilings
}

fn priority(stream: &PlannedStream) -> i64 {
    -i64::try_from(stream.level.unwrap()).unwrap()
}

/// Returns the rules of the processor: by deadline the holders of mutexes with ceilings have deadline floors, whichever
/// protocol it is.
fn rules(model: &Model, operations: &[Operation], streams: &[&PlannedStream]) -> Rules {
    let by_deadline = model.strategy.as_deref() == Some("EDF");
    let ceilings = ceilings(operations, streams, by_deadline);
    let mut rules = Rules {
        by_deadline,
        ..Rules::default()
    };
    match model.protocol {
        Protocol::Inheritance => (),
        Protocol::Ceiling if !by_deadline => rules.limits = ceilings,
        Protocol::Ceiling | Protocol::ImmediateCeiling => rules.ceilings = ceilings,
    }
    rules
}

/// Runs the operations of a plan in several ways, and returns whether it fits.
fn check(operations: &[Operation], text: &str, random: &mut Random) -> bool {
    let model = read("random.toml", text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
    let strategy = by_name(model.strategy.as_deref().unwrap()).unwrap();
    let plan = plan(&model, strategy).unwrap();
    let streams = streams(&plan, operations);
    let rules = rules(&model, operations, &streams);
    let fits = streams.iter().all(|stream| stream.verdict == Verdict::Fits);
    let shown = format!("{text}\n{operations:?}");
    let own = || operations.iter().zip(&streams);
    let mut starts: Vec<Vec<i64>> = Vec::new();
    for (first, gap) in (0..operations.len()).flat_map(|first| [(first, 0), (first, 1)]) {
        // The others come when the first one has just begun a section, the more urgent ones last.
        let begun = operations[first].first_section() + 1;
        let later = |stream: &&PlannedStream| (operations.len() as i64 + priority(stream)) * gap;
        let mut after: Vec<i64> = streams.iter().map(|one| begun + later(one)).collect();
        after[first] = 0;
        starts.push(after);
    }
    for _ in 0..2 {
        let drawn = streams
            .iter()
            .map(|_| random.within(0, 12 * FINER).cast_signed());
        starts.push(drawn.collect());
    }
    for starts in starts {
        let each = own().zip(starts).map(|((operation, stream), start)| {
            let mut source = Source::critical(&operation.task, priority(stream), start.max(0));
            source.pieces.clone_from(&operation.pieces);
            source
        });
        check_run(each.collect(), &rules, &streams, (fits, &shown));
    }
    for _ in 0..3 {
        let each = own().map(|(operation, stream)| {
            let mut source = Source::random(&operation.task, priority(stream), random);
            source.pieces.clone_from(&operation.pieces);
            source
        });
        let each = each.collect();
        check_run(each, &rules, &streams, (fits, &shown));
    }
    fits
}

/// Checks that no response is longer than computed, and that nothing misses its deadline if the plan fits.
fn check_run(
    sources: Vec<Source>,
    rules: &Rules,
    streams: &[&PlannedStream],
    (fits, text): (bool, &str),
) {
    let seen = run(sources, rules, 4_000, Until::Limit);
    assert!(!fits || seen.missed.is_none(), "{seen:?}\n{text}");
    for (worst, stream) in seen.worst.iter().zip(streams) {
        let bound = stream.response.map(|time| signed(time) / 1000);
        // By deadline the streams of a set that does not fit hold one another up.
        let is_bound = fits || !rules.by_deadline;
        assert!(
            !is_bound || bound.is_none_or(|bound| *worst <= bound),
            "{}: {worst} µs\n{text}",
            stream.operation
        );
    }
}

#[test]
fn no_caller_that_awaits_replies_takes_longer_than_computed() {
    all_stay_within_their_bounds(true);
}

#[test]
fn no_job_with_mutexes_takes_longer_than_computed() {
    all_stay_within_their_bounds(false);
}

fn all_stay_within_their_bounds(may_call: bool) {
    for (strategy, protocol) in [
        ("RMS", "inheritance"),
        ("RMS", "ceiling"),
        ("DMS", "ceiling"),
        ("DMS", "immediate-ceiling"),
        ("EDF", "inheritance"),
        ("EDF", "ceiling"),
        ("EDF", "immediate-ceiling"),
    ] {
        let (sets, fitting) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
        for_sets(5, |random| {
            let tasks = random
                .set(KINDS)
                .into_iter()
                .take(random.within(2, 4) as usize);
            // By deadline nothing is checked of a set that does not fit: so half of the sets have more time.
            let factor = if strategy == "EDF" && random.one_in(2) {
                3
            } else {
                1
            };
            let tasks = tasks.map(|task| with_times(task, factor));
            let operations = tasks.map(|task| operation(task, may_call, random));
            let operations: Vec<_> = operations.collect();
            let text = model(&operations, strategy, protocol);
            let fits = check(&operations, &text, random);
            sets.set(sets.get() + 1);
            fitting.set(fitting.get() + u64::from(fits));
        });
        let (sets, fitting): (u64, u64) = (sets.get(), fitting.get());
        assert!(
            fitting > sets / 20 && fitting < sets,
            "{strategy}, {protocol}: {fitting} of {sets} fit"
        );
    }
}
