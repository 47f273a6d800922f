//! Forced kills: of clients during their calls, and of a server that is restarted at the same
//! endpoints.

use crate::child::Process;
use crate::links;
use crate::random::Random;
use crate::run::Soak;
use crate::speech::{Said, Served};
use std::time::Duration;

/// Protocols of the server that is killed.
const PROTOCOLS: [&str; 4] = ["iiop", "uiop", "shmiop", "ssliop"];

/// Starts the server that is to be killed for the first time; each restart listens at the endpoints
/// of this first start.
///
/// # Errors
/// Reasons why it does not serve.
pub(crate) fn first(soak: &Soak) -> Result<(Process, Served), String> {
    let endpoints = PROTOCOLS.map(|protocol| {
        let mut endpoint = links::endpoint(protocol, soak.folder(), "killed");
        // No outgoing connection uses this address, so the port is free when the server comes back.
        if protocol == "iiop" || protocol == "ssliop" {
            endpoint.place = "127.0.0.2:0".to_owned();
        }
        (endpoint.protocol, endpoint.place)
    });
    start(soak, &endpoints)
}

fn start(soak: &Soak, endpoints: &[(String, String)]) -> Result<(Process, Served), String> {
    let at = serde_json::to_string(endpoints).map_err(|error| error.to_string())?;
    let mut server = soak.start("the server that is killed", &["killed", "--at", &at])?;
    match server.until_ready()?.pop() {
        Some(served) => Ok((server, served)),
        None => Err("the server that is killed has nothing".to_owned()),
    }
}

/// Kills the server at random intervals and restarts it. Whenever the load is paused, the server is
/// running.
pub(crate) fn of_a_server(soak: &Soak, server: Process, served: &Served) {
    let mut random = Random::new(soak.seed(), "kills of a server");
    let mut server = Some(server);
    soak.work("kills of a server", Duration::ZERO, |work| {
        soak.sleep(Duration::from_millis(2000 + random.below(3000) as u64));
        if let Some(server) = server.take() {
            server.kill();
        }
        soak.sleep(Duration::from_millis(random.below(800) as u64));
        let (again, now) = start(soak, &served.endpoints)?;
        server = Some(again);
        work.record_done();
        match now.target == served.target {
            true => Ok(()),
            false => Err("the reference is another one after a restart".to_owned()),
        }
    });
    if let Some(Err(fault)) = server.map(Process::stop) {
        soak.tally().fault(fault);
    }
}

/// Starts clients, and kills each of them while it makes calls.
pub(crate) fn of_clients(soak: &Soak, all: &[Served]) {
    let mut random = Random::new(soak.seed(), "kills of clients");
    soak.work("kills of clients", Duration::from_millis(200), |work| {
        let server = random.one_of(all).clone();
        let (protocol, _) = random.one_of(&server.endpoints).clone();
        let peer = serde_json::to_string(&server).map_err(|error| error.to_string())?;
        let arguments = ["victim", "--peer", &peer, "--protocol", &protocol];
        let mut client = soak.start(&format!("a client by {protocol}"), &arguments)?;
        loop {
            match client.says()? {
                Said::Obeyed(word) if word == "calling" => break,
                _ => {}
            }
        }
        std::thread::sleep(Duration::from_millis(random.below(300) as u64));
        let faults = client.done().faults;
        client.kill();
        work.record_done();
        faults.into_iter().next().map_or(Ok(()), Err)
    });
}
