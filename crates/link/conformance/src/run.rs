//! Runs a test case of the conformance suite under a watchdog, which ends the process if the case
//! hangs.

use punctual_link::{Address, Link};
use std::cell::Cell;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Time after which a case counts as hung. Generous: it ends the test, it does not measure.
const HANGS: Duration = Duration::from_secs(180);

/// Test case of the suite: a function that runs it on a link, at an address.
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

/// Reports that a test is skipped, with the reason.
pub fn skip(name: &str, why: &str) {
    eprintln!("skipped: {name}: {why}");
}

/// Returns the path of the test that runs on this thread, in the form of the test program's own
/// arguments.
pub(crate) fn test_name() -> &'static str {
    let (_, name) = NAME.get().split_once("::").unwrap();
    name
}
