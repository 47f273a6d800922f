//! Tests of operations that may run at several rates.

use super::{model, planned, shown};
use punctual_scheduling::Time;
use punctual_scheduling::model::read;
use punctual_scheduling::plan::Plan;

fn periods(plan: &Plan) -> Vec<u64> {
    let nanos = plan.streams.iter().map(|one| one.period.as_nanos());
    nanos.map(|nanos| nanos / 1_000_000).collect()
}

fn text(lidar: &str, video: &str) -> String {
    format!(
        "[operation.lidar]\nwcet = '4ms'\nperiod = '10ms'\nrates = ['20ms', '40ms']\ncriticality = '{lidar}'
         [operation.video]\nwcet = '6ms'\nperiod = '10ms'\nrates = ['20ms', '40ms']\ncriticality = '{video}'
         [operation.log]\nwcet = '4ms'\nperiod = '40ms'"
    )
}

#[test]
fn the_most_critical_operation_gets_its_highest_rate_first() {
    // 40 % and 30 %; 60 % and 20 %; with 10 % for the log.
    assert_eq!(
        periods(&planned(&model(&text("high", "low")))),
        [10, 20, 40]
    );
    assert_eq!(
        periods(&planned(&model(&text("low", "high")))),
        [20, 10, 40]
    );
}

#[test]
fn all_run_at_the_highest_rate_where_there_is_room_and_at_the_lowest_where_nothing_fits() {
    let light = text("high", "low").replace("'6ms'", "'1ms'");
    let plan = planned(&model(&light));
    assert!(plan.fits());
    assert_eq!(periods(&plan), [10, 10, 40]);
    let heavy = text("high", "low").replace("'4ms'\nperiod = '40ms'", "'40ms'\nperiod = '40ms'");
    let plan = planned(&model(&heavy));
    assert!(!plan.fits());
    assert_eq!(periods(&plan), [40, 40, 40]);
}

#[test]
fn an_implicit_deadline_is_that_of_the_chosen_rate_and_callees_follow_it() {
    let calls = text("high", "low")
        + "
        [operation.draw]\nwcet = '1ms'";
    let calls = calls.replace(
        "criticality = 'low'",
        "criticality = 'low'\ncalls = [{ operation = 'draw', kind = 'one-way' }]",
    );
    let plan = planned(&model(&calls));
    let of = |name: &str| {
        plan.streams
            .iter()
            .find(|one| one.operation == name)
            .unwrap()
    };
    assert_eq!(of("draw").period, of("video").period);
    assert_eq!(of("draw").deadline, of("video").period);
    assert!(plan.fits() && of("video").period > Time::from_millis(10));
}

#[test]
fn rates_that_do_not_fall_are_refused_at_their_place() {
    let text = "[operation.a]\nwcet = '1ms'\nperiod = '10ms'\nrates = ['20ms', '15ms']";
    let faults = shown(&read("t.toml", text).unwrap_err());
    let expected = "t.toml:4:18: error: periods of `rates` rise: 20ms comes before this one";
    assert!(faults.starts_with(expected), "{faults}");
}
