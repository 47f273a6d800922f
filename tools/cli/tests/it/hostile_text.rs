//! Malicious names, ids and reasons from peers: a terminal must not interpret any part of them, and
//! none must look like a line of the command's own.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::time::Duration;

use punctual::{Interface, Orb};
use punctual_ior::{Corbaloc, Ior};
use punctual_naming::cos_naming::{NameComponent, NamingContext};
use serde_json::Value;
use support::{SOME, SYSTEM_EXCEPTION, Serving, text};

const NAME: &str = "\x1b]0;pwned\x07\x1b[2Jevil\r\nfake  object";
const SHOWN: &str = r"\u{1b}]0;pwned\u{7}\u{1b}[2Jevil\u{d}\u{a}fake  object";
/// Hostile characters: CSI as a single character, and a right-to-left override.
const OTHER: &str = "\u{9b}31mc1\u{202e}gpj";
const OTHER_SHOWN: &str = r"\u{9b}31mc1\u{202e}gpj";

/// Runs a command that is configured as if its output were a terminal, so that no escape sequences
/// are removed.
fn on_a_terminal(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(arguments).env("CLICOLOR_FORCE", "1");
    command.env_remove("NO_COLOR").output().unwrap()
}

/// Returns the output without the command's own colours.
fn without_colours(bytes: Vec<u8>) -> String {
    let mut rest = text(bytes);
    let mut plain = String::new();
    while let Some((before, behind)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        let (colour, behind) = behind.split_once('m').unwrap();
        let is_colour = |one: char| one.is_ascii_digit() || one == ';';
        assert!(colour.chars().all(is_colour), "{colour:?} of {behind:?}");
        rest = behind.to_owned();
    }
    plain + &rest
}

fn component(id: &str) -> NameComponent {
    NameComponent {
        id: id.to_owned(),
        kind: String::new(),
    }
}

/// Starts a naming server with hostile names of an object and a context.
fn furnished(orb: &Orb) -> (Serving, NamingContext) {
    let serving = Serving::in_memory();
    let root = NamingContext::from_object(orb.string_to_object(&serving.reference).unwrap());
    let object = orb.string_to_object(SOME).unwrap();
    root.bind(&[component(NAME)], Some(&object)).unwrap();
    root.bind_new_context(&[component(OTHER)]).unwrap();
    (serving, root)
}

#[test]
fn names_in_a_naming_service_are_shown_and_not_obeyed() {
    let orb = Orb::builder().build().unwrap();
    let (serving, root) = furnished(&orb);
    let naming = |command: &str, options: &[&str]| {
        let all = [
            &["naming", command, "--service", &serving.reference],
            options,
        ]
        .concat();
        without_colours(on_a_terminal(&all).stdout)
    };
    let listed = naming("list", &[]);
    let mut lines: Vec<&str> = listed.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [SHOWN, &format!("{OTHER_SHOWN}/")]);
    let drawn = format!("/\n├── {SHOWN}\n└── {OTHER_SHOWN}/\n");
    assert_eq!(naming("tree", &[]), drawn);
    // No server listens at its port.
    let checked = naming("check", &[]);
    let found: Vec<&str> = checked.lines().collect();
    assert!(
        found[0].starts_with(&format!("unreachable {SHOWN} ")),
        "{checked}"
    );
    assert_eq!(
        found[1..],
        ["1 objects, 1 dead or unreachable"],
        "{checked}"
    );
    // A context found again is shown by its earlier name.
    let again = root.resolve(&[component(OTHER)]).unwrap().unwrap();
    let again = NamingContext::from_object(again);
    let bound = root.bind_context(&[component("\u{9c}")], Some(&again));
    bound.unwrap();
    let drawn = naming("tree", &[]);
    assert!(
        drawn.ends_with(&format!("\\u{{9c}}/ is {OTHER_SHOWN}\n")),
        "{drawn}"
    );
}

#[test]
fn names_in_json_are_what_they_are_and_not_obeyed() {
    let orb = Orb::builder().build().unwrap();
    let (serving, _) = furnished(&orb);
    let printed = |command: &str| {
        let arguments = ["naming", command, "--json", "--service", &serving.reference];
        let json = text(on_a_terminal(&arguments).stdout);
        let is_harmless = |one: char| one == '\n' || !one.is_control() && one != '\u{202e}';
        assert!(json.chars().all(is_harmless), "{command}: {json}");
        json
    };
    let listed = printed("list");
    let mut ids: Vec<String> = listed
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    ids.sort();
    assert_eq!(ids, [NAME, OTHER]);
    let drawn: Value = serde_json::from_str(&printed("tree")).unwrap();
    assert_eq!(drawn[0]["id"], NAME);
    let exported: Value = serde_json::from_str(&printed("export")).unwrap();
    assert_eq!(exported["bindings"][1]["id"], OTHER);
}

#[test]
fn what_names_in_a_naming_service_lead_to_when_they_are_not_found_is_not_obeyed() {
    let orb = Orb::builder().build().unwrap();
    let (serving, _) = furnished(&orb);
    let resolve = [
        "naming",
        "resolve",
        "--service",
        &serving.reference,
        OTHER,
        "--timeout",
        "5s",
    ];
    let found = on_a_terminal(&resolve);
    assert!(found.status.success());
    let name = format!("{OTHER}/missing");
    let missing = ["naming", "resolve", "--service", &serving.reference, &name];
    let said = text(on_a_terminal(&missing).stderr);
    assert!(!said.contains(['\u{9b}', '\u{202e}']), "{said}");
    assert!(said.contains("NotFound (missing_node)"), "{said}");
    let as_json = [&missing[..], &["--json"]].concat();
    let said = text(on_a_terminal(&as_json).stderr);
    assert!(!said.contains(['\u{9b}', '\u{202e}']), "{said}");
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["members"]["rest_of_name"][0]["id"], "missing");
}

