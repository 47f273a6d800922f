//! Tests of what mends a plan, in the keys of the model.

use super::{model, planned};
use punctual_scheduling::Time;

/// Returns the execution time of the first change of an operation that mends a model.
fn wcet(text: &str, operation: &str) -> Option<Time> {
    let mends = planned(&model(text)).mends();
    let mut changes = mends.iter().flat_map(|mends| &mends.changes);
    changes.find(|one| one.operation == operation)?.wcet
}

#[test]
fn the_execution_time_is_that_without_operations_called_in_the_same_thread() {
    let text = r#"
        [operation.caller]
        wcet = "6ms"
        period = "40ms"
        deadline = "10ms"
        calls = [{ operation = "callee", times = 2 }]
        [operation.callee]
        wcet = "3ms"
    "#;
    assert_eq!(wcet(text, "caller"), Some(Time::from_millis(4)));
    assert!(planned(&model(&text.replace("6ms", "4ms"))).fits());
    // The callee takes all of the time.
    assert_eq!(wcet(&text.replace("3ms", "5ms"), "caller"), None);
}

#[test]
fn the_execution_time_is_that_of_one_job_of_a_release() {
    let text = r#"
        strategy = "DMS"
        [operation.source]
        wcet = "1ms"
        period = "40ms"
        deadline = "9ms"
        calls = [{ operation = "called", times = 4, kind = "one-way" }]
        [operation.called]
        wcet = "3ms"
        deadline = "10ms"
    "#;
    // 1 of jitter, and 1 by the source: four jobs have 8.
    assert_eq!(wcet(text, "called"), Some(Time::from_millis(2)));
    assert!(planned(&model(&text.replace("3ms", "2ms"))).fits());
}
