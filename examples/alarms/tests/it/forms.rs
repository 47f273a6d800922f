//! Events of both forms.

use punctual::Any;
use punctual_example_alarms::{Form, Report, Severity, read};
use punctual_notification::cos_notification::{Property, StructuredEvent};

fn report(severity: Severity) -> Report {
    Report {
        id: "7".to_owned(),
        system: "ems".to_owned(),
        element: "north".to_owned(),
        object: "port-1".to_owned(),
        cause: "LOS".to_owned(),
        severity,
        text: "fibre cut".to_owned(),
        // 29 February 2024, 23:59:59.900.
        at: 1_709_251_199_900,
    }
}

/// Returns an event as it comes from the wire.
fn through_the_wire(event: &StructuredEvent) -> StructuredEvent {
    Any::new(event).unwrap().extract().unwrap()
}

#[test]
fn alarms_of_each_form_and_severity_are_read_as_they_were_reported() {
    let all = [Severity::ACTIVE.as_slice(), &[Severity::Cleared]].concat();
    for (form, system, object) in [
        (Form::Tmf, "ems", "EMS=ems/ManagedElement=north/PTP=port-1"),
        (
            Form::ItfN,
            "SubNetwork=ems",
            "SubNetwork=ems,ManagedElement=north,Port=port-1",
        ),
    ] {
        for severity in &all {
            let event = through_the_wire(&form.alarm(&report(*severity)).unwrap());
            let reading = read(&event);
            assert_eq!(reading.system, system);
            let notice = reading.notice.unwrap();
            assert_eq!(notice.id, "7");
            assert_eq!(notice.alarm.system, system);
            assert_eq!(notice.alarm.object, object);
            assert_eq!(notice.alarm.cause, "LOS");
            assert_eq!(notice.alarm.severity, *severity);
            assert_eq!(notice.alarm.text, "fibre cut");
            assert_eq!(notice.alarm.raised, "20240229235959.9Z");
        }
    }
}

#[test]
fn heartbeats_are_signs_of_life_and_no_alarms() {
    for (form, system) in [(Form::Tmf, "ems"), (Form::ItfN, "SubNetwork=ems")] {
        let event = through_the_wire(&form.heartbeat("ems", "8", 0).unwrap());
        let reading = read(&event);
        assert_eq!((&*reading.system, reading.notice), (system, None));
    }
}

#[test]
fn an_event_without_its_fields_or_with_others_types_is_no_alarm() {
    for form in [Form::Tmf, Form::ItfN] {
        let whole = form.alarm(&report(Severity::Major)).unwrap();
        for field in ["objectName", "perceivedSeverity", "e", "h"] {
            let has_it = |one: &Property| one.name == field;
            let Some(at) = whole.filterable_data.iter().position(has_it) else {
                continue;
            };
            let mut event = whole.clone();
            event.filterable_data[at].value = Any::new(&3.5).unwrap();
            assert_eq!(read(&event).notice, None, "{field}");
            event.filterable_data.remove(at);
            assert_eq!(read(&event).notice, None, "{field}");
        }
    }
    assert_eq!(read(&StructuredEvent::default()).notice, None);
}

#[test]
fn long_texts_are_cut() {
    let mut long = report(Severity::Minor);
    long.text = "é".repeat(10_000);
    let event = Form::Tmf.alarm(&long).unwrap();
    let text = read(&event).notice.unwrap().alarm.text;
    assert_eq!(text.chars().count(), 500);
}
