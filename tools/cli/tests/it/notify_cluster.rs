//! `punctual notify serve --cluster`: a server that is killed, or stopped, is replaced by another one with the same channels.
//! Skipped where there is no `nats-server` (in the path, or named by `PUNCTUAL_NATS_SERVER`).

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::nats::Nats;
use crate::support::{Process, pause, punctual, text};

/// Server of a cluster, at a port of an address that no other test uses.
struct Server {
    process: Process,
    status: String,
}

fn free() -> String {
    let free = TcpListener::bind(("127.79.5.1", 0)).unwrap();
    free.local_addr().unwrap().to_string()
}

fn started(nats: &Nats, folder: &Path, place: &str, other: &str) -> Server {
    let words = ["--jetstream", &nats.url, "--cluster", "alarms"];
    let lease = ["--cluster-lease", "1s"];
    started_with(&[&words[..], &lease].concat(), folder, place, other)
}

/// Starts a server with more options.
fn started_with(options: &[&str], folder: &Path, place: &str, other: &str) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    let (endpoint, status) = (format!("iiop://{place}/also_in_ior={other}"), free());
    command.args([
        "notify", "serve", "--listen", &endpoint, "--status", &status,
    ]);
    command.args(options);
    command.arg("--store").arg(store(folder, place));
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let process = Process(command.stderr(Stdio::null()).spawn().unwrap());
    Server { process, status }
}

fn store(folder: &Path, place: &str) -> PathBuf {
    folder.join(format!("{}.redb", place.replace(':', "-")))
}

impl Server {
    /// Waits until it answers, and returns whether it is ready to serve.
    fn is_ready(&self) -> bool {
        loop {
            if let Ok(mut peer) = TcpStream::connect(&self.status) {
                use std::io::Write;
                peer.write_all(b"GET /ready HTTP/1.1\r\n\r\n").unwrap();
                let mut line = String::new();
                BufReader::new(peer).read_line(&mut line).unwrap();
                return line.contains(" 200 ");
            }
            pause();
        }
    }

    fn waits_until_ready(&self) {
        while !self.is_ready() {
            pause();
        }
    }
}

/// Returns what a command on the service prints, once one of the two servers has answered it.
fn asked(places: &[String; 2], arguments: &[&str]) -> String {
    let [first, second] = places;
    let factory = format!("corbaloc:iiop:{first},iiop:{second}/NotifyEventChannelFactory");
    loop {
        let output = punctual(&[arguments, &[&factory]].concat());
        if output.status.success() {
            return text(output.stdout);
        }
        pause();
    }
}

#[test]
fn a_server_that_is_killed_or_stopped_is_replaced_by_another_one_with_the_same_channels() {
    let Some(nats) = Nats::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let places = [free(), free()];
    let start = |number: usize| started(&nats, folder.path(), &places[number], &places[1 - number]);
    let mut first = start(0);
    let reference = first.process.reference();
    first.waits_until_ready();
    let mut second = start(1);
    assert!(!second.is_ready(), "the other one serves");
    let id = asked(&places, &["notify", "create", "--persistent-events"]);
    let ior = text(punctual(&["ior", &reference]).stdout);
    let alternate = format!("address: {}", places[1]);
    assert!(ior.contains(&alternate), "{ior}");

    first.process.signal("-KILL");
    first.process.0.wait().unwrap();
    second.waits_until_ready();
    let channels = asked(&places, &["notify", "channels"]);
    assert!(channels.contains(id.trim()), "{channels}");

    // One that was stopped learns that its place was taken, and ends.
    let mut first = start(0);
    second.process.freeze();
    first.waits_until_ready();
    let channels = asked(&places, &["notify", "channels"]);
    assert!(channels.contains(id.trim()), "{channels}");
    second.process.signal("-CONT");
    let ended = second.process.0.wait().unwrap();
    assert_eq!(ended.code(), Some(1));
    assert!(first.is_ready());

    // One that waits is ended by a signal; one that serves lets the next one take its place at once.
    let mut waits = start(1);
    assert!(!waits.is_ready());
    waits.process.signal("-TERM");
    assert!(waits.process.0.wait().unwrap().success());
    let next = start(1);
    assert!(!next.is_ready());
    first.process.signal("-TERM");
    assert!(first.process.0.wait().unwrap().success());
    next.waits_until_ready();
}

#[test]
fn a_cluster_is_made_of_the_store_of_one_server() {
    let Some(nats) = Nats::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let places = [free(), free()];
    let mut alone = started_with(&[], folder.path(), &places[0], &places[1]);
    alone.waits_until_ready();
    let id = asked(&places, &["notify", "create", "--persistent-events"]);
    alone.process.signal("-TERM");
    assert!(alone.process.0.wait().unwrap().success());

    let file = store(folder.path(), &places[0]).display().to_string();
    let listen = format!("iiop://{}", places[0]);
    let words = ["notify", "serve", "--listen", &listen, "--store", &file];
    let cluster = ["--jetstream", &nats.url, "--cluster", "alarms"];
    let refused = punctual(&[&words[..], &cluster].concat());
    assert!(!refused.status.success());
    let error = text(refused.stderr);
    for part in [&file, "punctual-shared-alarms", "--cluster-from-store"] {
        assert!(error.contains(part), "{error}");
    }
    let words = [&cluster[..], &["--cluster-from-store"]].concat();
    let served = started_with(&words, folder.path(), &places[0], &places[1]);
    served.waits_until_ready();
    let channels = asked(&places, &["notify", "channels"]);
    assert!(channels.contains(id.trim()), "{channels}");
}
