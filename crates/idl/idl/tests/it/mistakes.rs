//! Snapshots of the compiler's diagnostics for mistakes.
#![allow(clippy::unwrap_used)]

use punctual_idl::diagnostic::render;
use punctual_idl::model::{ConstValue, DeclKind, Type};
use punctual_idl::{Encoding, InMemory, Options, compile_source};

fn diagnosed(text: &str) -> String {
    let loader = InMemory::new()
        .with(
            "other.idl",
            "module Other { typedef long T; interface I { void f(); }; };\n",
        )
        .with("cycle.idl", "#include \"cycle.idl\"\n")
        .with("broken.idl", "module Broken { typedef lnog T; };\n");
    match compile_source("mistake.idl", text, &Options::default(), &loader) {
        Ok(compilation) => render(&compilation.warnings, false),
        Err(failure) => render(&failure.diagnostics, false),
    }
}

macro_rules! mistakes {
    ($($name:ident: $text:expr;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(diagnosed($text));
        })*
    };
}

mistakes! {
    missing_semicolon_points_behind_the_previous_token:
        "interface A {\n  void f()\n  void g();\n}\ninterface B {};\n";
    several_errors_are_found_in_one_run:
        "struct S { lnog a; short b };\nunion U switch (float) { case 1: long x; };\nconst short C = 70000;\ntypedef Missing T;\n";
    misspelt_keyword_gets_a_suggestion: "interfcae A { void f(); };\n";
    capitalised_keyword_gets_a_suggestion: "Module M { typedef long T; };\n";
    misspelt_type_name_gets_a_suggestion: "struct Point { long x; };\nstruct Line { Pont a; };\n";
    name_in_another_scope_is_pointed_out: "module M { typedef long T; };\nstruct S { T x; };\n";
    identifier_that_differs_from_a_keyword_in_case: "struct Interface { long Long; };\n";
    keyword_as_a_name_can_be_escaped: "struct S { long interface; };\n";
    names_that_differ_in_case_only: "typedef long Foo;\ntypedef short foo;\n";
    use_with_another_spelling: "typedef long Foo;\nstruct S { foo x; };\n";
    declared_twice: "struct A { long x; };\nstruct A { long y; };\n";
    redefined_after_use:
        "typedef long T;\ninterface I {\n  typedef T U;\n  typedef short T;\n};\n";
    parameter_clashes_with_its_type: "struct Foo { long x; };\ninterface I { void f(in Foo foo); };\n";
    name_of_its_own_scope: "interface I { typedef long I; };\n";
    ambiguous_by_inheritance:
        "interface A { typedef long T; };\ninterface B { typedef short T; };\ninterface C : A, B { void f(in T x); };\n";
    inherited_operation_declared_again: "interface A { void f(); };\ninterface B : A { long F(); };\n";
    operations_of_two_bases_meet: "interface A { void f(); };\ninterface B { void f(); };\ninterface C : A, B {};\n";
    base_named_twice: "interface A {};\ninterface B : A, A {};\n";
    base_only_declared_ahead: "interface A;\ninterface B : A {};\n";
    own_base: "interface A : A {};\n";
    base_that_is_no_interface: "struct S { long x; };\ninterface A : S {};\n";
    plain_interface_inherits_a_local_one: "local interface L {};\ninterface A : L {};\n";
    local_type_as_a_parameter: "local interface L {};\nstruct S { L inner; };\ninterface A { void f(in S arg); };\n";
    oneway_with_answers:
        "exception E {};\ninterface A { oneway long f(out long x) raises (E); };\n";
    parameter_without_direction: "interface A { void f(long x); };\n";
    anonymous_sequence_as_a_parameter: "interface A { void f(in sequence<long> x); };\n";
    raising_what_is_no_exception: "struct S { long x; };\ninterface A { void f() raises (S); };\n";
    exception_as_a_type: "exception E {};\nstruct S { E e; };\n";
    void_as_a_member: "struct S { void x; };\n";
    struct_that_contains_itself: "struct Node { long value; Node next; };\n";
    struct_declared_ahead_and_never_defined: "struct S;\nstruct T { sequence<S> all; };\n";
    union_over_a_string: "union U switch (string) { case 1: long x; };\n";
    union_label_twice: "union U switch (long) { case 1: long x; case 1: short y; };\n";
    union_label_of_another_type: "enum E { a, b };\nunion U switch (E) { case 1: long x; };\n";
    union_label_out_of_range: "union U switch (short) { case 40000: long x; };\n";
    union_default_is_never_reached:
        "union U switch (boolean) { case TRUE: long x; case FALSE: long y; default: long z; };\n";
    union_with_two_defaults: "union U switch (long) { default: long x; default: long y; };\n";
    misspelt_case: "union U switch (long) { cas 1: long x; };\n";
    constant_out_of_range: "const unsigned short PORT = -1;\n";
    constant_of_another_type: "const boolean B = 1;\nconst char C = \"x\";\nconst fixed F = 1.5;\n";
    constant_divides_by_zero: "const long ZERO = 0;\nconst long X = 5 / ZERO;\n";
    constant_mixes_types: "const double X = 1.5 + 1;\n";
    constant_string_too_long: "typedef string<3> Short;\nconst Short S = \"four\";\n";
    shift_too_far: "const long X = 1 << 64;\n";
    bound_of_zero: "typedef sequence<long, 0> S;\n";
    bad_literals:
        "const long A = 09;\nconst char B = '\\q';\nconst string C = \"\\0\";\nconst char D = 'ab';\nconst long E = 0x;\n";
    unterminated_string: "const string S = \"abc;\nconst long X = 1;\n";
    unterminated_comment: "const long X = 1;\n/* and so on\n";
    character_that_idl_does_not_use: "struct S { long x; $ };\n";
    missing_brace: "module M {\n  struct S { long x; };\n";
    brace_too_many: "struct S { long x; }; };\nstruct T { long x; };\n";
    empty_file: "// nothing\n";
    missing_include: "#include \"nowhere.idl\"\nstruct S { long x; };\n";
    include_cycle: "#include \"cycle.idl\"\n";
    error_in_an_included_file: "#include \"broken.idl\"\nstruct S { Broken::T x; };\n";
    conditional_without_end: "#ifdef X\nstruct S { long x; };\n";
    end_without_conditional: "struct S { long x; };\n#endif\n";
    misspelt_directive: "#inclde \"other.idl\"\nstruct S { long x; };\n";
    error_directive: "#error this is not for us\nstruct S { long x; };\n";
    bad_condition: "#if 1 +\n#endif\nstruct S { long x; };\n";
    macro_with_too_few_arguments: "#define F(a, b) a\nstruct S { F(long) x; };\n";
    error_inside_a_macro: "#define MEMBER(t, n) t n;\nstruct S { MEMBER(lnog, x) };\n";
    unknown_pragma_is_a_warning: "#pragma prefx \"acme.com\"\nstruct S { long x; };\n";
    pragma_about_nothing: "#pragma version X 1.2\nstruct S { long x; };\n";
    second_repository_id:
        "interface A {};\n#pragma ID A \"IDL:A:1.1\"\n#pragma ID A \"IDL:X:1.1\"\n";
    component_model: "component C { provides long x; };\nstruct S { long x; };\n";
    truncatable_without_a_base: "valuetype V : truncatable W { public long x; };\n";
    abstract_value_with_state: "abstract valuetype V { public long x; };\n";
    value_box_of_a_value: "valuetype V { public long x; };\nvaluetype B V;\n";
    attribute_with_raises: "exception E {};\ninterface A { attribute long x raises (E); };\n";
    forward_declaration_of_another_flavour: "abstract interface A;\ninterface A {};\n";
    bitmask_with_a_flag_beyond_its_bits: "@bit_bound(8) bitmask M { a, @position(8) b };\n";
    bitmask_with_two_flags_in_one_place: "bitmask M { a, @position(0) b };\n";
    bitset_with_too_many_bits: "bitset B { bitfield<60> a; bitfield<5> b; };\n";
    bitfield_wider_than_its_type: "bitset B { bitfield<9, octet> a; };\n";
    map_with_floating_keys: "struct K { double x; };\nstruct S { map<K, long> m; };\n";
    anonymous_map_as_a_parameter: "interface A { void f(in map<long, string> x); };\n";
    unknown_annotation_is_a_warning: "struct S { @optoinal long x; @vendor::special(3) long y; };\n";
    annotation_with_an_argument_of_another_type: "struct S { @id(\"one\") long x; @optional(3) long y; };\n";
    annotation_without_its_argument: "struct S { @unit long x; @final(3) long y; };\n";
    annotation_with_an_unknown_argument: "struct S { @range(min = 1, most = 3) long x; };\n";
    timing_with_unknown_and_repeated_keys:
        "interface I { @rt(wect = \"1ms\", colour = 3, period = \"9ms\", period = \"8ms\", 5) void f(); };\n";
    timing_that_is_no_time:
        "interface I {\n  @rt(wcet = 200, period = \"nan ms\", deadline = 1.5, jitter = never) void f();\n  @rt(wcet = \"99999999999999999999s\", period = \"25h\", offset = \"0.5ns\", typical = \"-1ms\") void g();\n};\n";
    timing_of_zero: "interface I { @rt(wcet = \"0s\", period = \"0ms\", deadline = \"0us\", offset = \"0s\") void f(); };\n";
    timing_that_contradicts_itself:
        "interface I {\n  @rt(wcet = \"5ms\", period = \"33ms\", deadline = \"4ms\", typical = \"6ms\", cached = \"7ms\") void f();\n  @rt(wcet = \"5ms\", period = \"4ms\") void g();\n};\n";
    timing_of_unknown_levels_and_counts:
        "enum E { huge };\ninterface I {\n  @rt(criticality = hihg, importance = huge) void f();\n  @rt(importance = 3, threads = -1) void g();\n  @rt(threads = \"2\") void h();\n};\n";
    timing_given_twice: "interface I { @rt(wcet = \"1ms\") @rt(period = \"9ms\") void f(); };\n";
    timing_of_what_is_no_operation:
        "@rt(wcet = \"1ms\") struct S { @rt(wcet = \"1ms\") long x; };\n@rt(wcet = \"1ms\") interface I { void f(@rt(wcet = \"1ms\") in long x); };\nvaluetype V { @rt(wcet = \"1ms\") void f(); };\n";
    timing_without_quotes: "interface I { @rt(wcet = 200us) void f(); };\n";
    timing_in_a_comment_behind_its_operation: "interface I {\n  void f(); //@rt(wcet = \"1ms\")\n  void g();\n};\n";
    timing_in_a_comment_is_checked: "interface I {\n  // Reads.\n  //@rt(wcte = \"1ms\")\n  void f();\n};\n";
    event_of_what_is_no_type_of_values:
        "@event interface I { @event void f(@event in long x); @event readonly attribute long a; };\n@event valuetype V { public long x; };\n@event enum E { a };\nstruct S { @event long x; };\n@event typedef long T;\n";
    event_of_a_type_out_of_range:
        "@event(type = 4294967296) struct A { long x; };\n@event(type = -1) struct B { long x; };\n@event(type = \"16\") struct C { long x; };\n@event(type = 15) struct D { long x; };\n@event(kind = 16) struct E { long x; };\n";
    events_of_the_same_type:
        "module m {\n  @event(type = 20) struct A { long x; };\n  @event(type = 20) union B switch (boolean) { case TRUE: long x; };\n};\n";
    event_given_twice: "@event @event(type = 16) struct S { long x; };\n";
    event_that_holds_a_local_interface: "local interface L {};\n@event struct S { L held; };\n";
    event_in_a_comment_behind_other_text: "struct S { long x; }; //@event\nstruct T { long x; };\n";
    annotation_of_ones_own_is_checked:
        "@annotation limit { long least default 0; long most; };\nstruct S { @limit(least = 2) long x; @limit(most = TRUE) long y; };\n";
    default_of_another_type: "struct S { @default(\"x\") long x; @default(300) octet y; };\n";
    range_that_holds_nothing: "struct S { @range(min = 3, max = 1) long x; @min(2) string y; };\n";
    two_default_literals: "enum E { @default_literal a, @default_literal b };\n";
    keywords_as_names_are_one_error_each:
        "struct in { long out; };\nstruct S { in x; };\ninterface attribute { void raises(in long in); };\nenum E { case, default };\nmodule module { typedef long T; };\nstruct R { module::T t; };\n";
    pragma_with_a_semicolon: "#pragma prefix \"acme.com\";\n#pragma version S 1.2;\nstruct S { long x; };\n";
    system_exceptions_are_not_raised:
        "interface I { void f() raises (CORBA::UNKNOWN); };\n";
    comment_that_a_backslash_continues:
        "struct S {\n  long a; // in C:\\logs\\\n  long b;\n  long c;\n};\n";
    comment_of_a_directive_that_a_backslash_continues:
        "#ifdef A // in C:\\logs\\\n#else\n#endif\nstruct S { long a; };\n";
    file_that_a_condition_leaves_out:
        "#ifdef PUMPS\n#ifdef VALVES\nstruct S { long a; };\n#endif\n#endif\n";
    statements_since_corba_3_name_the_macro_that_leaves_them_out:
        "#ifndef M_IDL\n#define M_IDL\n#ifdef CORBA_2\n#pragma prefix \"omg.org\"\n#else\nimport ::Nowhere;\n#endif\n\
         module M {\n#if !defined(CORBA_2)\n  typeprefix M \"omg.org\"\n#endif\n  typedef long T;\n\
         #ifndef NO_COMPONENTS\n  home H manages C {};\n#endif\n};\n#endif\n";
    text_that_a_macro_would_put_in:
        "exception E {};\ninterface I {\n  void f()\n#ifdef VENDOR\n    raises (E);\n#endif\n  void g();\n};\n\
         struct\n#ifdef OTHER\n  Named\n#endif\n{ long x; };\n\
         #ifndef NO_PUMPS\nstruct Pump { long x }\n#endif\n";
    statement_since_corba_3_before_a_conditional_of_directives_only:
        "#ifdef CORBA_2\n#else\ntypeprefix CORBA \"omg.org\"\n#endif\n#ifdef CORBA_2\n#ifdef NO_LOCAL\n#define local\n\
         #endif\n#endif\nmodule CORBA { typedef long Own; };\n";
    statements_since_corba_3_without_a_macro:
        "import ::Nowhere;\n#ifndef GUARD\n#define GUARD\ntypeprefix N \"omg.org\"\n#endif\nstruct S { long a; };\n";
    words_of_the_component_model_are_names:
        "interface component { void uses(in component home); };\nstruct S { component home; };\n";
    keyword_in_another_case_as_a_type: "struct S { Long x; };\n";
    annotation_without_effect_on_elements:
        "interface I {};\ntypedef sequence<@non_nil I> Is;\nunion U switch (@key @optoinal long) { case 1: I one; };\n";
    include_by_a_macro_that_is_not_defined: "#include PARTS\nstruct S { long x; };\n";
    enumerator_clashes_beside_its_enum: "enum Color { red };\nenum Light { red };\n";
}

