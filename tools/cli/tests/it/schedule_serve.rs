//! `punctual schedule serve`: a scheduler that is called, restarted, and found at its well-known place.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const IDL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../services/scheduler/idl/RtecScheduler.idl"
);

/// Server process, which is ended when this is dropped.
struct Serving {
    process: Child,
    reference: String,
}

impl Serving {
    fn new(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["schedule", "serve"]).args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut reference = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut reference).unwrap();
        let reference = reference.trim().to_owned();
        Self { process, reference }
    }

    fn call(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["call", "--idl", IDL, &self.reference]);
        command.args(arguments).output().unwrap()
    }

    fn answer(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn store(folder: &Path) -> String {
    folder.join("plan.redb").display().to_string()
}

#[test]
fn a_scheduler_is_called_from_a_shell_and_goes_on_where_it_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let arguments = ["--listen", "iiop://127.0.0.1:0", "--store", &store];
    let serving = Serving::new(&arguments);
    assert_eq!(serving.answer(&["create", "\"radar.read\""]).trim(), "1");
    let set = "{\"handle\": 1, \"criticality\": \"HIGH_CRITICALITY\", \"wc_time\": 30000, \"typical_time\": 0, \
               \"cached_time\": 0, \"period\": 100000, \"importance\": \"LOW_IMPORTANCE\", \"quantum\": 0, \
               \"threads\": 1, \"info_type\": \"OPERATION\"}";
    serving.answer(&["set", "-d", set]);
    serving.answer(&["recompute_scheduling", "1", "99"]);
    let before = serving.answer(&["priority", "1"]);
    assert!(before.contains("99"), "{before}");
    drop(serving);
    let serving = Serving::new(&arguments);
    assert_eq!(serving.answer(&["priority", "1"]), before);
    let unknown = serving.call(&["get", "2"]);
    assert_eq!(unknown.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("UNKNOWN_TASK"));
}

#[test]
fn clients_find_it_by_its_initial_reference_and_operators_by_its_status() {
    let free = std::net::TcpListener::bind("127.78.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    let status_at = std::net::TcpListener::bind("127.78.0.2:0").unwrap();
    let status = status_at.local_addr().unwrap().to_string();
    drop((free, status_at));
    let listen = format!("iiop://{address}");
    let mut serving = Serving::new(&["--listen", &listen, "--status", &status]);
    serving.reference = format!("corbaloc:iiop:{address}/SchedulingService");
    assert_eq!(serving.answer(&["create", "\"one\""]).trim(), "1");
    let mut peer = TcpStream::connect(&status).unwrap();
    peer.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut reply = String::new();
    peer.read_to_string(&mut reply).unwrap();
    assert!(
        reply.contains("punctual_scheduler_operations 1\n"),
        "{reply}"
    );
}

#[test]
fn settings_that_do_not_fit_are_said_with_their_place() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    let arguments = ["--listen", "iiop://127.0.0.1:0", "--strategy", "FIFO"];
    let output = command
        .args(["schedule", "serve"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("FIFO") && error.contains("MUF_FAIR"),
        "{error}"
    );
}
