//! Event channels and notification channels: the peer's suppliers and consumers at channels that the command `punctual`
//! serves, and ours at the peer's.

mod killed;
mod served;

use crate::Failure;
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Version};
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::transport::Transport;
use served::{Kind, Served};
use std::path::Path;
use std::process::Command;

/// Constraints that are tried on one event, with their outcomes; the clients of all sides read it.
const CONSTRAINTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/constraints.txt");

/// Runs all cases, in GIOP 1.2.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, folder: &Path, matrix: &mut Matrix) -> Result<(), Failure> {
    for kind in [Kind::Events, Kind::Notifications] {
        matrix.over(kind.title());
        from(peer, kind, matrix)?;
        killed::run(peer, kind, folder, matrix)?;
    }
    Ok(())
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
    match reported(&client, &mut record)? {
        Until::Done => Ok(()),
        Until::Restart => Err("their client wants a restart".into()),
    }
}

/// Returns the command of a client of the peer.
fn client(peer: &Peer, role: &str) -> Command {
    let mut command = peer.command(Version::V1_2, &Transport::Tcp, Role::Client);
    command.arg(role);
    command
}
