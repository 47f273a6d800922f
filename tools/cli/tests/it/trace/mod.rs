//! `punctual trace`: logs of real programs with compiled stubs; generated logs with every byte
//! order and version; and logs with noise.
#![allow(clippy::unwrap_used, missing_docs)]

mod damage;
mod decoding;
mod form;
mod live;

use serde_json::Value as JsonValue;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn idl() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/trace/plant.idl")
}

fn trace(idl: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(["trace", "--idl"]).arg(idl).args(more);
    command
}

/// Returns the output of the command for a log on standard input.
fn read(log: &[u8], more: &[&str]) -> Output {
    let mut command = trace(&idl(), more);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let log = log.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&log));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// Returns the lines that the command added to a log; checks that all other lines are the log's.
fn added(log: &str) -> Vec<String> {
    let output = text(&read(log.as_bytes(), &[]).stdout);
    let is_added = |line: &&str| line.starts_with("payload ");
    let rest: Vec<&str> = output.lines().filter(|line| !is_added(line)).collect();
    assert_eq!(rest, log.lines().collect::<Vec<_>>());
    output.lines().filter(is_added).map(str::to_owned).collect()
}

fn objects(log: &str) -> Vec<JsonValue> {
    let output = text(&read(log.as_bytes(), &["--json"]).stdout);
    let lines = output.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
