//! Snapshots of the code generated for each construct of IDL, and tests of refused IDL.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual_idl_rust::Options;
use support::{compiled, generated, generated_with, refused, warnings, without_type_codes};

/// Compares an IDL text's output with a snapshot, without the file's first lines.
macro_rules! snapshot {
    ($name:literal, $idl:expr) => {
        insta::assert_snapshot!($name, generated($idl));
    };
}

#[test]
fn a_struct_has_public_fields_and_marshals_them_in_order() {
    snapshot!(
        "struct",
        "/** A point. */ struct Point { /* Across. */ long x; double y; string<8> label; };"
    );
}

#[test]
fn a_recursive_struct_counts_its_nesting() {
    snapshot!(
        "recursive struct",
        "struct Tree { sequence<Tree> branches; };"
    );
}

#[test]
fn a_long_array_has_its_default_written_and_a_large_one_lives_in_a_box() {
    snapshot!(
        "arrays",
        "typedef octet Digest[40]; typedef double Plane[32][32];
         struct Both { Digest d; Plane p; wstring words[2]; };"
    );
}

#[test]
fn an_enum_is_a_plain_enum() {
    snapshot!("enum", "enum Colour { red, /* grass */ GREEN, deepBlue };");
}

#[test]
fn a_union_carries_the_discriminator_where_several_reach_a_member() {
    snapshot!(
        "union",
        "union Value switch (long) {
           case 1: octet one;
           case -3: case -2: case -1: case 7: string several;
           default: wstring rest;
         };"
    );
}

#[test]
fn a_union_without_a_default_has_a_variant_for_the_rest() {
    snapshot!(
        "union with an implicit default",
        "union Half switch (boolean) { case TRUE: string yes; };"
    );
}

#[test]
fn a_union_over_an_enum_names_its_enumerators() {
    snapshot!(
        "union over an enum",
        "module m { enum E { a, b }; };
         union ByEnum switch (m::E) { case m::a: long first; case m::b: Object second; };"
    );
}

#[test]
fn a_default_beside_labels_for_all_values_is_neither_read_nor_sent() {
    let lenient = punctual_idl::Options {
        lenient: true,
        ..punctual_idl::Options::default()
    };
    let idl = "enum E { a, b };
         union Own switch (E) { default: Object never; case a: long first; case b: string second; };
         union Shared switch (boolean) { case TRUE: long yes; case FALSE: default: string no; };
         struct Holder { Own own; };";
    let files = punctual_idl::InMemory::new();
    let compiled = punctual_idl::compile_source("test.idl", idl, &lenient, &files).unwrap();
    let generated = punctual_idl_rust::generate(&compiled.specification, &without_type_codes());
    let source = generated.unwrap().source;
    let (_header, text) = source.split_once("\n\n").unwrap();
    insta::assert_snapshot!("union with a default for no value", text);
}

#[test]
fn a_bitmask_has_a_constant_for_each_flag_and_a_bitset_methods_for_each_field() {
    snapshot!(
        "bits",
        "@bit_bound(16) bitmask Access { /* To read. */ read, @position(9) writeAll };
         bitset Header { bitfield<3> version; bitfield<1> last; bitfield<4>; };
         bitset Longer : Header { bitfield<12, short> x; bitfield<44> rest; };"
    );
}

#[test]
fn a_map_is_a_btree_map_whose_keys_have_an_order() {
    snapshot!(
        "maps",
        "struct Key { long x; string<8> name; };
         typedef map<Key, sequence<wstring>, 9> Names;
         struct S { map<string, long> plain; Names several; sequence<map<octet, S>> deep; };
         interface I { Names swap(in Names these); };"
    );
}

