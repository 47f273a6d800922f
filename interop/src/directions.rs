//! Test cases of calls, in each direction, against any peer.

use crate::Failure;
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::native;
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::sides::{LIMIT, Ours, PeerServer};
use crate::transport::Transport;
use crate::values;
use punctual::{Interface, ObjectRef};

/// Runs each test case in each direction.
///
/// # Errors
/// Reasons why the cases could not be run.
pub(crate) fn calls(
    peer: &Peer,
    version: Version,
    transport: &Transport,
    (ours, server): (&Ours, &PeerServer),
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    eprintln!("  GIOP {}: our client, their server", version.text());
    to(peer, &server.objects(transport, ours)?, version, matrix);
    eprintln!("  our client, their server, their client, our server");
    through(peer, server, ours, version, matrix)?;
    eprintln!("  their client, our server");
    from(peer, transport, ours, version, matrix)
}

/// Runs the test cases in which our client calls the peer's server.
pub(crate) fn to(peer: &Peer, objects: &native::Objects, version: Version, matrix: &mut Matrix) {
    let no_wide = peer.no_wide(version);
    for case in native::cases() {
        let excused = if case.wide { no_wide.clone() } else { None };
        let outcome = excused
            .or_else(|| peer.excuse(case.name))
            .unwrap_or_else(|| (case.run)(objects).into());
        matrix.record(case.name, version, Direction::To, outcome);
    }
    if no_wide.is_some() {
        let outcome = native::wide_is_refused(objects);
        matrix.record("wide text is refused", version, Direction::To, outcome);
    }
}

fn through(
    peer: &Peer,
    server: &PeerServer,
    ours: &Ours,
    version: Version,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let there = Interface::narrow(ours.client.string_to_object(&server.parameters)?)?;
    let relay = values::Relay {
        there,
        here: ours.parameters.clone(),
        utf8: version > Version::V1_0,
    };
    let no_wide = peer.no_wide(version);
    for case in values::cases() {
        let excused = if case.wide { no_wide.clone() } else { None };
        let outcome = excused
            .or_else(|| peer.excuse(case.name))
            .unwrap_or_else(|| (case.run)(&relay).into());
        matrix.record(case.name, version, Direction::Through, outcome);
    }
    if let Some(outcome) = peer.excuse("e_longdouble") {
        matrix.record("e_longdouble", version, Direction::Through, outcome);
    }
    Ok(())
}

/// Runs the test cases in which the peer's client calls our server.
///
/// # Errors
/// The client could not be started, or ended too early.
pub(crate) fn from(
    peer: &Peer,
    transport: &Transport,
    ours: &Ours,
    version: Version,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let text = |object: &ObjectRef| Ok(object.orb().object_to_string(object)?);
    from_by(peer, transport, ours, version, &text, None, matrix)
}

/// Runs the test cases of the peer's client, whose references are converted to text by `text`. If
/// `excused` names a case and a reason, that case counts as not applicable.
///
/// # Errors
/// Those of [`from`], and of `text`.
pub(crate) fn from_by(
    peer: &Peer,
    transport: &Transport,
    ours: &Ours,
    version: Version,
    text: &dyn Fn(&ObjectRef) -> Result<String, Failure>,
    excused: Option<(&str, &str)>,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let mut command = peer.command(version, transport, Role::Client);
    command.arg("call");
    for object in [
        ours.parameters.as_object(),
        ours.describe.as_object(),
        ours.whole.as_object(),
        ours.forwarder.as_object(),
        ours.unknown.as_object(),
        ours.cubit.as_object(),
    ] {
        command.arg(text(object)?);
    }
    let has_wide = peer.no_wide(version).is_none();
    command.arg(if has_wide { "wide" } else { "narrow" });
    // Our references publish code sets from GIOP 1.1 on, which make the peer choose UTF-8.
    let utf8 = version > Version::V1_0;
    command.arg(if utf8 { "utf-8" } else { "latin-1" });
    let client = Running::start("their client", &mut command)?;
    reported(&client, Until::Done, &mut |case, outcome| {
        let outcome = match excused {
            Some((excused, why)) if excused == case => Outcome::NotApplicable(why.to_owned()),
            _ => outcome,
        };
        matrix.record(case, version, Direction::From, outcome);
    })
}

/// State in which a client of the peer stops reporting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// The peer's client has run all its test cases.
    Done,
    /// The client waits until the server has been stopped, or started again.
    Restart,
}

impl Until {
    /// Returns an error unless the client is in the state that it should reach.
    fn reached(self, state: Self) -> Result<(), Failure> {
        match (self, state) {
            (Self::Done, Self::Restart) => Err("their client wants a restart".into()),
            (Self::Restart, Self::Done) => Err("their client has not come to the restart".into()),
            _ => Ok(()),
        }
    }
}

/// Records the outcomes that a client of the peer prints, until it stops reporting.
///
/// # Errors
/// The client ends, or prints nothing, before that, or stops in another state.
pub(crate) fn reported(
    client: &Running,
    until: Until,
    record: &mut dyn FnMut(&str, Outcome),
) -> Result<(), Failure> {
    loop {
        let Some(line) = client.line(LIMIT)? else {
            return Err("their client has ended before its last case".into());
        };
        match line.split_once(' ') {
            Some(("ok", case)) => record(case, Outcome::Passed),
            Some(("FAIL", rest)) => {
                let (case, why) = rest.split_once(": ").unwrap_or((rest, ""));
                record(case, Outcome::Failed(why.to_owned()));
            }
            _ if line == "done" => return until.reached(Until::Done),
            _ if line == "restart" => return until.reached(Until::Restart),
            _ => eprintln!("  their client says: {line}"),
        }
    }
}
