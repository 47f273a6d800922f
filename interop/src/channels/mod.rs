//! Event channels and notification channels: the peer's suppliers and consumers at channels that the command `punctual`
//! serves, and ours at the peer's.

mod alarms;
mod client;
mod events;
mod filters;
mod killed;
mod notifications;
mod place;
mod served;
mod tried;

use crate::Failure;
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Version};
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::sides::announced;
use crate::transport::Transport;
use place::Place;
pub(crate) use served::Kind;
use served::Served;
use std::path::Path;
use std::process::Command;
use tried::{OF_NOTIFICATIONS, Tried};

/// Constraints that are tried on one event, with their outcomes; the clients of all sides read it.
const CONSTRAINTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/constraints.txt");

/// Runs the cases of these kinds of channels, in GIOP 1.2.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(
    peer: &Peer,
    kinds: &[Kind],
    folder: &Path,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    for &kind in kinds {
        matrix.over(kind.title());
        from(peer, kind, matrix)?;
        killed::run(peer, kind, folder, matrix)?;
        if let Peer::Jacorb(_) = peer {
            to(peer, kind, matrix)?;
        }
    }
    Ok(())
}

/// Runs our clients at a service of the peer.
fn to(peer: &Peer, kind: Kind, matrix: &mut Matrix) -> Result<(), Failure> {
    eprintln!("  our clients, their service");
    let service = Running::start("their service", &mut client(peer, "channels"))?;
    let reference = announced(&service)?.remove(kind.word());
    let reference = reference.ok_or("their service does not say where it is")?;
    match kind {
        Kind::Events => events::run(&reference, &mut Tried::new(matrix, &[])),
        Kind::Notifications => {
            let place = Place::new(&reference)?;
            let mut tried = Tried::new(matrix, OF_NOTIFICATIONS);
            notifications::run(&place, &mut tried);
            filters::run(&place, &mut tried)?;
            Ok(place.orb.shutdown(true)?)
        }
    }
}

/// Runs the peer's clients at a service of ours.
fn from(peer: &Peer, kind: Kind, matrix: &mut Matrix) -> Result<(), Failure> {
    eprintln!("  their clients, our service");
    let service = Served::start(kind, 0, None)?;
    let mut command = client(peer, kind.word());
    command.arg(&service.reference);
    if kind == Kind::Notifications {
        command.arg(CONSTRAINTS);
    }
    let client = Running::start("their client", &mut command)?;
    let mut record = |case: &str, outcome| {
        matrix.record(case, Version::V1_2, Direction::From, outcome);
    };
    reported(&client, Until::Done, &mut record)
}

/// Returns the command of a client of the peer.
fn client(peer: &Peer, role: &str) -> Command {
    let mut command = peer.command(Version::V1_2, &Transport::Tcp, Role::Client);
    command.arg(role);
    command
}
