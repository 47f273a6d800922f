//! Runs the example in three processes: thousands of calls are in progress in the gateway, which
//! needs only four threads besides the main thread, which waits in `Orb::run`.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const CALLS: usize = 10_000;

/// Process that ends with the test, and its output.
struct Running(Child, BufReader<ChildStdout>);

impl Running {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self(child, output)
    }

    fn server(program: &str, arguments: &[&str]) -> Self {
        let listen = ["-ORBListenEndpoints", "iiop://127.0.0.1:0"];
        let mut server = Self::start(program, &[arguments, &listen].concat());
        assert_eq!(server.line(), "serving");
        server
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Returns the names of the process's threads, as the kernel has them.
    fn threads(&self) -> Vec<String> {
        let tasks = format!("/proc/{}/task", self.0.id());
        let tasks = fs::read_dir(Path::new(&tasks)).unwrap();
        let name = |task: std::io::Result<fs::DirEntry>| {
            fs::read_to_string(task.unwrap().path().join("comm")).unwrap()
        };
        tasks
            .map(name)
            .map(|name| name.trim_end().to_owned())
            .collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn ten_thousand_calls_are_open_in_a_gateway_whose_orb_has_four_threads_and_each_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (devices, gateway) = (file("devices.ior"), file("gateway.ior"));
    let program = env!("CARGO_BIN_EXE_gateway-devices");
    let behind = Running::server(program, &[&devices]);
    let devices = format!("file://{devices}");
    let program = env!("CARGO_BIN_EXE_gateway");
    let between = Running::server(program, &[&devices, &gateway]);
    let (gateway, calls) = (format!("file://{gateway}"), CALLS.to_string());
    let program = env!("CARGO_BIN_EXE_gateway-client");
    let mut client = Running::start(program, &[&gateway, &calls]);

    // One more call is open, on an unknown device.
    assert_eq!(client.line(), format!("{} calls are open", CALLS + 1));
    for server in [&behind, &between] {
        let threads = server.threads();
        let of_orb = threads.iter().filter(|name| name.starts_with("punctual-"));
        assert!(of_orb.count() <= 4, "{threads:?}");
        // The main thread counts, too.
        assert!(threads.len() <= 5, "{threads:?}");
    }
    client.0.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(client.line(), "unknown device `a chair`");
    assert_eq!(client.line(), format!("{CALLS} calls were answered"));
    assert!(client.0.wait().unwrap().success());
}
