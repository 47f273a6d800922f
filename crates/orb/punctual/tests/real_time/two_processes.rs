//! Distributable thread that goes from this process to another one by a call, and is cancelled
//! there.

use crate::segments::{asked, fixed, unasked};
use crate::setting::{LIMIT, Server, echo, on_a_thread, scheduled};
use crate::support::{Answering, Echo, Gate, watchdog};
use punctual::rt::{
    DistributableThreadId, DistributableThreadState as State, DistributableThreads,
    DynamicScheduling, Propagated, RtOrb, SchedulingParameter,
};
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, ServerCall};
use punctual::{Interface, Orb, SystemExceptionKind as Kind};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROLE: &str = "PUNCTUAL_TEST_SECOND_PROCESS";
const KEY: &str = "DistributableThreads";
/// Prefix of the lines that the other process writes for the test, as opposed to those of its test
/// harness.
const TELLS: &str = "@ ";

fn tell(line: &str) {
    // The harness ends its own line late.
    println!("\n{TELLS}{line}");
    std::io::stdout().flush().unwrap();
}

/// Formats the scheduling segment of an upcall as a line of text.
fn seen(
    operation: &str,
    id: Option<DistributableThreadId>,
    parameter: Option<SchedulingParameter>,
    scheduled: (u32, u32),
) -> String {
    format!("{operation}: {id:?} {parameter:?} {scheduled:?}")
}

/// Servant that reports the segment of its calls. Its operation `wait` waits until the gate is
/// open, and then reaches a scheduling point.
struct Telling {
    rt: Arc<RtOrb>,
    gate: Arc<Gate>,
}

impl Answering for Telling {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let current = self.rt.scheduling();
        let (id, parameter) = (current.id().ok(), current.scheduling_parameter());
        tell(&seen(call.operation(), id, parameter, scheduled()));
        if call.operation() == "wait" {
            self.gate.pass();
            current.begin_scheduling_segment("nested", Some(fixed(1)), None)?;
            return call.reply(|_| Ok(()));
        }
        let value = call.arguments().get_i32()?;
        call.reply(|out| value.marshal(out))
    }
}

/// Serves, in the other process, until its standard input ends; a line on it opens the gate.
#[test]
#[ignore = "run by the test below"]
fn second_process() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let _watchdog = watchdog(LIMIT);
    let granted = asked(DynamicScheduling::default(), Propagated::default());
    let is_granted = granted.is_some();
    let rt = granted.unwrap_or_else(|| unasked(DynamicScheduling::default()));
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    let gate = Arc::new(Gate::default());
    let servant = Arc::new(Telling {
        rt: rt.clone(),
        gate: gate.clone(),
    });
    let poa = server.poa("telling", &[]).unwrap();
    let object: Echo = poa.activate(servant).unwrap();
    rt.publish_distributable_threads(&server.orb, KEY).unwrap();
    tell(&server.orb.object_to_string(object.as_object()).unwrap());
    tell(&server.orb.endpoints()[0].place.to_string());
    tell(&is_granted.to_string());
    for _ in std::io::stdin().lines() {
        gate.open();
    }
}

/// Other process, which is killed when this is dropped.
struct Second {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Second {
    fn start() -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = concat!(module_path!(), "::second_process");
        // Behind the name of the test's crate.
        let (_, name) = name.split_once("::").unwrap();
        command.args([name, "--exact", "--ignored", "--nocapture"]);
        command.env(ROLE, "");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        let input = process.stdin.take().unwrap();
        Self {
            process,
            input,
            output,
        }
    }

    /// Returns the next line that the process writes for the test.
    fn told(&mut self) -> String {
        let told = |line: String| Some(line.strip_prefix(TELLS)?.to_owned());
        self.output
            .by_ref()
            .map_while(Result::ok)
            .find_map(told)
            .unwrap()
    }

    fn open_the_gate(&mut self) {
        writeln!(self.input).unwrap();
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        // If it has ended already, both calls do nothing.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_thread_is_in_its_segment_in_the_process_that_it_calls_and_is_cancelled_there() {
    let _watchdog = watchdog(LIMIT);
    let mut second = Second::start();
    let (reference, place) = (second.told(), second.told());
    let is_granted: bool = second.told().parse().unwrap();
    let at = |priority| if is_granted { (1, priority) } else { (0, 0) };
    let rt = unasked(DynamicScheduling::default());
    let client = crate::setting::client(&rt);
    let echo = echo(&client, &reference);
    // The cancelling ORB has no Real-time CORBA.
    let foreign = Orb::builder().build().unwrap();
    let url = format!("corbaloc::{place}/{KEY}");
    let there = DistributableThreads::from_object(foreign.string_to_object(&url).unwrap());
    on_a_thread(|| {
        let current = rt.scheduling();
        assert_eq!(echo.long(1).unwrap(), 1);
        assert_eq!(second.told(), seen("long", None, None, (0, 0)));
        let parameter = Some(fixed(7));
        current
            .begin_scheduling_segment("far", parameter, None)
            .unwrap();
        let id = current.id().unwrap();
        assert_eq!(echo.long(2).unwrap(), 2);
        assert_eq!(second.told(), seen("long", Some(id), parameter, at(7)));
        // It is not there while it is in no upcall.
        assert_eq!(there.state(id).unwrap(), State::Ended);
        assert!(!there.cancel(id).unwrap());
        std::thread::scope(|scope| {
            let canceller = scope.spawn(|| {
                assert_eq!(second.told(), seen("wait", Some(id), parameter, at(7)));
                assert_eq!(there.state(id).unwrap(), State::Active);
                assert!(there.cancel(id).unwrap());
                assert_eq!(there.state(id).unwrap(), State::Cancelled);
                second.open_the_gate();
            });
            let raised = echo.wait().unwrap_err();
            assert_eq!(raised.kind(), Kind::ThreadCancelled, "{raised}");
            canceller.join().unwrap();
        });
        // It is cancelled here, too, and makes no calls until its outermost segment ends.
        assert_eq!(current.lookup(id).unwrap().state(), State::Cancelled);
        assert_eq!(echo.long(3).unwrap_err().kind(), Kind::ThreadCancelled);
        let ended = current.end_scheduling_segment("far").unwrap_err();
        assert_eq!(ended.kind(), Kind::ThreadCancelled);
        assert_eq!(echo.long(4).unwrap(), 4);
        assert_eq!(second.told(), seen("long", None, None, (0, 0)));
    });
}
