//! Forms of events, of which a channel may have both.

use punctual::value::CdrError;
use punctual_notification::cos_notification::{EventType, StructuredEvent};

use crate::alarm::{Notice, Report};
use crate::fields::event_type;
use crate::{itf_n, tmf};

/// Form in which a management system sends its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// TMF 814: `NT_ALARM`, and fields with names.
    Tmf,
    /// Itf-N of 3GPP: `x1`, `x5`, and fields with letters.
    ItfN,
}

impl Form {
    /// Returns the event of a report.
    ///
    /// # Errors
    /// A text that has no form on the wire.
    pub fn alarm(self, report: &Report) -> Result<StructuredEvent, CdrError> {
        match self {
            Self::Tmf => tmf::alarm(report),
            Self::ItfN => itf_n::alarm(report),
        }
    }

    /// Returns the event of a heartbeat.
    ///
    /// # Errors
    /// As of [`alarm`](Self::alarm).
    pub fn heartbeat(self, system: &str, id: &str, at: u64) -> Result<StructuredEvent, CdrError> {
        match self {
            Self::Tmf => tmf::heartbeat(system, id, at),
            Self::ItfN => itf_n::heartbeat(system, id, at),
        }
    }
}

/// Event as the manager reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Management system that has sent it, and is alive.
    pub system: String,
    /// Alarm; `None` for heartbeats, and events that are no alarms.
    pub notice: Option<Notice>,
}

/// Reads an event of either form. One that is no alarm is a sign of life all the same.
#[must_use]
pub fn read(event: &StructuredEvent) -> Reading {
    let of = &event.header.fixed_header.event_type;
    match (&*of.domain_name, &*of.type_name) {
        (tmf::DOMAIN, tmf::ALARM) => Reading {
            system: tmf::system(event),
            notice: tmf::read(event),
        },
        (tmf::DOMAIN, _) => Reading {
            system: tmf::system(event),
            notice: None,
        },
        _ => Reading {
            system: itf_n::system(event),
            notice: itf_n::read(event),
        },
    }
}

/// Returns the types of alarms, on which an operator's filter is tried.
#[must_use]
pub fn alarm_types() -> Vec<EventType> {
    vec![
        event_type(tmf::DOMAIN, tmf::ALARM),
        event_type("32.111*", itf_n::NEW),
        event_type("32.111*", itf_n::CHANGED),
    ]
}

/// Returns the types of events that end alarms and nothing else. Those of TMF 814 have no type of their own:
/// [`CLEARED`](crate::CLEARED) finds them.
#[must_use]
pub fn clear_types() -> Vec<EventType> {
    vec![event_type("32.111*", itf_n::CLEARED)]
}

/// Returns the types of heartbeats.
#[must_use]
pub fn heartbeat_types() -> Vec<EventType> {
    vec![
        event_type(tmf::DOMAIN, tmf::HEARTBEAT),
        event_type("32.351*", itf_n::HEARTBEAT),
    ]
}