#[test]
fn bytes_that_are_not_utf8_are_an_error_but_in_comments() {
    let text = b"// caf\xE9\nconst string S = \"caf\xE9\";\n".to_vec();
    let options = Options {
        encoding: Encoding::Utf8,
        ..Options::default()
    };
    let failure = compile_source("latin.idl", text, &options, &InMemory::new());
    insta::assert_snapshot!(render(&failure.unwrap_err().diagnostics, false));
}

#[test]
fn a_member_that_a_comment_of_an_included_file_takes_is_told_and_a_drawing_is_not() {
    let text = "#include \"lost.idl\"\n#include \"drawn.idl\"\nstruct S { long x; };\n";
    let loader = InMemory::new()
        .with(
            "lost.idl",
            "struct T {\n  long a; // \\\n  long b;\n  long c;\n};\n",
        )
        .with("drawn.idl", "//  /\\\n// /__\\\ntypedef long U;\n");
    let compiled = compile_source("main.idl", text, &Options::default(), &loader).unwrap();
    let warnings: Vec<String> = compiled.warnings.iter().map(|w| w.to_string()).collect();
    let [lost, drawn] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    let message = "warning: a backslash continues this comment on the next line";
    assert_eq!(*lost, format!("lost.idl:2:14: {message}"));
    // The second line of the drawing takes the typedef.
    assert_eq!(*drawn, format!("drawn.idl:1:6: {message}"));
    let drawn = "//  /\\\n// /__/\ntypedef long U;\n";
    let loader = InMemory::new().with("drawn.idl", drawn);
    let text = "#include \"drawn.idl\"\nstruct S { U x; };\n";
    let compiled = compile_source("main.idl", text, &Options::default(), &loader).unwrap();
    assert!(compiled.warnings.is_empty());
    let compiled = compile_source("drawn.idl", drawn, &Options::default(), &loader).unwrap();
    assert_eq!(compiled.warnings.len(), 1);
}

