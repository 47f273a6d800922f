//! Callers that await replies of other hosts, with mutexes and without preemption, by fixed priorities and deadlines:
//! whatever a plan admits ends by its computed response, whenever callers call and however soon they get a reply.

use std::collections::BTreeMap;
use std::fmt::Write;

use punctual_scheduling::analysis::Task;
use punctual_scheduling::model::read;
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
    /// Mutex, and time for which it is held.
    lock: Option<(usize, u64)>,
    is_preempted: bool,
    pieces: Vec<Piece>,
}

/// Draws an operation with calls, a mutex or none, preempted or not.
fn operation(task: Task, random: &mut Random) -> Operation {
    let (wcet, period) = (task.wcet.as_nanos(), task.period.as_nanos());
    let is_caller = wcet > 1 && random.one_in(2);
    let far = random.within(1, period.div_ceil(4));
    let calls = is_caller.then(|| (far, random.within(1, 2)));
    let is_preempted = !random.one_in(4);
    let is_locking = is_preempted && random.one_in(2);
    let lock = is_locking.then(|| (random.within(0, 1) as usize, random.within(1, wcet)));
    let mut operation = Operation {
        task,
        calls,
        lock,
        is_preempted,
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
        let lengths: Vec<u64> = cuts.windows(2).map(|cut| cut[1] - cut[0]).collect();
        let longest = lengths.iter().max().copied().unwrap_or(0);
        // A mutex is held in one part of the job, and so no longer than that takes.
        self.lock = self.lock.map(|(mutex, time)| (mutex, time.min(longest)));
        let mut lock = self.lock;
        for (number, length) in lengths.iter().enumerate() {
            if number > 0 {
                self.push(far, Holds::Away);
            }
            let is_locking = |(_, time): &(usize, u64)| time <= length;
            let locked = lock.take_if(|lock| is_locking(lock));
            self.part(*length, locked, random);
        }
        self.pieces.retain(|piece| piece.length > 0);
    }

    /// Adds a part of a job that executes, perhaps with a mutex for some of its time.
    fn part(&mut self, length: u64, lock: Option<(usize, u64)>, random: &mut Random) {
        if !self.is_preempted {
            return self.push(length, Holds::Processor);
        }
        let (mutex, time) = lock.unwrap_or((0, 0));
        let before = random.within(0, length - time);
        self.push(before, Holds::Nothing);
        self.push(time, Holds::Mutex(mutex));
        self.push(length - time - before, Holds::Nothing);
    }

    fn push(&mut self, length: u64, holds: Holds) {
        let length = length.cast_signed();
        self.pieces.push(Piece { length, holds });
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
        if !self.is_preempted {
            writeln!(text, "preemption = 'none'").unwrap();
        }
        if let Some((mutex, time)) = self.lock {
            writeln!(
                text,
                "locks = [{{ mutex = 'm{mutex}', time = '{time}us' }}]"
            )
            .unwrap();
        }
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

/// Returns the urgency of the holders of mutexes under immediate ceilings.
fn ceilings(
    operations: &[Operation],
    streams: &[&PlannedStream],
    by_deadline: bool,
) -> BTreeMap<usize, i64> {
    let mut ceilings = BTreeMap::new();
    for (operation, stream) in operations.iter().zip(streams) {
        let Some((mutex, _)) = operation.lock else {
            continue;
        };
        let (level, task) = (priority(stream), &operation.task);
        let due = signed(task.deadline) - signed(task.jitter);
        let own = if by_deadline { due } else { level };
        let ceiling = ceilings.entry(mutex).or_insert(own);
        *ceiling = match by_deadline {
            true => own.min(*ceiling),
            false => own.max(*ceiling),
        };
    }
    ceilings
}

fn priority(stream: &PlannedStream) -> i64 {
    -i64::try_from(stream.level.unwrap()).unwrap()
}

/// Runs the operations of a plan that fits in several ways, and returns whether it does.
fn check(operations: &[Operation], text: &str, is_ceiling: bool, random: &mut Random) -> bool {
    let model = read("random.toml", text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"));
    let strategy = by_name(model.strategy.as_deref().unwrap()).unwrap();
    let plan = plan(&model, strategy).unwrap();
    let streams = streams(&plan, operations);
    let by_deadline = strategy.name() == "EDF";
    let rules = Rules {
        by_deadline,
        ceilings: match is_ceiling {
            true => ceilings(operations, &streams, by_deadline),
            false => BTreeMap::new(),
        },
        ..Rules::default()
    };
    let fits = streams.iter().all(|stream| stream.verdict == Verdict::Fits);
    let own = || operations.iter().zip(&streams);
    for gap in 0..3 {
        let start = |number: usize| (operations.len() - number) as i64 * gap;
        let each = own().enumerate();
        let each = each.map(|(number, (operation, stream))| {
            let mut source = Source::critical(&operation.task, priority(stream), start(number));
            source.pieces.clone_from(&operation.pieces);
            source
        });
        check_run(each.collect(), &rules, &streams, (fits, text));
    }
    for _ in 0..3 {
        let each = own().map(|(operation, stream)| {
            let mut source = Source::random(&operation.task, priority(stream), random);
            source.pieces.clone_from(&operation.pieces);
            source
        });
        let each = each.collect();
        check_run(each, &rules, &streams, (fits, text));
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
    let seen = run(sources, rules, 800, Until::Limit);
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
    for (strategy, protocol) in [
        ("RMS", "inheritance"),
        ("DMS", "immediate-ceiling"),
        ("EDF", "inheritance"),
        ("EDF", "immediate-ceiling"),
    ] {
        let (sets, fitting) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
        for_sets(10, |random| {
            let tasks = random
                .set(KINDS)
                .into_iter()
                .take(random.within(2, 4) as usize);
            let operations: Vec<_> = tasks.map(|task| operation(task, random)).collect();
            let text = model(&operations, strategy, protocol);
            let fits = check(&operations, &text, protocol != "inheritance", random);
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

#[test]
fn sets_with_mutexes_that_inherit_under_edf_miss_no_deadline() {
    for_sets(20, |random| {
        let tasks = random.set(KINDS).into_iter().take(3);
        let quiet = |task| {
            let mut operation = operation(task, random);
            operation.calls = None;
            operation.pieces.clear();
            operation.code(random);
            operation
        };
        let operations: Vec<_> = tasks.map(quiet).collect();
        let text = model(&operations, "EDF", "inheritance");
        check(&operations, &text, false, random);
    });
}
