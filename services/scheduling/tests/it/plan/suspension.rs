//! Tests of callers that await replies of another host; the expected times are computed by hand.

use super::{model, planned};
use punctual_scheduling::Time;
use punctual_scheduling::plan::{Plan, Verdict};

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

/// Plans operations of the hosts `a`, `b` and `c` by a strategy.
fn plan_by(strategy: &str, operations: &str) -> Plan {
    let hosts = HOSTS.replace("DMS", strategy);
    let third = "[host.c]\n[[message]]\nfrom = \"a\"\nto = \"c\"\ntime = \"0s\"\n";
    planned(&model(&format!(
        "mutexes = [\"m\"]\n{hosts}{third}{operations}"
    )))
}

/// Writes three operations of the host `a` that cannot be preempted.
fn three_unpreempted(criticality: &str) -> String {
    let one = |name| {
        format!(
            "[operation.{name}]\nhost = \"a\"\nwcet = \"5ms\"\nperiod = \"200ms\"\npreemption = \"none\"\n\
             criticality = \"{criticality}\"\n"
        )
    };
    ["n1", "n2", "n3"].map(one).concat()
}

#[test]
fn under_edf_others_block_a_caller_again_after_each_reply() {
    let caller = r#"
        [operation.caller]
        host = "a"
        wcet = "2ms"
        period = "100ms"
        deadline = "10ms"
        calls = [{ operation = "far", times = 2 }]
        [operation.far]
        host = "b"
        wcet = "1ms"
        locks = [{ mutex = "m", time = "1ms" }]
        "#;
    let plan = plan_by("EDF", &format!("{caller}{}", three_unpreempted("medium")));
    // Each of the three may have just begun as the caller is released or has a reply: 2 + 2 + 3 · 5.
    let caller = plan.streams_of("caller").next().unwrap();
    let response = plan.streams[caller].response;
    assert!(
        response.is_none_or(|time| time >= Time::from_millis(19)),
        "{response:?}"
    );
    assert!(!plan.fits());
}

#[test]
fn under_muf_lower_levels_block_after_the_replies_of_every_caller() {
    let callers = r#"
        [operation.r1]
        host = "a"
        wcet = "5ms"
        period = "200ms"
        deadline = "20ms"
        criticality = "high"
        calls = [{ operation = "q1" }]
        [operation.q1]
        host = "b"
        wcet = "2ms"
        preemption = "none"
        criticality = "high"
        [operation.r2]
        host = "a"
        wcet = "1ms"
        period = "200ms"
        deadline = "13ms"
        criticality = "high"
        calls = [{ operation = "q2" }]
        [operation.q2]
        host = "c"
        wcet = "2ms"
        preemption = "none"
        criticality = "high"
        "#;
    let verdict = |callers: &str| {
        let plan = plan_by("MUF", &format!("{callers}{}", three_unpreempted("low")));
        let stream = plan.streams_of("r2").next().unwrap();
        plan.streams[stream].verdict
    };
    // Behind two sections of lower levels, and the other caller: 5 + 5 + 1 + 2 + 5.
    assert_eq!(verdict(callers), Verdict::Misses);
    assert_eq!(verdict(&callers.replace("13ms", "18ms")), Verdict::Fits);
}

#[test]
fn a_call_right_after_a_reply_waits_for_what_the_last_call_held_off() {
    let plan = plan(
        r#"
        [operation.urgent]
        host = "a"
        wcet = "14ms"
        period = "100ms"
        deadline = "14ms"
        [operation.caller]
        host = "a"
        wcet = "4ms"
        period = "100ms"
        deadline = "35ms"
        calls = [{ operation = "far" }]
        [operation.far]
        host = "b"
        wcet = "10ms"
        preemption = "none"
        [operation.often]
        host = "b"
        wcet = "2ms"
        period = "5ms"
        deadline = "20ms"
        "#,
    );
    // The reply takes 10, and four jobs of `often`, two of which waited for the end of the call before.
    assert_eq!(response(&plan, "caller"), Some(4 + 18 + 14));
    assert!(!plan.fits());
}

#[test]
fn each_job_of_a_late_caller_is_blocked_again_after_its_replies() {
    let plan = plan(
        r#"
        [operation.caller]
        host = "a"
        wcet = "1ms"
        period = "10ms"
        deadline = "40ms"
        calls = [{ operation = "far" }]
        [operation.far]
        host = "b"
        wcet = "1ms"
        [operation.long]
        host = "a"
        wcet = "4ms"
        period = "200ms"
        section = "4ms"
        [operation.hi]
        host = "a"
        wcet = "6ms"
        period = "20ms"
        "#,
    );
    // 4 at first, 1 + 1 + 4 for each job, two jobs of `hi`: the second job ends at 28, 18 after its release.
    assert_eq!(response(&plan, "caller"), Some(18));
}

#[test]
fn a_caller_that_may_end_late_leaves_lower_levels_without_a_bound_and_those_above_with_theirs() {
    let operations = r#"
        [operation.above]
        host = "a"
        wcet = "1ms"
        period = "5ms"
        [operation.caller]
        host = "a"
        wcet = "3ms"
        period = "10ms"
        calls = [{ operation = "far", times = 2 }]
        [operation.far]
        host = "b"
        wcet = "3ms"
        [operation.below]
        host = "a"
        wcet = "9ms"
        period = "48ms"
        deadline = "74ms"
    "#;
    let late = plan(operations);
    assert_eq!(response(&late, "above"), Some(1));
    assert_eq!(response(&late, "below"), None);
    let in_time = plan(&operations.replace("times = 2", "times = 1"));
    assert!(in_time.fits());
    // Three jobs of the caller, the first one 5 ms late, and five of the one above: 9 + 3 * 3 + 5 * 1.
    assert_eq!(response(&in_time, "below"), Some(23));
}

#[test]
fn a_caller_whose_reply_may_be_late_has_no_bound_nor_have_its_callers() {
    let operations = r#"
        [host.c]
        [[message]]
        from = "b"
        to = "c"
        time = "0s"
        [operation.first]
        host = "a"
        wcet = "1ms"
        period = "40ms"
        calls = [{ operation = "caller", times = 1 }]
        [operation.caller]
        host = "b"
        wcet = "2ms"
        deadline = "4ms"
        calls = [{ operation = "far", times = 1 }]
        [operation.far]
        host = "c"
        wcet = "8ms"
    "#;
    let late = plan(operations);
    assert_eq!(response(&late, "first"), None);
    assert_eq!(response(&late, "caller"), None);
    let in_time = plan(&operations.replace("4ms", "12ms"));
    assert!(in_time.fits());
    assert_eq!(response(&in_time, "first"), Some(11));
}
