//! The end of a run: starts that are refused, and requests that continue beyond the deadline.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use parking_lot::Mutex;
use punctual::{Interface, ObjectRef, Poa, SystemException};
use punctual_host::metrics::Exposition;
use punctual_host::run::{RunOptions, run};
use punctual_host::settings::Values;
use punctual_host::{Problem, ServeError, Service};
use rustix::process::{Pid, Signal, kill_process};

use crate::board::{self, LISTEN};
use crate::example::{Running, client};
use crate::idl;

#[test]
fn a_second_server_on_a_store_is_refused_with_the_holder_and_the_first_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let client = client();
    let first = Running::with(folder.path(), "");
    let board = first.called_by(&client);
    let second = Running::with(folder.path(), "");
    let refused = second.end().unwrap_err();
    let holder = format!("another board server (process {})", std::process::id());
    assert!(refused.message.contains(&holder), "{refused}");
    assert_eq!(refused.help(), Some("--store names another file"));
    assert_eq!(board.post("still here"), Ok(0));
    first.end().unwrap();
    client.shutdown(true).unwrap();
}

#[test]
fn a_status_address_that_is_in_use_ends_the_run_before_it_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let running = Running::with(folder.path(), &format!("status = \"{address}\""));
    let refused = running.end().unwrap_err();
    assert!(
        refused.message.starts_with(&format!("--status {address}")),
        "{refused}"
    );
    // Its store is free again.
    let running = Running::with(folder.path(), "");
    let client = client();
    assert_eq!(running.called_by(&client).post("served"), Ok(0));
    running.end().unwrap();
    client.shutdown(true).unwrap();
}

/// A board whose `post` returns only when the test permits it.
struct Slow {
    begun: std::sync::mpsc::Sender<()>,
    goes_on: std::sync::Arc<Mutex<Receiver<()>>>,
}

impl idl::BoardServant for Slow {
    fn post(&self, _: &str) -> Result<u32, SystemException> {
        self.begun.send(()).unwrap();
        // The test drops the sender.
        let _ = self.goes_on.lock().recv();
        Ok(0)
    }

    fn read(&self, _: u32) -> Result<String, SystemException> {
        Ok(String::new())
    }
}

impl Service for Slow {
    const NAME: &'static str = "slow";
    const INITIAL_REFERENCE: &'static str = "Slow";

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        let (begun, goes_on) = (self.begun.clone(), self.goes_on.clone());
        let board = parent.activate::<idl::Board, _>(Slow { begun, goes_on });
        let board = board.map_err(ServeError::of::<Self>)?;
        Ok(board.as_object().clone())
    }

    fn metrics(&self, _: &mut Exposition) {}
}

