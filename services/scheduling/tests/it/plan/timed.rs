//! Tests of models with operations that IDL times by `@rt`.

use super::shown;
use punctual_idl::model::Specification;
use punctual_idl::{InMemory, Options, compile_source};
use punctual_scheduling::model::{
    Model, Operation, TimedOperation, read_with_idl, read_with_operations,
};
use punctual_scheduling::{Level, Time};

const RADAR: &str = "module Radar {
  interface Base { @rt(wcet = \"1ms\", period = \"20ms\", criticality = high) void scan(); };
  interface Sensor : Base {
    @rt(wcet = \"2ms\", typical = \"1ms\", cached = \"500us\", period = \"40ms\", deadline = \"30ms\",
        offset = \"1ms\", jitter = \"3us\", importance = very_low, threads = 2)
    attribute long level;
    void plain();
  };
};
";

fn compiled(name: &str, text: &str) -> Specification {
    let files = InMemory::new().with("radar.idl", RADAR);
    let compiled = compile_source(name, text, &Options::default(), &files);
    compiled.unwrap().specification
}

fn read_both(text: &str, idl: &[&str]) -> Result<Model, String> {
    let named = idl.iter().enumerate();
    let idl: Vec<_> = named
        .map(|(at, text)| compiled(&format!("{at}.idl"), text))
        .collect();
    let idl: Vec<_> = idl.iter().collect();
    read_with_idl("t.toml", text, &idl).map_err(|faults| shown(&faults))
}

fn operation<'m>(model: &'m Model, name: &str) -> &'m Operation {
    &model.operations[model.operation(name).unwrap()]
}

#[test]
fn timed_operations_are_in_the_model_by_their_scoped_names() {
    let model = read_both("", &[RADAR]).unwrap();
    let names: Vec<_> = model.operations.iter().map(|one| &one.name).collect();
    assert_eq!(
        names,
        [
            "Radar::Base::scan",
            "Radar::Sensor::_get_level",
            "Radar::Sensor::_set_level"
        ]
    );
    let scan = operation(&model, "Radar::Base::scan");
    assert_eq!(scan.times.worst, Time::from_millis(1));
    assert_eq!(scan.period, Some(Time::from_millis(20)));
    assert_eq!(
        (scan.criticality, scan.importance),
        (Level::High, Level::Medium)
    );
    let level = operation(&model, "Radar::Sensor::_set_level");
    assert_eq!(level.times.typical, Some(Time::from_millis(1)));
    assert_eq!(level.times.cached, Some(Time::from_micros(500)));
    assert_eq!(level.deadline, Some(Time::from_millis(30)));
    assert_eq!(
        (level.offset, level.jitter),
        (Time::from_millis(1), Time::from_micros(3))
    );
    assert_eq!((level.importance, level.threads), (Level::VeryLow, 2));
}

