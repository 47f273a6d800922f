//! Calls over TLS: every case with both sides authenticated; each TLS version, with one or both
//! sides authenticated; and peers that must be refused.

use crate::Failure;
use crate::directions::{calls, from, to};
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::peer::Peer;
use crate::process;
use crate::role::Role;
use crate::services;
use crate::sides::{LIMIT, Ours, PeerServer};
use crate::tls::Tls;
use crate::transport::Transport;
use punctual::SystemExceptionKind as Kind;
use punctual::protocol::ssliop::TlsVersion;

const NO_COMPONENT: &str = "both ORBs publish TLS as a component of IIOP profiles, which have none in \
                            GIOP 1.0";

/// Name of the row that stands for all cases that cannot be run.
const BY_REFERENCE: &str = "calls by reference";

/// Runs all tests over TLS against omniORB, or records why that is impossible.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Result<Peer, String>, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("TLS");
    for direction in Direction::ALL {
        let outcome = Outcome::NotApplicable(NO_COMPONENT.to_owned());
        matrix.record(BY_REFERENCE, Version::V1_0, direction, outcome);
    }
    let peer = match peer {
        Ok(peer) => peer,
        Err(why) => {
            for direction in Direction::ALL {
                let outcome = Outcome::Skipped(format!("no omniORB with TLS: {}", why.trim()));
                matrix.record(BY_REFERENCE, Version::V1_2, direction, outcome);
            }
            return Ok(());
        }
    };
    let transport = Transport::Tls(Tls::new(TlsVersion::V1_3, true)?);
    for version in [Version::V1_1, Version::V1_2] {
        let ours = Ours::start(version, &transport)?;
        let server = PeerServer::start(peer, version, &transport, &ours)?;
        calls(peer, version, &transport, (&ours, &server), matrix)?;
        services::references(
            &ours.client,
            &server.describe,
            &ours.describe,
            version,
            matrix,
        );
        ours.stop()?;
    }
    for (name, version, mutual) in [
        ("TLS 1.2, server proves itself", TlsVersion::V1_2, false),
        ("TLS 1.2, both do", TlsVersion::V1_2, true),
        ("TLS 1.3, server proves itself", TlsVersion::V1_3, false),
        ("TLS 1.3, both do", TlsVersion::V1_3, true),
    ] {
        served(name, peer, Tls::new(version, mutual)?, matrix)?;
    }
    for (text, version) in [("1.2", TlsVersion::V1_2), ("1.3", TlsVersion::V1_3)] {
        let name = format!("TLS {text}, nameless client refused");
        let tls = Tls::new(version, true)?.with_nameless_clients();
        refused(&name, peer, tls, matrix)?;
        let name = format!("TLS {text}, untrusted server refused");
        let tls = Tls::new(version, false)?.with_untrusted_servers()?;
        refused(&name, peer, tls, matrix)?;
    }
    // This also shows that the peer speaks only the version that it was configured for.
    let tls = Tls::new(TlsVersion::V1_2, false)?.with_us_at(TlsVersion::V1_3);
    refused("TLS 1.2 refused where 1.3 is demanded", peer, tls, matrix)
}

/// Runs every case, and records the results as one row.
fn served(name: &str, peer: &Peer, tls: Tls, matrix: &mut Matrix) -> Result<(), Failure> {
    eprintln!("  {name}");
    let transport = Transport::Tls(tls);
    let ours = Ours::start(Version::V1_2, &transport)?;
    let server = PeerServer::start(peer, Version::V1_2, &transport, &ours)?;
    let mut there = Matrix::default();
    to(
        peer,
        &server.objects(&transport, &ours)?,
        Version::V1_2,
        &mut there,
    );
    matrix.record(name, Version::V1_2, Direction::To, in_sum(&there));
    let mut here = Matrix::default();
    from(peer, &transport, &ours, Version::V1_2, &mut here)?;
    matrix.record(name, Version::V1_2, Direction::From, in_sum(&here));
    ours.stop()
}

fn in_sum(cases: &Matrix) -> Outcome {
    match cases.counts() {
        (0, ..) => Outcome::Failed("no case has passed".to_owned()),
        (_, 0, 0) => Outcome::Passed,
        (passed, failed, skipped) => Outcome::Failed(format!(
            "of all cases {passed} passed, {failed} failed and {skipped} were skipped"
        )),
    }
}

/// Checks that no call succeeds with these TLS settings.
fn refused(name: &str, peer: &Peer, tls: Tls, matrix: &mut Matrix) -> Result<(), Failure> {
    eprintln!("  {name}");
    let transport = Transport::Tls(tls);
    let ours = Ours::start(Version::V1_2, &transport)?;
    let server = PeerServer::start(peer, Version::V1_2, &transport, &ours)?;
    let outcome = match server.objects(&transport, &ours)?.describe.name() {
        Err(exception) if [Kind::Transient, Kind::CommFailure].contains(&exception.kind()) => {
            Ok(())
        }
        Err(exception) => Err(format!("another exception: {exception}")),
        Ok(name) => Err(format!("`{name}` has answered")),
    };
    matrix.record(name, Version::V1_2, Direction::To, outcome);

    let mut command = peer.command(Version::V1_2, &transport, Role::Client);
    command.arg("ask");
    command.arg(ours.server.object_to_string(&ours.describe)?);
    let said = process::run("their client", &mut command, LIMIT)?;
    let outcome = match String::from_utf8_lossy(&said.stdout).trim() {
        said if said.starts_with("raised TRANSIENT") => Ok(()),
        said if said.starts_with("raised COMM_FAILURE") => Ok(()),
        said => Err(format!("their client says `{said}`")),
    };
    matrix.record(name, Version::V1_2, Direction::From, outcome);
    ours.stop()
}
