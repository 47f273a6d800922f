//! Tests of the descriptions of IDL.
#![allow(clippy::unwrap_used)]

use punctual_any::{Label, ParameterMode, TypeCode, TypeKind, ValueModifier, Visibility};
use punctual_idl::model::Specification;
use punctual_idl::{InMemory, Options, compile_source};
use punctual_idl_describe::{interface, interfaces, type_code};

const IDL: &str = r#"
#pragma prefix "example.org"
module Zoo {
    enum Diet { plants, meat };
    typedef sequence<string<40>, 8> Names;
    struct Keeper;
    typedef sequence<Keeper> Keepers;
    struct Keeper { wstring name; Keepers helpers; @optional long room; };
    union Food switch (Diet) {
        case plants: double kilos;
        case meat: fixed<7, 2> price;
    };
    union Mark switch (char) { case 'a': case 'b': octet low; default: short high; };
    typedef map<long, string> Rings;
    bitmask Flags { loud, quick };
    exception Bitten { Keeper who; long times; };
    valuetype Thing { private long weight; };
    valuetype Toy : truncatable Thing { public Toy next; };
    valuetype Box sequence<octet>;
    abstract interface Petted {};
    interface Animal {
        readonly attribute string name;
        attribute Diet eats;
        void feed(in Food what, inout long count, out any left) raises (Bitten);
    };
    interface Bird : Animal {
        oneway void sing(in Names songs);
        Rings worn();
    };
};
"#;

fn zoo() -> Specification {
    let loader = InMemory::default();
    let compiled = compile_source("zoo.idl", IDL, &Options::default(), &loader);
    compiled.unwrap().specification
}

fn type_named(name: &str) -> TypeCode {
    let zoo = zoo();
    type_code(&zoo, zoo.find(name).unwrap().id).unwrap()
}

#[test]
fn types_are_told_with_their_ids_and_members() {
    let keeper = type_named("Zoo::Keeper");
    assert_eq!(keeper.id(), Ok("IDL:example.org/Zoo/Keeper:1.0"));
    assert_eq!(keeper.member_type(0).unwrap(), TypeCode::WSTRING);
    let helpers = keeper.member_type(1).unwrap().original_type();
    assert_eq!(helpers.content_type().unwrap(), keeper);
    assert!(keeper.is_recursive());
    assert_eq!(keeper.check(), Ok(()));
    let names = type_named("Zoo::Names").original_type();
    assert_eq!(names.length(), Ok(8));
    assert_eq!(names.content_type().unwrap(), TypeCode::string(40));
}

#[test]
fn optional_members_are_unions_over_a_boolean() {
    let room = type_named("Zoo::Keeper").member_type(2).unwrap();
    assert_eq!(room.kind(), TypeKind::Union);
    assert_eq!(room.discriminator_type().unwrap(), TypeCode::BOOLEAN);
    assert_eq!(room.member_label(0), Ok(Label::Value(1)));
    assert_eq!(room.member_type(0).unwrap(), TypeCode::LONG);
}

#[test]
fn unions_have_a_member_for_each_label() {
    let mark = type_named("Zoo::Mark");
    assert_eq!(mark.member_count(), Ok(3));
    assert_eq!(mark.member_label(1), Ok(Label::from('b')));
    assert_eq!(mark.member_name(1), Ok("low"));
    assert_eq!(mark.default_index(), Ok(Some(2)));
    let food = type_named("Zoo::Food");
    assert_eq!(food.member_chosen(1), Ok(Some(1)));
    assert_eq!(food.member_type(1).unwrap(), TypeCode::fixed(7, 2));
}

#[test]
fn valuetypes_tell_their_bases_and_who_sees_their_members() {
    let toy = type_named("Zoo::Toy");
    assert_eq!(toy.type_modifier(), Ok(ValueModifier::Truncatable));
    let base = toy.concrete_base_type().unwrap().unwrap();
    assert_eq!(base.member_visibility(0), Ok(Visibility::Private));
    assert_eq!(toy.member_type(0).unwrap(), toy);
    assert_eq!(type_named("Zoo::Box").kind(), TypeKind::ValueBox);
    assert_eq!(
        type_named("Zoo::Petted").kind(),
        TypeKind::AbstractInterface
    );
    assert_eq!(type_named("Zoo::Flags").original_type(), TypeCode::ULONG);
}

#[test]
fn an_interface_is_told_with_what_it_inherits() {
    let zoo = zoo();
    let bird = interface(&zoo, zoo.find("Zoo::Bird").unwrap().id).unwrap();
    assert_eq!(bird.id, "IDL:example.org/Zoo/Bird:1.0");
    assert_eq!(bird.version, "1.0");
    assert_eq!(bird.bases, ["IDL:example.org/Zoo/Animal:1.0"]);
    let names: Vec<&str> = bird
        .operations
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["feed", "sing", "worn"]);
    let feed = bird.operation("feed").unwrap();
    let modes: Vec<ParameterMode> = feed.parameters.iter().map(|one| one.mode).collect();
    assert_eq!(
        modes,
        [ParameterMode::In, ParameterMode::InOut, ParameterMode::Out]
    );
    assert_eq!(feed.exceptions[0].id, "IDL:example.org/Zoo/Bitten:1.0");
    assert_eq!(feed.exceptions[0].type_code.member_name(1), Ok("times"));
    assert!(bird.operation("sing").unwrap().oneway);
    assert!(bird.attribute("name").unwrap().readonly);
    assert_eq!(
        bird.operation("_get_eats").unwrap().result.kind(),
        TypeKind::Enum
    );
    assert!(bird.operation("_set_name").is_none());
    let rings = bird.operation("worn").unwrap().result.original_type();
    let pair = rings.content_type().unwrap();
    assert_eq!(pair.member_name(0), Ok("key"));
}

#[test]
fn what_is_no_type_has_no_type_code() {
    let zoo = zoo();
    assert!(type_code(&zoo, zoo.find("Zoo").unwrap().id).is_none());
    assert!(interface(&zoo, zoo.find("Zoo::Diet").unwrap().id).is_none());
    assert_eq!(interfaces(&zoo).count(), 3);
}
