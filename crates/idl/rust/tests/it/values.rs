//! Snapshots of the code generated for valuetypes and abstract interfaces, and tests of refused
//! IDL.
#![allow(clippy::unwrap_used)]

use crate::support;

use punctual_idl_rust::Options;
use support::{generated, generated_with, refused};

/// Compares an IDL text's output with a snapshot, without TypeCodes, which have tests of their own.
macro_rules! snapshot {
    ($name:literal, $idl:expr) => {
        let options = Options {
            type_codes: false,
            ..Options::default()
        };
        insta::assert_snapshot!($name, generated_with($idl, &options));
    };
}

#[test]
fn a_valuetype_with_state_is_a_handle_a_state_and_a_factory() {
    snapshot!(
        "state",
        "/** In a list. */
         valuetype Node { public long number; /* What comes after. */ public Node next; private string<8> text; };"
    );
}

#[test]
fn a_derived_valuetype_has_its_bases_state_under_a_name_of_its_own() {
    snapshot!(
        "derived",
        "valuetype A { public long x; public A next; };
         valuetype B : truncatable A { public long base; public ValueBase any_; };"
    );
}

#[test]
fn operations_and_initializers_are_traits_for_who_implements_them() {
    snapshot!(
        "operations",
        "exception Bad {};
         interface Greeter { string greet(); };
         abstract valuetype Counts { readonly attribute long count; };
         valuetype Account : Counts supports Greeter {
           private long balance;
           factory open(in string owner) raises (Bad);
           void deposit(in long amount) raises (Bad);
         };"
    );
}

#[test]
fn a_custom_valuetype_leaves_its_state_to_the_user() {
    snapshot!("custom", "custom valuetype C { public long a; };");
}

#[test]
fn a_boxed_value_is_a_handle_to_what_it_boxes() {
    snapshot!("boxed", "valuetype Names sequence<string>;");
}

#[test]
fn an_abstract_interface_is_an_object_or_a_value() {
    snapshot!(
        "abstract interface",
        "abstract interface A { void f(in long x); };
         interface I : A {};
         valuetype V supports A { public long l; };"
    );
}

#[test]
fn what_holds_values_lets_go_of_their_graph() {
    let text = generated(
        "valuetype V { public long l; };
         struct S { sequence<V> several; long none; };
         union U switch (short) { case 1: S one; case 2: case 3: V two; default: long l; };
         struct Plain { long l; };",
    );
    assert!(text.contains("impl HoldsValues for S"));
    assert!(text.contains("Self::Two(_, value) => HoldsValues::adopt(value, graph)"));
    assert!(!text.contains("impl HoldsValues for Plain"));
}

