//! JacORB's client browses the repository.
//!
//! It is tried where a JDK is, and the jars that `cargo xtask interop jacorb` gathers.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

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

/// JacORB and what it needs beside, as a class path; or why there is none.
fn class_path() -> Result<String, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let gathered = target.map(|target| target.join("debug/interop-jacorb"));
    let gathered = gathered.unwrap_or_default();
    let folder = gathered.join("jars");
    let entries = std::fs::read_dir(&folder);
    let entries = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
    let shown = |path: PathBuf| path.display().to_string();
    let mut parts = vec![shown(gathered.join("classes"))];
    parts.extend(entries.filter_map(|entry| Some(shown(entry.ok()?.path()))));
    match parts.iter().any(|part| part.contains("jacorb-omgapi")) {
        true => Ok(parts.join(":")),
        false => Err(format!("JacORB is not in {}", folder.display())),
    }
}

#[test]
fn jacorb_browses_the_repository() {
    let class_path = match class_path() {
        Ok(class_path) => class_path,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    if Command::new("java").arg("-version").output().is_err() {
        println!("skipped: java is not installed");
        return;
    }
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
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jacorb/Browse.java");
    let output = Command::new("java")
        .args(["-Dorg.omg.CORBA.ORBClass=org.jacorb.orb.ORB"])
        .args(["-Dorg.omg.CORBA.ORBSingletonClass=org.jacorb.orb.ORBSingleton"])
        .args(["-Dorg.slf4j.simpleLogger.defaultLogLevel=error"])
        .args(["--class-path", &class_path])
        .arg(source)
        .arg(orb.object_to_string(&root).unwrap())
        .output()
        .unwrap();
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
