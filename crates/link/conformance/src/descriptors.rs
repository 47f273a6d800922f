//! Case that uses up a process's descriptors, in a process of its own.

use crate::family::{connect, limit, listen, send};
use crate::run::test_name;
use punctual_link::{Acceptor, Address, Cause, Connection, Link};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::process::Command;
use std::sync::Arc;

/// Environment variable that marks the child process.
const CHILD: &str = "PUNCTUAL_CONFORMANCE_CHILD";
/// Number of descriptors that the child may have open.
const DESCRIPTORS: u64 = 64;

/// Checks that a connection waits while this process has no descriptor left, and is accepted once
/// there is one again. A link that needs none accepts it at once.
///
/// Runs in a child, the same test of the same program, so that no other test suffers.
pub fn accepting_goes_on_when_descriptors_come_back(link: &dyn Link, address: &Address) {
    if std::env::var_os(CHILD).is_some() {
        return starve(link, address);
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test_name(), "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "the child failed: {said}{complained}"
    );
}

fn starve(link: &dyn Link, address: &Address) {
    let acceptor = listen(link, address);
    let client = connect(link, &*acceptor);
    let maximum = getrlimit(Resource::Nofile).maximum;
    let limited = Rlimit {
        current: Some(DESCRIPTORS),
        maximum,
    };
    setrlimit(Resource::Nofile, limited).unwrap();
    let mut held = Vec::new();
    let full = loop {
        match File::open("/dev/null") {
            Ok(file) => held.push(file),
            Err(error) => break error,
        }
    };
    assert_eq!(
        full.raw_os_error(),
        Some(rustix::io::Errno::MFILE.raw_os_error())
    );
    send(&*client, b"patience");
    let server = accept_once_fed(&*acceptor, held);
    let mut block = server.lend(0);
    while block.len() < 8 {
        server.receive(&mut block, 8, limit()).unwrap();
    }
    assert_eq!(&*block, b"patience");
}

fn accept_once_fed(acceptor: &dyn Acceptor, held: Vec<File>) -> Arc<dyn Connection> {
    match acceptor.accept() {
        Ok(server) => server,
        Err(error) => {
            assert!(matches!(error.cause, Cause::Os(_)), "{error}");
            drop(held);
            acceptor.accept().unwrap()
        }
    }
}
