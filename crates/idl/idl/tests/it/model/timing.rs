//! Timing of operations: `@rt`.

use super::{compiled, find, model};
use punctual_idl::InMemory;
use punctual_idl::model::RtLevel;

#[test]
fn an_operation_keeps_the_timing_that_it_states() {
    let spec = model(
        "module m { const string RATE = \"33ms\"; enum Weight { low, heavy };
           interface I {
             @rt(wcet = \"200us\", typical = \"0.1ms\", cached = \"50us\", period = RATE, deadline = \"20ms\",
                 offset = \"0s\", jitter = \"1us\", criticality = high, importance = low, threads = 2)
             void f();
             @::rt(criticality = \"very-high\", importance = VERY_LOW) oneway void g();
             void plain();
           }; };",
    );
    let rt = find(&spec, "m::I::f").rt().unwrap();
    let times = [
        &rt.wcet,
        &rt.typical,
        &rt.cached,
        &rt.period,
        &rt.deadline,
        &rt.offset,
        &rt.jitter,
    ];
    let times = times.map(|time| time.as_ref().unwrap().value);
    assert_eq!(
        times,
        [200_000, 100_000, 50_000, 33_000_000, 20_000_000, 0, 1_000]
    );
    assert_eq!(rt.criticality.as_ref().unwrap().value, RtLevel::High);
    assert_eq!(rt.importance.as_ref().unwrap().value, RtLevel::Low);
    assert_eq!(rt.threads.as_ref().unwrap().value, 2);
    let rt = find(&spec, "m::I::g").rt().unwrap();
    assert_eq!(rt.criticality.as_ref().unwrap().value, RtLevel::VeryHigh);
    assert_eq!(rt.importance.as_ref().unwrap().value, RtLevel::VeryLow);
    assert!(rt.wcet.is_none());
    assert!(find(&spec, "m::I::plain").rt().is_none());
}

#[test]
fn an_attribute_states_the_timing_of_reading_and_of_writing_it() {
    let spec = model(
        "interface I { @rt(wcet = \"1ms\") attribute long a, b; @rt(wcet = \"2ms\") readonly attribute long c; };",
    );
    assert!(find(&spec, "I::a").rt().is_some());
    let b = find(&spec, "I::b");
    assert_eq!(b.rt().unwrap().wcet.as_ref().unwrap().value, 1_000_000);
    assert_eq!(b.names_in_schedule(), ["I::_get_b", "I::_set_b"]);
    assert_eq!(find(&spec, "I::c").request_names(), ["_get_c"]);
}

#[test]
fn timing_comes_with_an_included_file_and_is_inherited() {
    let loader = InMemory::new().with(
        "dir/base.idl",
        "interface Base { @rt(wcet = \"1ms\") void f(); };\n",
    );
    let text =
        "#include \"base.idl\"\ninterface Derived : Base { @rt(wcet = \"2ms\") void g(); };\n";
    let spec = compiled(text, &loader).specification;
    let all = spec.all_operations(find(&spec, "Derived").id).into_iter();
    let wcets = all.filter_map(|id| Some(spec[id].rt()?.wcet.as_ref()?.value));
    assert_eq!(wcets.collect::<Vec<_>>(), [1_000_000, 2_000_000]);
}

#[test]
fn timing_may_stand_in_a_comment_of_its_own_line_or_come_from_a_macro() {
    let spec = model(
        "#define TIMED(stated) @rt stated\n\
         interface I {\n  // Reads the sensor.\n\t//@rt(wcet = \"1ms\")\n  void read();\n\
         TIMED((wcet = \"2ms\", period = \"9ms\")) void write();\n\
         // //@rt(wcet = \"1ms\")\n//@rt is explained elsewhere\n//@rtx(3)\n void plain(); };\n",
    );
    let read = find(&spec, "I::read");
    assert_eq!(read.rt().unwrap().wcet.as_ref().unwrap().value, 1_000_000);
    assert_eq!(read.doc, ["Reads the sensor."]);
    let write = find(&spec, "I::write").rt().unwrap();
    assert_eq!(write.period.as_ref().unwrap().value, 9_000_000);
    assert!(find(&spec, "I::plain").rt().is_none());
}

#[test]
fn an_annotation_of_ones_own_by_that_name_states_no_timing() {
    let spec = model(
        "@annotation rt { long value; }; interface I { @rt(3) void f(); }; struct S { @rt(4) long x; };",
    );
    assert!(find(&spec, "I::f").rt().is_none());
}
