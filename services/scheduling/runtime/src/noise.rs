//! Measurement of the time that the platform takes of a processor (operating-system noise, de Oliveira, Casini
//! and Cucinotta 2023; the tracers `osnoise` and `hwlat` of Linux measure the same).
//!
//! A thread of real-time priority does nothing but read the clock: where two readings are far apart, something else
//! had the processor. It pauses a tenth of the time, so that the kernel neither stops it
//! (`sched_rt_runtime_us`), nor do ordinary threads starve.

use crate::error::NoiseError;
use punctual_exec::ThreadSpec;
use punctual_scheduling::Time;
use punctual_scheduling::measured::{Gap, most_taken};
use punctual_sys::processor::Processors;
use punctual_sys::scheduling::{Scheduling, set_own};
use punctual_sys::{clock, processor};
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::mpsc;
use std::time::Duration;

/// Options of a measurement.
#[derive(Clone, Debug)]
pub struct NoiseOptions {
    /// Length of the measurement, above zero; it ends after a whole cycle of a second.
    pub time: Duration,
    /// Number of the processor, as the kernel counts; by default the last one that this process may run on.
    pub processor: Option<usize>,
    /// Native priority of the thread, `SCHED_FIFO`, 1 to 99. All that runs above it counts, so the lowest one
    /// bounds what any thread of real-time priority loses.
    pub priority: i32,
    /// Shortest gap that counts, at least a microsecond.
    pub threshold: Time,
    /// Lengths of the windows in which gaps are summed up, up to [`LONGEST_WINDOW`].
    pub windows: Vec<Time>,
}

/// Longest window that a measurement covers.
pub const LONGEST_WINDOW: Time = Time::from_millis(500);

/// Time that the platform took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Noise {
    /// Number of the processor, as the kernel counts.
    pub processor: usize,
    /// Native priority of the thread (`SCHED_FIFO`); `None` if it had none, as this process may not: then the time
    /// that other programs took counts, too.
    pub priority: Option<i32>,
    /// Time for which the processor was watched.
    pub watched: Time,
    /// Number of gaps.
    pub gaps: u64,
    /// Longest gap.
    pub longest: Time,
    /// Sum of all gaps.
    pub taken: Time,
    /// Longest sum of gaps in any window of a length.
    pub windows: Vec<Taken>,
}

/// Longest time that was taken in any window of a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Length of the window.
    pub every: Time,
    /// Longest sum of gaps.
    pub most: Time,
}

/// Measures what the platform takes. `progress` is called about once a second with the measurement so far; it may
/// end the measurement.
///
/// # Errors
/// [`NoiseError`]: options out of their ranges, a processor that this process may not run on.
pub fn measure(
    options: &NoiseOptions,
    mut progress: impl FnMut(&Noise) -> ControlFlow<()>,
) -> Result<Noise, NoiseError> {
    let at = options.checked_processor()?;
    let (send, receive) = mpsc::sync_channel(0);
    let own = options.clone();
    // It ends with the receiver.
    let watching = ThreadSpec::named("noise").start(move || {
        let outcome = watch(&own, at, |noise| send.send(Ok(noise.clone())).is_ok());
        if let Err(error) = outcome {
            let _ = send.send(Err(error));
        }
    })?;
    let mut last = None;
    while let Ok(noise) = receive.recv() {
        let noise = noise?;
        let goes_on = progress(&noise);
        last = Some(noise);
        if goes_on.is_break() {
            break;
        }
    }
    drop(receive);
    let _ = watching.join();
    last.ok_or(NoiseError::Ended)
}

impl NoiseOptions {
    /// Returns the options of a measurement in one window: a minute at the lowest real-time priority.
    #[must_use]
    pub fn new(window: Time) -> Self {
        Self {
            time: Duration::from_secs(60),
            processor: None,
            priority: 1,
            threshold: Time::from_micros(1),
            windows: vec![window],
        }
    }

