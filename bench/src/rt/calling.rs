//! Work of a client's thread: calls, each timed by reading the clock before and after it.

use super::batch::Batch;
use super::floor;
use super::setup::{Contender, Setup, corba};
use crate::Result;
use crate::peer::nanoseconds_since;
use crate::statistics::Moments;
use punctual::rt::RtOrb;
use punctual::{Interface, Orb};
use punctual_example_cubit::idl::bench::Cubit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Number of calls of a client before its first batch.
const FIRST: u32 = 10;

/// Interface by which a client calls: a stub or a raw socket.
#[derive(Debug)]
pub(super) enum Caller {
    /// Stub of the ORB.
    Orb(Cubit),
    /// Raw-socket connection, without an ORB.
    Raw(floor::Client),
}

/// Progress of the high client, which the low clients read; the initial state is the warm-up.
#[derive(Debug, Default)]
pub(super) struct Progress(AtomicU8);

const TIMED: u8 = 1;
const OVER: u8 = 2;

/// Result of a client's part in a batch.
#[derive(Debug)]
pub(super) enum Done {
    /// Result of the high client: the total time of its timed calls, and the time of each.
    High { took: Duration, samples: Vec<u64> },
    /// Statistics of the call times of a low-priority client.
    Low(Moments),
}

impl Caller {
    /// Connects to the server and makes [`FIRST`] calls. From then on the calling thread has the
    /// CORBA priority of its client.
    ///
    /// # Errors
    /// The server cannot be called.
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
    // Relaxed: the value publishes no other data.
    fn is_at(&self, stage: u8) -> bool {
        self.0.load(Ordering::Relaxed) == stage
    }

    fn reach(&self, stage: u8) {
        self.0.store(stage, Ordering::Relaxed);
    }
}

/// Makes the high client's calls. Nothing is allocated between them.
///
/// # Errors
/// A call fails.
pub(super) fn high(caller: &mut Caller, batch: &Batch, progress: &Progress) -> Result<Done> {
    let done = timed(caller, batch, progress);
    // The low clients wait for this, even after a failure.
    progress.reach(OVER);
    done
}

fn timed(caller: &mut Caller, batch: &Batch, progress: &Progress) -> Result<Done> {
    // The values are not zero, so that each page is mapped before the first call.
    let mut samples = vec![u64::MAX; batch.calls as usize];
    let ends = Instant::now() + Duration::from_millis(batch.limit);
    let mut pace = Pace::of(batch.pace);
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

/// Makes a low client's calls, one after the other, or paced.
///
/// # Errors
/// A call fails.
pub(super) fn low(caller: &mut Caller, batch: &Batch, progress: &Progress) -> Result<Done> {
    let ends = Instant::now() + Duration::from_millis(batch.limit);
    let mut moments = Moments::default();
    let until_high_is_over = batch.low_calls == 0;
    let mut pace = Pace::of(batch.low_pace);
    loop {
        pace.wait();
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

/// Schedule of paced calls. A late call delays the following ones, so that the interval between two
/// calls is never shorter than the pace.
struct Pace {
    each: Duration,
    next: Instant,
}

impl Pace {
    fn of(microseconds: u64) -> Self {
        Self {
            each: Duration::from_micros(microseconds),
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
        let began = Instant::now();
        let mut pace = Pace::of(2000);
        (0..3).for_each(|_| pace.wait());
        assert!(began.elapsed() >= Duration::from_millis(6));
        let before = pace.next;
        pace.each = Duration::ZERO;
        pace.wait();
        assert_eq!(pace.next, before);
    }
}
