//! `punctual call` with unusual answers: references that are used in a further call, objects that
//! do not report their interface, servers that do not run, servants that panic.
#![allow(clippy::unwrap_used, missing_docs)]

use punctual::dynamic::{DynamicImplementation, ServerRequest, dynamic_servant};
use punctual::json::{Names, NoNames, from_json};
use punctual::stub::{DispatchError, Dispatched};
use punctual::{
    Any, CompletionStatus, ObjectRef, Orb, Poa, RootPoa, SystemException, SystemExceptionKind,
    TypeCode, minor,
};
use punctual_ifr::InterfaceRepository;
use punctual_ior::Ior;
use serde_json::{Value as JsonValue, json};
use std::borrow::Cow;
use std::process::{Command, Output};

const IDL: &str = include_str!("call/desk.idl");
const CLERK: &str = "IDL:Office/Clerk:1.0";
const WORKER: &str = "IDL:Office/Worker:1.0";

/// Servant of the interface `Clerk`. A taciturn one answers `_is_a`, but none of the queries that
/// later versions of the standard added.
struct Clerk {
    name: &'static str,
    is_taciturn: bool,
    colleague: Option<String>,
}

fn value(type_code: &TypeCode, json: &JsonValue) -> Any {
    let value = from_json(type_code, json, &NoNames as &dyn Names).unwrap();
    Any::of_value(type_code, &value).unwrap()
}

fn unknown_operation() -> DispatchError {
    let kind = SystemExceptionKind::BadOperation;
    SystemException::new(kind, minor::NO_SUCH_OPERATION, CompletionStatus::No).into()
}

impl DynamicImplementation for Clerk {
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed(CLERK)
    }

    fn is_a(&self, id: &str) -> bool {
        [CLERK, WORKER].contains(&id)
    }

    fn is_transparent(&self) -> bool {
        self.is_taciturn
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        let text = TypeCode::string(0);
        let reference = TypeCode::interface("IDL:omg.org/CORBA/Object:1.0", "Object");
        match request.operation() {
            "_is_a" => {
                let asked = request.arguments(&[text])?;
                let is_a = self.is_a(&asked[0].extract::<String>().unwrap());
                request.reply(&[Any::new(&is_a).unwrap()])
            }
            "name" => request.reply(&[value(&text, &json!(self.name))]),
            "colleague" => request.reply(&[value(&reference, &json!(self.colleague))]),
            "nobody" => request.reply(&[value(&reference, &JsonValue::Null)]),
            "card" => {
                let worker = TypeCode::interface(WORKER, "Worker");
                let card = value(&worker, &json!(self.colleague));
                request.reply(&[Any::new(&card).unwrap()])
            }
            "greet" => {
                let given = request.arguments(&[reference])?;
                let nobody = given[0].extract::<Option<ObjectRef>>().unwrap().is_none();
                let greeting = if nobody { "who is there?" } else { "hello" };
                request.reply(&[value(&text, &json!(greeting))])
            }
            "stumble" => panic!("over the carpet"),
            _ => Err(unknown_operation()),
        }
    }
}

/// A folder with the IDL and references, in which the command runs.
struct Office {
    folder: tempfile::TempDir,
    orb: Orb,
}

fn reference(poa: &Poa, clerk: Clerk) -> ObjectRef {
    let id = poa.activate_object(dynamic_servant(clerk)).unwrap();
    poa.id_to_reference(&id).unwrap()
}

impl Office {
    fn open() -> Self {
        let orb = Orb::builder().listen(punctual::ListenEndpoint::iiop("127.0.0.1", 0));
        let orb = orb.build().unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let office = Self {
            folder: tempfile::tempdir().unwrap(),
            orb,
        };
        let second = Clerk {
            name: "Bea",
            is_taciturn: true,
            colleague: None,
        };
        let second = office.write("bea.ior", &reference(&poa, second), "");
        let first = Clerk {
            name: "Abe",
            is_taciturn: false,
            colleague: Some(second),
        };
        let first = reference(&poa, first);
        office.write("abe.ior", &first, CLERK);
        office.write("untyped.ior", &first, "");
        office.write_text("desk.idl", IDL);
        let options = punctual_idl::Options::default();
        let loader = punctual_idl::InMemory::default();
        // A taciturn clerk is asked for each of these.
        let more = format!("{IDL}\nmodule Street {{ interface Car {{}}; interface Tree {{}}; }};");
        let known = punctual_idl::compile_source("desk.idl", more, &options, &loader).unwrap();
        let repository = InterfaceRepository::in_memory();
        repository.load(&known.specification).unwrap();
        let repository = repository.serve(&poa).unwrap();
        office.write_text(
            "ifr.ior",
            &office.orb.object_to_string(&repository).unwrap(),
        );
        office
    }

