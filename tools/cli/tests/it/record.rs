//! `punctual schedule record -- PROGRAM`, with a naming server as the program.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support::{Process, pause, punctual, text};
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts recording a shell's script that gets `punctual` and the options of a naming server as arguments, and has
/// written the server's reference to a file.
fn recording(folder: &Path, script: &str) -> Process {
    let reference = folder.join("naming.ior");
    let punctual = env!("CARGO_BIN_EXE_punctual");
    let mut command = Command::new(punctual);
    command.args(["schedule", "record", "--output"]);
    command.arg(folder.join("model.toml")).arg("--");
    command.args(["sh", "-c", script, punctual, "naming", "serve", "--memory"]);
    command.args(["--listen", "iiop://127.0.0.1:0", "--write-reference"]);
    command.arg(&reference).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process(command.spawn().unwrap());
    while !reference.exists() {
        assert!(process.0.try_wait().unwrap().is_none(), "it has ended");
        pause();
    }
    process
}

/// Lets the recorded server do some jobs, and terminates the command; returns its exit status, output and error output.
fn ended(folder: &Path, mut process: Process) -> (Option<i32>, String, String) {
    let reference = folder.join("naming.ior");
    let service = reference.to_str().unwrap();
    for name in ["one", "two", "three"] {
        let bound = punctual(&["naming", "new-context", "--service", service, name]);
        assert!(bound.status.success(), "{}", text(bound.stderr));
    }
    process.signal("-TERM");
    let (mut output, mut said) = (String::new(), String::new());
    use std::io::Read;
    let mut pipes = (
        process.0.stdout.take().unwrap(),
        process.0.stderr.take().unwrap(),
    );
    pipes.0.read_to_string(&mut output).unwrap();
    pipes.1.read_to_string(&mut said).unwrap();
    (process.0.wait().unwrap().code(), output, said)
}

const OPERATION: &str = "CosNaming::NamingContext::bind_new_context";

#[test]
fn a_program_that_is_terminated_ends_in_order_and_becomes_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let process = recording(folder.path(), "exec \"$0\" \"$@\"");
    let (status, output, said) = ended(folder.path(), process);
    assert_eq!(status, Some(0), "{said}");
    assert!(output.contains("model.toml is made of "), "{output}");
    let model = std::fs::read_to_string(folder.path().join("model.toml")).unwrap();
    assert!(
        model.contains(&format!("[operation.\"{OPERATION}\"]")),
        "{model}"
    );
    assert!(model.contains("# 3 jobs: execution up to "), "{model}");
}

/// The shell passes SIGTERM on to the server, and ends with a status of its own.
#[test]
fn a_program_that_fails_is_told_and_what_it_measured_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "\"$0\" \"$@\" & child=$!; trap 'kill -TERM $child' TERM; wait $child; wait $child; exit 7";
    let process = recording(folder.path(), script);
    let (status, output, said) = ended(folder.path(), process);
    assert_eq!(status, Some(1), "{said}");
    assert!(output.contains("model.toml is made of "), "{output}");
    assert!(
        said.contains("`sh` has ended with exit status: 7"),
        "{said}"
    );
    assert!(
        said.contains("what it measured until then is used"),
        "{said}"
    );
}

#[test]
fn a_program_that_measures_nothing_is_told_with_its_status() {
    let output = punctual(&["schedule", "record", "--", "sh", "-c", "exit 7"]);
    let said = text(output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let expected = "`sh` has ended with exit status: 7, and has measured nothing";
    assert!(said.contains(expected), "{said}");
}

/// A program gets its own options, those that look like the ORB's among them, behind which stands the file.
#[test]
fn a_program_gets_its_arguments_as_they_are() {
    let script = "echo \"$@\"";
    let program = ["sh", "-c", script, "name", "-ORBTrace", "giop"];
    let output = punctual(&[&["schedule", "record", "--"], &program[..]].concat());
    let printed = text(output.stdout);
    assert!(
        printed.starts_with("-ORBTrace giop -ORBRecord /"),
        "{printed}"
    );
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let output = punctual(&["schedule", "record", "--", "/no/such/program"]);
    let said = text(output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("`/no/such/program` cannot be run: "),
        "{said}"
    );
}
