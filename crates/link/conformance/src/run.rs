//! How a case is run: by name, and under a watchdog.

use punctual_link::{Address, Link};
use std::cell::Cell;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// A case that takes longer hangs. Generous: it ends the test, it does not measure.
const HANGS: Duration = Duration::from_secs(180);

/// A case of the suite.
type Case = fn(&dyn Link, &Address);

thread_local! {
    static NAME: Cell<&'static str> = const { Cell::new("") };
}

/// Runs a case; `name` is its test's path, its crate's name first.
pub fn run(name: &'static str, case: Case, link: &dyn Link, address: &Address) {
    NAME.set(name);
    let (done, watch) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if watch.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{name} hangs");
            std::process::abort();
        }
    });
    case(link, address);
    drop(done);
}

/// Says that a test is skipped, and why.
pub fn skip(name: &str, why: &str) {
    eprintln!("skipped: {name}: {why}");
}

/// The path of the test that runs on this thread, as the test program's own arguments want it.
pub(crate) fn test_name() -> &'static str {
    let (_, name) = NAME.get().split_once("::").unwrap();
    name
}
