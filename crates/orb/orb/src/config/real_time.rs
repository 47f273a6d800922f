//! Configuration of Real-time CORBA: the table `[real_time]` and its options. An ORB alone obeys
//! none of it, and refuses to start without a part that does ([`crate::Priorities::check`]).

use super::error::{ConfigError, bad_value};
use crate::priority::Priority;
use punctual_sys::processor::Processors;
use punctual_sys::scheduling::Policy;
use serde::Deserialize;
use std::fmt;
use std::time::Duration;

/// Settings of Real-time CORBA (`OrbConfig::real_time`). `None` leaves a setting to the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RealTimeSettings {
    /// Reaction if the machine does not grant native priorities (`mode`, `-ORBRealTime`).
    pub mode: Option<RealTime>,
    /// Scheduling policy of native priorities (`policy`, `-ORBSchedPolicy`).
    pub policy: Option<NativePolicy>,
    /// Mapping of CORBA priorities to native ones (`mapping`, `-ORBPriorityMapping`).
    pub mapping: Option<StandardMapping>,
    /// Highest priority that clients may ask for (`highest_propagated`, `-ORBPropagated`).
    pub highest_propagated: Option<Priority>,
    /// Treatment of requests above that (`above_highest`, `-ORBPropagated`).
    pub above_highest: Option<AboveHighest>,
    /// Processors that threads of lanes and thread pools may run on (`processors`).
    pub processors: Option<Processors>,
    /// If true, the stacks of these threads are brought into memory before they begin
    /// (`prefault_stack`).
    pub prefault_stack: Option<bool>,
    /// If true, the memory of the process is locked (`lock_memory`, `-ORBLockMemory`).
    pub lock_memory: Option<bool>,
    /// Dynamic scheduling (`[real_time.dynamic_scheduling]`).
    pub dynamic_scheduling: Option<DynamicSchedulingSettings>,
}

/// Settings of dynamic scheduling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DynamicSchedulingSettings {
    /// Disciplines that segments may have (`disciplines`).
    pub disciplines: Option<Vec<Discipline>>,
    /// Maximum that the upcall of a client's segment may reserve: a runtime, and hundredths of one
    /// processor (`reservation_runtime_us`, `reservation_percent`).
    pub most_reserved: Option<(Duration, u32)>,
    /// Treatment of requests that ask for more (`above_reservation`).
    pub above_reservation: Option<AboveHighest>,
}

/// Reaction if the machine does not grant native priorities: without `CAP_SYS_NICE`, and with an
/// `RLIMIT_RTPRIO` below the highest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RealTime {
    /// The ORB does not start.
    #[default]
    Require,
    /// The ORB warns, once, and threads keep the native priority that they have
    /// (`RtOrb::is_degraded`).
    BestEffort,
}

/// Scheduling policy of the threads that have a CORBA priority (`sched(7)`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NativePolicy {
    /// `SCHED_FIFO`: native priorities 1 to 99 on Linux.
    #[default]
    Fifo,
    /// `SCHED_RR`, which shares the time of a priority among its threads.
    RoundRobin,
    /// `SCHED_OTHER`, whose only native priority is 0: CORBA priorities travel and order requests,
    /// and threads run as any other.
    Other,
}

/// Standard priority mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardMapping {
    /// Identity: the same number.
    Direct,
    /// Scaling of the whole CORBA range to the whole native range.
    Linear,
    /// One native priority for each CORBA priority, from the lowest on.
    Continuous,
}

/// Treatment of a request whose client asks for more than it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AboveHighest {
    /// The request is given the maximum that clients may ask for.
    #[default]
    Cap,
    /// The request is refused with NO_PERMISSION.
    Refuse,
}

/// Scheduling discipline of a scheduling parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Fixed priorities.
    FixedPriority,
    /// Earliest deadline first.
    EarliestDeadlineFirst,
}

impl Discipline {
    /// All disciplines.
    pub const ALL: [Self; 2] = [Self::FixedPriority, Self::EarliestDeadlineFirst];
}

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FixedPriority => "fixed priority",
            Self::EarliestDeadlineFirst => "earliest deadline first",
        })
    }
}

impl From<NativePolicy> for Policy {
    fn from(policy: NativePolicy) -> Self {
        match policy {
            NativePolicy::Fifo => Self::Fifo,
            NativePolicy::RoundRobin => Self::RoundRobin,
            NativePolicy::Other => Self::Other,
        }
    }
}

/// Table `[real_time]` of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RealTimeTable {
    mode: Option<String>,
    policy: Option<String>,
    mapping: Option<String>,
    highest_propagated: Option<i32>,
    above_highest: Option<String>,
    processors: Option<Vec<usize>>,
    prefault_stack: Option<bool>,
    lock_memory: Option<bool>,
    dynamic_scheduling: Option<DynamicTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DynamicTable {
    disciplines: Option<Vec<String>>,
    reservation_runtime_us: Option<u64>,
    reservation_percent: Option<u32>,
    above_reservation: Option<String>,
}

pub(super) const MODES: &str = "require or best_effort";
pub(super) const POLICIES: &str = "SCHED_FIFO, SCHED_RR or SCHED_OTHER";
pub(super) const MAPPINGS: &str = "linear, direct or continuous";
pub(super) const PROPAGATED: &str = "the highest CORBA priority that clients may ask for, 0 to 32767, and perhaps `,cap` or `,refuse`";
pub(super) const SWITCH: &str = "true or false";
const ABOVE: &str = "cap or refuse";
const DISCIPLINES: &str = "fixed_priority or earliest_deadline_first";
const PRIORITY: &str = "a CORBA priority, 0 to 32767";

