//! Simulator of one processor by discrete events, in whole nanoseconds.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use punctual_scheduling::analysis::{Preemption, Task};

use super::sets::Random;

/// Part of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) length: i64,
    pub(super) holds: Holds,
}

/// What a piece holds from its first nanosecond to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Nothing,
    Processor,
    Mutex(usize),
}

/// Releases and code of one task.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Code of a job; without any, none is released.
    pub(super) pieces: Vec<Piece>,
    pub(super) period: i64,
    pub(super) deadline: i64,
    pub(super) jitter: i64,
    /// Fixed priority, or priority of the band.
    pub(super) priority: i64,
    /// Nominal release of the next job.
    nominal: i64,
    /// Actual release of the next job.
    release: i64,
    /// Time before which no job is released.
    start: i64,
    random: Option<Random>,
}

/// Rules of the processor.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// Whether deadlines order the jobs of one priority.
    pub(super) by_deadline: bool,
    /// Task that loses against others of the same priority or deadline.
    pub(super) loses: Option<usize>,
    /// Urgency that the holder of a mutex has at least: a priority; under EDF, the time from the lock
    /// to the deadline. Without an entry, holders inherit.
    pub(super) ceilings: BTreeMap<usize, i64>,
    /// Intervals (start, length) in which the processor is away.
    pub(super) away: Vec<(i64, i64)>,
}

/// What a simulation has seen.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Longest response of each task from its nominal release; 0 without a job that ended.
    pub(super) worst: Vec<i64>,
    /// Task that missed a deadline first.
    pub(super) missed: Option<usize>,
}

#[derive(Clone, Debug)]
struct Job {
    task: usize,
    number: u64,
    nominal: i64,
    due: i64,
    piece: usize,
    progress: i64,
    locked_at: i64,
}

impl Source {
    /// Makes the releases of a task from a critical instant: with full jitter, then at once.
    pub(super) fn critical(task: &Task, priority: i64, start: i64) -> Self {
        let jitter = signed(task.jitter);
        Self {
            pieces: pieces(task),
            period: signed(task.period),
            deadline: signed(task.deadline),
            jitter,
            priority,
            nominal: start - jitter,
            release: start,
            start,
            random: None,
        }
    }

    /// Makes releases at random distances with random jitter.
    pub(super) fn random(task: &Task, priority: i64, random: &mut Random) -> Self {
        let mut source = Self::critical(task, priority, 0);
        source.random = Some(random.clone());
        random.within(0, 1);
        source.nominal = source.draw(source.period);
        source.release = source.nominal + source.draw(source.jitter);
        source
    }

    fn draw(&mut self, most: i64) -> i64 {
        let random = self.random.as_mut().unwrap();
        random.within(0, most.unsigned_abs()).cast_signed()
    }

    fn advance(&mut self) {
        self.nominal += self.period;
        if self.random.is_some() {
            if self.draw(3) == 0 {
                self.nominal += self.draw(self.period);
            }
            let jitter = self.draw(self.jitter);
            self.release = self.release.max(self.nominal + jitter);
        } else {
            self.release = self.nominal.max(self.start);
        }
    }
}

/// Moment at which a simulation ends, at the latest at its time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    Limit,
    /// First moment without work.
    Idle,
    /// First moment without work, or first missed deadline.
    Miss,
}

/// Simulates a processor.
pub(super) fn run(mut sources: Vec<Source>, rules: &Rules, end: i64, stop: Until) -> Seen {
    let mut seen = Seen {
        worst: vec![0; sources.len()],
        missed: None,
    };
    let (mut now, mut jobs, mut number) = (0, Vec::<Job>::new(), 0);
    let mut running = None;
    while now < end {
        for (task, source) in sources.iter_mut().enumerate() {
            while source.release <= now {
                if !source.pieces.is_empty() {
                    jobs.push(job(task, source, number));
                }
                number += 1;
                source.advance();
            }
        }
        let next = sources.iter().map(|source| source.release).min();
        let mut until = next.unwrap_or(end).min(end);
        let away = rules
            .away
            .iter()
            .find(|(from, length)| (*from..from + length).contains(&now));
        if let Some((from, length)) = away {
            now = until.min(from + length);
            continue;
        }
        let back = rules
            .away
            .iter()
            .map(|(from, _)| *from)
            .filter(|from| *from > now);
        until = until.min(back.min().unwrap_or(end));
        let Some(at) = choose(&jobs, running, &sources, rules) else {
            if stop != Until::Limit && now > 1 {
                break;
            }
            now = until;
            continue;
        };
        let job = &mut jobs[at];
        let piece = sources[job.task].pieces[job.piece];
        if job.progress == 0 {
            job.locked_at = now;
        }
        let step = (piece.length - job.progress).min(until - now);
        (now, job.progress) = (now + step, job.progress + step);
        running = Some(job.number);
        if job.progress == piece.length {
            (job.piece, job.progress) = (job.piece + 1, 0);
        }
        if job.piece == sources[job.task].pieces.len() {
            let job = jobs.remove(at);
            seen.worst[job.task] = seen.worst[job.task].max(now - job.nominal);
        }
        let missed = jobs.iter().find(|job| job.due < now).map(|job| job.task);
        seen.missed = seen.missed.or(missed);
        if let Some(late) = late(&seen, &sources) {
            seen.missed = seen.missed.or(Some(late));
        }
        if stop == Until::Miss && seen.missed.is_some() {
            break;
        }
    }
    seen
}

