//! Tests of mutexes that are held together; the expected times are computed by hand.

use super::{model, planned};
use punctual_scheduling::Time;

const NESTED: &str = r#"
    mutexes = ["a", "b"]
    [operation.first]
    wcet = "2ms"
    period = "12ms"
    deadline = "9ms"
    locks = [{ mutex = "a", time = "1ms" }]
    [operation.second]
    wcet = "4ms"
    period = "50ms"
    LOCKS
    [operation.third]
    wcet = "10ms"
    period = "200ms"
    locks = [{ mutex = "b", time = "5ms" }]
"#;

fn first_response(second: &str) -> Option<Time> {
    let plan = planned(&model(&NESTED.replace("LOCKS", second)));
    plan.streams[0].response
}

#[test]
fn a_mutex_nested_in_another_blocks_those_that_wait_for_the_outer_one() {
    let both = r#"locks = [{ mutex = "a", time = "3ms" }, { mutex = "b", time = "1ms" }]"#;
    // Behind 5 of the third, which holds the nested mutex, 3 of the second, and 2 of its own.
    assert_eq!(first_response(both), Some(Time::from_millis(10)));
    let one = r#"locks = [{ mutex = "a", time = "3ms" }]"#;
    assert_eq!(first_response(one), Some(Time::from_millis(5)));
}

#[test]
fn a_mutex_of_an_operation_called_in_the_same_thread_may_be_nested() {
    let called = r#"
    locks = [{ mutex = "a", time = "3ms" }]
    calls = [{ operation = "callee" }]
    [operation.callee]
    wcet = "1ms"
    locks = [{ mutex = "b", time = "1ms" }]"#;
    let plan = planned(&model(&NESTED.replace("LOCKS", called)));
    let first = plan.streams_of("first").next().unwrap();
    assert_eq!(plan.streams[first].response, Some(Time::from_millis(10)));
}

#[test]
fn a_ceiling_keeps_nested_mutexes_from_adding_up() {
    let both = r#"locks = [{ mutex = "a", time = "3ms" }, { mutex = "b", time = "1ms" }]"#;
    let text = NESTED.replace("LOCKS", both);
    let plan = planned(&model(&format!("lock_protocol = \"ceiling\"\n{text}")));
    assert_eq!(plan.streams[0].response, Some(Time::from_millis(5)));
}

#[test]
fn a_job_without_preemption_is_preempted_while_it_awaits_a_mutex() {
    let text = r#"
        mutexes = ["a"]
        PROTOCOL
        [operation.first]
        wcet = "1ms"
        period = "7ms"
        deadline = "40ms"
        [operation.second]
        wcet = "10ms"
        period = "100ms"
        preemption = "none"
        locks = [{ mutex = "a", time = "1ms" }]
        [operation.third]
        wcet = "5ms"
        period = "200ms"
        locks = [{ mutex = "a", time = "5ms" }]
    "#;
    let second = |protocol: &str| {
        let plan = planned(&model(&text.replace("PROTOCOL", protocol)));
        let explained = plan.explain(1).map(|explained| explained.response);
        assert_eq!(plan.streams[1].response, explained);
        plan.streams[1].response
    };
    // The third has locked at 0. The second executes from 1 to 9, and locks: the first, released at 7 and 14, runs from 9
    // to 10 and 14 to 15, the third from 10 to 14 and 15 to 16, the second to 18.
    assert_eq!(second(""), Some(Time::from_millis(18)));
    let ceiling = r#"lock_protocol = "ceiling""#;
    assert_eq!(second(ceiling), Some(Time::from_millis(18)));
    // It begins at 6, when the third has unlocked, and nothing holds it up any more.
    let immediate = r#"lock_protocol = "immediate-ceiling""#;
    assert_eq!(second(immediate), Some(Time::from_millis(16)));
}

#[test]
fn under_priority_ceilings_a_section_without_preemption_begins_while_others_hold_mutexes() {
    let text = r#"
        mutexes = ["a"]
        PROTOCOL
        [operation.first]
        wcet = "2ms"
        period = "20ms"
        locks = [{ mutex = "a", time = "1ms" }]
        [operation.second]
        wcet = "5ms"
        period = "50ms"
        preemption = "none"
        [operation.third]
        wcet = "6ms"
        period = "100ms"
        locks = [{ mutex = "a", time = "6ms" }]
    "#;
    let first = |protocol: &str| {
        let plan = planned(&model(&text.replace("PROTOCOL", protocol)));
        plan.streams[0].response.map(Time::as_nanos)
    };
    // The third locks, the second preempts it, and the first comes a nanosecond later.
    assert_eq!(first(r#"lock_protocol = "ceiling""#), Some(12_999_999));
    assert_eq!(first(r#"lock_protocol = "inheritance""#), Some(12_999_999));
    // The holder has the priority of the first at once.
    assert_eq!(
        first(r#"lock_protocol = "immediate-ceiling""#),
        Some(8_000_000)
    );
}
