//! Tests of callers that await replies of another host; the expected times are computed by hand.

use super::{model, planned};
use punctual_scheduling::Time;
use punctual_scheduling::plan::Plan;

const HOSTS: &str = "strategy = \"DMS\"\n[host.a]\n[host.b]\n[[message]]\nfrom = \"a\"\nto = \"b\"\ntime = \"0s\"\n";

/// Plans operations of the hosts `a` and `b`, between which messages take no time.
fn plan(operations: &str) -> Plan {
    planned(&model(&format!("{HOSTS}{operations}")))
}

fn response(plan: &Plan, operation: &str) -> Option<u64> {
    let stream = plan.streams_of(operation).next().unwrap();
    let terms = plan.explain(stream).map(|terms| terms.response);
    assert_eq!(terms, plan.streams[stream].response, "{operation}");
    terms.map(|time| time.as_nanos().div_ceil(1_000_000))
}

#[test]
fn a_suspended_caller_may_run_twice_beside_a_job_of_lower_level() {
    let plan = plan(
        r#"
        [operation.hi]
        host = "a"
        wcet = "2ms"
        period = "20ms"
        deadline = "12ms"
        calls = [{ operation = "far" }]
        [operation.far]
        host = "b"
        wcet = "10ms"
        [operation.lo]
        host = "a"
        wcet = "15ms"
        period = "100ms"
        deadline = "17ms"
        "#,
    );
    assert_eq!(response(&plan, "hi"), Some(12));
    // hi suspends at once and runs at 10 to 12, its next job at 20 to 22; lo is released at 10.
    assert_eq!(response(&plan, "lo"), Some(19));
    assert!(!plan.fits());
}

#[test]
fn a_caller_is_blocked_again_after_each_reply() {
    let plan = plan(
        r#"
        [operation.caller]
        host = "a"
        wcet = "2ms"
        period = "100ms"
        deadline = "60ms"
        calls = [{ operation = "far", times = 2 }]
        [operation.far]
        host = "b"
        wcet = "5ms"
        [operation.long]
        host = "a"
        wcet = "10ms"
        period = "200ms"
        preemption = "none"
        "#,
    );
    // 2 own, two replies of 5, and blocked three times by a job that has just begun.
    assert_eq!(response(&plan, "caller"), Some(42));
}

#[test]
fn a_caller_without_preemption_gives_way_while_it_is_suspended() {
    let plan = plan(
        r#"
        [operation.hi]
        host = "a"
        wcet = "4ms"
        period = "12ms"
        [operation.caller]
        host = "a"
        wcet = "2ms"
        period = "100ms"
        deadline = "16ms"
        preemption = "none"
        calls = [{ operation = "far" }]
        [operation.far]
        host = "b"
        wcet = "10ms"
        "#,
    );
    // 2 own, 10 until the reply, and two jobs of hi.
    assert_eq!(response(&plan, "caller"), Some(20));
    assert!(!plan.fits());
}

#[test]
fn lanes_that_slow_a_supplier_slow_what_it_calls_on_another_host() {
    let plan = plan(
        r#"
        [operation.hi]
        host = "a"
        wcet = "2ms"
        period = "100ms"
        deadline = "10ms"
        calls = [{ operation = "far", kind = "one-way" }]
        [operation.lo]
        host = "a"
        wcet = "6ms"
        period = "200ms"
        [operation.far]
        host = "b"
        wcet = "2ms"
        deadline = "5ms"
        "#,
    );
    assert!(plan.fits());
    let one = plan.lanes(1);
    let far = one
        .iter()
        .find(|cost| cost.streams.iter().any(|one| one.operation == "far"))
        .unwrap();
    assert_eq!(far.streams[0].after, Some(Time::from_millis(10)));
    assert!(far.breaks);
    assert!(plan.lanes(2).iter().all(|cost| !cost.breaks));
}