    fn write_text(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Writes a reference with another type id to a file, and returns it.
    fn write(&self, name: &str, object: &ObjectRef, type_id: &str) -> String {
        let mut ior: Ior = object.ior().clone();
        ior.type_id = type_id.into();
        self.write_text(name, &ior.to_string());
        ior.to_string()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        let command = command.args(arguments).current_dir(self.folder.path());
        command.output().unwrap()
    }

    fn says(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that must fail; returns its exit status and its output.
    fn fails(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), said)
    }
}

#[test]
fn what_is_printed_as_a_reference_is_taken_as_one_again() {
    let office = Office::open();
    let idl = ["--idl", "desk.idl"];
    let printed = office.says(&[&["call", "abe.ior", "colleague"], &idl[..]].concat());
    assert!(printed.starts_with("\"IOR:"), "{printed}");
    // As from the shell's `$(…)`, from a file, and as an argument.
    let printed = printed.trim();
    let called = office.says(&[&["call", printed, "name"], &idl[..]].concat());
    assert_eq!(called, "\"Bea\"\n");
    office.write_text("printed.json", printed);
    let called = office.says(&[&["call", "printed.json", "name"], &idl[..]].concat());
    assert_eq!(called, "\"Bea\"\n");
    let greeted = office.says(&[&["call", "abe.ior", "greet", printed], &idl[..]].concat());
    assert_eq!(greeted, "\"hello\"\n");
    let shown = office.says(&["ior", printed]);
    assert!(shown.contains("profile 0: IIOP"), "{shown}");
}

#[test]
fn nil_that_was_printed_is_nil_again() {
    let office = Office::open();
    let idl = ["--idl", "desk.idl"];
    let printed = office.says(&[&["call", "abe.ior", "nobody"], &idl[..]].concat());
    assert_eq!(printed, "null\n");
    let greeted = office.says(&[&["call", "abe.ior", "greet", "null"], &idl[..]].concat());
    assert_eq!(greeted, "\"who is there?\"\n");
    assert!(office.says(&["ior", "null"]).contains("nil: yes"));
    let (_, said) = office.fails(&[&["call", "null", "name"], &idl[..]].concat());
    assert!(said.contains("nil"), "{said}");
}

#[test]
fn an_untyped_object_tells_an_interface_repository_what_it_is() {
    let office = Office::open();
    let named = office.says(&["call", "untyped.ior", "--ifr", "ifr.ior", "name"]);
    assert_eq!(named, "\"Abe\"\n");
    let shown = office.says(&["call", "untyped.ior", "--ifr", "ifr.ior"]);
    assert!(shown.starts_with("interface Office::Clerk"), "{shown}");
}

#[test]
fn an_untyped_object_that_knows_only_is_a_is_asked_for_the_repositorys_interfaces() {
    let office = Office::open();
    // The reference to Abe's colleague came without a type, like those of corbaloc URLs.
    let shown = office.says(&["call", "bea.ior", "--ifr", "ifr.ior"]);
    assert!(shown.starts_with("interface Office::Clerk"), "{shown}");
    let named = office.says(&["call", "bea.ior", "--ifr", "ifr.ior", "name"]);
    assert_eq!(named, "\"Bea\"\n");
}

