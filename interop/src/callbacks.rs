//! Bidirectional GIOP (`idl/callbacks.idl`): a server calls its client's object through the
//! connection that the client opened.
//!
//! The proof: references to our client's object name a port without a listener, and for a client of
//! theirs no connection to its port is seen on this host. Without the policies there is such a
//! connection, which shows that the check can fail.

use crate::Failure;
use crate::callback::{Listener, ListenerServant, Subject, SubjectServant};
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Outcome, Version};
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::sides::{LIMIT, announced, iiop_profile};
use crate::transport::Transport;
use punctual::SystemExceptionKind::{BadParam, NoResources};
use punctual::poa::PoaPolicy;
use punctual::policy::Bidirectional;
use punctual::{Interface, ListenEndpoint, Orb, OrbConfig, Policy, RootPoa, SystemException};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Version of these tests: listen points are sent in GIOP 1.2 only (CORBA 3.3 part 2, 9.8.1).
const VERSION: Version = Version::V1_2;

/// Number of one-way notifications that are sent to the client while none of its threads waits for
/// a reply.
const PUBLISHED: i32 = 50;

const WITHOUT: &str = "without the policy, by a connection of the server's";

/// Tests callbacks in both directions.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("TCP, bidirectional GIOP");
    eprintln!("  bidirectional GIOP");
    to(peer, matrix)?;
    from(peer, Bidirectional::Both, matrix)?;
    from(peer, Bidirectional::Normal, matrix)
}

/// Returns the command that starts the peer in a role, with the options for bidirectional GIOP.
fn command(peer: &Peer, role: Role, both: Bidirectional) -> std::process::Command {
    let mut command = peer.command(VERSION, &Transport::Tcp, role);
    match (peer, both, role) {
        (Peer::Omniorb(_), Bidirectional::Both, Role::Client) => {
            command.args(["-ORBofferBiDirectionalGIOP", "1"]);
            command.args(["-ORBclientTransportRule", "* tcp,bidir"]);
        }
        (Peer::Omniorb(_), Bidirectional::Both, Role::Server) => {
            command.args(["-ORBacceptBiDirectionalGIOP", "1"]);
            command.args(["-ORBserverTransportRule", "* tcp,bidir"]);
        }
        // JacORB gets its settings from its own program.
        _ => {}
    }
    command
}

fn prefix(both: Bidirectional) -> &'static str {
    match both {
        Bidirectional::Both => "bidirectional-",
        _ => "",
    }
}

fn orb(endpoint: ListenEndpoint, both: Bidirectional) -> Result<Orb, Failure> {
    let configure = |config: &mut OrbConfig| {
        config.bidirectional = both;
        config.timeouts.call = Some(Duration::from_secs(20));
    };
    Ok(Orb::builder()
        .listen(endpoint)
        .configure(configure)
        .build()?)
}

/// Runs the test cases of our client against the peer's server.
fn to(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    let both = Bidirectional::Both;
    let mut command = command(peer, Role::Server, both);
    let server = Running::start(
        "their server",
        command.arg(format!("{}notify", prefix(both))),
    )?;
    let reference = announced(&server)?.remove("subject");
    let reference = reference.ok_or("their server has no `subject`")?;
    // Port 1 has no listener.
    let endpoint = ListenEndpoint::iiop("127.0.0.1", 0).option("port_in_ior", 1);
    let client = orb(endpoint, both)?;
    let subject = Subject::from_object(client.string_to_object(&reference)?);
    let root = client.root_poa()?;
    let policies = [PoaPolicy::Defined(Policy::Bidirectional(both))];
    let poa = root.create_poa("callbacks", Some(root.manager()), &policies)?;
    root.manager().activate()?;
    let (told, heard) = channel();
    let listener: Listener = poa.activate(Listening(told))?;
    let mut record = |case, outcome: Result<(), String>| {
        matrix.record(case, VERSION, Direction::To, outcome);
    };
    record(
        "callbacks within a call",
        within(&subject, &listener, &heard),
    );
    let later = later(&subject, &listener, &heard);
    record("callbacks outside of a call", later);
    drop(server);
    Ok(client.shutdown(false)?)
}

fn within(subject: &Subject, listener: &Listener, heard: &Receiver<i32>) -> Result<(), String> {
    for number in [7, 8, 9] {
        let answer = subject.tell(Some(listener), number);
        let answer = answer.map_err(|error| error.to_string())?;
        let told = heard.try_recv().ok();
        if (answer, told) != (number + 1, Some(number)) {
            return Err(format!("{answer}, and the listener was told {told:?}"));
        }
    }
    Ok(())
}

