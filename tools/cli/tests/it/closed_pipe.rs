//! Commands whose output is not read to its end, as in `punctual … | head -1`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::process::Command;

/// Runs a command whose output has no reader any more; returns its exit status and what it says of it.
fn without_reader(arguments: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    let output = command.args(arguments).stdout(writer).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), said)
}

#[test]
fn a_command_whose_reader_has_gone_ends_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.toml");
    std::fs::write(&model, "[operation.a]\nwcet = '1ms'\nperiod = '10ms'\n").unwrap();
    let model = model.to_str().unwrap();
    // The status is the verdict, or that of programs which end by SIGPIPE.
    for (command, status) in [
        (&["schedule", "check", model, "--json"][..], 0),
        (&["schedule", "assign", model, "--json"], 0),
        (&["schedule", "explain", model, "a", "--json"], 0),
        (&["schedule", "check", model], 0),
        (&["ior", "corbaloc::host:1/key"], 141),
        (&["protocols", "--json"], 0),
    ] {
        let ended = without_reader(command);
        assert_eq!(ended, (Some(status), String::new()), "{command:?}");
    }
    let late = folder.path().join("late.toml");
    let text = "[operation.a]\nwcet = '6ms'\nperiod = '10ms'\n[operation.b]\nwcet = '6ms'\nperiod = '10ms'\n";
    std::fs::write(&late, text).unwrap();
    let ended = without_reader(&["schedule", "check", late.to_str().unwrap(), "--json"]);
    assert_eq!(ended, (Some(1), String::new()));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    let output = command
        .args(["ior", "corbaloc::host:1/key"])
        .stdout(full.unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("error: standard output: "), "{said}");
}