#[test]
fn a_table_completes_and_overrides_what_the_idl_states() {
    let text = "mutexes = [\"m\"]
[host.a]
[host.b]
[[message]]
from = \"a\"
to = \"b\"
time = \"1ms\"
[operation.\"Radar::Base::scan\"]
wcet = \"3ms\"
criticality = \"low\"
host = \"b\"
locks = [{ mutex = \"m\", time = \"2ms\" }]
[operation.\"Radar::Sensor::_get_level\"]
host = \"a\"
[operation.\"Radar::Sensor::_set_level\"]
host = \"a\"
threads = 0
[operation.clock]
host = \"a\"
wcet = \"1ms\"
period = \"20ms\"
calls = [{ operation = \"Radar::Base::scan\", kind = \"one-way\" }]
";
    let model = read_both(text, &[RADAR]).unwrap();
    let scan = operation(&model, "Radar::Base::scan");
    assert_eq!(scan.times.worst, Time::from_millis(3));
    assert_eq!(scan.period, Some(Time::from_millis(20)));
    assert_eq!((scan.criticality, scan.host), (Level::Low, 1));
    assert_eq!(scan.sections.len(), 1);
    assert_eq!(operation(&model, "Radar::Sensor::_set_level").threads, 0);
    assert_eq!(operation(&model, "Radar::Sensor::_get_level").threads, 2);
    assert_eq!(operation(&model, "clock").calls.len(), 1);
}

#[test]
fn a_file_that_two_others_include_counts_once() {
    let including = "#include \"radar.idl\"\n";
    let model = read_both("", &[including, including]).unwrap();
    assert_eq!(model.operations.len(), 3);
}

#[test]
fn faults_point_at_the_text_that_states_them() {
    let timed = |stated: &str| format!("interface I {{\n  @rt({stated}) void f();\n}};\n");
    for (text, idl, expected) in [
        (
            "",
            timed("wcet = \"1ms\""),
            "0.idl:2:26: error: operation `I::f` is never released",
        ),
        (
            "",
            timed("period = \"9ms\""),
            "0.idl:2:28: error: operation `I::f` has no `wcet`",
        ),
        (
            "[operation.\"I::f\"]\nwcet = \"9ms\"\n",
            timed("period = \"8ms\""),
            "0.idl:2:16: error: the worst-case execution time, 9ms, is longer than the period",
        ),
        (
            "[operation.\"I::f\"]\nperiod = \"1ms\"\n",
            timed("wcet = \"2ms\""),
            "t.toml:2:10: error: the worst-case execution time, 2ms, is longer than the period",
        ),
        (
            "[operation.a]\nwcet = \"1ms\"\nperiod = \"9ms\"\ncalls = [{ operation = \"I::g\" }]",
            timed("wcet = \"2ms\", period = \"9ms\""),
            "t.toml:4:24: error: there is no operation `I::g`",
        ),
        (
            "",
            "interface I { void f(); };".to_owned(),
            "the model has no operation",
        ),
    ] {
        let faults = read_both(text, &[&idl]).unwrap_err();
        assert!(faults.contains(expected), "{faults}");
        assert_eq!(faults.lines().count(), 1, "{faults}");
    }
}

#[test]
fn an_operation_that_two_files_time_is_refused() {
    let one = "interface I { @rt(wcet = \"1ms\", period = \"9ms\") void f(); };";
    let other = "interface I { @rt(wcet = \"3ms\", period = \"9ms\") void f(); };";
    let faults = read_both("", &[one, other]).unwrap_err();
    assert!(
        faults.starts_with("1.idl:1:54: error: the timing of `I::f` is stated twice"),
        "{faults}"
    );
}

fn scan() -> TimedOperation {
    TimedOperation {
        wcet: Some(Time::from_millis(1)),
        period: Some(Time::from_millis(20)),
        criticality: Some(Level::High),
        ..TimedOperation::new("Radar::Base::scan")
    }
}

#[test]
fn operations_that_stubs_carry_are_completed_by_the_file_as_those_of_idl() {
    let text = "[operation.'Radar::Base::scan']\nwcet = '3ms'\noffset = '2ms'";
    // An interface that inherits the operation has it, too.
    let model = read_with_operations("t.toml", text, &[scan(), scan()]).unwrap();
    let read = operation(&model, "Radar::Base::scan");
    assert_eq!(read.times.worst, Time::from_millis(3));
    assert_eq!(read.period, Some(Time::from_millis(20)));
    assert_eq!(read.offset, Time::from_millis(2));
    assert_eq!(read.criticality, Level::High);
    assert_eq!(model.operations.len(), 1);
}

#[test]
fn faults_of_what_stubs_carry_name_the_operation() {
    let other = TimedOperation {
        period: Some(Time::from_millis(30)),
        ..scan()
    };
    let twice = read_with_operations("t.toml", "", &[scan(), other]).unwrap_err();
    let twice = shown(&twice);
    assert!(
        twice.contains("the timing of `Radar::Base::scan` is stated twice"),
        "{twice}"
    );
    assert!(twice.contains("RT_OPERATIONS of the stubs:2:1"), "{twice}");
    let late = TimedOperation {
        deadline: Some(Time::from_micros(1)),
        ..scan()
    };
    let late = read_with_operations("t.toml", "", &[late]).unwrap_err();
    let late = shown(&late);
    assert!(late.contains("RT_OPERATIONS of the stubs:1:1"), "{late}");
}
