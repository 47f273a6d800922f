//! Tests of admission at run time.

use super::{model, planned};
use punctual_scheduling::Time;
use punctual_scheduling::admission::{Admission, AdmissionError, Change};

/// Three activities of one processor that do not fit together at their own periods.
const RADAR: &str = r#"
    [operation.track]
    wcet = "6.5ms"
    period = "10ms"
    criticality = "very-high"

    [operation.display]
    wcet = "8ms"
    period = "20ms"
    degraded = ["40ms", "80ms"]
    criticality = "medium"

    [operation.log]
    wcet = "5ms"
    period = "50ms"
    criticality = "low"

    [operation.replay]
    wcet = "5ms"
    period = "40ms"
    criticality = "low"
    calls = [{ operation = "show", kind = "one-way" }]

    [operation.show]
    wcet = "1ms"
"#;

fn ms(ms: u64) -> Option<Time> {
    Some(Time::from_nanos(ms * 1_000_000))
}

fn change(activity: &str, before: Option<Time>, after: Option<Time>) -> Change {
    Change {
        activity: activity.to_owned(),
        before,
        after,
    }
}

fn radar() -> Admission {
    let model = model(RADAR);
    let plan = planned(&model);
    Admission::new(model, plan)
}

#[test]
fn activities_that_fit_are_admitted_at_their_own_periods() {
    let mut admission = radar();
    assert_eq!(
        admission.admit("track").unwrap(),
        [change("track", None, ms(10))]
    );
    assert_eq!(
        admission.admit("log").unwrap(),
        [change("log", None, ms(50))]
    );
}

#[test]
fn a_critical_activity_degrades_those_of_less_criticality_and_what_has_no_room_is_refused() {
    let mut admission = radar();
    admission.admit("display").unwrap();
    admission.admit("log").unwrap();
    let changes = admission.admit("track").unwrap();
    // The display ends after 8 + 2 * 6.5 = 21 ms, too late for 20; log ends after 5 + 8 + 4 * 6.5 = 39 ms.
    assert_eq!(
        changes,
        [
            change("display", ms(20), ms(40)),
            change("track", None, ms(10)),
        ]
    );
    let refused = admission.admit("replay").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no room for `replay` beside track, display, log: a deadline would be missed, at its longest period, too"
    );
    assert_eq!(admission.period("replay"), None);
}

#[test]
fn what_was_suspended_runs_again_when_there_is_room() {
    let mut admission = radar();
    admission.admit("replay").unwrap();
    admission.admit("display").unwrap();
    let changes = admission.admit("track").unwrap();
    assert!(
        changes.contains(&change("replay", ms(40), None)),
        "{changes:?}"
    );
    let changes = admission.leave("track").unwrap();
    assert!(
        changes.contains(&change("replay", None, ms(40))),
        "{changes:?}"
    );
    assert!(
        changes.contains(&change("track", ms(10), None)),
        "{changes:?}"
    );
}

#[test]
fn what_cannot_be_admitted_is_named() {
    let mut admission = radar();
    admission.admit("log").unwrap();
    assert_eq!(
        admission.admit("log").unwrap_err(),
        AdmissionError::Admitted("log".to_owned())
    );
    assert_eq!(
        admission.admit("show").unwrap_err(),
        AdmissionError::NotASource("show".to_owned())
    );
    assert_eq!(
        admission.admit("radar").unwrap_err(),
        AdmissionError::Unknown("radar".to_owned())
    );
    assert_eq!(
        admission.leave("track").unwrap_err(),
        AdmissionError::NotAdmitted("track".to_owned())
    );
}

#[test]
fn what_is_admitted_in_any_order_meets_its_deadlines() {
    let model = model(RADAR);
    let plan = planned(&model);
    let names = ["track", "display", "log", "replay"];
    for first in 0..4 {
        for step in [1, 3] {
            let mut admission = Admission::new(model.clone(), plan.clone());
            for turn in 0..4 {
                let _ = admission.admit(names[(first + turn * step) % 4]);
            }
            let running = names
                .iter()
                .filter_map(|name| Some((model.operation(name)?, admission.period(name)?)));
            let running = running.collect();
            assert!(
                plan.while_active(&model, &running)
                    .unwrap()
                    .fits_of(&running)
            );
            // The most critical one is never refused.
            assert_eq!(admission.period("track"), ms(10));
        }
    }
}