#[test]
fn the_hint_to_name_the_idl_is_given_only_where_that_would_help() {
    let office = Office::open();
    // The object answers that its ORB knows no repository.
    let (status, said) = office.fails(&["call", "abe.ior", "name"]);
    assert_eq!(status, Some(3));
    assert!(
        said.contains("INTF_REPOS") && said.contains("--idl FILE"),
        "{said}"
    );
    // The object does not know the operation.
    let (_, said) = office.fails(&["call", "bea.ior", "name"]);
    assert!(
        said.contains("BAD_OPERATION") && said.contains("--idl FILE"),
        "{said}"
    );
    // No server runs there.
    let (status, said) = office.fails(&["call", "corbaloc::127.0.0.1:1/Nobody", "name"]);
    assert_eq!(status, Some(3));
    assert!(
        said.contains("TRANSIENT") && !said.contains("--idl"),
        "{said}"
    );
    // The server does not know the object.
    let mut gone: Ior = std::fs::read_to_string(office.folder.path().join("abe.ior"))
        .unwrap()
        .parse()
        .unwrap();
    let mut profile = punctual_ior::IiopProfile::decode(&gone.profiles[0].data).unwrap();
    profile.object_key = b"nobody".to_vec();
    gone.profiles = vec![profile.to_tagged(punctual_cdr::ByteOrder::NATIVE).unwrap()];
    let (_, said) = office.fails(&["call", &gone.to_string(), "name"]);
    assert!(
        said.contains("OBJECT_NOT_EXIST") && !said.contains("--idl"),
        "{said}"
    );
}

#[test]
fn a_servant_that_panics_is_called_that() {
    let office = Office::open();
    let (status, said) = office.fails(&["call", "abe.ior", "--idl", "desk.idl", "stumble"]);
    assert_eq!(status, Some(3));
    for part in ["UNKNOWN", "the servant panicked", "log"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("user exception"), "{said}");
}

#[test]
fn a_time_out_has_a_unit() {
    let office = Office::open();
    for time in ["5000ms", "5s", "0.5min"] {
        let arguments = [
            "get",
            "abe.ior",
            "--idl",
            "desk.idl",
            "x",
            "--timeout",
            time,
        ];
        // It proceeds to the attribute that does not exist.
        let (status, said) = office.fails(&arguments);
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("no attribute `x`"), "{said}");
    }
    let (status, said) = office.fails(&["call", "abe.ior", "--timeout", "5"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("`5s` are seconds"), "{said}");
    let (status, said) = office.fails(&["call", "abe.ior", "--timeout", "2 weeks"]);
    assert_eq!(status, Some(2));
    assert!(said.contains("200ms or 2s"), "{said}");
    let bridge = [
        "bridge",
        "--listen",
        "iiop://127.0.0.1:0",
        "--target",
        "abe.ior",
    ];
    let (status, said) = office.fails(&[&bridge[..], &["--timeout", "never"]].concat());
    assert_eq!(status, Some(2));
    assert!(said.contains("200ms or 2s"), "{said}");
}

#[test]
fn a_payload_that_is_traced_is_shown_as_values() {
    let office = Office::open();
    let traced = |what: &str, operation: &[&str]| {
        let idl = ["--idl", "desk.idl", "-ORBTrace", what];
        let output = office.run(&[&["call", "abe.ior"], operation, &idl[..]].concat());
        String::from_utf8(output.stderr).unwrap()
    };
    let reference = std::fs::read_to_string(office.folder.path().join("bea.ior")).unwrap();
    let shown = traced("payload", &["greet", &reference]);
    let argument = format!("payload -> greet: Office::Worker who = \"{reference}\"\n");
    assert!(shown.contains(&argument), "{shown}");
    assert!(
        shown.contains("payload <- greet: string $result = \"hello\"\n"),
        "{shown}"
    );
    // The bytes are printed, too, as the ORB knows no types.
    assert!(
        shown.contains("  00000000  06 00 00 00 68 65 6c 6c"),
        "{shown}"
    );
    let hidden = traced("giop", &["greet", &reference]);
    assert!(
        !hidden.contains("payload") && !hidden.contains("00000000"),
        "{hidden}"
    );
    let panicked = traced("payload", &["stumble"]);
    assert!(
        panicked.contains("payload <- stumble: UNKNOWN"),
        "{panicked}"
    );
}
