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
