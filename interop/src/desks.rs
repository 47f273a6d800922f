//! Handler objects of the other side (`idl/plain.idl`). The peers' are ordinary servants of the interface that `punctual idl
//! --implied-idl` prints, in the peer's process: our client, which reads the reply, delivers it there by a call. The peers' clients
//! call a handler of ours with results and with exceptions in the valuetype `Messaging::ExceptionHolder`.

use crate::Failure;
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::peer::Peer;
use crate::plain::{AmiDeskHandler, AmiDeskHandlerServant, Desk, DeskHalfError};
use crate::process::Running;
use crate::role::Role;
use crate::sides::{LIMIT, announced, orb};
use crate::transport::Transport;
use punctual::messaging::{ExceptionHolder, ReplyHandlerServant};
use punctual::{Interface, RootPoa, SystemException};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Values travel in none before it between different ORBs.
const VERSION: Version = Version::V1_2;

/// Tries them.
///
/// # Errors
/// What kept the run from being made.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("TCP, handlers from implied IDL");
    eprintln!("  handlers from implied IDL");
    to(peer, matrix)?;
    from(peer, matrix)
}

/// Our client, their server: its desk answers, and its handler is told of it.
fn to(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    let client = orb(VERSION, &Transport::Tcp, Role::Client)?;
    let mut command = peer.command(VERSION, &Transport::Tcp, Role::Server);
    let server = Running::start("their server", command.arg("desk"))?;
    let mut references = announced(&server)?;
    let mut take = |name: &str| {
        let reference = references.remove(name);
        reference.ok_or_else(|| format!("their server has no `{name}`"))
    };
    let desk = Desk::from_object(client.string_to_object(&take("desk")?)?);
    let handler = AmiDeskHandler::from_object(client.string_to_object(&take("handler")?)?);
    let mut record = |case, outcome: Result<(), String>| {
        matrix.record(case, VERSION, Direction::To, outcome);
    };
    let is_told = |expected: &str| match server.line(LIMIT) {
        Ok(Some(line)) if line.strip_prefix("told ") == Some(expected) => Ok(()),
        Ok(line) => Err(format!("{line:?} instead of `told {expected}`")),
        Err(error) => Err(error.to_string()),
    };
    desk.sendc_half(&handler, 42);
    let half = is_told("half 21");
    desk.sendc_set_rate(&handler, 9);
    let set = half.and_then(|()| is_told("set_rate"));
    desk.sendc_get_rate(&handler);
    record("results, told", set.and_then(|()| is_told("get_rate 9")));
    desk.sendc_half(&handler, 7);
    let refused = is_told("half Refused 7 is odd");
    desk.sendc_half(&handler, -2);
    let system = || is_told("half IDL:omg.org/CORBA/NO_PERMISSION:1.0 5");
    record("exceptions, told", refused.and_then(|()| system()));
    // The last calls may not have returned yet.
    let ended = server.end(LIMIT);
    client.shutdown(true)?;
    Ok(ended?)
}

/// Their client, our server.
fn from(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    let server = orb(VERSION, &Transport::Tcp, Role::Server)?;
    let poa = server.root_poa()?;
    let (told, heard) = channel();
    let handler: AmiDeskHandler = poa.activate(Handler(told))?;
    poa.manager().activate()?;
    let mut command = peer.command(VERSION, &Transport::Tcp, Role::Client);
    command.args(["tell", &server.object_to_string(&handler)?]);
    let client = Running::start("their client", &mut command)?;
    let until = reported(&client, &mut |case, outcome| {
        let expected: &[&str] = match case {
            "results, told" => &["half 21", "set_rate", "get_rate 9"],
            _ => &["half Refused 7 is odd", "get_rate NoPermission 5"],
        };
        let outcome = match outcome {
            Outcome::Passed => were_told(&heard, expected).into(),
            other => other,
        };
        matrix.record(case, VERSION, Direction::From, outcome);
    })?;
    client.end(LIMIT)?;
    server.shutdown(true)?;
    match until {
        Until::Done => Ok(()),
        Until::Restart => Err("their client wants a restart".into()),
    }
}

fn were_told(heard: &Receiver<String>, expected: &[&str]) -> Result<(), String> {
    for expected in expected {
        // Their calls have returned.
        match heard.try_recv() {
            Ok(told) if told == *expected => {}
            other => return Err(format!("{other:?} instead of `{expected}`")),
        }
    }
    Ok(())
}

/// Hands on what it is told, as words.
struct Handler(Sender<String>);

impl Handler {
    fn tell(&self, what: String) -> Result<(), SystemException> {
        // Whoever has stopped to listen has heard enough.
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
