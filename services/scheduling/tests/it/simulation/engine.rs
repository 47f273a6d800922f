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
    /// `true` without a point of preemption between the piece before and this one.
    pub(super) is_joined: bool,
}

impl Piece {
    pub(super) fn new(length: i64, holds: Holds) -> Self {
        Self {
            length,
            holds,
            is_joined: false,
        }
    }
}

/// Lock that a piece holds from its first nanosecond to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Nothing,
    Processor,
    Mutex(usize),
    /// Mutex, locked in a part of the job that cannot be preempted, or around it.
    ProcessorAnd(usize),
    /// Mutex of the piece before, which goes on holding it, and one nested in it.
    Nested(usize, usize),
    /// Nothing, not even the processor: the job awaits a reply, at most for the length of the piece.
    Away,
}

impl Holds {
    /// Returns the mutexes that a piece needs, the outer one first.
    fn mutexes(self) -> [Option<usize>; 2] {
        match self {
            Self::Nothing | Self::Processor | Self::Away => [None; 2],
            Self::Mutex(mutex) | Self::ProcessorAnd(mutex) => [Some(mutex), None],
            Self::Nested(outer, inner) => [Some(outer), Some(inner)],
        }
    }

    fn is_unpreempted(self) -> bool {
        matches!(self, Self::Processor | Self::ProcessorAnd(_))
    }
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
    /// Deadlines order the jobs of one priority.
    pub(super) by_deadline: bool,
    /// Task that loses against others of the same priority or deadline.
    pub(super) loses: Option<usize>,
    /// Urgency that the holder of a mutex has at least: a priority; under EDF, the time from the lock
    /// to the deadline. Without an entry, holders inherit.
    pub(super) ceilings: BTreeMap<usize, i64>,
    /// Priority ceilings: a job locks only above those of all mutexes that others hold; holders inherit.
    pub(super) limits: BTreeMap<usize, i64>,
    /// Intervals (start, length) in which the processor is away.
    pub(super) away: Vec<(i64, i64)>,
}

/// Observations of a simulation.
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
    /// Time of the reply that it awaits.
    ready: i64,
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

    /// Returns whether its jobs await replies.
    fn awaits(&self) -> bool {
        self.pieces.iter().any(|piece| piece.holds == Holds::Away)
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

/// State of a simulation.
struct Processor<'r> {
    sources: Vec<Source>,
    rules: &'r Rules,
    end: i64,
    now: i64,
    jobs: Vec<Job>,
    released: u64,
    running: Option<u64>,
    seen: Seen,
}

/// Simulates a processor.
pub(super) fn run(sources: Vec<Source>, rules: &Rules, end: i64, stop: Until) -> Seen {
    let worst = vec![0; sources.len()];
    let mut processor = Processor {
        sources,
        rules,
        end,
        now: 0,
        jobs: Vec::new(),
        released: 0,
        running: None,
        seen: Seen {
            worst,
            missed: None,
        },
    };
    while processor.now < end {
        processor.release();
        let until = processor.next_event();
        let chosen = processor.choose();
        if processor.is_away() {
            processor.now = until;
        } else if let Some(at) = chosen {
            processor.execute(at, until);
            processor.note_misses();
        } else if stop != Until::Limit && processor.now > 1 {
            break;
        } else {
            processor.now = until;
        }
        if stop == Until::Miss && processor.seen.missed.is_some() {
            break;
        }
    }
    processor.seen
}

impl Processor<'_> {
    fn release(&mut self) {
        for (task, source) in self.sources.iter_mut().enumerate() {
            while source.release <= self.now {
                if !source.pieces.is_empty() {
                    let mut job = job(task, source, self.released);
                    job.await_replies(source, self.now);
                    self.jobs.push(job);
                }
                self.released += 1;
                source.advance();
            }
        }
    }

    fn is_away(&self) -> bool {
        let mut away = self.rules.away.iter();
        away.any(|(from, length)| (*from..from + length).contains(&self.now))
    }

    /// Returns the time of the next release, reply, or change of the processor's presence.
    fn next_event(&self) -> i64 {
        let releases = self.sources.iter().map(|source| source.release);
        let away = self.rules.away.iter();
        let changes = away.flat_map(|(from, length)| [*from, from + length]);
        let replies = self.jobs.iter().map(|job| job.ready);
        let all = releases.chain(changes).chain(replies);
        let later = all.filter(|time| *time > self.now);
        later.min().unwrap_or(self.end).min(self.end)
    }

    fn choose(&self) -> Option<usize> {
        choose(
            &self.jobs,
            (self.running, self.now),
            &self.sources,
            self.rules,
        )
    }

    /// Executes a job to the end of its piece, or to the next event.
    fn execute(&mut self, at: usize, until: i64) {
        let has_locked = held(&self.jobs[at], &self.sources)[0].is_some();
        let job = &mut self.jobs[at];
        let source = &mut self.sources[job.task];
        let pieces = &source.pieces;
        let length = pieces[job.piece].length;
        if !has_locked {
            job.locked_at = self.now;
        }
        let step = (length - job.progress).min(until - self.now);
        self.now += step;
        job.progress += step;
        self.running = Some(job.number);
        if job.progress == length {
            (job.piece, job.progress) = (job.piece + 1, 0);
        }
        if job.piece < pieces.len() {
            job.await_replies(source, self.now);
        } else {
            let job = self.jobs.remove(at);
            let worst = &mut self.seen.worst[job.task];
            *worst = (*worst).max(self.now - job.nominal);
        }
    }

    fn note_misses(&mut self) {
        let late = self.jobs.iter().find(|job| job.due < self.now);
        let late = late.map(|job| job.task);
        let mut ended = self.seen.worst.iter().zip(&self.sources);
        let ended = ended.position(|(worst, source)| *worst > source.deadline);
        self.seen.missed = self.seen.missed.or(late).or(ended);
    }
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
        ready: source.release,
    }
}

