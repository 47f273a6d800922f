//! Services of which one process serves at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use punctual::{Interface, ObjectRef, Poa, SystemException};
use punctual_host::metrics::Exposition;
use punctual_host::run::{RunOptions, run};
use punctual_host::settings::Values;
use punctual_host::{NotReady, Problem, ServeError, Service, Turn};

use crate::board::{self, LISTEN};
use crate::idl;

/// Right to serve that a test gives and takes.
#[derive(Debug, Default)]
struct Given {
    has_come: Mutex<bool>,
    loss: Mutex<Option<String>>,
}

impl Turn for Given {
    fn wait(&self, is_ending: &mut dyn FnMut() -> bool) -> Result<bool, NotReady> {
        loop {
            if is_ending() {
                return Ok(false);
            }
            if *self.has_come.lock() {
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn loss(&self) -> Option<String> {
        self.loss.lock().clone()
    }

    fn confirm(&self) -> Result<(), NotReady> {
        Ok(())
    }
}

struct Empty;

impl idl::BoardServant for Empty {
    fn post(&self, _: &str) -> Result<u32, SystemException> {
        Ok(0)
    }

    fn read(&self, _: u32) -> Result<String, SystemException> {
        Ok(String::new())
    }
}

struct InTurn {
    turn: Arc<Given>,
    served: Sender<()>,
}

impl Service for InTurn {
    const NAME: &'static str = "turns";
    const INITIAL_REFERENCE: &'static str = "Turns";

    fn turn(&self) -> Option<Arc<dyn Turn>> {
        Some(self.turn.clone())
    }

    fn serve(&self, parent: &Poa) -> Result<ObjectRef, ServeError> {
        assert!(*self.turn.has_come.lock(), "it is not its turn");
        self.served.send(()).unwrap();
        let board = parent.activate::<idl::Board, _>(Empty);
        let board = board.map_err(ServeError::of::<Self>)?;
        Ok(board.as_object().clone())
    }

    fn metrics(&self, _: &mut Exposition) {}
}

struct Run {
    turn: Arc<Given>,
    served: std::sync::mpsc::Receiver<()>,
    ends: Sender<()>,
    thread: JoinHandle<Result<(), Problem>>,
}

fn started(folder: &Path) -> Run {
    let reference = folder.join("turns.ior");
    let text = format!("write_reference = {reference:?}");
    let values = Values::from_toml(&board::settings(), "turns.toml", &text).unwrap();
    let (ends, ended) = channel();
    let (served, has_served) = channel();
    let options = RunOptions::of(&values, &LISTEN).unwrap().until(ended);
    let turn = Arc::new(Given::default());
    let service = InTurn {
        turn: turn.clone(),
        served,
    };
    Run {
        turn,
        served: has_served,
        ends,
        thread: std::thread::spawn(move || run(|| Ok(service), options)),
    }
}

#[test]
fn a_service_is_served_when_its_turn_has_come_and_ends_with_the_reason_when_that_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let run = started(folder.path());
    *run.turn.has_come.lock() = true;
    run.served.recv().unwrap();
    *run.turn.loss.lock() = Some("another one serves".to_owned());
    let ended = run.thread.join().unwrap().unwrap_err();
    assert_eq!(ended.message, "another one serves");
    assert!(ended.help().is_some());
    drop(run.ends);
}

#[test]
fn a_service_that_waits_for_its_turn_is_ended_without_being_served() {
    let folder = tempfile::tempdir().unwrap();
    let run = started(folder.path());
    drop(run.ends);
    run.thread.join().unwrap().unwrap();
    // The sender is dropped with the service.
    assert!(run.served.recv().is_err());
    assert!(!folder.path().join("turns.ior").exists());
}

#[test]
fn a_service_in_its_turn_ends_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let run = started(folder.path());
    *run.turn.has_come.lock() = true;
    run.served.recv().unwrap();
    drop(run.ends);
    run.thread.join().unwrap().unwrap();
}
