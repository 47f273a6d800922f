//! Events of 3GPP's Itf-N, the CORBA solution sets of the Notification IRP (TS 32.303) and the Alarm IRP
//! (TS 32.111-3) from release 4 on: the domain is the version of the document, the type is the kind of notification, and
//! the filterable data have letters for names.
//!
//! | letter | attribute | | letter | attribute |
//! |---|---|---|---|---|
//! | `a` | notificationId | | `f` | alarmId |
//! | `b` | eventTime | | `g` | probableCause |
//! | `c` | systemDN | | `h` | perceivedSeverity |
//! | `d` | managedObjectClass | | `i` | specificProblem |
//! | `e` | managedObjectInstance | | `j` | additionalText |
//!
//! A filter on them is `$h == 2 and 'ManagedElement=north' ~ $e`. The heartbeat of the Communication Surveillance IRP
//! has here the name of its information service (TS 32.352).

use punctual::Any;
use punctual::value::CdrError;
use punctual_notification::cos_notification::StructuredEvent;
use punctual_notification::time_base::UtcT;

use crate::alarm::{Alarm, Notice, Report, Severity};
use crate::fields::{
    cut, event, event_type, identified, property, text, text_property, unlogged, value,
};
use crate::time::{generalized, millis, utc};

/// Version of the Alarm IRP, which its events have as their domain.
pub(crate) const ALARMS: &str = "32.111 V6.3";
/// Version of the Communication Surveillance IRP.
pub(crate) const SURVEILLANCE: &str = "32.351 V6.3";

pub(crate) const NEW: &str = "x1";
pub(crate) const CHANGED: &str = "x2";
pub(crate) const CLEARED: &str = "x5";
pub(crate) const HEARTBEAT: &str = "notifyHeartbeat";

/// Kind of alarms of transmission (TS 32.111-3, COMMUNICATIONS_ALARM), which is the event's name.
const COMMUNICATIONS_ALARM: &str = "x1";

pub(crate) fn alarm(report: &Report) -> Result<StructuredEvent, CdrError> {
    let kind = match report.severity {
        Severity::Cleared => CLEARED,
        _ => NEW,
    };
    let network = format!("SubNetwork={}", report.system);
    let object = format!(
        "{network},ManagedElement={},Port={}",
        report.element, report.object
    );
    let data = vec![
        text_property("a", &report.id)?,
        property("b", Any::new(&utc(report.at))?),
        text_property("c", &network)?,
        text_property("d", "Port")?,
        text_property("e", &object)?,
        text_property("f", &format!("{object}:{}", report.cause))?,
        // A number of ITU-T M.3100; the specific problem has the name.
        property("g", Any::new(&report.cause.parse::<i16>().unwrap_or(0))?),
        property("h", Any::new(&number(report.severity))?),
        text_property("i", &report.cause)?,
        text_property("j", &report.text)?,
    ];
    let event = event(event_type(ALARMS, kind), COMMUNICATIONS_ALARM, data);
    identified(event, &report.id)
}

pub(crate) fn heartbeat(system: &str, id: &str, at: u64) -> Result<StructuredEvent, CdrError> {
    let network = format!("SubNetwork={system}");
    let data = vec![
        text_property("a", id)?,
        property("b", Any::new(&utc(at))?),
        text_property("c", &network)?,
        text_property("d", "SubNetwork")?,
        text_property("e", &network)?,
    ];
    unlogged(event(event_type(SURVEILLANCE, HEARTBEAT), "", data))
}

/// Returns the name of the management system that has sent an event.
pub(crate) fn system(event: &StructuredEvent) -> String {
    text(event, "c")
}

/// Reads a new, changed or cleared alarm; `None` for another notification, or if it lacks its object or severity.
pub(crate) fn read(event: &StructuredEvent) -> Option<Notice> {
    let severity = match &*event.header.fixed_header.event_type.type_name {
        NEW | CHANGED => of_number(value(event, "h")?.extract().ok()?)?,
        CLEARED => Severity::Cleared,
        _ => return None,
    };
    let object: String = value(event, "e")?.extract().ok()?;
    let at = value(event, "b").and_then(|at| at.extract().ok());
    let at: UtcT = at.unwrap_or_default();
    let problem = text(event, "i");
    let cause = value(event, "g").and_then(|cause| cause.extract().ok());
    let cause: i16 = cause.unwrap_or(0);
    Some(Notice {
        id: text(event, "a"),
        alarm: Alarm {
            system: system(event),
            object: cut(&object),
            cause: match problem.is_empty() {
                true => cause.to_string(),
                false => problem,
            },
            severity,
            text: text(event, "j"),
            raised: generalized(millis(&at)),
            changes: 0,
        },
    })
}

fn number(severity: Severity) -> i16 {
    match severity {
        Severity::Indeterminate => 1,
        Severity::Critical => 2,
        Severity::Major => 3,
        Severity::Minor => 4,
        Severity::Warning => 5,
        Severity::Cleared => 6,
    }
}

fn of_number(number: i16) -> Option<Severity> {
    let all = [Severity::ACTIVE.as_slice(), &[Severity::Cleared]].concat();
    all.into_iter().find(|one| self::number(*one) == number)
}