/// Compiles `text` with these options, and returns its diagnostics as text. It may include
/// `twice.idl` and `binary.idl`.
fn diagnosed_with(text: impl Into<Vec<u8>>, options: &Options) -> String {
    let loader = InMemory::new()
        .with("twice.idl", "struct Twice { long x; };\ntypedef long T;\n")
        .with("binary.idl", b"\x7fELF\x02\x01\x01\0\0\0".to_vec());
    match compile_source("mistake.idl", text, options, &loader) {
        Ok(compilation) => render(&compilation.warnings, false),
        Err(failure) => render(&failure.diagnostics, false),
    }
}

#[test]
fn a_file_that_is_not_utf8_is_read_as_iso_8859_1_with_a_warning() {
    let text = b"// caf\xE9\nconst string S = \"caf\xE9\";\n".to_vec();
    insta::assert_snapshot!(diagnosed_with(text, &Options::default()));
}

#[test]
fn a_file_of_iso_8859_1_is_read_without_a_word_if_the_option_says_so() {
    let options = Options {
        encoding: Encoding::Latin1,
        ..Options::default()
    };
    let text = b"const string S = \"caf\xE9 \xC3\xA9\";\n".to_vec();
    let compiled = compile_source("latin.idl", text, &options, &InMemory::new()).unwrap();
    assert!(compiled.warnings.is_empty());
    let DeclKind::Const(constant) = &compiled.specification.declarations[0].kind else {
        panic!()
    };
    assert_eq!(
        constant.value,
        ConstValue::String("caf\u{e9} \u{c3}\u{a9}".into())
    );
}

