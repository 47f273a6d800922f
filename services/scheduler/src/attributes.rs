//! Attributes of operations: their bounds, and the library's types for them.
//!
//! Times come in units of 100 nanoseconds, and are converted here and nowhere else.

use punctual_scheduling::model::{Kind, LONGEST_NAME};
use punctual_scheduling::{Level, Time};

use crate::kept::Attributes;
use crate::refusal::Refusal;
use crate::rtec_scheduler::{CriticalityT, ImportanceT, InfoTypeT, RtInfo};

/// Nanoseconds of a unit of `TimeBase::TimeT`.
const UNIT: u64 = 100;

/// Returns a time of the wire in nanoseconds.
pub(crate) const fn time(units: u64) -> Time {
    Time::from_nanos(units.saturating_mul(UNIT))
}

/// Returns a period of the wire; `None` for an operation without one.
pub(crate) fn period(units: i32) -> Option<Time> {
    let units = u64::try_from(units).ok()?;
    (units > 0).then(|| time(units))
}

/// Returns a period in the units of the IDL, rounded down.
pub(crate) fn units(period: Time) -> i32 {
    i32::try_from(period.as_nanos() / UNIT).unwrap_or(i32::MAX)
}

/// Checks the name of a new operation.
///
/// # Errors
/// The name is empty, too long, or has control characters.
pub(crate) fn check_name(name: &str) -> Result<(), Refusal> {
    let wrong = match name {
        "" => "is empty".to_owned(),
        name if name.len() > LONGEST_NAME => {
            format!("has {} bytes: {LONGEST_NAME} are the most", name.len())
        }
        name if name.chars().any(char::is_control) => "has control characters".to_owned(),
        _ => return Ok(()),
    };
    Err(Refusal::Invalid(format!("the entry point {wrong}")))
}

/// Checks the bounds of attributes.
///
/// # Errors
/// A time is longer than a day, or a period or a number of threads is negative.
pub(crate) fn check(attributes: &Attributes) -> Result<(), Refusal> {
    let invalid = |what: String| Err(Refusal::Invalid(what));
    for (name, value) in [
        (
            "worst-case execution time",
            attributes.worst_case_execution_time,
        ),
        ("typical execution time", attributes.typical_execution_time),
        ("cached execution time", attributes.cached_execution_time),
        ("quantum", attributes.quantum),
    ] {
        if time(value) > Time::LONGEST {
            return invalid(format!(
                "the {name}, {value} units of 100 ns, is longer than a day"
            ));
        }
    }
    if attributes.period < 0 {
        return invalid(format!(
            "the period, {} units of 100 ns, is negative: 0 is for operations that others call",
            attributes.period
        ));
    }
    if attributes.threads < 0 {
        return invalid(format!("{} threads are negative", attributes.threads));
    }
    Ok(())
}

/// Checks the number of calls of a dependency.
///
/// # Errors
/// The number is not above zero.
pub(crate) fn check_calls(number: i32) -> Result<(), Refusal> {
    match number {
        1.. => Ok(()),
        _ => Err(Refusal::Invalid(format!(
            "a dependency has one call at least, and not {number}"
        ))),
    }
}

/// Takes the attributes that a client sets from an `RT_Info`.
impl From<&RtInfo> for Attributes {
    fn from(info: &RtInfo) -> Self {
        Self {
            criticality: info.criticality,
            worst_case_execution_time: info.worst_case_execution_time,
            typical_execution_time: info.typical_execution_time,
            cached_execution_time: info.cached_execution_time,
            period: info.period,
            importance: info.importance,
            quantum: info.quantum,
            threads: info.threads,
            info_type: info.info_type,
        }
    }
}

/// Returns the library's level of a criticality.
pub(crate) const fn criticality(criticality: CriticalityT) -> Level {
    Level::ALL[criticality as usize]
}

/// Returns the library's level of an importance.
pub(crate) const fn importance(importance: ImportanceT) -> Level {
    Level::ALL[importance as usize]
}

/// Returns the manner in which suppliers release an operation. An operation that depends on remote
/// ones is released as any other by those that are known.
pub(crate) const fn kind(info_type: InfoTypeT) -> Kind {
    match info_type {
        InfoTypeT::Operation | InfoTypeT::RemoteDependant => Kind::Operation,
        InfoTypeT::Conjunction => Kind::Conjunction,
        InfoTypeT::Disjunction => Kind::Disjunction,
    }
}