#[test]
fn a_request_that_does_not_end_does_not_keep_a_service_beyond_its_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let reference = folder.path().join("slow.ior");
    let text = format!("write_reference = {reference:?}\nstop_deadline = \"20ms\"");
    let values = Values::from_toml(&board::settings(), "slow.toml", &text).unwrap();
    let (ends, ended) = channel();
    let (begun, has_begun) = channel();
    let (go_on, goes_on) = channel();
    let options = RunOptions::of(&values, &LISTEN).unwrap().until(ended);
    let slow = Slow {
        begun,
        goes_on: std::sync::Arc::new(Mutex::new(goes_on)),
    };
    let running = std::thread::spawn(move || run(|| Ok(slow), options));
    let client = client();
    let board = loop {
        if let Ok(text) = std::fs::read_to_string(&reference) {
            break idl::Board::from_object(client.string_to_object(text.trim()).unwrap());
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    let posting = std::thread::spawn(move || board.post("text"));
    has_begun.recv().unwrap();
    drop(ends);
    let late = running.join().unwrap().unwrap_err();
    assert!(
        late.message.contains("still in progress after 20ms"),
        "{late}"
    );
    // The request itself was not cut off.
    drop(go_on);
    assert_eq!(posting.join().unwrap(), Ok(0));
    client.shutdown(true).unwrap();
}

/// Environment variable of the process that a test starts to be ended while it starts.
const STARTS: &str = "PUNCTUAL_TEST_STARTS";

/// Service that is never open, as one that waits for a server which is silent.
#[test]
fn a_start_that_does_not_end_is_ended_by_a_signal() {
    let text = "write_reference = \"/dev/null\"";
    let values = Values::from_toml(&board::settings(), "silent.toml", text).unwrap();
    if std::env::var_os(STARTS).is_some() {
        let options = RunOptions::of(&values, &LISTEN).unwrap();
        let open = || -> Result<Slow, Problem> {
            println!("waits");
            loop {
                std::thread::park();
            }
        };
        run(open, options).unwrap();
    }
    let name = "ending::a_start_that_does_not_end_is_ended_by_a_signal";
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(STARTS, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    assert!(
        lines
            .map_while(Result::ok)
            .any(|line| line.ends_with("waits"))
    );
    let pid = Pid::from_child(&process);
    kill_process(pid, Signal::TERM).unwrap();
    assert!(process.wait().unwrap().success());
}

/// A service that hands out its ORB.
struct Open(std::sync::mpsc::Sender<punctual::Orb>);

impl Service for Open {
    const NAME: &'static str = "open";
    const INITIAL_REFERENCE: &'static str = "Open";

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        self.0.send(parent.orb().clone()).unwrap();
        let reference = parent.create_reference::<idl::Board>();
        let reference = reference.map_err(ServeError::of::<Self>)?;
        Ok(reference.as_object().clone())
    }

    fn metrics(&self, _: &mut Exposition) {}
}

#[test]
fn the_end_of_the_orb_ends_a_service_that_an_implementation_repository_starts() {
    let folder = tempfile::tempdir().unwrap();
    let reference = folder.path().join("open.ior");
    let text = format!("write_reference = {reference:?}");
    let values = Values::from_toml(&board::settings(), "open.toml", &text).unwrap();
    let (_ends, ended) = channel();
    let (say, heard) = channel();
    let options = ["-ORBUseImR", "1"].map(str::to_owned);
    let options = RunOptions::of(&values, &LISTEN)
        .unwrap()
        .until(ended)
        .with_orb_options(&options);
    let running = std::thread::spawn(move || run(|| Ok(Open(say)), options));
    let orb = heard.recv().unwrap();
    // It is served from then on.
    while !reference.exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // As the repository asks for it, by the object of the server.
    orb.shutdown(false).unwrap();
    running.join().unwrap().unwrap();
}

const FOLDER: &str = "BOARD_WITHOUT_A_READER";

#[test]
fn process_whose_errors_have_no_reader() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    // Each line of its log goes to a reader that has gone.
    let running = Running::with(std::path::Path::new(&folder), "log = \"debug\"");
    let client = client();
    let board = running.called_by(&client);
    while std::path::Path::new(&folder).exists() {
        let _ = board.post("text");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_service_goes_on_when_the_reader_of_its_standard_error_has_gone() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = std::process::Command::new(std::env::current_exe().unwrap());
    process.args([
        "--exact",
        "ending::process_whose_errors_have_no_reader",
        "--nocapture",
    ]);
    process.env(FOLDER, folder.path());
    let process = process.stderr(std::process::Stdio::piped());
    let mut process = process.stdout(std::process::Stdio::null()).spawn().unwrap();
    drop(process.stderr.take());
    let reference = folder.path().join("board.ior");
    let client = client();
    let board = loop {
        assert!(process.try_wait().unwrap().is_none(), "it has ended");
        if let Ok(text) = std::fs::read_to_string(&reference) {
            break idl::Board::from_object(client.string_to_object(text.trim()).unwrap());
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    // More than the process itself posts before the first line of its log.
    while board.post("more").unwrap() < 20 {}
    process.kill().unwrap();
    process.wait().unwrap();
    client.shutdown(true).unwrap();
}