#[test]
fn values_have_type_codes() {
    let options = Options {
        type_codes: true,
        ..Options::default()
    };
    let text = generated_with(
        "valuetype V { public long l; private V next; };
         valuetype D : truncatable V {};
         valuetype B string; abstract interface A {};",
        &options,
    );
    let flat: String = text.split_whitespace().collect();
    for part in [
        "ValueModifier::None,|types|ValueDescription{concrete_base:None,",
        "concrete_base:Some(<VasTyped>::describe(types))",
        "(\"next\",<VasTyped>::describe(types),Visibility::Private)",
        "ValueModifier::Truncatable",
        "types.value_box(\"IDL:B:1.0\",\"B\",|types|types.string(0))",
        "types.abstract_interface(\"IDL:A:1.0\",\"A\")",
    ] {
        assert!(flat.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_state_starts_from_something() {
    insta::assert_snapshot!(
        "no start",
        refused(
            "interface I {}; valuetype V { @non_nil public I far; };",
            &Options::default()
        )
    );
}

#[test]
fn names_that_a_valuetype_takes_are_left_to_it() {
    let text = generated(
        "valuetype V { public long state; public long new_; void set_state(); };
         struct VState { long x; };",
    );
    assert!(text.contains("pub struct VState_ {"));
    assert!(text.contains("pub fn state(&self) -> i32"));
    assert!(text.contains("pub fn set_state_(&self, value: i32)"));
    assert!(text.contains("pub fn state_(&self) -> VState_"));
}

#[test]
fn a_native_type_that_is_raised_is_a_variant_of_the_error() {
    let options = Options {
        natives: vec![("U".to_owned(), "crate::Raised".to_owned())],
        type_codes: false,
        ..Options::default()
    };
    let text = generated_with("native U; valuetype H { void f() raises (U); };", &options);
    assert!(text.contains("U(crate::Raised),"), "{text}");
}

#[test]
fn a_native_type_is_not_raised_over_the_wire_or_without_a_rust_type() {
    insta::assert_snapshot!(
        "native raised",
        refused(
            "native U; interface I { void f() raises (U); };
             valuetype H { void f() raises (U); factory make() raises (U); };",
            &Options::default()
        )
    );
}

#[test]
fn an_abstract_valuetype_imports_nothing_that_only_concrete_ones_need() {
    let text = generated("abstract valuetype A {};");
    for name in ["ValueFactory", "Arc"] {
        assert!(!text.contains(name), "{text}");
    }
}

#[test]
fn a_valuetype_that_is_only_declared_ahead_is_a_handle() {
    let text = generated("valuetype V; struct S { V one; };");
    assert!(text.contains("pub struct V(ValueRef);"), "{text}");
    assert!(!text.contains("VFactory") && !text.contains("VState"));
}

#[test]
fn a_chain_of_value_types_does_not_repeat_what_it_inherits() {
    let chain = |length: usize| {
        let derived = (1..length).map(|at| {
            format!(
                "valuetype V{at} : truncatable V{} {{ public long m{at}; void f{at}(); }};",
                at - 1
            )
        });
        let idl: String = derived.collect();
        let text = generated(&format!(
            "valuetype V0 {{ public long m0; void f0(); }}; {idl}"
        ));
        assert_eq!(text.matches("pub fn m0(").count(), 1);
        assert_eq!(text.matches("pub fn set_m0(").count(), 1);
        assert_eq!(text.matches("pub fn f0(").count(), 1);
        assert!(text.contains("pub struct V1(V0);"));
        text.lines().count()
    };
    // Only the lists of bases grow faster than the chain.
    assert!(chain(60) < 7 * chain(10), "{} {}", chain(60), chain(10));
}

#[test]
fn a_member_whose_accessor_is_called_as_a_derived_operation_is_renamed_there() {
    let text = generated(
        "valuetype A { public long x; };
         valuetype B : A { void set_x(in long to); public long y; };
         valuetype C : B { public long z; };",
    );
    let of_b = between(&text, "impl B {", "value_handle!");
    assert!(of_b.contains("pub fn set_x_(&self, value: i32)"), "{of_b}");
    assert!(of_b.contains("pub fn set_x(&self, to: i32)"), "{of_b}");
    assert!(!of_b.contains("pub fn x(&self)"), "{of_b}");
    let of_c = between(&text, "impl C {", "value_handle!");
    assert!(!of_c.contains("set_x"), "{of_c}");
}

#[test]
fn a_member_called_as_a_method_of_a_trait_is_had_of_the_derived_handle() {
    let text = generated(
        "valuetype A { public long clone; long hash(); };
         valuetype B : A {}; valuetype C : B {};",
    );
    for handle in ["A", "B", "C"] {
        let start = format!("impl {handle} {{");
        let methods = between(&text, &start, "value_handle!");
        assert!(methods.contains("pub fn clone(&self) -> i32"), "{methods}");
        assert!(methods.contains("pub fn hash(&self)"), "{methods}");
    }
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, behind) = text.split_once(start).unwrap();
    let (between, _) = behind.split_once(end).unwrap();
    between
}
