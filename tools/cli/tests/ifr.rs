//! `punctual ifr`: a repository that is loaded, listed, served, and asked by `punctual call`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const IDL: &str = "module shop { struct Item { long number; }; \
                   interface Store { Item find(in string name); attribute short level; }; };\n";

fn punctual(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(arguments).output().unwrap()
}

fn succeeds(arguments: &[&str]) -> String {
    let output = punctual(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// A server, which ends with the test.
struct Serving(Child);

impl Serving {
    fn new(arguments: &[&str]) -> (Self, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["ifr", "serve", "--listen", "iiop://127.0.0.1:0"]);
        command.args(arguments).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut reference = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut reference).unwrap();
        (Serving(child), reference.trim().to_owned())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn what_was_loaded_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let idl = written(folder.path(), "shop.idl", IDL);
    let store = folder.path().join("ifr.redb").display().to_string();
    let loaded = succeeds(&["ifr", "load", "--store", &store, &idl]);
    assert_eq!(loaded, "5 new definitions from 1 files\n");
    let again = succeeds(&["ifr", "load", "--store", &store, &idl]);
    assert_eq!(again, "0 new definitions from 1 files\n");
    let listed = succeeds(&["ifr", "list", "--store", &store]);
    assert_eq!(
        listed,
        "module     ::shop                IDL:shop:1.0\n\
         struct     ::shop::Item          IDL:shop/Item:1.0\n\
         interface  ::shop::Store         IDL:shop/Store:1.0\n\
         operation  ::shop::Store::find   IDL:shop/Store/find:1.0\n\
         attribute  ::shop::Store::level  IDL:shop/Store/level:1.0\n"
    );
}

#[test]
fn idl_with_a_mistake_and_files_that_are_no_repositories_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let idl = written(folder.path(), "wrong.idl", "struct S { lnog x; };\n");
    let store = folder.path().join("ifr.redb").display().to_string();
    let output = punctual(&["ifr", "load", "--store", &store, &idl]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("`lnog`"),
        "{said}"
    );
    let output = punctual(&["ifr", "list", "--store", &idl]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("help"), "{said}");
}

#[test]
fn a_served_repository_tells_other_commands_about_interfaces() {
    let folder = tempfile::tempdir().unwrap();
    // The repository's own objects are the ones at hand: so it is told about itself.
    let text = "#pragma prefix \"omg.org\"\nmodule CORBA { interface Repository { \
                readonly attribute unsigned long def_kind; }; };\n";
    let idl = written(folder.path(), "self.idl", text);
    let (_serving, reference) = Serving::new(&[&idl]);
    let kind = succeeds(&["get", "--ifr", &reference, &reference, "def_kind"]);
    // dk_Repository is the eighteenth of DefinitionKind.
    assert_eq!(kind.trim(), "17");
    // Asked for its interface, the object finds it in the repository that its ORB knows.
    let kind = succeeds(&["get", &reference, "def_kind"]);
    assert_eq!(kind.trim(), "17");
}

#[test]
fn a_repository_is_changed_by_nobody_unless_it_is_served_so_that_it_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#pragma prefix \"omg.org\"\nmodule CORBA { interface ModuleDef {}; \
                interface Repository { ModuleDef create_module(in string id, in string name, \
                in string version); }; };\n";
    let idl = written(folder.path(), "repository.idl", text);
    let create = |reference: &str| {
        let (id, name, version) = ("\"IDL:m:1.0\"", "\"m\"", "\"1.0\"");
        let operation = "create_module";
        punctual(&[
            "call", "--idl", &idl, reference, operation, id, name, version,
        ])
    };
    let (_reading, reference) = Serving::new(&[]);
    let said = create(&reference);
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("NO_PERMISSION"), "{said}");
    let (_serving, reference) = Serving::new(&["--writable"]);
    let said = create(&reference);
    assert!(said.status.success(), "{said:?}");
}
