//! Reply handlers that are objects of another process (`idl/plain.idl`). The peers' handlers are
//! ordinary servants of the interface that `punctual idl --implied-idl` prints, in the process of
//! the called object or in another one: our client reads the reply and delivers it to the handler
//! by a call. The peers' clients call a handler of ours with results and with exceptions in the
//! valuetype `Messaging::ExceptionHolder`.

use crate::Failure;
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::peer::Peer;
use crate::plain::{AmiDeskHandler, AmiDeskHandlerServant, Desk, DeskHalfError, Refused};
use crate::process::Running;
use crate::role::Role;
use crate::sides::{LIMIT, announced, orb};
use crate::transport::Transport;
use punctual::dynamic::Request;
use punctual::messaging::{ExceptionHolder, ReplyHandlerServant};
use punctual::{Any, Interface, ObjectRef, RootPoa, SystemException, TypeCode, Typed};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Version of these tests, GIOP 1.2: in earlier versions different ORBs cannot exchange valuetypes.
const VERSION: Version = Version::V1_2;

/// Tests remote reply handlers in both directions.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("TCP, handlers from implied IDL");
    eprintln!("  handlers from implied IDL");
    to(peer, matrix)?;
    from(peer, matrix)
}

/// Tests our client against the peer's server: the `Desk` object there answers, and the reply is
/// delivered to a handler, first in the server's process, then in a third process.
fn to(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    let client = orb(VERSION, &Transport::Tcp, Role::Client)?;
    let (server, mut references) = desk_of(peer)?;
    let (third, mut of_third) = desk_of(peer)?;
    let desk = Desk::from_object(client.string_to_object(&take(&mut references, "desk")?)?);
    let handler = client.string_to_object(&take(&mut references, "handler")?)?;
    let elsewhere = client.string_to_object(&take(&mut of_third, "handler")?)?;
    for (whose, handler, [results, exceptions, dynamic]) in [
        (&server, &handler, CASES),
        (&third, &elsewhere, CASES_OF_THIRD),
    ] {
        let told = HandlerProcess { whose };
        let typed = AmiDeskHandler::from_object(handler.clone());
        let mut record = |case, outcome: Result<(), String>| {
            matrix.record(case, VERSION, Direction::To, outcome);
        };
        record(results, told.results(&desk, &typed));
        record(exceptions, told.exceptions(&desk, &typed));
        record(dynamic, told.dynamically(&desk, handler));
    }
    // The last calls may not have returned yet.
    let ended = server.end(LIMIT).and(third.end(LIMIT));
    client.shutdown(true)?;
    Ok(ended?)
}

/// Names of the cases, which are tested with a handler in the called object's process and with one
/// in a third process.
const CASES: [&str; 3] = [
    "results to a handler",
    "exceptions to a handler",
    "dynamic requests to a handler",
];
const CASES_OF_THIRD: [&str; 3] = [
    "results to a handler in a third process",
    "exceptions to a handler in a third process",
    "dynamic requests to a handler in a third process",
];

/// Starts a process of the peer with a `Desk` object and a reply handler; returns it with the
/// references that it prints.
fn desk_of(peer: &Peer) -> Result<(Running, BTreeMap<String, String>), Failure> {
    let mut command = peer.command(VERSION, &Transport::Tcp, Role::Server);
    let server = Running::start("their server", command.arg("desk"))?;
    let references = announced(&server)?;
    Ok((server, references))
}

fn take(references: &mut BTreeMap<String, String>, name: &str) -> Result<String, Failure> {
    let reference = references.remove(name);
    Ok(reference.ok_or_else(|| format!("their server has no `{name}`"))?)
}

/// Process of the peer whose reply handler prints the replies that it receives.
struct HandlerProcess<'r> {
    whose: &'r Running,
}

