//! Server whose application forgot to activate its POA manager: it logs a warning, and its trace
//! shows why a client waits.
#![allow(clippy::unwrap_used, missing_docs)]

use crate::support;

use punctual::{ListenEndpoint, Orb, RootPoa, SystemException};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use support::{Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(120);
const ROLE: &str = "PUNCTUAL_TEST_FORGETFUL";

/// Runs the server, in a process of its own because the trace goes to the standard error stream.
#[test]
#[ignore = "run by the tests below"]
fn forgetful_server() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .configure(|config| config.trace.giop = true);
    let orb = orb.build().unwrap();
    let root = orb.root_poa().unwrap();
    // There is no warning for this one, which has no objects, nor for the third, which is active.
    let idle = root.create_poa("idle", None, &[]).unwrap();
    let awake = root.create_poa("awake", None, &[]).unwrap();
    awake.manager().activate().unwrap();
    let _served: Echo = awake.activate(Arc::new(EchoImpl::default())).unwrap();
    let echo: Echo = root.activate(Arc::new(EchoImpl::default())).unwrap();
    println!("\n{}", orb.object_to_string(&echo).unwrap());
    std::io::stdout().flush().unwrap();
    orb.run();
    drop(idle);
}

struct Forgetful(Child);

impl Drop for Forgetful {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_manager_that_was_never_activated_is_warned_of_and_the_trace_says_why_a_request_waits() {
    let _watchdog = watchdog(LIMIT);
    let mut server = Command::new(std::env::current_exe().unwrap());
    server.args([
        "never_activated::forgetful_server",
        "--exact",
        "--ignored",
        "--nocapture",
    ]);
    server.env(ROLE, "").stdout(Stdio::piped());
    let mut server = Forgetful(server.stderr(Stdio::piped()).spawn().unwrap());
    let said = BufReader::new(server.0.stdout.take().unwrap());
    let reference = said
        .lines()
        .map_while(Result::ok)
        .find(|line| line.starts_with("IOR:"))
        .unwrap();
    let mut log = BufReader::new(server.0.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let mut until = |part: &str| {
        let mut seen = Vec::new();
        for line in log.by_ref() {
            seen.push(line);
            if seen.last().unwrap().contains(part) {
                return seen;
            }
        }
        panic!("`{part}` is not among {seen:#?}");
    };
    let ran = until("has never been activated, and its objects get no requests");
    assert!(ran.last().unwrap().contains("WARN"), "{ran:?}");
    assert!(ran.last().unwrap().contains("RootPOAManager"), "{ran:?}");

    let client = Orb::builder().build().unwrap();
    let caller = std::thread::spawn(move || {
        let object = client.string_to_object(&reference).unwrap();
        let _: Result<bool, SystemException> = object.is_a("IDL:Other:1.0");
    });
    let waits = "the request waits: the POA manager `RootPOAManager` has never been activated";
    let traced = until(waits);
    assert!(
        traced
            .iter()
            .any(|line| line.contains("operation \"_is_a\""))
    );
    // There was one warning for one manager each.
    let warned = |lines: &[String]| lines.iter().filter(|line| line.contains("WARN")).count();
    assert_eq!(warned(&traced), 0, "{traced:#?}");
    let warned_at_request = until("has never been activated, and a request waits for it");
    assert_eq!(warned(&warned_at_request), 1, "{warned_at_request:#?}");
    drop(server);
    caller.join().unwrap();
}
