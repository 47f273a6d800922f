//! Accounts test: the peer's client calls a Punctual server whose objects are served by adapters of
//! every kind. The server's process ends and is started again during the test.

mod bank;
mod managers;
mod server;

pub(crate) use server::{Options, serve};

use crate::Failure;
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Version};
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::sides::{LIMIT, announced};
use crate::transport::Transport;
use std::process::Command;

/// Runs the test in each GIOP version.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("TCP, to adapters of every kind");
    for version in Version::ALL {
        eprintln!("  GIOP {}: their client, our server", version.text());
        visited(peer, version, matrix)?;
    }
    Ok(())
}

fn visited(peer: &Peer, version: Version, matrix: &mut Matrix) -> Result<(), Failure> {
    let mut record = |case: &str, outcome| matrix.record(case, version, Direction::From, outcome);
    let (server, port) = start(version, 0)?;
    let mut command = peer.command(version, &Transport::Tcp, Role::Client);
    command.arg("visit");
    let version_text = version.text();
    command.arg(format!(
        "corbaloc:iiop:{version_text}@127.0.0.1:{port}/Bank"
    ));
    let mut client = Running::start("their client", &mut command)?;
    reported(&client, Until::Restart, &mut record)?;
    server.end(LIMIT)?;
    let (server, _) = start(version, port)?;
    client.say("restarted")?;
    reported(&client, Until::Restart, &mut record)?;
    // The process is killed, and so does not close its clients' connections in order.
    drop(server);
    let _server = start(version, port)?;
    client.say("restarted")?;
    reported(&client, Until::Done, &mut record)
}

/// Starts a server process at the given port (0 for any), and returns it with its port.
fn start(version: Version, port: u16) -> Result<(Running, u16), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["serve-accounts", "--giop", version.text()]);
    command.args(["--port", &port.to_string()]);
    // One account's servant panics on purpose.
    command.env("RUST_BACKTRACE", "0");
    let server = Running::start("our server", &mut command)?;
    let port = announced(&server)?.remove("port");
    let port = port.ok_or("our server does not say its port")?.parse()?;
    Ok((server, port))
}
