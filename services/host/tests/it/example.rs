//! The example service as a process: called by clients, monitored by operators, and restarted.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use punctual::policy::Collocation;
use punctual::{Interface, Orb, SystemExceptionKind};
use punctual_host::Problem;
use punctual_host::run::{RunOptions, run};
use punctual_host::settings::Values;

use crate::board::{self, Board, LISTEN};
use crate::idl;

/// Board that [`run`] serves on a thread of its own, until the test ends it.
pub(crate) struct Running {
    ends: Sender<()>,
    thread: JoinHandle<Result<(), Problem>>,
    reference: PathBuf,
}

impl Running {
    pub(crate) fn with(folder: &Path, settings: &str) -> Self {
        let reference = folder.join("board.ior");
        // The one of the run before.
        let _ = std::fs::remove_file(&reference);
        let text = format!(
            "store = {:?}\nwrite_reference = {:?}\n{settings}",
            folder.join("board.redb"),
            reference
        );
        let values = Values::from_toml(&board::settings(), "board.toml", &text).unwrap();
        let (ends, ended) = channel();
        let options = RunOptions::of(&values, &LISTEN).unwrap().until(ended);
        let thread = std::thread::spawn(move || run(|| Board::open(&values), options));
        Self {
            ends,
            thread,
            reference,
        }
    }

    /// Waits until the board is served, and returns a reference to it in another ORB.
    pub(crate) fn called_by(&self, client: &Orb) -> idl::Board {
        loop {
            if let Ok(text) = std::fs::read_to_string(&self.reference) {
                let object = client.string_to_object(text.trim()).unwrap();
                return idl::Board::from_object(object);
            }
            assert!(!self.thread.is_finished(), "the board has ended");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    pub(crate) fn end(self) -> Result<(), Problem> {
        drop(self.ends);
        self.thread.join().unwrap()
    }
}

/// Returns an ORB that sends requests even to objects in this process.
pub(crate) fn client() -> Orb {
    let builder = Orb::builder().configure(|config| config.collocation = Collocation::None);
    builder.build().unwrap()
}

fn asked(address: &str, path: &str) -> String {
    let mut peer = TcpStream::connect(address).unwrap();
    peer.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes())
        .unwrap();
    let mut reply = String::new();
    peer.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn what_a_client_has_posted_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let client = client();
    let running = Running::with(folder.path(), "");
    let board = running.called_by(&client);
    assert_eq!(board.post("first"), Ok(0));
    assert_eq!(board.post("second"), Ok(1));
    running.end().unwrap();

    let running = Running::with(folder.path(), "");
    let board = running.called_by(&client);
    assert_eq!(board.read(1).as_deref(), Ok("second"));
    assert_eq!(board.post("third"), Ok(2));
    let missing = board.read(3).unwrap_err();
    assert_eq!(missing.kind(), SystemExceptionKind::ObjectNotExist);
    running.end().unwrap();
    client.shutdown(true).unwrap();
}

#[test]
fn rules_and_limits_of_the_settings_hold_and_metrics_count_what_they_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let client = client();
    // No other program uses this address of the loopback interface, so that the port stays free.
    let free = TcpListener::bind("127.77.0.1:0").unwrap();
    let status = free.local_addr().unwrap().to_string();
    drop(free);
    let settings = format!("most_texts = 1\nstatus = \"{status}\"");
    let running = Running::with(folder.path(), &settings);
    let board = running.called_by(&client);
    assert_eq!(board.post("only"), Ok(0));
    let refused = board.post("one more").unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::NoResources);
    assert!(asked(&status, "/ready").starts_with("HTTP/1.1 200"));
    let metrics = asked(&status, "/metrics");
    for line in [
        "punctual_board_post_seconds_count 2",
        "punctual_board_post_refused_total 1",
        "punctual_board_texts 1",
        "punctual_board_ready 1",
    ] {
        assert!(metrics.lines().any(|one| one == line), "{line}\n{metrics}");
    }
    running.end().unwrap();

    let running = Running::with(folder.path(), "allow = \"10.0.0.0/8\"");
    let board = running.called_by(&client);
    let refused = board.post("by a stranger").unwrap_err();
    assert_eq!(refused.kind(), SystemExceptionKind::NoPermission);
    assert_eq!(board.read(0).as_deref(), Ok("only"));
    running.end().unwrap();
    client.shutdown(true).unwrap();
}
