//! Calls over Unix sockets: every case in GIOP 1.2, and in older versions the cases that omniORB
//! supports over sockets.

use crate::Failure;
use crate::directions::{calls, from};
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::peer::Peer;
use crate::process;
use crate::role::Role;
use crate::services;
use crate::sides::{LIMIT, Ours, PeerServer, describe, orb};
use crate::transport::Transport;
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};

const NO_COMPONENT_TO: &str = "omniORB names its Unix sockets in references from GIOP 1.2 on only: \
                               a corbaloc leads there";
const NO_COMPONENT_FROM: &str = "omniORB looks for Unix sockets in components of IIOP profiles, \
                                 which have none in GIOP 1.0";

/// Name of the row that stands for all cases that are not run.
const BY_REFERENCE: &str = "calls by reference";

/// Runs the tests over Unix sockets against omniORB.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("Unix sockets");
    let transport = Transport::Unix(tempfile::tempdir()?);
    for version in [Version::V1_0, Version::V1_1] {
        for direction in [Direction::To, Direction::Through] {
            let outcome = Outcome::NotApplicable(NO_COMPONENT_TO.to_owned());
            matrix.record(BY_REFERENCE, version, direction, outcome);
        }
    }
    let outcome = Outcome::NotApplicable(NO_COMPONENT_FROM.to_owned());
    matrix.record(BY_REFERENCE, Version::V1_0, Direction::From, outcome);

    eprintln!("  GIOP 1.1: their client, our server");
    let ours = Ours::start(Version::V1_1, &transport)?;
    from(peer, &transport, &ours, Version::V1_1, matrix)?;
    ours.stop()?;

    let ours = Ours::start(Version::V1_2, &transport)?;
    let server = PeerServer::start(peer, Version::V1_2, &transport, &ours)?;
    let sides = (&ours, &server);
    calls(peer, Version::V1_2, &transport, sides, matrix)?;
    for version in [Version::V1_0, Version::V1_1] {
        let outcome = corbaloc(version, &transport);
        matrix.record("corbaloc", version, Direction::To, outcome);
    }
    services::references(
        &ours.client,
        &server.describe,
        &ours.describe,
        Version::V1_2,
        matrix,
    );
    ours.stop()?;
    for (case, rule, port) in [
        // The port has no listener, so a call that gets through took the socket.
        ("a socket beside a dead port", "* unix,tcp", Some(1)),
        ("a port beside a socket", "* tcp", None),
    ] {
        let outcome = beside_tcp(peer, rule, port).map_err(|error| error.to_string());
        matrix.record(case, Version::V1_2, Direction::From, outcome);
    }
    Ok(())
}

/// Checks that our client can call the peer's object in a GIOP version in which the peer's
/// references are not made; the URL names the version.
fn corbaloc(version: Version, transport: &Transport) -> Result<(), String> {
    let name = || -> Result<String, Failure> {
        let client = orb(version, transport, Role::Client)?;
        let url = transport.corbaloc(version.text(), 0, "well-known");
        let known: crate::params::Describe = Interface::narrow(client.string_to_object(&url)?)?;
        let name = known.name()?;
        client.shutdown(true)?;
        Ok(name)
    };
    match name() {
        Ok(name) if name == "omniORB" => Ok(()),
        Ok(name) => Err(format!("the object found is called `{name}`")),
        Err(error) => Err(error.to_string()),
    }
}

/// Tests the peer's client, whose transport rule prefers TCP or Unix sockets, against a server of
/// ours that has both; the server may publish another TCP port than its own.
fn beside_tcp(peer: &Peer, rule: &str, published: Option<u16>) -> Result<(), Failure> {
    let tcp = ListenEndpoint::iiop("127.0.0.1", 0);
    let tcp = match published {
        Some(port) => tcp.option("port_in_ior", port),
        None => tcp,
    };
    let socket = ListenEndpoint::new("uiop", "");
    let server = Orb::builder().listen(tcp).listen(socket).build()?;
    let poa = server.root_poa()?;
    let object = describe(&poa)?;
    poa.manager().activate()?;
    let mut command = peer.command(Version::V1_2, &Transport::Tcp, Role::Client);
    command.args(["-ORBclientTransportRule", rule, "ask"]);
    command.arg(server.object_to_string(&object)?);
    let said = process::run("their client", &mut command, LIMIT)?;
    server.shutdown(true)?;
    match String::from_utf8_lossy(&said.stdout).trim() {
        "name Punctual" => Ok(()),
        other => Err(format!("their client says `{other}`").into()),
    }
}
