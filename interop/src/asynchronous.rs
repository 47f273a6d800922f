//! Asynchronous calls in both directions (`idl/asynchronous.idl`): with pollers, and with reply
//! handlers that are closures, the caller's own objects, or objects of the other side, to which the
//! reply is delivered by a call.

use crate::Failure;
use crate::ami::{
    AmiClerkHandler, AmiClerkHandlerServant, Clerk, ClerkCopiesError, ClerkServant, Refused,
};
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::sides::{LIMIT, announced, orb};
use crate::transport::Transport;
use punctual::messaging::{ExceptionHolder, ReplyHandlerServant};
use punctual::{Interface, RootPoa, SystemException};
use std::fmt::Debug;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Version of these tests, GIOP 1.2: in earlier versions different ORBs cannot exchange valuetypes.
const VERSION: Version = Version::V1_2;

const RESULTS: &str = "results, to a handler of the other side";
const EXCEPTION: &str = "an exception, to a handler of the other side";

const AT_ITS_CALLER: &str =
    "JacORB calls reply handlers of the caller's own process alone (ReplyReceiver.performCallback)";

const NO_STATE: &str = "omniORB's ExceptionHolder has no state: it never leaves its process";

/// Tests asynchronous calls in both directions.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("TCP, asynchronous calls");
    eprintln!("  asynchronous calls");
    to(peer, matrix)?;
    from(peer, matrix)
}

/// Runs the test cases of our client against the peer's server.
fn to(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    let client = orb(VERSION, &Transport::Tcp, Role::Client)?;
    let mut command = peer.command(VERSION, &Transport::Tcp, Role::Server);
    let server = Running::start("their server", command.arg("answer"))?;
    let mut references = announced(&server)?;
    let mut take = |name: &str| {
        let reference = references.remove(name);
        reference.ok_or_else(|| format!("their server has no `{name}`"))
    };
    let clerk = Clerk::from_object(client.string_to_object(&take("clerk")?)?);
    let handler = AmiClerkHandler::from_object(client.string_to_object(&take("handler")?)?);
    let poa = client.root_poa()?;
    poa.manager().activate()?;
    let (servant, heard) = Handler::new();
    let own: AmiClerkHandler = poa.activate(servant)?;
    let mut record = |case, outcome: Result<(), String>| {
        matrix.record(case, VERSION, Direction::To, outcome);
    };
    record("polled", polled(&clerk));
    record(
        "results, to the caller's handler",
        results(&clerk, &own, &heard),
    );
    record(
        "an exception, to the caller's handler",
        exception(&clerk, &own, &heard),
    );
    record(
        "attributes, to the caller's handler",
        attributes(&clerk, &own, &heard),
    );
    let line = || told_by(&server);
    clerk.sendc_add(&handler, 4, 5);
    let sum = same(line()?, "add 9");
    clerk.sendc_copies(&handler, "xy", &2);
    record(RESULTS, sum.and(same(line()?, "copies xyxy 0 true")));
    let outcome = match peer {
        Peer::Omniorb(_) => Outcome::NotApplicable(NO_STATE.to_owned()),
        Peer::Jacorb(_) => {
            clerk.sendc_copies(&handler, "xy", &0);
            same(line()?, "copies Refused no copies of xy").into()
        }
    };
    matrix.record(EXCEPTION, VERSION, Direction::To, outcome);
    drop(server);
    Ok(client.shutdown(false)?)
}

/// Returns the text that a reply handler in the peer's server prints.
fn told_by(server: &Running) -> Result<String, Failure> {
    let line = server.line(LIMIT)?.ok_or("their server has ended")?;
    let printed_by_handler = line.strip_prefix("told ").map(str::to_owned);
    printed_by_handler.ok_or_else(|| format!("unexpected line of their server: {line}").into())
}

/// Runs the test cases of the peer's client against our server.
fn from(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    let server = orb(VERSION, &Transport::Tcp, Role::Server)?;
    let poa = server.root_poa()?;
    let clerk: Clerk = poa.activate(Behind::default())?;
    let (servant, heard) = Handler::new();
    let handler: AmiClerkHandler = poa.activate(servant)?;
    poa.manager().activate()?;
    let mut command = peer.command(VERSION, &Transport::Tcp, Role::Client);
    command.arg("send");
    command.arg(server.object_to_string(&clerk)?);
    command.arg(server.object_to_string(&handler)?);
    let client = Running::start("their client", &mut command)?;
    reported(&client, Until::Done, &mut |case, outcome| {
        matrix.record(case, VERSION, Direction::From, outcome);
    })?;
    let mut record =
        |case, outcome: Outcome| matrix.record(case, VERSION, Direction::From, outcome);
    record(
        RESULTS,
        match peer {
            // Their calls are in flight at once, and end in either order.
            Peer::Omniorb(_) => {
                let mut printed_by_handler = [next(&heard), next(&heard)];
                printed_by_handler.sort();
                let printed_by_handler = printed_by_handler.each_ref().map(String::as_str);
                same(printed_by_handler, ["add 9", "copies xyxy 0 true"]).into()
            }
            Peer::Jacorb(_) => Outcome::NotApplicable(AT_ITS_CALLER.to_owned()),
        },
    );
    record(
        EXCEPTION,
        Outcome::NotApplicable(
            match peer {
                Peer::Omniorb(_) => NO_STATE,
                Peer::Jacorb(_) => AT_ITS_CALLER,
            }
            .to_owned(),
        ),
    );
    client.end(LIMIT)?;
    Ok(server.shutdown(false)?)
}

