//! Tests of sections that mend a plan by being shorter; the expected times are computed by hand.

use super::{model, planned};
use punctual_scheduling::strategy::Rms;
use std::fmt::Write;

/// Returns the sections that mend a model, as `operation mutex at time`; none needs a change as it is.
fn blockers(text: &str) -> Vec<String> {
    let model = model(text);
    let found = planned(&model).blockers(&model, &Rms);
    let found = found.iter().map(|one| {
        let mutex = one.mutex.as_deref().unwrap_or("-");
        format!("{} {mutex} at {}", one.operation, one.time)
    });
    found.collect()
}

/// Makes a model of an operation that has 3ms for blocking, and of one that blocks it by these keys.
fn blocked_by(keys: &str) -> String {
    format!(
        "mutexes = ['m']\n\
         [operation.fast]\nwcet = '2ms'\nperiod = '20ms'\ndeadline = '5ms'\n\
         locks = [{{ mutex = 'm', time = '1ms' }}]\n\
         [operation.slow]\nwcet = '8ms'\nperiod = '50ms'\n{keys}"
    )
}

const LOCK: &str = "locks = [{ mutex = 'm', time = '6ms' }]\n";

#[test]
fn a_shorter_lock_mends_what_waits_for_it() {
    assert_eq!(blockers(&blocked_by(LOCK)), ["slow m at 3ms"]);
    let mended = blocked_by(&LOCK.replace('6', "3"));
    assert!(planned(&model(&mended)).fits());
    assert_eq!(blockers(&mended), [""; 0]);
}

#[test]
fn a_shorter_section_without_preemption_mends_what_it_holds_up() {
    // A section that has begun holds up for a nanosecond less.
    for keys in [
        "preemption = 'none'",
        "section = '6ms'",
        "segments = { longest = '6ms', last = '3ms' }",
    ] {
        let found = blockers(&blocked_by(keys));
        assert_eq!(found, ["slow - at 3.000001ms"], "{keys}");
    }
    let mended = blocked_by("section = '3.000001ms'");
    assert!(planned(&model(&mended)).fits());
    // The last segment is too long by itself.
    let last = blocked_by("segments = { longest = '6ms', last = '4ms' }");
    assert_eq!(blockers(&last), [""; 0]);
}

#[test]
fn the_operation_of_the_thread_that_has_the_section_is_named() {
    let call = "calls = [{ operation = 'callee' }]\n";
    let callee = "[operation.callee]\nwcet = '7ms'\n";
    let text = |own: &str, of_callee: &str| blocked_by(&format!("{own}{call}{callee}{of_callee}"));
    assert_eq!(blockers(&text("", LOCK)), ["callee m at 3ms"]);
    let unpreempted = blockers(&text("", "preemption = 'none'"));
    assert_eq!(unpreempted, ["callee - at 3.000001ms"]);
    // Both would have to be shorter; a section may contain the call.
    assert_eq!(blockers(&text(LOCK, LOCK)), [""; 0]);
    assert_eq!(blockers(&text("section = '1ms'\n", "")), [""; 0]);
}

#[test]
fn a_section_beside_another_that_is_as_long_mends_nothing() {
    let other = "[operation.other]\nwcet = '8ms'\nperiod = '60ms'\n";
    let text = format!("{}{other}{LOCK}", blocked_by(LOCK));
    // By inheritance only one holds the mutex; the other waits no longer.
    assert_eq!(blockers(&text), [""; 0]);
    let text = format!("lock_protocol = 'immediate-ceiling'\n{text}");
    assert_eq!(blockers(&text), [""; 0]);
}

#[test]
fn a_change_that_breaks_another_deadline_is_not_named() {
    // Without preemption the slow one is done at 10; with it, the fast one comes in between.
    let text = |deadline: &str| {
        format!(
            "[operation.fast]\nwcet = '2ms'\nperiod = '9ms'\ndeadline = '5ms'\n\
             [operation.slow]\nwcet = '8ms'\nperiod = '50ms'\ndeadline = '{deadline}'\npreemption = 'none'"
        )
    };
    assert_eq!(blockers(&text("12ms")), ["slow - at 3.000001ms"]);
    assert_eq!(blockers(&text("11ms")), [""; 0]);
}

#[test]
fn at_most_32_sections_are_tried() {
    let mut text = String::from("mutexes = [");
    for at in 0..40 {
        write!(text, "'m{at}', ").unwrap();
    }
    text += "]\n[operation.first]\nwcet = '41ms'\nperiod = '1s'\ndeadline = '80.5ms'\nlocks = [";
    for at in 0..40 {
        write!(text, "{{ mutex = 'm{at}', time = '1ms' }}, ").unwrap();
    }
    text += "]\n";
    for at in 0..40 {
        writeln!(
            text,
            "[operation.o{at}]\nwcet = '1ms'\nperiod = '2s'\nlocks = [{{ mutex = 'm{at}', time = '1ms' }}]"
        )
        .unwrap();
    }
    let found = blockers(&text);
    assert_eq!(found.len(), 32);
    assert!(found.contains(&"o0 m0 at 500us".to_owned()), "{found:?}");
}