/// Returns the task whose worst response exceeds its deadline.
fn late(seen: &Seen, sources: &[Source]) -> Option<usize> {
    let mut tasks = seen.worst.iter().zip(sources);
    tasks.position(|(worst, source)| *worst > source.deadline)
}

fn job(task: usize, source: &Source, number: u64) -> Job {
    Job {
        task,
        number,
        nominal: source.nominal,
        due: source.nominal + source.deadline,
        piece: 0,
        progress: 0,
        locked_at: 0,
    }
}

/// Returns the job to run.
fn choose(jobs: &[Job], running: Option<u64>, sources: &[Source], rules: &Rules) -> Option<usize> {
    let holds = |job: &Job| sources[job.task].pieces[job.piece].holds;
    let kept = jobs.iter().position(|job| {
        Some(job.number) == running && job.progress > 0 && holds(job) == Holds::Processor
    });
    if kept.is_some() {
        return kept;
    }
    let urgency = |job: &Job| {
        let source = &sources[job.task];
        let due = if rules.by_deadline {
            Reverse(job.due)
        } else {
            Reverse(0)
        };
        let own = (source.priority, due);
        let Holds::Mutex(mutex) = holds(job) else {
            return own;
        };
        match rules.ceilings.get(&mutex) {
            Some(_) if job.progress == 0 => own,
            Some(floor) if rules.by_deadline => {
                (source.priority, due.max(Reverse(job.locked_at + floor)))
            }
            Some(ceiling) => (source.priority.max(*ceiling), due),
            None => own,
        }
    };
    let order = |&at: &usize| {
        let job: &Job = &jobs[at];
        (
            urgency(job),
            Some(job.task) != rules.loses,
            Reverse(job.number),
        )
    };
    let mut chosen = (0..jobs.len()).max_by_key(order)?;
    while let (Holds::Mutex(mutex), 0) = (holds(&jobs[chosen]), jobs[chosen].progress) {
        let held = |job: &Job| job.progress > 0 && holds(job) == Holds::Mutex(mutex);
        let Some(holder) = jobs.iter().position(held) else {
            break;
        };
        assert!(
            !rules.ceilings.contains_key(&mutex),
            "ceilings keep out who would wait"
        );
        chosen = holder;
    }
    Some(chosen)
}

/// Returns the code of a task; its longest section comes first.
fn pieces(task: &Task) -> Vec<Piece> {
    let wcet = signed(task.wcet);
    let piece = |length: i64, holds| Piece { length, holds };
    let pieces = match task.preemption {
        Preemption::Full => vec![piece(wcet, Holds::Nothing)],
        Preemption::None => vec![piece(wcet, Holds::Processor)],
        Preemption::Floating { longest } => {
            let longest = signed(longest);
            vec![
                piece(longest, Holds::Processor),
                piece(wcet - longest, Holds::Nothing),
            ]
        }
        Preemption::Segments { longest, last } => {
            let (longest, last) = (signed(longest), signed(last));
            vec![
                piece(longest, Holds::Processor),
                piece(wcet - longest - last, Holds::Nothing),
                piece(last, Holds::Processor),
            ]
        }
    };
    pieces
        .into_iter()
        .filter(|piece| piece.length > 0)
        .collect()
}

pub(super) fn signed(time: punctual_scheduling::Time) -> i64 {
    time.as_nanos().cast_signed()
}