#[test]
fn binary_files_are_one_error() {
    let text = "#include \"binary.idl\"\nstruct S { long x; };\n";
    insta::assert_snapshot!("included_binary", diagnosed_with(text, &Options::default()));
    let text = [0xFF, 0xFE, b's', 0, b't', 0].to_vec();
    insta::assert_snapshot!("utf16", diagnosed_with(text, &Options::default()));
    let text: Vec<u8> = (0..=255).cycle().take(5000).filter(|b| *b != 0).collect();
    insta::assert_snapshot!("binary", diagnosed_with(text, &Options::default()));
}

#[test]
fn a_file_that_is_included_twice_is_one_error() {
    let text = "#include \"twice.idl\"\n#include \"twice.idl\"\nstruct S { Twice x; };\n";
    insta::assert_snapshot!(diagnosed_with(text, &Options::default()));
}

#[test]
fn names_that_differ_only_in_case_are_warned_of_when_it_is_lenient() {
    let options = Options {
        lenient: true,
        ..Options::default()
    };
    let text = "struct Foo { long foo; };
interface I { Foo foo(in Foo FOO); void f(in long x, in long X); };
interface J : I { void F(); };
struct S { Foo foo; I a, A; };
typedef long Name;
typedef short name;
struct T { Name one; name two; NAME three; };
struct Struct { long Long; };
";
    insta::assert_snapshot!(diagnosed_with(text, &options));
    insta::assert_snapshot!(
        "names_that_differ_only_in_case_are_errors",
        diagnosed_with(text, &Options::default())
    );
    let compiled = compile_source("x.idl", text, &options, &InMemory::new()).unwrap();
    let spec = compiled.specification;
    let types: Vec<&Type> = spec
        .members(spec.find("T").unwrap().id)
        .iter()
        .map(|member| &member.ty)
        .collect();
    let named = |name: &str| Type::Named(spec.find(name).unwrap().id);
    assert_eq!(types, [&named("Name"), &named("name"), &named("Name")]);
}
