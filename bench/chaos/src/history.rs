//! What clients did and were answered.

use std::fmt;

/// Nanoseconds since the begin of the run, by one clock.
pub(crate) type Time = i64;

/// Operation of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Add,
    Sum,
    /// With a value that no other operation writes.
    Write(i64),
    Read,
    Echo(i64),
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Answered at this time.
    Answered(Time, Answer),
    /// Refused with COMPLETED_NO: it has not been done, and never will be.
    NotDone(Time),
    /// Without an answer that says which: it may have been done, or may be done at any later time.
    Unknown(Time),
}

/// Answer of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) value: i64,
    pub(crate) member: String,
    /// Term of the member in which the request passed its guard.
    pub(crate) term: u64,
    /// Number of changes of the member's state.
    pub(crate) version: u64,
}

/// Operation of a client, from its invocation to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) client: usize,
    pub(crate) kind: Kind,
    pub(crate) begun: Time,
    pub(crate) end: End,
}

impl Operation {
    /// Returns the value of an operation that was answered, and the time of the answer.
    pub(crate) fn answered(&self) -> Option<(Time, &Answer)> {
        match &self.end {
            End::Answered(at, answer) => Some((*at, answer)),
            End::NotDone(_) | End::Unknown(_) => None,
        }
    }

    /// Returns whether it is not known whether the operation was done.
    pub(crate) fn is_pending(&self) -> bool {
        matches!(self.end, End::Unknown(_))
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |time: Time| format!("{:.6} s", time as f64 / 1e9);
        let what = match self.kind {
            Kind::Add => "add".to_owned(),
            Kind::Sum => "sum".to_owned(),
            Kind::Write(value) => format!("write {value}"),
            Kind::Read => "read".to_owned(),
            Kind::Echo(value) => format!("echo {value}"),
        };
        let begun = seconds(self.begun);
        write!(f, "client {}: {what}, from {begun} ", self.client)?;
        match &self.end {
            End::Answered(at, answer) => write!(
                f,
                "to {}: {} (version {}) from {} in term {}",
                seconds(*at),
                answer.value,
                answer.version,
                answer.member,
                answer.term
            ),
            End::NotDone(at) => write!(f, "to {}: not done", seconds(*at)),
            End::Unknown(at) => write!(f, "to {}: not known whether it is done", seconds(*at)),
        }
    }
}
