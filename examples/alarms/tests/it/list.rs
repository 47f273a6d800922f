//! List of active alarms.

use punctual_example_alarms::{Alarm, AlarmList, Change, Notice, Severity};

fn notice(id: u32, object: &str, severity: Severity) -> Notice {
    Notice {
        id: id.to_string(),
        alarm: Alarm {
            system: "ems".to_owned(),
            object: object.to_owned(),
            cause: "LOS".to_owned(),
            severity,
            text: String::new(),
            raised: String::new(),
            changes: 0,
        },
    }
}

#[test]
fn an_alarm_is_raised_changed_and_cleared_by_object_and_cause() {
    let mut list = AlarmList::default();
    let mut apply = |id, object, severity| {
        let change = list.apply(notice(id, object, severity));
        let of = |alarm: &&Alarm| (alarm.object.clone(), alarm.severity, alarm.changes);
        (change, list.active().iter().map(of).collect::<Vec<_>>())
    };
    let (minor, major) = (Severity::Minor, Severity::Major);
    assert_eq!(apply(1, "a", minor).0, Change::Raised);
    assert_eq!(apply(2, "b", major).0, Change::Raised);
    let (change, active) = apply(3, "a", Severity::Critical);
    assert_eq!(change, Change::Changed);
    let grave = ("a".to_owned(), Severity::Critical, 1);
    assert_eq!(active, [grave, ("b".to_owned(), major, 0)]);
    assert_eq!(apply(4, "b", major).0, Change::None);
    assert_eq!(apply(5, "b", Severity::Cleared).0, Change::Cleared);
    assert_eq!(apply(6, "b", Severity::Cleared).0, Change::None);
    assert_eq!(apply(7, "a", Severity::Cleared), (Change::Cleared, vec![]));
}

#[test]
fn a_repeat_changes_nothing_also_in_a_list_that_was_kept() {
    let mut list = AlarmList::default();
    let events = [
        notice(1, "a", Severity::Major),
        notice(2, "a", Severity::Cleared),
        notice(3, "b", Severity::Minor),
    ];
    events
        .iter()
        .for_each(|event| _ = list.apply(event.clone()));
    let ids = list.ids().map(str::to_owned).collect();
    let alarms: Vec<Alarm> = list.active().into_iter().cloned().collect();
    let kept = AlarmList::restored(alarms, ids);
    for mut list in [list, kept] {
        for event in &events {
            assert_eq!(list.apply(event.clone()), Change::None);
        }
        assert_eq!(list.repeats(), 3);
        assert_eq!(list.active().len(), 1);
    }
}

#[test]
fn alarms_and_ids_are_bounded() {
    let mut list = AlarmList::default();
    for number in 0..10_000 {
        let raised = list.apply(notice(number, &number.to_string(), Severity::Minor));
        assert_eq!(raised, Change::Raised);
    }
    assert_eq!(
        list.apply(notice(10_000, "more", Severity::Major)),
        Change::Full
    );
    assert_eq!(list.unlisted(), 1);
    assert_eq!(list.ids().count(), 4_096);
    assert_eq!(
        list.apply(notice(10_001, "7", Severity::Major)),
        Change::Changed
    );
    assert_eq!(
        list.apply(notice(10_002, "7", Severity::Cleared)),
        Change::Cleared
    );
    assert_eq!(
        list.apply(notice(10_003, "more", Severity::Major)),
        Change::Raised
    );
}