impl HandlerProcess<'_> {
    fn is(&self, expected: &str) -> Result<(), String> {
        match self.whose.line(LIMIT) {
            Ok(Some(line)) if line.strip_prefix("told ") == Some(expected) => Ok(()),
            Ok(line) => Err(format!("{line:?} instead of `told {expected}`")),
            Err(error) => Err(error.to_string()),
        }
    }

    fn results(&self, desk: &Desk, handler: &AmiDeskHandler) -> Result<(), String> {
        desk.sendc_half(handler, 42);
        self.is("half 21")?;
        desk.sendc_set_rate(handler, 9);
        self.is("set_rate")?;
        desk.sendc_get_rate(handler);
        self.is("get_rate 9")
    }

    fn exceptions(&self, desk: &Desk, handler: &AmiDeskHandler) -> Result<(), String> {
        desk.sendc_half(handler, 7);
        self.is("half Refused 7 is odd")?;
        desk.sendc_half(handler, -2);
        self.is("half IDL:omg.org/CORBA/NO_PERMISSION:1.0 5")
    }

    /// Tests dynamic requests whose replies go to the handler (`Request::sendc`).
    fn dynamically(&self, desk: &Desk, handler: &ObjectRef) -> Result<(), String> {
        let half = |number: i32| -> Result<(), SystemException> {
            let mut request = Request::new(desk, "half");
            request
                .add_in("number", Any::new(&number)?)
                .set_return_type(&TypeCode::LONG)
                .add_exception(&Refused::type_code());
            request.sendc(handler)
        };
        half(42).map_err(|error| error.to_string())?;
        self.is("half 21")?;
        half(7).map_err(|error| error.to_string())?;
        self.is("half Refused 7 is odd")
    }
}

/// Runs the test cases of the peer's client against our server.
fn from(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    let server = orb(VERSION, &Transport::Tcp, Role::Server)?;
    let poa = server.root_poa()?;
    let (told, heard) = channel();
    let handler: AmiDeskHandler = poa.activate(Handler(told))?;
    poa.manager().activate()?;
    let mut command = peer.command(VERSION, &Transport::Tcp, Role::Client);
    command.args(["tell", &server.object_to_string(&handler)?]);
    let client = Running::start("their client", &mut command)?;
    reported(&client, Until::Done, &mut |case, outcome| {
        let expected: &[&str] = match case {
            "results to a handler" => &["half 21", "set_rate", "get_rate 9"],
            _ => &["half Refused 7 is odd", "get_rate NoPermission 5"],
        };
        let outcome = match outcome {
            Outcome::Passed => were_told(&heard, expected).into(),
            other => other,
        };
        matrix.record(case, VERSION, Direction::From, outcome);
    })?;
    client.end(LIMIT)?;
    Ok(server.shutdown(true)?)
}

fn were_told(heard: &Receiver<String>, expected: &[&str]) -> Result<(), String> {
    for expected in expected {
        // Their calls have returned by now.
        match heard.try_recv() {
            Ok(told) if told == *expected => {}
            other => return Err(format!("{other:?} instead of `{expected}`")),
        }
    }
    Ok(())
}

/// Reply handler that sends a description of each reply to a channel.
struct Handler(Sender<String>);

impl Handler {
    fn tell(&self, what: String) -> Result<(), SystemException> {
        // The receiver may be gone: the rest of the replies is not needed then.
        let _ = self.0.send(what);
        Ok(())
    }

    fn excep(&self, what: &str, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        let exception = holder.map(ExceptionHolder::exception::<DeskHalfError>);
        self.tell(match exception {
            Some(DeskHalfError::Refused(refused)) => format!("{what} Refused {}", refused.why),
            Some(DeskHalfError::System(exception)) => {
                format!("{what} {:?} {}", exception.kind(), exception.minor())
            }
            None => format!("{what} nil"),
        })
    }
}

impl ReplyHandlerServant for Handler {}

impl AmiDeskHandlerServant for Handler {
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

    fn half(&self, ami_return_val: i32) -> Result<(), SystemException> {
        self.tell(format!("half {ami_return_val}"))
    }

    fn half_excep(&self, holder: Option<&ExceptionHolder>) -> Result<(), SystemException> {
        self.excep("half", holder)
    }
}
