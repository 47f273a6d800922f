//! `punctual call`, `get` and `set` against a server in this process, whose servants know their
//! interface only from the IDL at run time. The transcripts are those of docs/call.md.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support::copy_program;
use punctual::description::{InterfaceDescription, ParameterMode};
use punctual::dynamic::{DynamicImplementation, ServerRequest, dynamic_servant};
use punctual::json::{Json, Names, from_json};
use punctual::stub::{DispatchError, Dispatched};
use punctual::{Any, Orb, RootPoa, TypeCode};
use punctual_idl_describe as describe;
use punctual_ifr::InterfaceRepository;
use serde_json::{Value as JsonValue, json};
use std::borrow::Cow;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

const IDL: &str = include_str!("call/shelter.idl");

/// Servant of the interface `Home`, whose animals are JSON values.
struct Home {
    declared: Declared,
    interface: InterfaceDescription,
    not_here: TypeCode,
    animals: Mutex<Vec<JsonValue>>,
    motto: Mutex<JsonValue>,
}

fn specification() -> punctual_idl::model::Specification {
    let options = punctual_idl::Options::default();
    let loader = punctual_idl::InMemory::default();
    let compiled = punctual_idl::compile_source("shelter.idl", IDL, &options, &loader);
    compiled.unwrap().specification
}

impl Home {
    fn new() -> Self {
        let specification = specification();
        let id = |name: &str| specification.find(name).unwrap().id;
        Self {
            interface: describe::interface(&specification, id("Shelter::Home")).unwrap(),
            not_here: describe::type_code(&specification, id("Shelter::NotHere")).unwrap(),
            declared: Declared(specification),
            animals: Mutex::new(vec![
                json!({"name": "Tom", "kind": "cat", "age": 3, "favourite": {"grams": 80}}),
                json!({"name": "Kiki", "kind": "parrot", "age": 12, "favourite": {"seeds": "hemp"}}),
            ]),
            motto: Mutex::new(json!("Everybody is welcome")),
        }
    }

    /// Returns the results of a call, the return value first; or the members of `NotHere`.
    fn answer(&self, operation: &str, given: &[JsonValue]) -> Result<Vec<JsonValue>, JsonValue> {
        let mut animals = self.animals.lock().unwrap();
        let find = |name: &JsonValue| {
            let found = animals.iter().find(|one| one["name"] == *name).cloned();
            let first =
                |of: &JsonValue| of.as_str().unwrap_or_default().get(..1).map(str::to_owned);
            let similar = animals
                .iter()
                .filter(|one| first(&one["name"]) == first(name));
            let similar: Vec<JsonValue> = similar.cloned().collect();
            found.ok_or_else(|| json!({"name": name, "similar": similar}))
        };
        Ok(match (operation, given) {
            ("_get_motto", _) => vec![self.motto.lock().unwrap().clone()],
            ("_set_motto", [motto]) => {
                *self.motto.lock().unwrap() = motto.clone();
                Vec::new()
            }
            ("_get_rooms", _) => vec![json!(7)],
            ("list", [most]) => {
                let most = usize::try_from(most.as_u64().unwrap()).unwrap();
                let some: Vec<JsonValue> = animals.iter().take(most).cloned().collect();
                vec![json!(some), json!(some.len() < animals.len())]
            }
            ("take_in", [newcomer]) => {
                animals.push(newcomer.clone());
                Vec::new()
            }
            ("find", [name]) => vec![find(name)?],
            ("portrait", [name]) => find(name).map(|_| vec![json!("hex:89504e470d0a")])?,
            ("note", [_, text]) => vec![text.clone()],
            _ => Vec::new(),
        })
    }
}

fn json_of(any: &Any) -> JsonValue {
    let value = any.value().unwrap();
    serde_json::to_value(Json::new(any.type_code(), &value)).unwrap()
}

/// Types of the IDL, by their scoped names.
struct Declared(punctual_idl::model::Specification);

impl Names for Declared {
    fn type_code(&self, name: &str) -> Option<TypeCode> {
        let declared = self.0.find(name)?;
        describe::type_code(&self.0, declared.id)
    }
}

impl Home {
    fn any_of(&self, type_code: &TypeCode, json: &JsonValue) -> Any {
        let value = from_json(type_code, json, &self.declared).unwrap();
        Any::of_value(type_code, &value).unwrap()
    }
}

