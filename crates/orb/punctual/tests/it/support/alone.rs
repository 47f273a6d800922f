//! Tests that need a process of their own: what they observe (threads, memory, descriptors, the
//! log, the panic hook) belongs to the process, and other tests of the same program would change
//! it.

#![allow(unreachable_pub, reason = "programs of several crates include this")]

use std::process::Command;

/// Environment variable of the process that runs one test alone.
const ALONE: &str = "PUNCTUAL_TEST_ALONE";

/// Runs `body`, the body of the calling test, in a process of its own: the process runs this
/// program with only this test.
pub fn alone(body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    // The test harness names each test's thread by the test's path.
    let thread = std::thread::current();
    let test = thread.name().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture", "--include-ignored"])
        .env(ALONE, "")
        .output()
        .unwrap();
    let (said, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{test}, in a process of its own: {}\n{said}\n{told}",
        output.status
    );
    // Lines that report a skipped test are for the user who runs the suite.
    print!("{said}");
}
