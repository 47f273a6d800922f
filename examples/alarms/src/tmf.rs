//! Events of TMF 814: type `NT_ALARM` and `NT_HEARTBEAT` in the domain `tmf_mtnm`, filterable data by names.
//!
//! A filter on them is `$perceivedSeverity == 'PS_CRITICAL' and $serviceAffecting == 'SA_SERVICE_AFFECTING'`.

use punctual::Any;
use punctual::value::CdrError;
use punctual_notification::cos_notification::StructuredEvent;

use crate::alarm::{Alarm, Notice, Report, Severity};
use crate::fields::{
    cut, event, event_type, identified, property, text, text_property, unlogged, value,
};
use crate::globaldefs::{NameAndStringValueT, NamingAttributesListT, NamingAttributesT, NvsListT};
use crate::notifications::{ObjectTypeT, PerceivedSeverityT, ServiceAffectingT};
use crate::time::generalized;

pub(crate) const DOMAIN: &str = "tmf_mtnm";
pub(crate) const ALARM: &str = "NT_ALARM";
pub(crate) const HEARTBEAT: &str = "NT_HEARTBEAT";

/// Constraint that alarms meet which end a condition.
pub const CLEARED: &str = "$perceivedSeverity == 'PS_CLEARED'";

/// Layer rate of a physical optical port (TMF 814, LR_PHYSICAL_OPTICAL).
const PHYSICAL_OPTICAL: i16 = 47;

/// Most parts of an object's name that are read.
const MOST_PARTS: usize = 20;

pub(crate) fn alarm(report: &Report) -> Result<StructuredEvent, CdrError> {
    let at = generalized(report.at);
    let name: NamingAttributesT = vec![
        part("EMS", &report.system),
        part("ManagedElement", &report.element),
        part("PTP", &report.object),
    ];
    let affecting = match report.severity {
        Severity::Critical | Severity::Major => ServiceAffectingT::SaServiceAffecting,
        Severity::Indeterminate => ServiceAffectingT::SaUnknown,
        _ => ServiceAffectingT::SaNonServiceAffecting,
    };
    let data = vec![
        text_property("notificationId", &report.id)?,
        property("objectName", Any::new(&name)?),
        text_property("nativeEMSName", &report.object)?,
        text_property("nativeProbableCause", &report.cause)?,
        property(
            "objectType",
            Any::new(&ObjectTypeT::OtPhysicalTerminationPoint)?,
        ),
        text_property("emsTime", &at)?,
        text_property("neTime", &at)?,
        property("isClearable", Any::new(&true)?),
        property("layerRate", Any::new(&PHYSICAL_OPTICAL)?),
        text_property("probableCause", &report.cause)?,
        text_property("probableCauseQualifier", "")?,
        property("perceivedSeverity", Any::new(&severity(report.severity))?),
        property("serviceAffecting", Any::new(&affecting)?),
        property("affectedTPList", Any::new(&NamingAttributesListT::new())?),
        text_property("additionalText", &report.text)?,
        property("additionalInfo", Any::new(&NvsListT::new())?),
    ];
    identified(event(event_type(DOMAIN, ALARM), "", data), &report.id)
}

pub(crate) fn heartbeat(system: &str, id: &str, at: u64) -> Result<StructuredEvent, CdrError> {
    let name: NamingAttributesT = vec![part("EMS", system)];
    let data = vec![
        text_property("notificationId", id)?,
        property("objectName", Any::new(&name)?),
        text_property("emsTime", &generalized(at))?,
    ];
    unlogged(event(event_type(DOMAIN, HEARTBEAT), "", data))
}

/// Returns the name of the management system that has sent an event: that of a channel which names none is empty.
pub(crate) fn system(event: &StructuredEvent) -> String {
    let ems = object_name(event).into_iter().flatten();
    let mut ems = ems.filter(|part| part.name == "EMS");
    ems.next().map_or_else(String::new, |part| cut(&part.value))
}

/// Reads an alarm; `None` if it lacks what identifies it, or its severity.
pub(crate) fn read(event: &StructuredEvent) -> Option<Notice> {
    let severity: PerceivedSeverityT = value(event, "perceivedSeverity")?.extract().ok()?;
    let name = object_name(event)?;
    let parts = name.iter().take(MOST_PARTS);
    let parts = parts.map(|part| format!("{}={}", part.name, part.value));
    let cause = [
        text(event, "probableCause"),
        text(event, "probableCauseQualifier"),
    ];
    let [cause, qualifier] = cause;
    Some(Notice {
        id: text(event, "notificationId"),
        alarm: Alarm {
            system: system(event),
            object: cut(&parts.collect::<Vec<_>>().join("/")),
            cause: match qualifier.is_empty() {
                true => cause,
                false => format!("{cause} ({qualifier})"),
            },
            severity: of_severity(severity),
            text: text(event, "additionalText"),
            raised: text(event, "emsTime"),
            changes: 0,
        },
    })
}

fn object_name(event: &StructuredEvent) -> Option<NamingAttributesT> {
    value(event, "objectName")?.extract().ok()
}

fn part(name: &str, value: &str) -> NameAndStringValueT {
    NameAndStringValueT {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn severity(severity: Severity) -> PerceivedSeverityT {
    match severity {
        Severity::Cleared => PerceivedSeverityT::PsCleared,
        Severity::Indeterminate => PerceivedSeverityT::PsIndeterminate,
        Severity::Warning => PerceivedSeverityT::PsWarning,
        Severity::Minor => PerceivedSeverityT::PsMinor,
        Severity::Major => PerceivedSeverityT::PsMajor,
        Severity::Critical => PerceivedSeverityT::PsCritical,
    }
}

fn of_severity(severity: PerceivedSeverityT) -> Severity {
    match severity {
        PerceivedSeverityT::PsCleared => Severity::Cleared,
        PerceivedSeverityT::PsIndeterminate => Severity::Indeterminate,
        PerceivedSeverityT::PsWarning => Severity::Warning,
        PerceivedSeverityT::PsMinor => Severity::Minor,
        PerceivedSeverityT::PsMajor => Severity::Major,
        PerceivedSeverityT::PsCritical => Severity::Critical,
    }
}