fn polled(clerk: &Clerk) -> Result<(), String> {
    let calls = [1, 2, 3].map(|number| clerk.sendp_add(number, 1));
    for (number, call) in [1, 2, 3].into_iter().zip(calls) {
        same(call.wait().map_err(|error| error.to_string())?, number + 1)?;
    }
    match clerk.sendp_copies("ab", &0).wait() {
        Err(ClerkCopiesError::Refused(refused)) => same(refused.why, "no copies of ab"),
        other => Err(format!("{other:?} instead of Refused")),
    }
}

fn results(clerk: &Clerk, own: &AmiClerkHandler, heard: &Receiver<String>) -> Result<(), String> {
    clerk.sendc_add(own, 40, 2);
    same(next(heard), "add 42")?;
    clerk.sendc_copies(own, "ab", &3);
    same(next(heard), "copies ababab 0 true")
}

fn exception(clerk: &Clerk, own: &AmiClerkHandler, heard: &Receiver<String>) -> Result<(), String> {
    clerk.sendc_copies(own, "ab", &0);
    same(next(heard), "copies Refused no copies of ab")
}

fn attributes(
    clerk: &Clerk,
    own: &AmiClerkHandler,
    heard: &Receiver<String>,
) -> Result<(), String> {
    clerk.sendc_set_rate(own, 7);
    same(next(heard), "set_rate")?;
    clerk.sendc_get_rate(own);
    same(next(heard), "get_rate 7")
}

fn next(heard: &Receiver<String>) -> String {
    heard
        .recv_timeout(LIMIT)
        .unwrap_or_else(|_| "nothing".to_owned())
}

fn same<T: PartialEq<E> + Debug, E: Debug>(got: T, expected: E) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    Err(format!("got {got:?} instead of {expected:?}"))
}

/// Servant of Punctual's server in the tests of asynchronous calls.
#[derive(Default)]
struct Behind {
    rate: AtomicI32,
}

impl ClerkServant for Behind {
    fn rate(&self) -> Result<i32, SystemException> {
        Ok(self.rate.load(Ordering::Relaxed))
    }

    fn set_rate(&self, value: i32) -> Result<(), SystemException> {
        self.rate.store(value, Ordering::Relaxed);
        Ok(())
    }

    fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        Ok(a.wrapping_add(b))
    }

    fn copies(&self, text: &str, number: &mut i32) -> Result<(String, bool), ClerkCopiesError> {
        match usize::try_from(std::mem::take(number)) {
            Ok(times) if times > 0 => Ok((text.repeat(times), times > 1)),
            _ => Err(Refused {
                why: format!("no copies of {text}"),
            }
            .into()),
        }
    }
}

/// Reply handler that sends a description of each reply to a channel.
struct Handler(Sender<String>);

impl Handler {
    fn new() -> (Self, Receiver<String>) {
        let (printed_by_handler, heard) = channel();
        (Self(printed_by_handler), heard)
    }

    fn tell(&self, what: String) -> Result<(), SystemException> {
        // The receiver may be gone: the rest of the replies is not needed then.
        let _ = self.0.send(what);
        Ok(())
    }

    fn excep(&self, what: &str, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        let exception = holder.map(ExceptionHolder::exception::<ClerkCopiesError>);
        self.tell(match exception {
            Some(ClerkCopiesError::Refused(refused)) => format!("{what} Refused {}", refused.why),
            Some(ClerkCopiesError::System(exception)) => format!("{what} {exception}"),
            None => format!("{what} nil"),
        })
    }
}

impl ReplyHandlerServant for Handler {}

impl AmiClerkHandlerServant for Handler {
    fn get_rate(&self, ami_return_val: i32) -> Result<(), SystemException> {
        self.tell(format!("get_rate {ami_return_val}"))
    }

    fn get_rate_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.excep("get_rate", holder)
    }

    fn set_rate(&self) -> Result<(), SystemException> {
        self.tell("set_rate".to_owned())
    }

    fn set_rate_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.excep("set_rate", holder)
    }

    fn add(&self, ami_return_val: i32) -> Result<(), SystemException> {
        self.tell(format!("add {ami_return_val}"))
    }

    fn add_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.excep("add", holder)
    }

    fn copies(&self, text: &str, number: i32, many: bool) -> Result<(), SystemException> {
        self.tell(format!("copies {text} {number} {many}"))
    }

    fn copies_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.excep("copies", holder)
    }
}