impl DynamicImplementation for Home {
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.interface.id)
    }

    fn invoke(&self, mut request: ServerRequest<'_, '_>) -> Result<Dispatched, DispatchError> {
        let Some(operation) = self.interface.operation(request.operation()) else {
            return Err(request.bad_operation());
        };
        let parameters = operation.parameters.iter();
        let (mut sent, mut returned) = (Vec::new(), Vec::new());
        if operation.result != TypeCode::VOID {
            returned.push(operation.result.clone());
        }
        for one in parameters {
            match one.mode {
                ParameterMode::In => sent.push(one.type_code.clone()),
                _ => returned.push(one.type_code.clone()),
            }
        }
        let given = request.arguments(&sent)?;
        let given: Vec<JsonValue> = given.iter().map(json_of).collect();
        match self.answer(request.operation(), &given) {
            Ok(results) => {
                let results = returned.iter().zip(&results);
                let results: Vec<Any> = results.map(|(of, json)| self.any_of(of, json)).collect();
                request.reply(&results)
            }
            Err(members) => request.raise(&self.any_of(&self.not_here, &members)),
        }
    }
}

/// Folder with the IDL and a reference to a `Home` object, in which the command runs.
struct Shelter {
    folder: tempfile::TempDir,
    _orb: Orb,
}

impl Shelter {
    fn open() -> Self {
        let orb = Orb::builder().listen(punctual::ListenEndpoint::iiop("127.0.0.1", 0));
        let orb = orb.build().unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let id = poa.activate_object(dynamic_servant(Home::new())).unwrap();
        let home: punctual::ObjectRef = poa.id_to_reference(&id).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("shelter.idl", IDL);
        write("server.log", include_str!("call/server.log"));
        let known = InterfaceRepository::in_memory();
        known.load(&specification()).unwrap();
        let repository = known.serve(&poa).unwrap();
        write("ifr.ior", &orb.object_to_string(&repository).unwrap());
        // The adapter knows the servant, but not its interface.
        let mut reference = home.ior().clone();
        reference.type_id = "IDL:Shelter/Home:1.0".into();
        write("home.ior", &reference.to_string());
        write(
            "newcomer.json",
            "{\"newcomer\": {\"name\": \"Rex\", \"kind\": \"dog\", \"age\": 5, \"favourite\": {\"$discriminator\": \"dog\", \"grams\": 300}}}\n",
        );
        Self { folder, _orb: orb }
    }

    /// Returns the command, set to run in the folder.
    fn command(&self) -> PathBuf {
        let (folder, command) = (self.folder.path(), env!("CARGO_BIN_EXE_punctual"));
        let text = format!(
            "#!/bin/sh\ncd '{}' && exec '{command}' \"$@\"\n",
            folder.display()
        );
        let (script, path) = (folder.join("script"), folder.join("punctual"));
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        copy_program(&script, &path);
        path
    }

    fn run(&self, arguments: &[&str]) -> std::process::Output {
        Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(arguments)
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }
}

#[test]
fn the_guides_transcripts_are_as_they_stand() {
    let shelter = Shelter::open();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/call.md");
    trycmd::TestCases::new()
        .register_bin("punctual", trycmd::schema::Bin::Path(shelter.command()))
        .case(guide);
}

#[test]
fn arguments_come_from_standard_input_by_their_names() {
    let shelter = Shelter::open();
    let mut call = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args([
            "call",
            "home.ior",
            "--idl",
            "shelter.idl",
            "find",
            "-d",
            "-",
            "--compact",
        ])
        .current_dir(shelter.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = call.stdin.take().unwrap();
    input.write_all(br#"{"name": "Tom"}"#).unwrap();
    drop(input);
    let output = call.wait_with_output().unwrap();
    assert!(output.status.success());
    let found: JsonValue = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["kind"], "cat");
    assert_eq!(
        found["favourite"],
        json!({"$discriminator": "cat", "grams": 80.0})
    );
}

#[test]
fn a_call_that_is_repeated_tells_how_long_it_took() {
    let shelter = Shelter::open();
    let arguments = ["get", "home.ior", "--idl", "shelter.idl", "rooms"];
    assert_eq!(shelter.run(&arguments).stdout, b"7\n");
    let arguments = [
        "call",
        "home.ior",
        "--idl",
        "shelter.idl",
        "_get_rooms",
        "-n",
        "50",
        "--rate",
        "10000",
        "--compact",
    ];
    let output = shelter.run(&arguments);
    let told: JsonValue = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["calls"], 50);
    let of = |name: &str| told["microseconds"][name].as_f64().unwrap();
    assert!(of("least") > 0.0 && of("least") <= of("median") && of("median") <= of("most"));
}

