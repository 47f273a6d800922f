//! Tests of rates and deadlines that pass from suppliers to consumers.

use super::{model, planned};
use punctual_scheduling::Time;
use punctual_scheduling::plan::Plan;

/// Returns period, deadline and source of each stream of an operation, in milliseconds.
fn streams(plan: &Plan, operation: &str) -> Vec<(u64, u64, String)> {
    let millis = |time: Time| time.as_nanos() / 1_000_000;
    let of = |index: usize| {
        let stream = &plan.streams[index];
        (
            millis(stream.period),
            millis(stream.deadline),
            stream.source.clone(),
        )
    };
    plan.streams_of(operation).map(of).collect()
}

#[test]
fn a_consumer_runs_at_the_rate_of_each_supplier() {
    let plan = planned(&model(
        r#"
        [operation.fast]
        wcet = "1ms"
        period = "10ms"
        calls = [{ operation = "filter", kind = "one-way" }]
        [operation.slow]
        wcet = "1ms"
        period = "40ms"
        deadline = "30ms"
        calls = [{ operation = "filter", kind = "one-way" }]
        [operation.filter]
        wcet = "1ms"
        calls = [{ operation = "store", kind = "one-way", times = 2 }]
        [operation.store]
        wcet = "1ms"
        deadline = "25ms"
        "#,
    ));
    let filter = streams(&plan, "filter");
    assert_eq!(
        filter,
        [(10, 10, "fast".to_owned()), (40, 30, "slow".to_owned())]
    );
    let store = streams(&plan, "store");
    assert_eq!(
        store,
        [(10, 25, "fast".to_owned()), (40, 25, "slow".to_owned())]
    );
    let wcets = plan
        .streams_of("store")
        .map(|index| plan.streams[index].wcet);
    assert!(wcets.eq([Time::from_millis(2); 2]), "two calls of each job");
}

#[test]
fn an_operation_with_threads_of_its_own_runs_by_its_period_besides() {
    let plan = planned(&model(
        r#"
        [operation.caller]
        wcet = "1ms"
        period = "10ms"
        calls = [{ operation = "active", kind = "one-way" }]
        [operation.active]
        wcet = "1ms"
        period = "50ms"
        threads = 1
        "#,
    ));
    let active = streams(&plan, "active");
    assert_eq!(
        active,
        [(50, 50, "active".to_owned()), (10, 10, "caller".to_owned())]
    );
}

#[test]
fn a_conjunction_waits_for_its_last_supplier() {
    let plan = planned(&model(
        r#"
        [operation.left]
        wcet = "2ms"
        period = "20ms"
        calls = [{ operation = "both", kind = "one-way" }]
        [operation.right]
        wcet = "3ms"
        period = "20ms"
        calls = [{ operation = "both", kind = "one-way" }]
        [operation.both]
        kind = "conjunction"
        calls = [{ operation = "fuse", kind = "one-way" }]
        [operation.fuse]
        wcet = "1ms"
        "#,
    ));
    let fuse = plan.streams_of("fuse").collect::<Vec<_>>();
    assert_eq!(fuse.len(), 1);
    let fuse = &plan.streams[fuse[0]];
    // All three share a level: left and right end within 6, and fuse within 6 more.
    assert_eq!(fuse.jitter, Time::from_millis(6));
    assert_eq!(fuse.response, Some(Time::from_millis(12)));
}

#[test]
fn an_operation_called_two_way_on_its_host_lengthens_its_caller() {
    let plan = planned(&model(
        r#"
        [operation.caller]
        wcet = "1ms"
        period = "20ms"
        calls = [{ operation = "helper", times = 3 }]
        [operation.helper]
        wcet = "2ms"
        preemption = "none"
        deadline = "15ms"
        calls = [{ operation = "log", kind = "one-way" }]
        [operation.log]
        wcet = "1ms"
        "#,
    ));
    assert_eq!(plan.streams_of("helper").count(), 0);
    let caller = &plan.streams[plan.streams_of("caller").next().unwrap()];
    assert_eq!(caller.wcet, Time::from_millis(7));
    assert_eq!(
        caller.deadline,
        Time::from_millis(15),
        "the helper's, which is shorter"
    );
    let log = &plan.streams[plan.streams_of("log").next().unwrap()];
    assert_eq!(log.wcet, Time::from_millis(3), "one call by each of three");
    assert_eq!(log.source, "caller");
}

#[test]
fn a_fair_strategy_leaves_out_what_does_not_fit_and_what_it_would_have_released() {
    let plan = planned(&model(
        r#"
        strategy = "RMS_FAIR"
        [operation.vital]
        wcet = "6ms"
        period = "10ms"
        criticality = "very-high"
        [operation.wish]
        wcet = "6ms"
        period = "12ms"
        criticality = "low"
        calls = [{ operation = "after", kind = "one-way" }]
        [operation.after]
        wcet = "100us"
        criticality = "very-high"
        "#,
    ));
    let verdict = |name| plan.streams[plan.streams_of(name).next().unwrap()].verdict;
    use punctual_scheduling::plan::Verdict;
    assert_eq!(verdict("vital"), Verdict::Fits);
    assert_eq!(verdict("wish"), Verdict::LeftOut);
    assert_eq!(verdict("after"), Verdict::NeverReleased);
    assert!(!plan.fits());
}