#[test]
fn what_a_reference_says_is_shown_and_not_obeyed() {
    let location: Corbaloc = SOME.parse().unwrap();
    let mut ior: Ior = location.to_ior().unwrap().unwrap();
    // Ids are in Latin-1.
    ior.type_id = "IDL:\x1b[2J\n/\u{9b}31m:1.0".into();
    let shown = without_colours(on_a_terminal(&["ior", &ior.to_string()]).stdout);
    let first = r"type: IDL:\u{1b}[2J\u{a}/\u{9b}31m:1.0";
    assert_eq!(shown.lines().next(), Some(first));
    let folder = tempfile::tempdir().unwrap();
    let idl = folder.path().join("t.idl");
    std::fs::write(&idl, "interface T { string s(); };").unwrap();
    let idl = idl.to_str().unwrap();
    // The server runs, and answers that the object does not exist.
    let serving = Serving::in_memory();
    let mut there: Ior = serving.reference.parse().unwrap();
    there.type_id = ior.type_id.clone();
    let output = on_a_terminal(&["call", &there.to_string(), "--idl", idl, "s"]);
    let said = without_colours(output.stderr);
    assert!(said.contains(r"`IDL:\u{1b}[2J\u{a}/"), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
}

/// Starts a server that answers each request with this reply status and body, in GIOP 1.2.
fn answering(status: u32, body: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for peer in listener.incoming() {
            // A client that has gone has no more requests.
            let _ = answer(peer.unwrap(), status, &body);
        }
    });
    format!("corbaloc::{address}/Hostile")
}

fn answer(mut peer: TcpStream, status: u32, body: &[u8]) -> std::io::Result<()> {
    peer.set_read_timeout(Some(Duration::from_secs(20)))?;
    loop {
        let mut header = [0; 12];
        peer.read_exact(&mut header)?;
        let length = <[u8; 4]>::try_from(&header[8..]).unwrap();
        let is_little = header[6] & 1 == 1;
        let length = match is_little {
            true => u32::from_le_bytes(length),
            false => u32::from_be_bytes(length),
        };
        let mut request = vec![0; length as usize];
        peer.read_exact(&mut request)?;
        // The request id is in the client's byte order, like the whole reply.
        let number = |number: u32| match is_little {
            true => number.to_le_bytes(),
            false => number.to_be_bytes(),
        };
        let mut text = body.to_vec();
        text.push(0);
        let mut reply = [&request[..4], &number(status), &number(0)].concat();
        reply.extend(number(u32::try_from(text.len()).unwrap()));
        reply.extend(&text);
        reply.resize(reply.len().next_multiple_of(4), 0);
        // A minor code, and the completion status.
        reply.extend([number(7), number(0)].concat());
        let mut message = vec![b'G', b'I', b'O', b'P', 1, 2, header[6] & 1, 1];
        message.extend(number(u32::try_from(reply.len()).unwrap()));
        message.extend(reply);
        peer.write_all(&message)?;
    }
}

const USER: u32 = 1;
const SYSTEM: u32 = 2;

/// Returns the output of `punctual call` for a server's answer.
fn called(reference: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let idl = folder.path().join("t.idl");
    std::fs::write(&idl, "interface T { string s(); };").unwrap();
    let idl = idl.to_str().unwrap();
    let arguments = ["call", reference, "--idl", idl, "--interface", "T", "s"];
    let output = on_a_terminal(&[&arguments[..], &["--timeout", "20s"]].concat());
    let said = without_colours(output.stderr);
    assert_eq!(output.status.code(), Some(SYSTEM_EXCEPTION), "{said}");
    said
}

#[test]
fn ids_of_exceptions_are_shown_and_not_obeyed() {
    let id = |last: &[u8]| [b"IDL:T/E\x1b[31m\nerror: nothing\r", last, b"31m:1.0"].concat();
    let shown = r"IDL:T/E\u{1b}[31m\u{a}error: nothing\u{d}\u{9b}31m:1.0";
    // The last one begins a sequence like ESC and a bracket. Ids are read in two code sets.
    for (status, last) in [(USER, &b"\x9b"[..]), (SYSTEM, "\u{9b}".as_bytes())] {
        let said = called(&answering(status, id(last)));
        assert!(said.contains(shown), "{said}");
        // The error, and the help for UNKNOWN.
        let beginnings: Vec<&str> = said.lines().filter_map(|line| line.get(..4)).collect();
        assert_eq!(beginnings, ["erro", "help"], "{said}");
    }
}

#[test]
fn an_id_of_megabytes_is_not_printed() {
    let id = format!("IDL:{}:1.0", "x".repeat(4 << 20));
    let said = called(&answering(SYSTEM, id.into_bytes()));
    assert!(said.len() < 2_000, "{} bytes", said.len());
    let error = said.lines().next().unwrap();
    assert!(
        error.contains("IDL:xxxx") && error.contains(" characters) …"),
        "{said}"
    );
    assert!(error.contains("minor 7") && error.ends_with(')'), "{said}");
}
