//! Tests of admission control.

use crate::setting::any_schedule;
use punctual_scheduling_runtime::{AdmissionControl, Time};
use std::sync::mpsc::channel;

#[test]
fn changes_are_reported_to_the_program() {
    let schedule = any_schedule(
        "
        [operation.track]\nwcet = '6.5ms'\nperiod = '10ms'\ncriticality = 'high'
        [operation.display]\nwcet = '8ms'\nperiod = '20ms'\ndegraded = ['40ms']
    ",
    );
    let (sender, changes) = channel();
    let control = AdmissionControl::new(&schedule, move |change| {
        sender
            .send((change.activity.clone(), change.after))
            .unwrap();
    })
    .unwrap();
    let ms = |ms: u64| Some(Time::from_nanos(ms * 1_000_000));
    assert_eq!(control.admit("display").ok(), ms(20));
    assert_eq!(control.admit("track").ok(), ms(10));
    assert_eq!(control.period("display"), ms(40));
    let reported: Vec<_> = changes.try_iter().collect();
    let expected = [("display", 20), ("display", 40), ("track", 10)];
    assert_eq!(
        reported,
        expected.map(|(name, period)| (name.to_owned(), ms(period)))
    );
    let refused = control.admit("tracks").unwrap_err();
    assert!(
        refused.to_string().contains("no operation `tracks`"),
        "{refused}"
    );
    control.leave("track").unwrap();
    assert_eq!(control.period("display"), ms(20));
    assert_eq!(control.period("track"), None);
}

#[test]
fn a_report_may_ask_for_periods() {
    let schedule = any_schedule("[operation.track]\nwcet = '1ms'\nperiod = '10ms'");
    let (own, seen) = channel();
    let (asks, asked) = channel::<std::sync::Arc<AdmissionControl>>();
    let asked = std::sync::Mutex::new(asked);
    let control = AdmissionControl::new(&schedule, move |change| {
        let control = asked.lock().unwrap().recv().unwrap();
        own.send(control.period(&change.activity)).unwrap();
    })
    .unwrap();
    asks.send(control.clone()).unwrap();
    control.admit("track").unwrap();
    assert_eq!(seen.recv().unwrap(), Some(Time::from_nanos(10_000_000)));
}

#[test]
fn activities_that_share_lanes_are_not_admitted_one_by_one() {
    let options = punctual_scheduling_runtime::ScheduleOptions {
        lanes: Some(1),
        ..Default::default()
    };
    let text = "[operation.track]\nwcet = '1ms'\nperiod = '10ms'";
    let schedule = crate::setting::scheduled(text, &options).unwrap();
    let refused = AdmissionControl::new(&schedule, |_| ()).unwrap_err();
    assert!(
        refused.to_string().contains("leave `lanes` out"),
        "{refused}"
    );
}