/// Applies the table of the file.
pub(super) fn obey(
    settings: &mut RealTimeSettings,
    table: RealTimeTable,
) -> Result<(), ConfigError> {
    if let Some(word) = table.mode {
        settings.mode = Some(parse_mode("real_time.mode", &word)?);
    }
    if let Some(word) = table.policy {
        settings.policy = Some(parse_policy("real_time.policy", &word)?);
    }
    if let Some(word) = table.mapping {
        settings.mapping = Some(parse_mapping("real_time.mapping", &word)?);
    }
    if let Some(number) = table.highest_propagated {
        let priority = Priority::try_from(number);
        let bad = |_| bad_value("real_time.highest_propagated", number, PRIORITY);
        settings.highest_propagated = Some(priority.map_err(bad)?);
    }
    if let Some(word) = table.above_highest {
        settings.above_highest = Some(parse_above("real_time.above_highest", &word)?);
    }
    if let Some(numbers) = table.processors {
        let expected = "the numbers of one processor or more";
        let said = || format!("{numbers:?}");
        let bad = |_| bad_value("real_time.processors", said(), expected);
        settings.processors = Some(Processors::of(&numbers).map_err(bad)?);
    }
    settings.prefault_stack = table.prefault_stack.or(settings.prefault_stack);
    settings.lock_memory = table.lock_memory.or(settings.lock_memory);
    if let Some(table) = table.dynamic_scheduling {
        let dynamic = settings.dynamic_scheduling.get_or_insert_default();
        obey_dynamic(dynamic, table)?;
    }
    Ok(())
}

fn obey_dynamic(
    dynamic: &mut DynamicSchedulingSettings,
    table: DynamicTable,
) -> Result<(), ConfigError> {
    let key = |name: &str| format!("real_time.dynamic_scheduling.{name}");
    if let Some(words) = table.disciplines {
        let named = words.iter().map(|word| match word.as_str() {
            "fixed_priority" => Ok(Discipline::FixedPriority),
            "earliest_deadline_first" => Ok(Discipline::EarliestDeadlineFirst),
            _ => Err(bad_value(key("disciplines"), word, DISCIPLINES)),
        });
        dynamic.disciplines = Some(named.collect::<Result<_, _>>()?);
    }
    match (table.reservation_runtime_us, table.reservation_percent) {
        (None, None) => {}
        (Some(runtime), Some(percent)) => {
            if runtime == 0 {
                let expected = "a time above 0, in microseconds";
                return Err(bad_value(key("reservation_runtime_us"), runtime, expected));
            }
            if !(1..=100).contains(&percent) {
                let expected = "1 to 100 hundredths of one processor";
                return Err(bad_value(key("reservation_percent"), percent, expected));
            }
            dynamic.most_reserved = Some((Duration::from_micros(runtime), percent));
        }
        (Some(runtime), None) => {
            let expected = "reservation_percent beside it";
            return Err(bad_value(key("reservation_runtime_us"), runtime, expected));
        }
        (None, Some(percent)) => {
            let expected = "reservation_runtime_us beside it";
            return Err(bad_value(key("reservation_percent"), percent, expected));
        }
    }
    if let Some(word) = table.above_reservation {
        if dynamic.most_reserved.is_none() {
            let expected = "reservation_runtime_us and reservation_percent beside it";
            return Err(bad_value(key("above_reservation"), word, expected));
        }
        dynamic.above_reservation = Some(parse_above(&key("above_reservation"), &word)?);
    }
    Ok(())
}

pub(super) fn parse_mode(key: &str, text: &str) -> Result<RealTime, ConfigError> {
    match text {
        "require" => Ok(RealTime::Require),
        "best_effort" => Ok(RealTime::BestEffort),
        _ => Err(bad_value(key, text, MODES)),
    }
}

pub(super) fn parse_policy(key: &str, text: &str) -> Result<NativePolicy, ConfigError> {
    match text {
        "SCHED_FIFO" => Ok(NativePolicy::Fifo),
        "SCHED_RR" => Ok(NativePolicy::RoundRobin),
        "SCHED_OTHER" => Ok(NativePolicy::Other),
        _ => Err(bad_value(key, text, POLICIES)),
    }
}

pub(super) fn parse_mapping(key: &str, text: &str) -> Result<StandardMapping, ConfigError> {
    match text {
        "linear" => Ok(StandardMapping::Linear),
        "direct" => Ok(StandardMapping::Direct),
        "continuous" => Ok(StandardMapping::Continuous),
        _ => Err(bad_value(key, text, MAPPINGS)),
    }
}

/// Parses `20000`, `20000,cap` or `20000,refuse`.
pub(super) fn parse_propagated(
    key: &str,
    text: &str,
) -> Result<(Priority, Option<AboveHighest>), ConfigError> {
    let (number, above) = match text.split_once(',') {
        Some((number, word)) => (number, Some(word)),
        None => (text, None),
    };
    let bad = || bad_value(key, text, PROPAGATED);
    let number: i32 = number.parse().map_err(|_| bad())?;
    let priority = Priority::try_from(number).map_err(|_| bad())?;
    let above = above.map(|word| parse_above(key, word)).transpose();
    Ok((priority, above.map_err(|_| bad())?))
}

pub(super) fn parse_switch(key: &str, text: &str) -> Result<bool, ConfigError> {
    text.parse().map_err(|_| bad_value(key, text, SWITCH))
}

fn parse_above(key: &str, text: &str) -> Result<AboveHighest, ConfigError> {
    match text {
        "cap" => Ok(AboveHighest::Cap),
        "refuse" => Ok(AboveHighest::Refuse),
        _ => Err(bad_value(key, text, ABOVE)),
    }
}