impl Job {
    /// Leaves the processor while replies are awaited, which may come sooner than at the latest. Work comes after them.
    fn await_replies(&mut self, source: &mut Source, now: i64) {
        let mut ready = now;
        while let Some(away) = source.pieces.get(self.piece) {
            if self.progress > 0 || away.holds != Holds::Away {
                break;
            }
            let longest = away.length;
            ready += match source.random {
                Some(_) => source.draw(longest),
                None => longest,
            };
            self.piece += 1;
        }
        self.ready = ready;
    }

    /// Returns whether the job awaits no reply, and none of its task comes before it.
    fn is_ready(&self, jobs: &[Self], now: i64) -> bool {
        let mut others = jobs.iter();
        let is_before = |other: &Self| other.task == self.task && other.number < self.number;
        self.ready <= now && !others.any(is_before)
    }
}

/// Returns the job to run.
fn choose(
    jobs: &[Job],
    (running, now): (Option<u64>, i64),
    sources: &[Source],
    rules: &Rules,
) -> Option<usize> {
    let kept = jobs.iter().position(|job| Some(job.number) == running);
    let kept = kept.filter(|&at| {
        let (job, is_free) = (&jobs[at], awaited(jobs, at, sources, rules).is_none());
        let piece = sources[job.task].pieces[job.piece];
        let has_begun = job.progress > 0 || piece.is_joined && is_free;
        has_begun && piece.holds.is_unpreempted()
    });
    if kept.is_some() {
        return kept;
    }
    let order = |&at: &usize| {
        let job = &jobs[at];
        let wins = Some(job.task) != rules.loses;
        // A job that is back from a reply does not preempt one that holds a ceiling of its own priority.
        let is_raised = ceiling(job, sources, rules).is_some();
        let urgency = urgency(job, sources, rules);
        (urgency, is_raised, wins, Reverse(job.number))
    };
    let ready = (0..jobs.len()).filter(|&at| jobs[at].is_ready(jobs, now));
    let mut chosen = ready.max_by_key(order)?;
    while let Some((mutex, holder)) = awaited(jobs, chosen, sources, rules) {
        // One that is back from a reply may be more urgent than those that locked meanwhile were to be kept from.
        let inherits = !rules.ceilings.contains_key(&mutex) || sources.iter().any(Source::awaits);
        assert!(inherits, "under ceilings no job waits for a mutex");
        chosen = holder;
    }
    Some(chosen)
}

/// Returns a mutex that another job holds and for which a job has to wait, and the other: the one that it has to
/// lock, or one whose priority ceiling keeps it from locking.
fn awaited(
    jobs: &[Job],
    waiting: usize,
    sources: &[Source],
    rules: &Rules,
) -> Option<(usize, usize)> {
    let own = held(&jobs[waiting], sources);
    let job = &jobs[waiting];
    let priority = sources[job.task].priority;
    let kept_off = || {
        let others = jobs.iter().enumerate().filter(|(at, _)| *at != waiting);
        let held = others.flat_map(|(at, other)| held(other, sources).map(|mutex| (mutex, at)));
        let held = held.filter_map(|(mutex, at)| {
            let (mutex, limit) = (mutex?, *rules.limits.get(&mutex?)?);
            (limit >= priority).then_some((limit, mutex, at))
        });
        held.max().map(|(_, mutex, at)| (mutex, at))
    };
    let needed = sources[job.task].pieces[job.piece].holds.mutexes();
    let needed = needed.into_iter().flatten();
    let mut missing = needed.filter(|mutex| !own.contains(&Some(*mutex)));
    missing.find_map(|mutex| {
        let holder = |job: &Job| held(job, sources).contains(&Some(mutex));
        let other = jobs.iter().position(holder).map(|at| (mutex, at));
        other.or_else(kept_off)
    })
}

/// Returns the mutexes that a job holds: those of the piece that it has begun, else those that the piece
/// before shares with the next.
fn held(job: &Job, sources: &[Source]) -> [Option<usize>; 2] {
    let pieces = &sources[job.task].pieces;
    let needed = pieces[job.piece].holds.mutexes();
    if job.progress > 0 {
        return needed;
    }
    let before = job.piece.checked_sub(1);
    let before = before.map_or([None; 2], |before| pieces[before].holds.mutexes());
    needed.map(|mutex| mutex.filter(|_| before.contains(&mutex)))
}

/// Returns the priority and deadline of a job, with those that it has as the holder of a mutex.
fn urgency(job: &Job, sources: &[Source], rules: &Rules) -> (i64, Reverse<i64>) {
    let source = &sources[job.task];
    let due = Reverse(if rules.by_deadline { job.due } else { 0 });
    match ceiling(job, sources, rules) {
        Some(floor) if rules.by_deadline => {
            (source.priority, due.max(Reverse(job.locked_at + floor)))
        }
        Some(ceiling) => (source.priority.max(*ceiling), due),
        None => (source.priority, due),
    }
}

/// Returns the ceiling of the mutex that a job holds.
fn ceiling<'r>(job: &Job, sources: &[Source], rules: &'r Rules) -> Option<&'r i64> {
    let mutex = held(job, sources)[0]?;
    rules.ceilings.get(&mutex)
}

/// Returns the code of a task; its longest section comes first.
fn pieces(task: &Task) -> Vec<Piece> {
    let wcet = signed(task.wcet);
    let piece = Piece::new;
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
