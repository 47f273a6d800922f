//! Tests against JacORB: for each version, both sides are started and every case is run.

use crate::accounts;
use crate::asynchronous;
use crate::bridged;
use crate::build::jacorb as build;
use crate::callbacks;
use crate::channels::{self, Kind};
use crate::desks;
use crate::directions::calls;
use crate::exchange;
use crate::groups;
use crate::hooks;
use crate::lanes;
use crate::later;
use crate::matrix::{Matrix, Version};
use crate::peer::Peer;
use crate::process;
use crate::quality;
use crate::sides::{Ours, PeerServer};
use crate::transport::Transport;
use crate::{Failure, Part};
use std::path::Path;

/// Runs all tests, or the selected part, against JacORB.
///
/// # Errors
/// Reasons why the run could not be made at all.
pub(crate) fn run(folder: &Path, part: Part, matrix: &mut Matrix) -> Result<(), Failure> {
    eprintln!("building the peer in {}", folder.display());
    let peer = Peer::Jacorb(build::classes(folder)?);
    match part {
        Part::Values => {
            exchange::run(&peer, matrix)?;
            return asynchronous::run(&peer, matrix);
        }
        Part::Calls => return of_calls(&peer, folder, matrix),
        Part::Channels => return channels::run(&peer, &Kind::ALL, folder, matrix),
        Part::Groups => return groups::run(&peer, folder, matrix),
        Part::All => {}
    }
    matrix.over("TCP");
    for version in Version::ALL {
        let ours = Ours::start(version, &Transport::Tcp)?;
        let server = PeerServer::start(&peer, version, &Transport::Tcp, &ours)?;
        calls(&peer, version, &Transport::Tcp, (&ours, &server), matrix)?;
        ours.stop()?;
    }
    lanes::run(&peer, matrix);
    exchange::run(&peer, matrix)?;
    bridged::run(&peer, matrix)?;
    accounts::run(&peer, matrix)?;
    of_calls(&peer, folder, matrix)?;
    groups::run(&peer, folder, matrix)?;
    channels::run(&peer, &Kind::ALL, folder, matrix)
}

/// Tests asynchronous calls, callbacks, interceptors, and the policies of Messaging.
fn of_calls(peer: &Peer, folder: &Path, matrix: &mut Matrix) -> Result<(), Failure> {
    hooks::run(peer, matrix);
    asynchronous::run(peer, matrix)?;
    desks::run(peer, matrix)?;
    later::run(peer, matrix)?;
    callbacks::run(peer, matrix)?;
    quality::run(peer, folder, matrix)
}

/// Returns the reason why JacORB cannot be tested on this machine, or `None`.
pub(crate) fn missing() -> Option<String> {
    let mut missing: Vec<&str> = build::NEEDED
        .iter()
        .filter(|(program, _)| !process::installed(program))
        .map(|(_, package)| *package)
        .collect();
    // Two of the programs are in one package.
    missing.dedup();
    (!missing.is_empty()).then(|| format!("not installed: {}", missing.join(", ")))
}
