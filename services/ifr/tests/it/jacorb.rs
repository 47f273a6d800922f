//! JacORB's client browses the repository.
//!
//! Runs if there is a JDK, and the jars that `cargo xtask interop jacorb` gathers.
#![allow(clippy::unwrap_used)]

#[path = "support/jacorb.rs"]
mod peer;
use crate::support;

use std::path::Path;

use punctual::{ListenEndpoint, Orb, RootPoa};
use punctual_ifr::InterfaceRepository;
use support::specification;

const IDL: &str = r#"
module shop {
  struct Item { long number; sequence<Item> parts; wstring name; };
  exception Unknown { string name; };
  interface Base { readonly attribute short colour; };
  interface Store : Base {
    Item find(in string name, inout any how) raises (Unknown);
    oneway void note(in double what);
  };
};
"#;

const EXPECTED: &str = "\
6 ::shop
  10 ::shop::Item
  4 ::shop::Unknown
  5 ::shop::Base
  5 ::shop::Store
find: name 18 how 11 -> 15 raises IDL:shop/Unknown:1.0
note: what 7 -> 1
colour: 2
number: 3
parts: 19
name: 27
equal true
is_a true
known
";

#[test]
fn jacorb_browses_the_repository() {
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .build()
        .unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let repository = InterfaceRepository::in_memory();
    let prefixed = "#pragma prefix \"omg.org\"\nmodule CORBA { interface Repository {}; };\n";
    for text in [IDL, prefixed] {
        repository.load(&specification(text)).unwrap();
    }
    let root = repository.serve(&poa).unwrap();
    orb.register_initial_reference("InterfaceRepository", &root)
        .unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/jacorb/Browse.java");
    let output = peer::run(&source, || orb.object_to_string(&root).unwrap());
    let Some(output) = output else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    let shop: String = printed
        .lines()
        .filter(|line| !line.contains("::CORBA"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(shop, EXPECTED, "{said}");
    orb.shutdown(true).unwrap();
}
