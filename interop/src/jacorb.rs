//! The run against JacORB: for each version, both sides are started and every case is tried.

use crate::Failure;
use crate::accounts;
use crate::asynchronous;
use crate::bridged;
use crate::build::jacorb as build;
use crate::directions::calls;
use crate::exchange;
use crate::hooks;
use crate::lanes;
use crate::matrix::{Matrix, Version};
use crate::peer::Peer;
use crate::process;
use crate::sides::{Ours, PeerServer};
use crate::transport::Transport;
use std::path::Path;

/// Tries everything against JacORB.
///
/// # Errors
/// What kept the run from being made at all.
pub(crate) fn run(folder: &Path, only_values: bool, matrix: &mut Matrix) -> Result<(), Failure> {
    eprintln!("building the peer in {}", folder.display());
    let peer = Peer::Jacorb(build::classes(folder)?);
    if only_values {
        exchange::run(&peer, matrix)?;
        return asynchronous::run(&peer, matrix);
    }
    matrix.over("TCP");
    for version in Version::ALL {
        let ours = Ours::start(version, &Transport::Tcp)?;
        let server = PeerServer::start(&peer, version, &Transport::Tcp, &ours)?;
        calls(&peer, version, &Transport::Tcp, (&ours, &server), matrix)?;
        ours.stop()?;
    }
    lanes::run(&peer, matrix);
    hooks::run(&peer, matrix);
    exchange::run(&peer, matrix)?;
    asynchronous::run(&peer, matrix)?;
    bridged::run(&peer, matrix)?;
    accounts::run(&peer, matrix)
}

/// Why JacORB cannot be tried here, if so.
pub(crate) fn missing() -> Option<String> {
    let mut missing: Vec<&str> = build::NEEDED
        .iter()
        .filter(|(program, _)| !process::installed(program))
        .map(|(_, package)| *package)
        .collect();
    // One package has two of the programs.
    missing.dedup();
    (!missing.is_empty()).then(|| format!("not installed: {}", missing.join(", ")))
}
