//! Server that runs until a signal, as another process: calls in progress end, new ones go
//! elsewhere, and the process ends in order.

use crate::support::watchdog;
use punctual::stub::{DispatchError, Dispatched, Identity, Operation, Servant, ServerCall};
use punctual::{
    CompletionStatus, ListenEndpoint, ObjectRef, Orb, RootPoa, StopSignals, SystemException,
    SystemExceptionKind as Kind,
};
use rustix::process::{Pid, Signal, kill_process};
use std::any::Any;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);
/// Environment variable that makes a process the server, with the seconds that calls have.
const ROLE: &str = "PUNCTUAL_SERVES_UNTIL_A_SIGNAL";
const MARK: &str = "@ ";
const ENDING: &str = "IDL:test/Ending:1.0";

/// Servant with an operation that lasts until its process reads a line.
struct Slow {
    orb: Orb,
    is_slow: AtomicBool,
}

impl Servant for Slow {
    fn repository_ids(&self) -> &'static [&'static str] {
        &[ENDING]
    }

    fn identity(&self) -> Identity {
        Identity::of::<ObjectRef, _>(self)
    }

    fn implementation(&self) -> &(dyn Any + Send + Sync) {
        &self.is_slow
    }

    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        match call.operation() {
            "end" => self.orb.shutdown(false)?,
            "slow" => {
                self.is_slow.store(true, Ordering::SeqCst);
                std::io::stdin().read_line(&mut String::new()).unwrap();
            }
            "is_slow" => {
                let slow = self.is_slow.load(Ordering::SeqCst);
                return call.reply(|out| {
                    out.put_bool(slow);
                    Ok(())
                });
            }
            _ => return Err(call.bad_operation()),
        }
        call.reply(|_| Ok(()))
    }
}

/// Runs the server in a child process of the tests; this function is not a test itself.
#[test]
#[ignore = "another process of the other tests"]
fn serves_until_a_signal() {
    let Ok(drain) = std::env::var(ROLE) else {
        return;
    };
    let drain = Duration::from_secs(drain.parse().unwrap());
    let signals = StopSignals::install().unwrap();
    let orb = Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0));
    let orb = orb.build().unwrap();
    let poa = orb.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let slow = Slow {
        orb: orb.clone(),
        is_slow: AtomicBool::new(false),
    };
    let id = poa.activate_object(Arc::new(slow)).unwrap();
    let object = poa.create_object_with_id(&id, ENDING).unwrap();
    println!("\n{MARK}{}", orb.object_to_string(&object).unwrap());
    let ended = orb.run_until(signals, drain);
    println!("{MARK}{ended:?}");
    std::process::exit(i32::from(ended.is_err()));
}

struct Server {
    child: Child,
    stdin: ChildStdin,
    said: BufReader<ChildStdout>,
    client: Orb,
    object: ObjectRef,
    reference: String,
}

impl Server {
    fn start(drain_seconds: u32) -> Self {
        let mut server = Command::new(std::env::current_exe().unwrap());
        server.args([
            "stop_signals::serves_until_a_signal",
            "--exact",
            "--ignored",
            "--nocapture",
        ]);
        server.env(ROLE, drain_seconds.to_string());
        server.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = server.spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let reference = marked(&mut said);
        let client = Orb::builder().build().unwrap();
        Self {
            object: client.string_to_object(&reference).unwrap(),
            stdin: child.stdin.take().unwrap(),
            child,
            said,
            client,
            reference,
        }
    }

    /// Begins a call that lasts until [`Server::let_it_end`].
    fn begin_slow_call(&self) -> JoinHandle<Result<(), SystemException>> {
        let object = self.object.clone();
        let slow = std::thread::spawn(move || {
            object.invoke(&Operation::two_way("slow"), |_| Ok(()), |_| Ok(()))
        });
        while !is_slow(&self.object).unwrap() {
            crate::support::pause();
        }
        slow
    }

    fn let_it_end(&mut self) {
        writeln!(self.stdin).unwrap();
    }

    fn signal(&self, signal: Signal) {
        let process = Pid::from_child(&self.child);
        kill_process(process, signal).unwrap();
    }

    /// Waits until new clients cannot connect. Returns the exception that they get. One that
    /// connects in the last moment may get another.
    fn refused(&self) -> SystemException {
        loop {
            let other = Orb::builder().build().unwrap();
            let called = is_slow(&other.string_to_object(&self.reference).unwrap());
            other.shutdown(true).unwrap();
            match called {
                Err(exception) if exception.kind() == Kind::Transient => return exception,
                _ => {}
            }
        }
    }

    /// Waits for its end. Returns what `run_until` returned, if it did, and the status.
    fn end(mut self) -> (String, ExitStatus) {
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).unwrap();
        let line = rest.lines().find_map(|line| line.strip_prefix(MARK));
        let returned = line.unwrap_or_default().to_owned();
        (returned, self.child.wait().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.client.shutdown(false);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_slow(object: &ObjectRef) -> Result<bool, SystemException> {
    let operation = Operation::two_way("is_slow");
    object.invoke(&operation, |_| Ok(()), |input| input.get_bool())
}

fn marked(said: &mut impl BufRead) -> String {
    let mut lines = said.lines().map_while(Result::ok);
    let found = lines.find_map(|line| Some(line.strip_prefix(MARK)?.to_owned()));
    found.unwrap()
}

#[test]
fn a_signal_lets_calls_in_progress_end_and_new_ones_go_elsewhere() {
    let _watchdog = watchdog(LIMIT);
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Server::start(3600);
        let slow = server.begin_slow_call();
        server.signal(signal);
        let refused = server.refused();
        assert_eq!(refused.completed(), CompletionStatus::No, "{refused}");
        server.let_it_end();
        slow.join().unwrap().unwrap();
        let (returned, status) = server.end();
        assert_eq!(returned, "Ok(())");
        assert!(status.success(), "{status}");
    }
}

#[test]
fn calls_that_outlast_their_time_are_an_error() {
    let _watchdog = watchdog(LIMIT);
    let server = Server::start(0);
    let slow = server.begin_slow_call();
    server.signal(Signal::TERM);
    let (returned, status) = server.end();
    assert!(
        returned.starts_with("Err(calls were still in progress after 0ns"),
        "{returned}"
    );
    assert_eq!(status.code(), Some(1));
    let exception = slow.join().unwrap().unwrap_err();
    assert_eq!(exception.kind(), Kind::CommFailure, "{exception}");
    assert_eq!(exception.completed(), CompletionStatus::Maybe);
}

#[test]
fn a_second_signal_ends_the_process_at_once() {
    let _watchdog = watchdog(LIMIT);
    let server = Server::start(3600);
    let slow = server.begin_slow_call();
    server.signal(Signal::INT);
    server.refused();
    server.signal(Signal::TERM);
    let (returned, status) = server.end();
    assert_eq!(returned, "");
    assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
    slow.join().unwrap().unwrap_err();
}

#[test]
fn it_returns_when_the_orb_is_shut_down_otherwise() {
    let _watchdog = watchdog(LIMIT);
    let server = Server::start(3600);
    let end = Operation::two_way("end");
    server.object.invoke(&end, |_| Ok(()), |_| Ok(())).unwrap();
    let (returned, status) = server.end();
    assert_eq!(returned, "Ok(())");
    assert!(status.success(), "{status}");
}
