//! Tests against omniORB: for each version, both sides are started and every case is run.

use crate::accounts;
use crate::asynchronous;
use crate::bridged;
use crate::build::omniorb as build;
use crate::callbacks;
use crate::capture::Capture;
use crate::channels::{self, Kind};
use crate::desks;
use crate::directions::calls;
use crate::exchange;
use crate::lanes;
use crate::later;
use crate::matrix::{Matrix, Version};
use crate::names;
use crate::peer::Peer;
use crate::process;
use crate::quality;
use crate::secured;
use crate::services;
use crate::sides::{Ours, PeerServer};
use crate::sockets;
use crate::transport::Transport;
use crate::{Failure, Part};
use std::path::Path;

/// Runs all tests, or the selected part, against omniORB.
///
/// # Errors
/// Reasons why the run could not be made at all.
pub(crate) fn run(folder: &Path, part: Part, matrix: &mut Matrix) -> Result<(), Failure> {
    eprintln!("building the peer in {}", folder.display());
    let programs = build::programs(folder)?;
    let peer = Peer::Omniorb(programs.plain);
    match part {
        Part::Values => {
            exchange::run(&peer, matrix)?;
            return asynchronous::run(&peer, matrix);
        }
        Part::Calls => return of_calls(&peer, folder, matrix),
        Part::Channels => return channels::run(&peer, &Kind::ALL, folder, matrix),
        // omniORB has no multicast.
        Part::Groups => return Ok(()),
        Part::All => {}
    }
    matrix.over("TCP");
    for version in Version::ALL {
        over_tcp(&peer, folder, version, matrix)?;
    }
    lanes::run(&peer, matrix);
    sockets::run(&peer, matrix)?;
    secured::run(&programs.secured.map(Peer::Omniorb), matrix)?;
    exchange::run(&peer, matrix)?;
    bridged::run(&peer, matrix)?;
    accounts::run(&peer, matrix)?;
    of_calls(&peer, folder, matrix)?;
    channels::run(&peer, &Kind::ALL, folder, matrix)
}

/// Tests asynchronous calls, callbacks, and the policies of Messaging.
fn of_calls(peer: &Peer, folder: &Path, matrix: &mut Matrix) -> Result<(), Failure> {
    asynchronous::run(peer, matrix)?;
    desks::run(peer, matrix)?;
    later::run(peer, matrix)?;
    callbacks::run(peer, matrix)?;
    quality::run(peer, folder, matrix)
}

/// Runs all tests, including those that need TCP: Wireshark's captures, and the peer's own
/// services.
fn over_tcp(
    peer: &Peer,
    folder: &Path,
    version: Version,
    matrix: &mut Matrix,
) -> Result<(), Failure> {
    let ours = Ours::start(version, &Transport::Tcp)?;
    let server = PeerServer::start(peer, version, &Transport::Tcp, &ours)?;
    let mut ports = Vec::new();
    for orb in [&ours.server, &ours.whole_server] {
        ports.extend(
            orb.endpoints()
                .iter()
                .filter_map(|endpoint| endpoint.port()),
        );
    }
    let capture = Capture::start(
        &folder.join(format!("giop-{}.pcapng", version.text())),
        server.port,
        ports,
    );
    calls(peer, version, &Transport::Tcp, (&ours, &server), matrix)?;
    services::references(
        &ours.client,
        &server.describe,
        &ours.describe,
        version,
        matrix,
    );
    services::naming(&ours.describe.clone().into(), version, matrix);
    names::run(version, matrix);
    for (case, direction, outcome) in capture.end(version) {
        matrix.record(case, version, direction, outcome);
    }
    ours.stop()
}

/// Returns the reason why omniORB cannot be tested on this machine, or `None`.
pub(crate) fn missing() -> Option<String> {
    let headers = Path::new("/usr/include/omniORB4/CORBA.h");
    let mut missing: Vec<&str> = build::NEEDED
        .iter()
        .filter(|(program, _)| !process::installed(program))
        .map(|(_, package)| *package)
        .collect();
    if !headers.is_file() {
        missing.push("libomniorb4-dev");
    }
    if !build::notification_idl().is_file() {
        missing.push("omniorb-idl");
    }
    (!missing.is_empty()).then(|| format!("not installed: {}", missing.join(", ")))
}
