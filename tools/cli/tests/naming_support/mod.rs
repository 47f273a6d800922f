//! A naming server and commands on it.

#![allow(dead_code, reason = "no test uses all of it")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

pub(crate) const SYSTEM_EXCEPTION: i32 = 3;
pub(crate) const USER_EXCEPTION: i32 = 4;

pub(crate) fn punctual(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// A server, which ends with the test.
pub(crate) struct Serving {
    child: Child,
    pub(crate) reference: String,
}

impl Serving {
    pub(crate) fn new(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["naming", "serve", "--listen", "iiop://127.0.0.1:0"]);
        command.args(arguments).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut reference = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut reference).unwrap();
        let reference = reference.trim().to_owned();
        Serving { child, reference }
    }

    pub(crate) fn in_memory() -> Self {
        Self::new(&["--memory"])
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Output {
        let (command, rest) = arguments.split_first().unwrap();
        let mut all = vec!["naming", command, "--service", &self.reference];
        all.extend(rest);
        punctual(&all)
    }

    pub(crate) fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        text(output.stdout)
    }

    /// What is said of a command that fails with this status.
    pub(crate) fn fails(&self, arguments: &[&str], status: i32) -> String {
        let output = self.call(arguments);
        let said = text(output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
        said
    }

    /// `corbaloc:` or another scheme, with the server's address behind.
    pub(crate) fn url(&self, scheme: &str) -> String {
        let facts = text(punctual(&["ior", "--json", &self.reference]).stdout);
        let facts: Value = serde_json::from_str(&facts).unwrap();
        let port = &facts["profiles"][0]["port"];
        format!("{scheme}:iiop:1.2@127.0.0.1:{port}")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) const SOME: &str = "corbaloc::127.0.0.1:1/some";