fn later(subject: &Subject, listener: &Listener, heard: &Receiver<i32>) -> Result<(), String> {
    let sent = subject.publish(Some(listener), PUBLISHED);
    sent.map_err(|error| error.to_string())?;
    for number in 1..=PUBLISHED {
        match heard.recv_timeout(LIMIT) {
            Ok(told) if told == number => {}
            other => return Err(format!("{other:?} instead of {number}")),
        }
    }
    Ok(())
}

/// Runs the test cases of the peer's client against our server.
fn from(peer: &Peer, both: Bidirectional, matrix: &mut Matrix) -> Result<(), Failure> {
    let server = orb(ListenEndpoint::iiop("127.0.0.1", 0), both)?;
    let poa = server.root_poa()?;
    let port = Arc::new(AtomicU16::new(0));
    let subject: Subject = poa.activate(Publishing(port.clone()))?;
    poa.manager().activate()?;
    let mut command = command(peer, Role::Client, both);
    command.arg(format!("{}listen", prefix(both)));
    command.arg(server.object_to_string(&subject)?);
    let client = Running::start("their client", &mut command)?;
    let mut outcomes = Vec::new();
    reported(&client, Until::Done, &mut |case, outcome| {
        outcomes.push((case.to_owned(), outcome));
    })?;
    let connected = connected(port.load(Ordering::Relaxed));
    let mut record =
        |case: &str, outcome: Outcome| matrix.record(case, VERSION, Direction::From, outcome);
    if both == Bidirectional::Both {
        for (case, outcome) in outcomes {
            record(&case, outcome);
        }
        let none = connected.and_then(|connected| match connected {
            false => Ok(()),
            true => Err("the client has been connected to".to_owned()),
        });
        record("by no connection but the client's", none.into());
    } else {
        let failed = outcomes
            .into_iter()
            .find(|(_, outcome)| *outcome != Outcome::Passed);
        let seen = connected.and_then(|connected| match connected {
            true => Ok(()),
            false => Err("no connection to the client is seen".to_owned()),
        });
        record(WITHOUT, failed.map_or(seen.into(), |(_, outcome)| outcome));
    }
    client.end(LIMIT)?;
    Ok(server.shutdown(false)?)
}

/// Returns whether this host has a TCP connection from or to the given port, or one that has just
/// been closed.
fn connected(port: u16) -> Result<bool, String> {
    const LISTENS: &str = "0A";
    if port == 0 {
        return Err("the client sent no listen points".to_owned());
    }
    let at = format!("{port:04X}");
    let is_at = |address: &str| address.rsplit(':').next() == Some(&at);
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = std::fs::read_to_string(table).map_err(|error| format!("{table}: {error}"))?;
        let found = text.lines().skip(1).any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            match (fields.next(), fields.next(), fields.next()) {
                (Some(local), Some(remote), Some(state)) => {
                    state != LISTENS && (is_at(local) || is_at(remote))
                }
                _ => false,
            }
        });
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Servant of the client's callback object.
struct Listening(Sender<i32>);

impl ListenerServant for Listening {
    fn told(&self, number: i32) -> Result<i32, SystemException> {
        // The receiver may be gone: the rest of the numbers is not needed then.
        let _ = self.0.send(number);
        Ok(number + 1)
    }
}

/// Servant of our server's object; it records the port at which the client listens.
struct Publishing(Arc<AtomicU16>);

impl SubjectServant for Publishing {
    fn tell(&self, whom: Option<&Listener>, number: i32) -> Result<i32, SystemException> {
        let whom = whom.ok_or_else(|| BadParam.because("nil"))?;
        let profile = iiop_profile(whom.as_object());
        let port = profile.map_err(|_| BadParam.because("a reference without port"))?;
        self.0.store(port.port, Ordering::Relaxed);
        whom.told(number)
    }

    fn publish(&self, whom: Option<&Listener>, count: i32) -> Result<(), SystemException> {
        let whom = whom.ok_or_else(|| BadParam.because("nil"))?.clone();
        let publish = move || {
            for number in 1..=count {
                if let Err(error) = whom.told(number) {
                    eprintln!("  the listener cannot be told: {error}");
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("publisher".to_owned());
        let thread = thread.spawn(publish);
        thread.map_err(|_| NoResources.because("no thread"))?;
        Ok(())
    }
}