#[test]
fn idl_is_read_with_the_options_that_its_diagnostics_name() {
    let shelter = Shelter::open();
    let text = format!("#ifdef HOMES\n{IDL}\n#endif\nstruct Both {{ long a, A; }};\n");
    std::fs::write(shelter.folder.path().join("homes.idl"), text).unwrap();
    let get = |options: &[&str]| {
        let mut line = vec!["get", "home.ior", "rooms", "--idl", "homes.idl"];
        line.extend(options);
        let output = shelter.run(&line);
        let said = String::from_utf8(output.stderr).unwrap();
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    let (_, said) = get(&["-D", "HOMES"]);
    assert!(said.contains("--lenient"), "{said}");
    let (printed, said) = get(&["-D", "HOMES", "--lenient"]);
    assert_eq!(printed, "7\n", "{said}");
    let without = shelter.run(&["get", "home.ior", "rooms", "--lenient"]);
    let said = String::from_utf8(without.stderr).unwrap();
    assert!(said.contains("--idl <FILE>"), "{said}");
    assert_eq!(without.status.code(), Some(2));
}

#[test]
fn operations_are_completed_from_the_idl_on_the_command_line() {
    let shelter = Shelter::open();
    let text = format!("#ifdef HOMES\n{IDL}\n#endif\nstruct Both {{ long a, A; }};\n");
    std::fs::write(shelter.folder.path().join("homes.idl"), text).unwrap();
    let completed = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args("-- punctual call home.ior -DHOMES --lenient --idl homes.idl f".split(' '))
        .current_dir(shelter.folder.path())
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "7")
        .env("_CLAP_IFS", "\n")
        .output()
        .unwrap();
    let names = String::from_utf8(completed.stdout).unwrap();
    assert_eq!(names.lines().collect::<Vec<_>>(), ["find"]);
}

#[test]
fn a_reference_without_a_type_is_asked_which_interface_it_has() {
    let shelter = Shelter::open();
    let text = std::fs::read_to_string(shelter.folder.path().join("home.ior")).unwrap();
    let mut reference: punctual_ior::Ior = text.trim().parse().unwrap();
    reference.type_id.clear();
    std::fs::write(
        shelter.folder.path().join("untyped.ior"),
        reference.to_string(),
    )
    .unwrap();
    let arguments = ["get", "untyped.ior", "--idl", "shelter.idl", "rooms"];
    assert_eq!(shelter.run(&arguments).stdout, b"7\n");
}

#[test]
fn an_interface_repository_says_as_much_as_the_idl() {
    let shelter = Shelter::open();
    let by_idl = shelter.run(&["call", "home.ior", "--idl", "shelter.idl"]);
    let by_repository = shelter.run(&["call", "home.ior", "--ifr", "ifr.ior"]);
    let text = |output: &std::process::Output| String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text(&by_repository), text(&by_idl));
    assert!(by_repository.status.success());
    let reference = "InterfaceRepository=file://ifr.ior";
    let initial = [
        "call",
        "home.ior",
        "-ORBInitRef",
        reference,
        "find",
        "Kim",
        "--compact",
    ];
    let unknown = shelter.run(&initial);
    assert_eq!(unknown.status.code(), Some(4));
    let told: JsonValue = serde_json::from_slice(&unknown.stderr).unwrap();
    assert_eq!(told["exception"], "Shelter::NotHere");
}

#[test]
fn a_log_is_shown_with_the_lines_that_calls_print_themselves() {
    let shelter = Shelter::open();
    let calls: [&[&str]; 5] = [
        &["call", "find", "Kiki"],
        &["call", "find", "Kim"],
        &["call", "list", "2"],
        &[
            "call",
            "note",
            "Tom",
            "{\"type\": \"sequence<short>\", \"value\": [1, 2]}",
        ],
        &["get", "motto"],
    ];
    for call in calls {
        let before = [call[0], "home.ior"];
        let options = ["--idl", "shelter.idl", "-ORBTrace", "giop,payload"];
        let called = shelter.run(&[&before[..], &call[1..], &options].concat());
        let log = String::from_utf8(called.stderr).unwrap();
        let values = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.starts_with("payload "));
            lines.map(str::to_owned).collect()
        };
        let own = values(&log);
        assert!(!own.is_empty(), "{log}");
        let bare = log.lines().filter(|line| !line.starts_with("payload "));
        let bare: Vec<&str> = bare.collect();
        std::fs::write(shelter.folder.path().join("call.log"), bare.join("\n")).unwrap();
        for source in [["--idl", "shelter.idl"], ["--ifr", "ifr.ior"]] {
            let shown = shelter.run(&[&["trace", "call.log"], &source[..]].concat());
            assert_eq!(values(&String::from_utf8(shown.stdout).unwrap()), own);
        }
    }
}
