//! Types of events: `@event`.

use super::{compiled, find, model};
use punctual_idl::InMemory;

/// CRC-32 of `IDL:m/Track:1.0` without its highest bit, by another implementation.
const TRACK: i32 = 0x5419_36c4;

#[test]
fn an_event_has_the_stated_type_or_the_checksum_of_its_repository_id() {
    let spec = model(
        "module m { @event struct Track { long x; }; const unsigned long FIRST = 1000;
           @::event(type = FIRST + 1) union Order switch (boolean) { case TRUE: long x; };
           @event(type = 0xffffffff) struct Last { long x; }; struct Plain { long x; }; };",
    );
    let type_of = |name| spec.event_types.get(&find(&spec, name).id).copied();
    assert_eq!(type_of("m::Track"), Some(TRACK));
    assert_eq!(type_of("m::Order"), Some(1001));
    assert_eq!(type_of("m::Last"), Some(-1));
    assert_eq!(type_of("m::Plain"), None);
}

#[test]
fn the_repository_id_behind_all_pragmas_counts() {
    let spec = model("@event struct S { long x; };\n#pragma ID S \"IDL:m/Track:1.0\"\n");
    assert_eq!(spec.event_types[&find(&spec, "S").id], TRACK);
}

#[test]
fn an_event_may_be_stated_in_a_comment_of_its_own_line_or_before_a_forward_declaration() {
    let spec = model(
        "// An aircraft.\n  //@event(type = 20)\nstruct A { long x; };\n//@event\t\nstruct B { long x; };\n\
         //@event is explained elsewhere\n//@events(3)\nstruct C { long x; };\n\
         @event(type = 21) struct D;\nstruct D { sequence<D> all; };\n\
         //@event (type = 22)\nstruct E { long x; };\n",
    );
    assert_eq!(spec.event_types[&find(&spec, "A").id], 20);
    assert_eq!(find(&spec, "A").doc, ["An aircraft."]);
    assert!(spec.event_types.contains_key(&find(&spec, "B").id));
    assert!(!spec.event_types.contains_key(&find(&spec, "C").id));
    assert_eq!(spec.event_types[&find(&spec, "D").id], 21);
    assert_eq!(spec.event_types[&find(&spec, "E").id], 22);
}

#[test]
fn events_of_included_files_are_events_too() {
    let loader = InMemory::new().with(
        "dir/base.idl",
        "@event(type = 30) struct Base { long x; };\n",
    );
    let text = "#include \"base.idl\"\n@event(type = 31) struct Own { Base it; };\n";
    let spec = compiled(text, &loader).specification;
    assert_eq!(
        spec.event_types.values().copied().collect::<Vec<_>>(),
        [30, 31]
    );
}

#[test]
fn an_annotation_of_ones_own_by_that_name_makes_no_event() {
    let spec =
        model("@annotation event { long value; }; @event(3) interface I { @event(4) void f(); };");
    assert!(spec.event_types.is_empty());
}
