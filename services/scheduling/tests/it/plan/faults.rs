//! Tests of models with faults: each names what is wrong, and where.

use super::{model, planned, shown};
use punctual_scheduling::model::{MOST_OPERATIONS, read};
use punctual_scheduling::plan::plan;
use punctual_scheduling::strategy::Rms;
use std::fmt::Write;

/// Returns the faults of a model, be it of reading or of planning.
fn faults(text: &str) -> String {
    let faults = match read("t.toml", text) {
        Ok(model) => plan(&model, &Rms).map(drop).unwrap_err(),
        Err(faults) => faults,
    };
    shown(&faults)
}

#[test]
fn each_fault_names_its_line_and_what_is_wrong() {
    for (text, expected) in [
        (
            "[operation.a]\nwcet = nan",
            "t.toml:2:8: error: invalid type: floating point `NaN`, expected a time in quotes",
        ),
        (
            "[operation.a]\nwcet = \"5\"",
            "t.toml:2:8: error: `5` has no unit",
        ),
        (
            "[operation.a]\nwcet = \"25h\"",
            "t.toml:2:8: error: `25h` is longer than a day",
        ),
        (
            "[operation.a]\nwcet = \"1ms\"\nperiod = \"0s\"",
            "t.toml:3:10: error: a period is above zero",
        ),
        (
            "[operation.a]\nwcet = \"0s\"\nperiod = \"1s\"",
            "t.toml:2:8: error: a worst-case execution time is above zero",
        ),
        (
            "[operation.a]\nwcet = \"2ms\"\nperiod = \"9ms\"\ndeadline = \"1ms\"",
            "t.toml:4:12: error: the worst-case execution time, 2ms, is longer than the deadline",
        ),
        (
            "[operation.a]\nwcet = \"2ms\"\nperiod = \"1ms\"",
            "t.toml:3:10: error: the worst-case execution time, 2ms, is longer than the period",
        ),
        (
            "[operation.a]\nperiod = \"1ms\"",
            "t.toml:1:12: error: operation `a` has no `wcet`",
        ),
        (
            "[operation.a]\nwcet = \"2ms\"",
            "t.toml:1:12: error: operation `a` is never released",
        ),
        (
            "[operation.a]\nwcet = \"2ms\"\nperod = \"3ms\"",
            "t.toml:3:1: error: unknown field `perod`",
        ),
        (
            "[operation.a]\n[operation.a]",
            "t.toml:2:12: error: operation `a` is stated twice",
        ),
        (
            "[operation]\na = {}\n'a' = {}",
            "t.toml:3:1: error: operation `a` is stated twice",
        ),
        (
            "[operation.'radar.read']\nwcet = '1ms'\n[operation.other]\nwcet = '1ms'\n[operation.\"radar.read\"]",
            "t.toml:5:12: error: operation `radar.read` is stated twice",
        ),
        (
            "[operation.a]\nwcet = '1ms'\n[operation.b]\nwcet = '1ms'\nwcet = '2ms'",
            "t.toml:5:1: error: operation `b` has the key `wcet` twice",
        ),
        (
            "[operation.a]\nsegments = { last = '1ms', last = '1ms' }",
            "t.toml:2:28: error: duplicate key",
        ),
        (
            "[host.h]\n[host.h]",
            "t.toml:2:7: error: host `h` is stated twice",
        ),
        (
            "mutexes = []\nmutexes = []",
            "t.toml:2:1: error: the key `mutexes` is stated twice",
        ),
        (
            "mutexes = [\"m\", \"m\"]",
            "t.toml:1:17: error: mutex `m` is listed twice",
        ),
        (
            "[host.h]\nprocessors = 0",
            "t.toml:2:14: error: a host has 1 to 4096 processors",
        ),
        (
            "[operation.a]\nwcet = \"1ms\"\nperiod = \"3ms\"\nprocessor = 1",
            "t.toml:4:13: error: host `localhost` has no processor 1",
        ),
        (
            "[operation.a]\nwcet = \"1ms\"\nperiod = \"3ms\"\ncalls = [{ operation = \"a1\" }]",
            "t.toml:4:24: error: there is no operation `a1`",
        ),
        (
            "[operation.a]\nwcet = \"1ms\"\nperiod = \"3ms\"\ncalls = [{ operation = \"a\" }]",
            "t.toml:4:24: error: operations call one another in a cycle: `a`",
        ),
    ] {
        let found = faults(text);
        assert!(found.starts_with(expected), "{text}\n{found}");
    }
}