    fn checked_processor(&self) -> Result<usize, NoiseError> {
        if self.time.is_zero() {
            return Err(NoiseError::NoTime);
        }
        let is_window = |window: &Time| !window.is_zero() && *window <= LONGEST_WINDOW;
        if let Some(&window) = self.windows.iter().find(|window| !is_window(window)) {
            return Err(NoiseError::Window(window));
        }
        if self.threshold < Time::from_micros(1) {
            return Err(NoiseError::Threshold(self.threshold));
        }
        let allowed = processor::allowed()?;
        let wanted = self.processor.or(allowed.last().copied());
        let found = allowed.iter().find(|&&one| Some(one) == wanted);
        found.copied().ok_or_else(|| NoiseError::Processor {
            wanted: wanted.unwrap_or(0),
            allowed: allowed.clone(),
        })
    }
}

/// Time from one pause to the next, in nanoseconds.
const CYCLE: u64 = 1_000_000_000;

/// Time of a cycle for which the thread watches, in nanoseconds.
const WATCH: u64 = CYCLE / 10 * 9;

/// Watches a processor, and calls `give` with the noise so far after each cycle, until `give` says stop.
fn watch(
    options: &NoiseOptions,
    at: usize,
    mut give: impl FnMut(&Noise) -> bool,
) -> Result<(), NoiseError> {
    Processors::of(&[at])?.pin_own()?;
    let fifo = Scheduling::Fifo {
        priority: options.priority,
    };
    let priority = match set_own(fifo) {
        Ok(()) => Some(options.priority),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => None,
        Err(error) => return Err(error.into()),
    };
    let mut noise = Noise::none(at, priority, &options.windows);
    let mut gaps = Gaps::new(options.threshold);
    let cycles = options.time.as_nanos().div_ceil(u128::from(CYCLE)).max(1);
    for _ in 0..cycles {
        let next = clock::nanos().saturating_add(CYCLE);
        noise.add(gaps.watched(), Time::from_nanos(WATCH));
        if !give(&noise) {
            break;
        }
        clock::sleep_until(next);
    }
    Ok(())
}

/// Gaps of a cycle, with room for all that it can have.
struct Gaps {
    threshold: u64,
    seen: Vec<Gap>,
}

impl Gaps {
    fn new(threshold: Time) -> Self {
        let none = Gap {
            from: Time::ZERO,
            to: Time::ZERO,
        };
        // Written once, so that no page is missing later.
        let most = usize::try_from(CYCLE / threshold.as_nanos().max(1)).unwrap_or(0) + 1;
        Self {
            threshold: threshold.as_nanos(),
            seen: vec![none; most],
        }
    }

    /// Reads the clock until the end of the watch, and returns the gaps.
    fn watched(&mut self) -> &[Gap] {
        self.seen.clear();
        let mut before = clock::nanos();
        let end = before.saturating_add(WATCH);
        while before < end {
            let now = clock::nanos();
            if now - before >= self.threshold && self.seen.len() < self.seen.capacity() {
                self.seen.push(Gap {
                    from: Time::from_nanos(before),
                    to: Time::from_nanos(now),
                });
            }
            before = now;
        }
        &self.seen
    }
}

impl Noise {
    fn none(processor: usize, priority: Option<i32>, windows: &[Time]) -> Self {
        let taken = |&every: &Time| Taken {
            every,
            most: Time::ZERO,
        };
        Self {
            processor,
            priority,
            watched: Time::ZERO,
            gaps: 0,
            longest: Time::ZERO,
            taken: Time::ZERO,
            windows: windows.iter().map(taken).collect(),
        }
    }

    fn add(&mut self, gaps: &[Gap], watched: Time) {
        self.watched = self.watched + watched;
        self.gaps += gaps.len() as u64;
        for gap in gaps {
            self.longest = self.longest.max(gap.length());
            self.taken = self.taken + gap.length();
        }
        for window in &mut self.windows {
            window.most = window.most.max(most_taken(gaps, window.every));
        }
    }
}
