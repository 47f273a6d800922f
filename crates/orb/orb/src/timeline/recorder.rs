//! What a timeline's file says about the process that recorded it, and about its clocks: enough to lay timelines of
//! several processes and hosts beside each other.

use punctual_sys::clock;
use punctual_sys::discipline::Discipline;
use punctual_sys::host;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reading of a host's clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// Nanoseconds of `CLOCK_MONOTONIC`, by which stages are recorded.
    pub monotonic: u64,
    /// Nanoseconds of the time of day since 1970, at the same moment.
    pub time_of_day: u64,
    /// Time within which both were read.
    pub within: Duration,
    /// How the time of day is kept; `None` where the kernel does not tell.
    pub discipline: Option<Discipline>,
}

/// Process that has recorded a timeline, and the clocks of its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorder {
    /// Name of the host.
    pub host: String,
    /// Name of the program.
    pub program: String,
    /// Number of the process.
    pub process: u32,
    /// Identifier of the host's start: processes with the same one, and the same `time_namespace`, have one clock. Empty
    /// where the kernel does not tell.
    pub boot: String,
    /// Time namespace of the process; empty where the kernel does not tell.
    pub time_namespace: String,
    /// Clocks when recording began.
    pub begin: ClockReading,
    /// Clocks when it ended.
    pub end: ClockReading,
}

impl ClockReading {
    /// Reads the clocks now: the closest of five readings.
    pub(super) fn now() -> Self {
        let reading = || {
            let before = clock::nanos();
            let time_of_day = SystemTime::now().duration_since(UNIX_EPOCH);
            let after = clock::nanos();
            Self {
                monotonic: before.midpoint(after),
                time_of_day: time_of_day
                    .map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
                within: Duration::from_nanos(after.saturating_sub(before)),
                discipline: None,
            }
        };
        let readings = (0..5).map(|_| reading());
        let closest = readings.min_by_key(|one| one.within);
        Self {
            discipline: Discipline::now().ok(),
            ..closest.unwrap_or_else(reading)
        }
    }
}

impl Recorder {
    /// Returns this process, with the clocks as they were when recording began, and are now.
    pub(super) fn this(begin: ClockReading) -> Self {
        let program = std::env::current_exe().ok();
        let program = program.as_deref().and_then(|path| path.file_name());
        Self {
            host: host::name().unwrap_or_default(),
            program: program.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            process: std::process::id(),
            boot: host::boot().unwrap_or_default(),
            time_namespace: host::time_namespace().unwrap_or_default(),
            begin,
            end: ClockReading::now(),
        }
    }
}