#[test]
fn annotations_make_members_optional_give_them_defaults_and_bound_them() {
    snapshot!(
        "annotations",
        "enum E { @value(5) a, @default_literal b, @value(9) c };
         bitmask M { x, y };
         struct S {
           @optional string<4> maybe; @optional @range(min = 1, max = 6) long die;
           @default(3.14) double pi; @default(\"x\") string name; @default(c) E which;
           @default(3) M flags; @min(2) @max(8) octet small; @optional Object reference;
           @optional(FALSE) @default(TRUE) boolean there;
         };"
    );
}

#[test]
fn an_interface_with_timed_operations_has_a_table_of_their_timing() {
    snapshot!(
        "timing",
        "module Radar {
           interface Base { @rt(wcet = \"1.5ms\", period = \"33ms\") void scan(); void plain(); };
           interface Sensor : Base {
             @rt(wcet = \"200us\", typical = \"100us\", cached = \"50us\", period = \"10ms\",
                 deadline = \"8ms\", offset = \"0s\", jitter = \"3us\",
                 criticality = very_high, importance = low, threads = 2) attribute long level;
           };
         };"
    );
}

#[test]
fn each_type_has_a_type_code_and_each_typedef_one_beside_it() {
    let idl = "module m {
           typedef string<8> Label; typedef Label Grid[2][3]; typedef fixed<5,2> Money;
           enum Kind { a, b }; interface Target; typedef map<Label, long, 4> Sizes;
           struct Node { Label text; sequence<Node, 7> next; any value; Target at; int8 small; };
           union Choice switch (Kind) { case a: Money first; default: Sizes rest; };
           exception Lost { @optional long since; }; exception Gone {};
           bitmask Flags { x }; interface Target {};
         };";
    let text = generated_with(idl, &Options::default());
    insta::assert_snapshot!("type codes", text);
}

#[test]
fn interpreted_stubs_list_their_arguments_and_results() {
    snapshot!(
        "interpreted stubs",
        "exception Bad { string why; }; typedef sequence<wstring> Words; struct P { double x; };
         @interpreted interface I {
           attribute long count;
           oneway void tell(in string what, in P where);
           string<9> swap(in Words several, inout string<4> short_, out I other) raises (Bad);
           void both(inout P first, inout long second) context (\"a\");
         };"
    );
}

#[test]
fn constants_keep_type_and_value() {
    snapshot!(
        "constants",
        r#"const boolean YES = TRUE; const octet mask = 0xff; const char quote = '\'';
           const wchar euro = L'\u20AC'; const long long far = -9223372036854775807 - 1;
           const float half = 0.5; const double pi = 3.14159; const long double two = 2.0;
           const string text = "a \"b\"\n"; const fixed price = 12.50d;
           enum E { x, y }; const E which = y;"#
    );
}

#[test]
fn typedefs_are_aliases() {
    snapshot!(
        "typedefs",
        "interface I; typedef I Alias; typedef sequence<I> Several; typedef fixed<5,2> Money;
         typedef Several Again; struct S { Alias one; Several many; Money m; }; interface I {};"
    );
}

#[test]
fn an_exception_is_an_error() {
    snapshot!(
        "exceptions",
        "exception Nothing {}; exception Some_ { long code; };"
    );
}

#[test]
fn an_interface_becomes_reference_servant_skeleton_and_errors() {
    snapshot!(
        "interface",
        "module m {
           exception Bad { string why; };
           typedef sequence<long, 3> Few;
           /** Does things. */
           interface Thing {
             /** Adds. */
             long add(in long a, in string b, out long c) raises (Bad);
             attribute wstring name;
             oneway void tell(in Few numbers);
           };
         };"
    );
}

#[test]
fn inout_parameters_are_assigned_after_the_whole_reply() {
    snapshot!(
        "inout",
        "interface I {
           void one(inout string<4> text);
           long several(inout wstring text, out I other, inout long out_) context (\"a*\");
         };"
    );
}

#[test]
fn a_derived_interface_repeats_what_it_inherits() {
    snapshot!(
        "inheritance",
        "interface A { void fa(); }; interface B : A {}; interface C : A { void fc(); };
         module m { interface D : B, C { typedef long T; T fd(); }; };"
    );
}

#[test]
fn local_interfaces_and_natives_stay_in_the_process() {
    let options = Options {
        natives: vec![("Cookie".to_owned(), "std::sync::Arc<u64>".to_owned())],
        ..without_type_codes()
    };
    let idl = "native Cookie; interface Far { void f(); };
               local interface Near : Far { Cookie keep(in Near other, inout Cookie c); };";
    insta::assert_snapshot!("local", generated_with(idl, &options));
}

#[test]
fn names_of_the_runtime_are_written_out_where_the_idl_has_them() {
    snapshot!(
        "clashes with the runtime",
        "module m {
           struct Option { long Vec; };
           struct Marshal { string text; };
           exception Error {};
           typedef sequence<Option> Options;
           interface Arc { Arc next(in Options several) raises (Error); };
         };"
    );
}

