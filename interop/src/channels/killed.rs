//! A service of ours is killed while the peer's suppliers and consumers are connected, and started again.

use super::served::{Kind, Served};
use crate::Failure;
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Version};
use crate::peer::Peer;
use crate::process::Running;
use std::path::Path;

/// Runs the cases of one kind of channel, with a store and without.
///
/// # Errors
/// Reasons why the run could not be made.
pub(super) fn run(
    peer: &Peer,
    kind: Kind,
    folder: &Path,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    eprintln!("  their clients, our service that is killed");
    let store = tempfile::tempdir_in(folder)?;
    let file = store.path().join("store");
    match kind {
        Kind::Events => {
            survive(peer, kind, (Some(&file), &["kept"]), matrix)?;
            survive(peer, kind, (None, &["lost"]), matrix)
        }
        // A channel says itself whether it is to be kept.
        Kind::Notifications => survive(peer, kind, (Some(&file), &[]), matrix),
    }
}

fn survive(
    peer: &Peer,
    kind: Kind,
    (store, arguments): (Option<&Path>, &[&str]),
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let service = Served::start(kind, 0, store)?;
    let port = service.port;
    let mut command = super::client(peer, &format!("survive-{}", kind.word()));
    command.arg(service.url()).args(arguments);
    let mut client = Running::start("their client", &mut command)?;
    let mut record = |case: &str, outcome| {
        matrix.record(case, Version::V1_2, Direction::From, outcome);
    };
    reported(&client, Until::Restart, &mut record)?;
    drop(service);
    client.say("killed")?;
    reported(&client, Until::Restart, &mut record)?;
    let _service = Served::start(kind, port, store)?;
    client.say("started")?;
    reported(&client, Until::Done, &mut record)
}
