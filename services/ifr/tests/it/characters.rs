//! Characters beyond ASCII in constants and labels: kept in a file, and told to clients.

use crate::support::{served, specification};
use punctual::any::{Label, Value};
use punctual::policy::CharCodeSet;
use punctual::{Any, Char, Interface, ObjectRef, Policy, SetOverride, SystemExceptionKind};
use punctual_ifr::InterfaceRepository;
use punctual_ifr::corba::{ConstantDef, Contained, UnionDef};

const IDL: &str = r#"
    const char END = '\377';
    const char DEGREE = '\xb0';
    const string UNIT = "\xb0C";
    const wchar EURO = L'\u20ac';
    union Marked switch (char) { case '\377': long end; case '\xb0': double degrees; };
    typedef char Mark;
    const Mark NAMED = '\200';"#;

fn found<I: Interface>(contained: Option<Contained>) -> I {
    let object: ObjectRef = contained.expect("nil").into();
    // A `char` beyond ASCII takes one byte in no other code set.
    let policies = [Policy::CharCodeSet(CharCodeSet::Iso8859_1)];
    I::from_object(
        object
            .set_policy_overrides(&policies, SetOverride::Add)
            .unwrap(),
    )
}

#[test]
fn characters_beyond_ascii_are_stored_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository.redb");
    let repository = InterfaceRepository::open(&path).unwrap();
    assert_eq!(repository.load(&specification(IDL)).unwrap(), 7);
    drop(repository);
    let repository = InterfaceRepository::open(&path).unwrap();
    // The same once more: nothing is new.
    assert_eq!(repository.load(&specification(IDL)).unwrap(), 0);
    let (_poa, root) = served(&repository);
    let lookup = |id: &str| root.lookup_id(id).unwrap();
    let value = |id: &str| -> Any {
        let constant: ConstantDef = found(lookup(id));
        constant.value().unwrap()
    };
    for (id, character) in [("END", 0xFF), ("DEGREE", 0xB0), ("NAMED", 0x80)] {
        let told = value(&format!("IDL:{id}:1.0")).value().unwrap();
        assert_eq!(told, Value::Char(Char(character)), "{id}");
    }
    let unit: String = value("IDL:UNIT:1.0").extract().unwrap();
    assert_eq!(unit, "\u{b0}C");
    let euro: char = value("IDL:EURO:1.0").extract().unwrap();
    assert_eq!(euro, '\u{20ac}');
    let marked: UnionDef = found(lookup("IDL:Marked:1.0"));
    let labels: Vec<Any> = marked
        .members()
        .unwrap()
        .into_iter()
        .map(|m| m.label)
        .collect();
    let labels: Vec<Char> = labels
        .iter()
        .map(|label| label.extract().unwrap())
        .collect();
    assert_eq!(labels, [Char(0xFF), Char(0xB0)]);
    let type_code = marked.r#type().unwrap();
    assert_eq!(type_code.member_label(0), Ok(Label::Value(0xFF)));
}

#[test]
fn a_client_that_has_agreed_on_utf_8_hears_that_it_lacks_the_character() {
    let repository = InterfaceRepository::in_memory();
    repository.load(&specification(IDL)).unwrap();
    let (_poa, root) = served(&repository);
    let end: ObjectRef = root.lookup_id("IDL:END:1.0").unwrap().expect("nil").into();
    let refused = ConstantDef::from_object(end).value().unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::DataConversion);
}
