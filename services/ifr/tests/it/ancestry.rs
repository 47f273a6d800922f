//! What interfaces and values inherit from, before and after changes.
#![allow(clippy::unwrap_used)]

use punctual::{Interface, ObjectRef, SystemExceptionKind};
use punctual_ifr::InterfaceRepository;
use punctual_ifr::corba::{InterfaceDef, Repository, ValueDef};

use crate::support::{served, specification};

const IDL: &str = "
interface Top {}; interface Left : Top {}; interface Right : Top {}; interface Bottom : Left, Right {};
interface Alone {};
abstract valuetype Shape {}; valuetype Circle : Shape supports Bottom {}; valuetype Dot : Circle {};
";

const ALL: [&str; 8] = [
    "Top", "Left", "Right", "Bottom", "Alone", "Shape", "Circle", "Dot",
];

fn id(name: &str) -> String {
    format!("IDL:{name}:1.0")
}

fn found<I: Interface>(root: &Repository, name: &str) -> I {
    I::from_object(ObjectRef::from(root.lookup(name).unwrap().unwrap()))
}

/// Returns the names of the definitions that one is, according to its answers to two questions each.
fn is(root: &Repository, name: &str) -> Vec<&'static str> {
    let is_a = |id: &str| match name {
        "Shape" | "Circle" | "Dot" => found::<ValueDef>(root, name).is_a(id).unwrap(),
        _ => found::<InterfaceDef>(root, name).is_a(id).unwrap(),
    };
    let is = |other: &&str| {
        let answer = is_a(&id(other));
        assert_eq!(is_a(&id(other)), answer);
        answer
    };
    ALL.into_iter().filter(is).collect()
}

fn set_bases(root: &Repository, name: &str, bases: &[&str]) -> Result<(), SystemExceptionKind> {
    let bases: Vec<_> = bases.iter().map(|base| Some(found(root, base))).collect();
    let set = found::<InterfaceDef>(root, name).set_base_interfaces(&bases);
    set.map_err(|exception| exception.kind())
}

#[test]
fn is_a_follows_every_way_up_and_every_change_of_it() {
    let repository = InterfaceRepository::in_memory();
    repository.load(&specification(IDL)).unwrap();
    let (poa, root) = served(&repository);
    assert_eq!(is(&root, "Top"), ["Top"]);
    assert_eq!(is(&root, "Left"), ["Top", "Left"]);
    let bottom = ["Top", "Left", "Right", "Bottom"];
    assert_eq!(is(&root, "Bottom"), bottom);
    assert_eq!(
        is(&root, "Circle"),
        [&bottom[..], &["Shape", "Circle"]].concat()
    );
    assert_eq!(
        is(&root, "Dot"),
        [&bottom[..], &["Shape", "Circle", "Dot"]].concat()
    );
    // One side of the diamond leads elsewhere, and then the other.
    set_bases(&root, "Right", &["Alone"]).unwrap();
    assert_eq!(is(&root, "Bottom"), [&bottom[..], &["Alone"]].concat());
    set_bases(&root, "Left", &[]).unwrap();
    let below_alone = ["Left", "Right", "Bottom", "Alone"];
    assert_eq!(is(&root, "Bottom"), below_alone);
    assert_eq!(
        is(&root, "Dot"),
        [&below_alone[..], &["Shape", "Circle", "Dot"]].concat()
    );
    // A circle is refused, and changes nothing.
    let refused = set_bases(&root, "Alone", &["Bottom"]);
    assert_eq!(refused, Err(SystemExceptionKind::ImpLimit));
    assert_eq!(is(&root, "Alone"), ["Alone"]);
    assert_eq!(is(&root, "Bottom"), below_alone);
    // What a value supports changes, and what it inherits from stays.
    let circle: ValueDef = found(&root, "Circle");
    circle
        .set_supported_interfaces(&[Some(found(&root, "Top"))])
        .unwrap();
    assert_eq!(is(&root, "Dot"), ["Top", "Shape", "Circle", "Dot"]);
    poa.orb().shutdown(true).unwrap();
}

#[test]
fn is_a_knows_no_definition_that_is_gone() {
    let repository = InterfaceRepository::in_memory();
    repository.load(&specification(IDL)).unwrap();
    let (poa, root) = served(&repository);
    assert_eq!(is(&root, "Left"), ["Top", "Left"]);
    assert_eq!(is(&root, "Right"), ["Top", "Right"]);
    let left: InterfaceDef = found(&root, "Left");
    for value in ["Dot", "Circle"] {
        found::<ValueDef>(&root, value).destroy().unwrap();
    }
    for (name, bases) in [("Bottom", [].as_slice()), ("Left", &[])] {
        set_bases(&root, name, bases).unwrap();
        found::<InterfaceDef>(&root, name).destroy().unwrap();
    }
    let gone = left.is_a(&id("Top")).map_err(|exception| exception.kind());
    assert_eq!(gone, Err(SystemExceptionKind::ObjectNotExist));
    assert_eq!(is(&root, "Right"), ["Top", "Right"]);
    // Another definition of that id begins anew, as does a base that has gone and come.
    root.create_interface(&id("Left"), "Left", "1.0", &[])
        .unwrap();
    assert_eq!(is(&root, "Left"), ["Left"]);
    set_bases(&root, "Right", &[]).unwrap();
    found::<InterfaceDef>(&root, "Top").destroy().unwrap();
    assert!(
        !found::<InterfaceDef>(&root, "Right")
            .is_a(&id("Top"))
            .unwrap()
    );
    root.create_interface(&id("Top"), "Top", "1.0", &[])
        .unwrap();
    assert_eq!(is(&root, "Right"), ["Right"]);
    set_bases(&root, "Right", &["Top"]).unwrap();
    assert_eq!(is(&root, "Right"), ["Top", "Right"]);
    poa.orb().shutdown(true).unwrap();
}