#[test]
fn all_faults_of_names_and_values_are_found_at_once() {
    let found = faults(
        "[operation.a]\nwcet = \"1ms\"\nhost = \"x\"\ncalls = [{ operation = \"y\" }]\nlocks = [{ mutex = \"z\", time = \"2ms\" }]",
    );
    for message in [
        "there is no host `x`",
        "there is no operation `y`",
        "there is no mutex `z`",
        "no longer than `wcet`, 1ms",
    ] {
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn a_similar_name_is_suggested() {
    let text =
        "[operation.read]\nwcet = \"1ms\"\nperiod = \"3ms\"\ncalls = [{ operation = \"raed\" }]";
    let faults = read("t.toml", text).unwrap_err();
    assert_eq!(faults[0].help.as_deref(), Some("did you mean `read`?"));
}

#[test]
fn a_cycle_of_all_operations_is_found_without_recursion() {
    const MANY: usize = 20_000;
    let mut text = String::new();
    for at in 0..MANY {
        let next = (at + 1) % MANY;
        let _ = writeln!(
            text,
            "[operation.o{at}]\nwcet = \"1us\"\ncalls = [{{ operation = \"o{next}\" }}]"
        );
    }
    let found = faults(&text);
    assert!(found.contains("in a cycle: `o0`, `o1`,"), "{found}");
    assert!(found.contains(&format!("{} more", MANY - 6)), "{found}");
}

#[test]
fn more_operations_than_a_model_may_have_are_refused() {
    let mut text = String::new();
    for at in 0..=MOST_OPERATIONS {
        let _ = writeln!(text, "operation.o{at} = {{}}");
    }
    let found = faults(&text);
    assert!(
        found.contains("a model has 100000 operations at most"),
        "{found}"
    );
}

#[test]
fn rates_of_operations_that_run_in_the_caller_s_thread_may_not_contradict_each_other_either() {
    let text = "[operation.fast]\nwcet = \"1ms\"\nperiod = \"10ms\"\ncalls = [{ operation = \"between\", times = 2 }]\n\
         [operation.between]\nwcet = \"1ms\"\ncalls = [{ operation = \"slow\" }]\n\
         [operation.slow]\nwcet = \"1ms\"\nperiod = \"6ms\"";
    assert_eq!(
        faults(text),
        "t.toml:8:12: error: `slow` expects calls 6ms apart, and `fast` calls it 2 times every 10ms"
    );
    // As often as expected, and one that runs by its own period besides.
    planned(&model(&text.replace("6ms", "5ms")));
    planned(&model(&format!("{text}\nthreads = 1")));
}

#[test]
fn rates_that_contradict_each_other_name_both_operations() {
    let found = faults(
        "[operation.fast]\nwcet = \"1ms\"\nperiod = \"5ms\"\ncalls = [{ operation = \"slow\", kind = \"one-way\" }]\n\
         [operation.slow]\nwcet = \"1ms\"\nperiod = \"10ms\"",
    );
    assert_eq!(
        found,
        "t.toml:5:12: error: `slow` expects calls 10ms apart, and `fast` calls it every 5ms"
    );
    let found = faults(
        "[operation.a]\nwcet = \"1ms\"\nperiod = \"5ms\"\ncalls = [{ operation = \"both\", kind = \"one-way\" }]\n\
         [operation.b]\nwcet = \"1ms\"\nperiod = \"10ms\"\ncalls = [{ operation = \"both\", kind = \"one-way\" }]\n\
         [operation.both]\nkind = \"conjunction\"",
    );
    assert_eq!(
        found,
        "t.toml:9:12: error: conjunction `both` awaits suppliers that are not in step: `a` calls it 1 times in 5ms of \
         `a`, `b` calls it 1 times in 10ms of `b`"
    );
}

#[test]
fn a_mutex_of_two_processors_is_refused() {
    let found = faults(
        "mutexes = [\"m\"]\n[host.h]\nprocessors = 2\n\
         [operation.a]\nwcet = \"1ms\"\nperiod = \"5ms\"\nprocessor = 0\nlocks = [{ mutex = \"m\", time = \"1us\" }]\n\
         [operation.b]\nwcet = \"1ms\"\nperiod = \"5ms\"\nprocessor = 1\nlocks = [{ mutex = \"m\", time = \"1us\" }]",
    );
    assert_eq!(
        found,
        "t.toml:9:12: error: `a` and `b` lock mutex `m` on different processors"
    );
}

#[test]
fn very_many_paths_of_calls_are_refused() {
    let mut text = String::from("[operation.s]\nwcet = \"1us\"\nperiod = \"1s\"\n");
    let call = |to: &str| format!("{{ operation = \"{to}\", kind = \"one-way\" }}");
    let _ = writeln!(text, "calls = [{}, {}]", call("a0"), call("b0"));
    for at in 0..20 {
        for side in ["a", "b"] {
            let calls = match at {
                19 => String::new(),
                _ => format!(
                    "{}, {}",
                    call(&format!("a{}", at + 1)),
                    call(&format!("b{}", at + 1))
                ),
            };
            let _ = writeln!(
                text,
                "[operation.{side}{at}]\nwcet = \"1ns\"\ncalls = [{calls}]"
            );
        }
    }
    let found = faults(&text);
    assert!(found.contains("more than 200000 paths of calls"), "{found}");
}

#[test]
fn faults_of_names_strategies_messages_and_counts_are_found() {
    let operation =
        |name: &str, more: &str| format!("[operation.{name}]\nwcet = \"1ms\"\n{more}\n");
    let hosts = "[host.x]\n[host.y]\n";
    let far = operation(
        "a",
        "host = \"x\"\nperiod = \"1s\"\ncalls = [{ operation = \"b\" }]",
    ) + &operation("b", "host = \"y\"");
    let message = "[[message]]\nfrom = \"x\"\nto = \"y\"\ntime = \"1ms\"\n";
    let back = "[[message]]\nfrom = \"y\"\nto = \"x\"\ntime = \"9ms\"\n";
    let many =
        "period = \"1s\"\ncalls = [{ operation = \"b\", kind = \"one-way\", times = 4000000000 }]";
    for (text, expected) in [
        (
            "strategy = \"FIFO\"".to_owned(),
            "there is no strategy `FIFO`",
        ),
        (String::new(), "the model has no operation"),
        (
            operation("\"a\\u001b\"", "period = \"1s\""),
            "a name has up to 256 bytes, and no control characters",
        ),
        (
            operation("a", "period = \"1s\"\nsection = \"0s\""),
            "a section without preemption is above zero",
        ),
        (
            format!("{hosts}{far}"),
            "`a` on host `x` calls `b` on host `y`, and the time of a message",
        ),
        (
            format!("{hosts}{message}{back}{far}"),
            "the time of messages between these hosts is given twice",
        ),
        (
            operation("a", many) + &operation("b", ""),
            "take longer than a day",
        ),
        (
            operation("a", "period = \"1s\"\ncalls = [{ operation = \"b\" }]")
                + &operation("b", "jitter = \"1ms\""),
            "operation `b` is released by its callers, which determine its jitter",
        ),
        (
            format!(
                "[host.h]\nprocessors = 2\n{}{}",
                operation("a", "period = \"1s\"\ncalls = [{ operation = \"b\" }]"),
                operation("b", "processor = 1")
            ),
            "`b` is pinned to processor 1, and runs in the thread of its caller `a`, which is not",
        ),
    ] {
        let found = faults(&text);
        assert!(found.contains(expected), "{text}\n{found}");
    }
}