#[test]
fn a_client_has_no_servants_and_a_server_no_methods() {
    let idl = "interface I { void call(); };";
    let client = Options {
        server: false,
        ..Options::default()
    };
    let client = generated_with(idl, &client);
    assert!(client.contains("fn call") && !client.contains("Servant"));
    let server = Options {
        client: false,
        ..Options::default()
    };
    let server = generated_with(idl, &server);
    assert!(!server.contains("pub fn call") && server.contains("trait IServant"));
}

#[test]
fn the_runtime_may_have_another_path() {
    let options = Options {
        runtime_path: "crate::orb".to_owned(),
        ..without_type_codes()
    };
    let text = generated_with("struct S { char c; string s; };", &options);
    assert!(text.contains("use crate::orb::Char;") && text.contains("use crate::orb::stub::{"));
}

#[test]
fn included_idl_is_generated_too_unless_another_crate_has_it() {
    let idl = "#include \"other.idl\"\nmodule m { struct S { other::deep::T t; }; };";
    let text = generated(idl);
    assert!(text.contains("pub mod other") && text.contains("super::other::deep::T"));
    let options = Options {
        extern_paths: vec![("::other".to_owned(), "other_crate".to_owned())],
        ..Options::default()
    };
    let text = generated_with(idl, &options);
    assert!(!text.contains("pub mod other"));
    assert!(text.contains("pub t: ::other_crate::deep::T"));
}

#[test]
fn modules_that_are_reopened_are_one_module() {
    let idl =
        "module a { struct X { long l; }; }; module b {}; module a { struct Y { X first; }; };";
    let text = generated(idl);
    assert_eq!(text.matches("pub mod a ").count(), 1);
    assert!(!text.contains("pub mod b "), "nothing is in it");
}

#[test]
fn the_same_input_gives_the_same_output_without_a_path_or_a_date() {
    let idl = "module m { interface I { void f(in Object o); }; };";
    let text = generated(idl);
    assert_eq!(text, generated(idl));
    assert!(
        compiled(idl, &Options::default())
            .unwrap()
            .source
            .starts_with("// Generated by Punctual from test.idl.")
    );
}

