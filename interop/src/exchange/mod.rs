//! Valuetypes, abstract interfaces and Anys that are sent and returned, in either direction
//! (`idl/values.idl`). Neither side has a factory for the valuetype `Hidden`, though both send such
//! values.

mod cases;
mod servant;
mod words;

use crate::Failure;
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Version};
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::sides::{LIMIT, announced, orb};
use crate::transport::Transport;
use crate::v;
use punctual::{Interface, Orb, RootPoa};

/// Tests the exchange in each GIOP version.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("TCP, values and Anys");
    for version in Version::ALL {
        let version_text = version.text();
        eprintln!("  GIOP {version_text}: values and Anys");
        to(peer, version, matrix)?;
        from(peer, version, matrix)?;
    }
    Ok(())
}

/// Makes an ORB in which the valuetypes' factories are registered.
fn ours(version: Version, role: Role) -> Result<Orb, Failure> {
    let orb = orb(version, &Transport::Tcp, role)?;
    orb.register_value_factory(v::NodeFactory);
    orb.register_value_factory(v::NamedFactory);
    orb.register_value_factory(v::ExtendedFactory);
    orb.register_value_factory(v::TextFactory);
    orb.register_value_factory(v::LongsFactory);
    orb.register_value_factory(v::ThingFactory::new(servant::Things));
    Ok(orb)
}

/// Runs the test cases of our client against the peer's server.
fn to(peer: &Peer, version: Version, matrix: &mut Matrix) -> Result<(), Failure> {
    let client = ours(version, Role::Client)?;
    let mut command = peer.command(version, &Transport::Tcp, Role::Server);
    let server = Running::start("their server", command.arg("offer"))?;
    let reference = announced(&server)?.remove("exchange");
    let reference = reference.ok_or("their server has no `exchange`")?;
    let there = v::Exchange::from_object(client.string_to_object(&reference)?);
    let poa = client.root_poa()?;
    poa.manager().activate()?;
    let spot = poa.activate(servant::Spot)?;
    let theirs = cases::Theirs { there, spot };
    for case in cases::all() {
        let excused = peer.excuse_value(case.name, version, Direction::To);
        let outcome = excused.unwrap_or_else(|| (case.run)(&theirs).into());
        matrix.record(case.name, version, Direction::To, outcome);
    }
    drop(server);
    Ok(client.shutdown(false)?)
}

/// Runs the test cases of the peer's client against our server.
fn from(peer: &Peer, version: Version, matrix: &mut Matrix) -> Result<(), Failure> {
    let server = ours(version, Role::Server)?;
    let poa = server.root_poa()?;
    let exchange: v::Exchange = poa.activate(servant::Exchange)?;
    poa.manager().activate()?;
    let mut command = peer.command(version, &Transport::Tcp, Role::Client);
    command.arg("exchange");
    command.arg(server.object_to_string(&exchange)?);
    let client = Running::start("their client", &mut command)?;
    reported(&client, Until::Done, &mut |case, outcome| {
        let excused = peer.excuse_value(case, version, Direction::From);
        matrix.record(case, version, Direction::From, excused.unwrap_or(outcome));
    })?;
    client.end(LIMIT)?;
    Ok(server.shutdown(false)?)
}
