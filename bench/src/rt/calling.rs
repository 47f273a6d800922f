//! What a client's thread does: calls, and a look at the clock before and after each.

use super::batch::{Batch, Moments};
use super::floor;
use super::setup::{Contender, Setup, corba};
use crate::Result;
use crate::peer::nanoseconds_since;
use punctual::rt::RtOrb;
use punctual::{Interface, Orb};
use punctual_example_cubit::idl::bench::Cubit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Calls of a client before its first batch.
const FIRST: u32 = 10;

/// How a client calls.
#[derive(Debug)]
pub(super) enum Caller {
    /// Through a stub.
    Orb(Cubit),
    /// By a raw socket.
    Raw(floor::Client),
}

/// How far the high client is, for the low ones: warming up at first.
#[derive(Debug, Default)]
pub(super) struct Progress(AtomicU8);

const TIMED: u8 = 1;
const OVER: u8 = 2;

/// What came of a job.
#[derive(Debug)]
pub(super) enum Done {
    /// Of the high client: how long its timed calls took in all, and each.
    High { took: Duration, samples: Vec<u64> },
    /// Of a low client.
    Low(Moments),
}

impl Caller {
    /// Connects; the calling thread's priority is its client's from then on.
    ///
    /// # Errors
    /// When the server cannot be called.
    pub(super) fn connect(
        setup: &Setup,
        number: u16,
        at: &str,
        rt: &Arc<RtOrb>,
        orb: &Orb,
    ) -> Result<Self> {
        let priority = setup.priority_of(number);
        let mut caller = if setup.contender == Contender::Floor {
            let native = setup.native(priority);
            Self::Raw(floor::Client::connect(setup.link, at, native)?)
        } else {
            rt.current().set_the_priority(corba(priority)?)?;
            let references: Vec<&str> = at.split(' ').collect();
            let reference = references.get(usize::from(number)).or(references.last());
            let object = orb.string_to_object(reference.ok_or("the server told no reference")?)?;
            Self::Orb(Cubit::from_object(object))
        };
        for _ in 0..FIRST {
            caller.call()?;
        }
        Ok(caller)
    }

    fn call(&mut self) -> Result<()> {
        match self {
            Self::Orb(cubit) => Ok(cubit.cube_void()?),
            Self::Raw(client) => Ok(client.call()?),
        }
    }
}

impl Progress {
    // Relaxed: nothing else is told by it.
    fn is_at(&self, stage: u8) -> bool {
        self.0.load(Ordering::Relaxed) == stage
    }

    fn reach(&self, stage: u8) {
        self.0.store(stage, Ordering::Relaxed);
    }
}

/// The high client's calls. Nothing is allocated between them.
///
/// # Errors
/// When one fails.
pub(super) fn high(caller: &mut Caller, batch: &Batch, progress: &Progress) -> Result<Done> {
    let done = timed(caller, batch, progress);
    // The low ones wait for it, however it came.
    progress.reach(OVER);
    done
}

fn timed(caller: &mut Caller, batch: &Batch, progress: &Progress) -> Result<Done> {
    // No zeros: each page is there before the first call.
    let mut samples = vec![u64::MAX; batch.calls as usize];
    let ends = Instant::now() + Duration::from_millis(batch.limit);
    let mut pace = Pace::of(batch);
    for _ in 0..batch.warm_up {
        pace.wait();
        caller.call()?;
        if Instant::now() > ends {
            return Err("no time was left for calls that count".into());
        }
    }
    let mut made = 0;
    progress.reach(TIMED);
    let began = Instant::now();
    for sample in &mut samples {
        pace.wait();
        let called = Instant::now();
        if called > ends {
            break;
        }
        caller.call()?;
        *sample = nanoseconds_since(called);
        made += 1;
    }
    let took = began.elapsed();
    samples.truncate(made);
    Ok(Done::High { took, samples })
}

/// A low client's calls, one after the other.
///
/// # Errors
/// When one fails.
pub(super) fn low(caller: &mut Caller, batch: &Batch, progress: &Progress) -> Result<Done> {
    let ends = Instant::now() + Duration::from_millis(batch.limit);
    let mut moments = Moments::default();
    let until_high_is_over = batch.low_calls == 0;
    loop {
        let is_over = match until_high_is_over {
            true => progress.is_at(OVER),
            false => moments.calls >= u64::from(batch.low_calls),
        };
        let called = Instant::now();
        if is_over || called > ends {
            return Ok(Done::Low(moments));
        }
        caller.call()?;
        if !until_high_is_over || progress.is_at(TIMED) {
            moments.add(nanoseconds_since(called));
        }
    }
}

/// When the next call is due. One that is late moves those behind it, so that none comes sooner than it should.
struct Pace {
    each: Duration,
    next: Instant,
}

impl Pace {
    fn of(batch: &Batch) -> Self {
        Self {
            each: Duration::from_micros(batch.pace),
            next: Instant::now(),
        }
    }

    fn wait(&mut self) {
        if self.each.is_zero() {
            return;
        }
        self.next = (self.next + self.each).max(Instant::now());
        std::thread::sleep(self.next.saturating_duration_since(Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_kept_and_a_call_without_one_is_due_at_once() {
        let batch: Batch = "0 1 0 2000 0 1000".parse().unwrap();
        let began = Instant::now();
        let mut pace = Pace::of(&batch);
        (0..3).for_each(|_| pace.wait());
        assert!(began.elapsed() >= Duration::from_millis(6));
        let before = pace.next;
        pace.each = Duration::ZERO;
        pace.wait();
        assert_eq!(pace.next, before);
    }
}