#[test]
fn names_that_meet_in_rust_are_told_apart_with_a_warning() {
    insta::assert_snapshot!(
        "name clash",
        warnings(
            "interface I { void fooBar(); void foo_bar(); attribute long x; void set_x(); };
             interface J { @rust_name(\"first\") void fooBar(); void foo_bar(); };"
        )
    );
}

#[test]
fn a_call_has_one_name_for_its_callers_and_its_servant_beside_inherited_ones() {
    let text = generated(
        "interface Base { attribute long x; };
         interface Derived : Base { void set_x(); };
         interface Deeper : Derived { void set_x_(); };",
    );
    let servant = |name: &str| {
        let (_, rest) = text.split_once(&format!("pub trait {name}: ")).unwrap();
        let (body, _) = rest.split_once("\n}").unwrap();
        body.to_owned()
    };
    assert!(servant("BaseServant").contains("fn set_x(&self, value: i32)"));
    assert!(servant("DerivedServant").contains("fn set_x_(&self)"));
    assert!(servant("DeeperServant").contains("fn set_x__(&self)"));
    // However many inherit them, each has one method of a reference, and is called by that and by
    // one skeleton. Beside the method, the servant's trait names it, and so does the delegation of
    // a servant's holder.
    for (owner, method) in [("DerivedServant", "set_x_"), ("DeeperServant", "set_x__")] {
        assert_eq!(text.matches(&format!("pub fn {method}(&self)")).count(), 1);
        assert_eq!(text.matches(&format!(" fn {method}(&self)")).count(), 3);
        assert_eq!(text.matches(&format!("{owner}::{method}(")).count(), 2);
    }
}

#[test]
fn what_two_bases_call_alike_is_told_apart_where_they_are_joined() {
    let idl = "interface Left { void set_x(); }; interface Right { attribute long x; };
         interface Both : Left, Right { void own(); };";
    let text = generated(idl);
    assert!(text.contains("pub fn set_x_(&self, value: i32)"));
    // The second base's is a method of both references, and of one skeleton.
    assert_eq!(text.matches("RightServant::set_x(").count(), 3);
    assert_eq!(
        warnings(idl).matches("this one becomes `set_x_`").count(),
        1
    );
}

#[test]
fn a_call_tries_the_servant_first_where_there_are_servants() {
    let idl = "interface I { string f(inout string servant, in long outcome); };";
    let text = generated(idl);
    // Its own names give way to the parameters'.
    assert!(text.contains("|servant_: &dyn IServant|"));
    let calls =
        ["ObjectRef::call(", "ObjectRef::call_into("].map(|call| text.matches(call).count());
    assert_eq!(calls, [1, 1], "the call and its twin");
    let client = Options {
        server: false,
        ..Options::default()
    };
    assert!(!generated_with(idl, &client).contains("ObjectRef::call("));
}

#[test]
fn arguments_that_may_be_long_sequences_of_octets_or_numbers_are_sent_from_the_callers_memory() {
    let text = generated(
        "typedef sequence<octet> Octets;
         typedef sequence<double, 4096> Many;
         typedef sequence<double, 4095> Fewer;
         typedef sequence<long> Longs;
         typedef sequence<boolean> Flags;
         typedef sequence<char> Characters;
         struct S { long l; };
         typedef sequence<S> Structs;
         interface I {
           void one(in Octets a, in Flags b, in Many c, in Fewer d);
           oneway void two(in Longs type);
           void none(in Structs a, inout Octets b, out Octets c, in string d, in Characters e);
           attribute Octets all;
         };",
    );
    assert!(text.contains("&OPERATION.lending(a).lending(c),"), "{text}");
    assert!(text.contains("&OPERATION.lending(r#type),"));
    assert!(text.contains("&OPERATION.lending(value),"));
    assert_eq!(text.matches("lending").count(), 4);
    for given_up in ["b", "c", "result"] {
        let step = format!("marshal_owned({given_up}, 4294967295, out)");
        assert!(text.contains(&step), "{text}");
    }
}

#[test]
fn what_an_included_file_does_not_need_to_have_is_left_out() {
    let text = generated("#include \"other.idl\"\nstruct S { other::deep::T t; };");
    assert!(!text.contains("Holder") && !text.contains("Value"));
    assert!(text.contains("struct Fine"));
}

#[test]
fn what_stays_in_its_process_cannot_be_marshaled() {
    insta::assert_snapshot!(
        "local things that travel",
        refused(
            "native Cookie; local interface L { void f(in Cookie c); };
             typedef sequence<L> Ls; struct S { L one; Ls several; }; struct T { Cookie c; };
             exception E { S held; }; interface J { void g(in T what); };
             interface I { void f(in Cookie c); @rust_name(\"not a name\") void g(); };",
            &Options::default()
        )
    );
}

#[test]
fn options_that_are_no_paths_are_refused() {
    let options = Options {
        runtime_path: "no path".to_owned(),
        natives: vec![("X".to_owned(), "%".to_owned())],
        extern_paths: vec![("Y".to_owned(), "1".to_owned())],
        ..Options::default()
    };
    let text = refused("struct S { long l; };", &options);
    assert_eq!(text.matches("cannot be used in Rust").count(), 3, "{text}");
}

#[test]
fn structs_that_double_and_chains_that_go_on_take_no_longer_than_their_length() {
    let mut idl = "struct S0 { long l; };".to_owned();
    for i in 1..300 {
        let before = i - 1;
        idl += &format!("struct S{i} {{ S{before} a; S{before} b; }};");
    }
    idl += "typedef sequence<long> T0;";
    for i in 1..300 {
        idl += &format!("typedef sequence<T{}> T{i};", i - 1);
    }
    assert!(generated(&idl).contains("struct S299"));
}

#[test]
fn bounded_sequences_that_lie_too_deep_in_one_another_are_refused() {
    let mut idl = "typedef string<5> T0;".to_owned();
    for i in 1..3000 {
        idl += &format!("typedef sequence<T{}, 2> T{i};", i - 1);
    }
    idl += "struct S { T2999 deep; };";
    let text = refused(&idl, &Options::default());
    assert!(text.contains("lie in one another"), "{text}");
}

#[test]
fn structs_and_unions_that_hold_local_objects_stay_in_the_process() {
    snapshot!(
        "local things that stay",
        "local interface L { void f(); };
         typedef sequence<L> Ls;
         struct S { L one; Ls several; sequence<S> inner; };
         union U switch (long) { case 1: S some; default: long other; };
         local interface M { U g(in S a, out Ls b, inout U c); attribute S kept; };"
    );
}

#[test]
fn references_are_not_nil_where_that_is_chosen_but_where_the_idl_says_so() {
    let idl = "interface I { I next(in I one, @non_nil(FALSE) in I other); };
         struct S { I one; @non_nil(FALSE) I other; sequence<I> all; };";
    let options = Options {
        non_nil: true,
        ..Options::default()
    };
    let text = generated_with(idl, &options);
    assert!(
        text.contains("fn next(&self, one: &I, other: Option<&I>) -> Result<I, SystemException>")
    );
    let (_, structure) = text.split_once("pub struct S {").unwrap();
    let (members, _) = structure.split_once('}').unwrap();
    for member in [
        "pub one: I,",
        "pub other: Option<I>,",
        "pub all: Vec<Option<I>>,",
    ] {
        assert!(members.contains(member), "{member}: {members}");
    }
    // Without the option, a reference may be nil, whatever `@non_nil(FALSE)` says.
    let text = generated(idl);
    let text: String = text.split_whitespace().collect();
    assert!(text.contains("one:Option<&I>,other:Option<&I>"));
}

#[test]
fn inherited_methods_that_traits_would_hide_are_written_again() {
    let text = generated(
        "interface Base { long clone(); void eq(in long o); void other(); };
         interface Derived : Base { void own(); };
         abstract interface A { void clone(); void plain(); };
         abstract interface B { void added(); };
         abstract interface Either : A, B { void x(); };
         abstract interface Deeper : Either {};",
    );
    let (_, derived) = text.split_once("impl Derived {").unwrap();
    let (derived, _) = derived.split_once("\n}").unwrap();
    for method in ["fn clone(", "fn eq(", "fn own("] {
        assert!(derived.contains(method), "{method}: {derived}");
    }
    assert!(!derived.contains("fn other("));
    // An object is called through the type that has the method.
    for (call, count) in [
        ("AObject::clone(this)", 3),
        ("AObject::plain(this)", 3),
        ("BObject::added(this)", 1),
        ("EitherObject::added(this)", 2),
    ] {
        let arm = format!("Self::Object(this) => {call}");
        assert_eq!(text.matches(&arm).count(), count, "{call}");
    }
    assert!(text.contains("Self::Object(this) => EitherObject::x(this)"));
}

#[test]
fn what_a_comment_says_is_never_taken_for_code() {
    for line in [
        "plain_struct! {",
        "fn piece__0() {}",
        "const OWN: x = &",
        "trait Signatures__x {",
        "typed!(X,",
    ] {
        let text = generated(&format!("/** {line} */ struct S {{ long l; }};"));
        assert!(text.contains(&format!("/// {line}")), "{text}");
        assert!(text.contains("pub l: i32,"), "{text}");
        assert!(syn::parse_file(&text).is_ok(), "{text}");
    }
}

#[test]
fn servants_that_answer_later_have_traits_of_their_own_where_they_are_asked_for() {
    let options = Options {
        client: false,
        type_codes: false,
        async_servants: true,
        ..Options::default()
    };
    let idl = "exception Refused { string why; };
         interface Base { readonly attribute long rate; oneway void note(in string text); };
         interface Clerk : Base {
             string copies(in string text, inout long number, inout string what, out boolean many)
                 raises (Refused);
         };";
    insta::assert_snapshot!("servants that answer later", generated_with(idl, &options));
}

#[test]
fn a_servant_that_answers_later_gives_way_to_a_declaration_of_its_name() {
    let idl = "interface Clerk { void work(); }; struct ClerkAmhServant { long l; };";
    let options = Options {
        amh: true,
        ..Options::default()
    };
    let text = generated_with(idl, &options);
    assert!(text.contains("pub trait ClerkAmhServant_:"), "{text}");
}
