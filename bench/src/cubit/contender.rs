//! Contenders: raw sockets, and every pair of a messaging protocol and a link that the ORB has.

use super::pair::{self, BASE, Medium};
use super::peer::{Command, ONE_WAY, Peer};
use crate::Result;
use crate::child::Process;
use crate::contender::{self, Harness, Wanted};
use crate::placement::Processors;
use crate::protocol::Answer;
use crate::running::{self, Launch};
use serde::Serialize;

/// Messaging protocol that a pair's name leaves out.
const SHORT: &str = "giop";
/// Link whose waiters spin or sleep.
const SPINS: &str = "shmiop";
/// Suffixes of the names of contenders whose waiters sleep or spin.
const BLOCKING: &str = " blocking";
pub(super) const SPINNING: &str = " spinning";

/// Contender of the measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contender {
    pub(super) name: String,
    carrier: Carrier,
}

/// Carrier of its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Carrier {
    Raw(Raw),
    Pair(Medium),
}

/// Blocking raw sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    Tcp,
    Unix,
}

/// Pair that takes no part, or not to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LeftOut {
    pub(super) contender: String,
    pub(super) reason: String,
}

impl Contender {
    fn raw(raw: Raw) -> Self {
        let name = match raw {
            Raw::Tcp => "raw tcp",
            Raw::Unix => "raw unix",
        };
        Self {
            name: name.to_owned(),
            carrier: Carrier::Raw(raw),
        }
    }

    fn pair(protocol: &str) -> Self {
        Self::spinning(protocol, "", None)
    }

    fn spinning(protocol: &str, how: &str, spin_us: Option<u64>) -> Self {
        Self {
            name: format!("{protocol}{how}"),
            carrier: Carrier::Pair(Medium {
                protocol: protocol.to_owned(),
                spin_us,
            }),
        }
    }

    /// Returns whether the contender is this kind of raw socket.
    pub(super) fn is(&self, raw: Raw) -> bool {
        self.carrier == Carrier::Raw(raw)
    }

    /// Returns the ORB's protocol; `None` for raw sockets.
    pub(super) fn protocol(&self) -> Option<&str> {
        match &self.carrier {
            Carrier::Raw(_) => None,
            Carrier::Pair(medium) => Some(&medium.protocol),
        }
    }

    /// Returns whether the contender is the base of the gains.
    pub(super) fn is_base(&self) -> bool {
        self.protocol() == Some(BASE)
    }
}

/// Returns every protocol that `messaging` and `links` make.
pub(super) fn protocols(messaging: &[String], links: &[String]) -> Vec<String> {
    let mut protocols = Vec::new();
    for link in links {
        for messaging in messaging {
            let protocol = match messaging.as_str() {
                SHORT => link.clone(),
                other => format!("{other}+{link}"),
            };
            if !protocols.contains(&protocol) {
                protocols.push(protocol);
            }
        }
    }
    protocols
}

/// Returns the raw sockets, the base, and those of `protocols` that the ORB can listen on, shared
/// memory twice; and the rest, with the reasons.
pub(super) fn known(
    protocols: &[String],
    spin_us: u64,
    orb: &[String],
) -> (Vec<Contender>, Vec<LeftOut>) {
    let mut contenders = Vec::from([Raw::Tcp, Raw::Unix].map(Contender::raw));
    contenders.push(Contender::pair(BASE));
    let mut left_out = Vec::new();
    for protocol in protocols.iter().filter(|one| *one != BASE) {
        match pair::refusal(protocol, orb) {
            Some(reason) => left_out.push(LeftOut {
                contender: protocol.clone(),
                reason,
            }),
            None if protocol.rsplit('+').next() == Some(SPINS) => contenders.extend([
                Contender::spinning(protocol, BLOCKING, Some(0)),
                Contender::spinning(protocol, SPINNING, Some(spin_us)),
            ]),
            None => contenders.push(Contender::pair(protocol)),
        }
    }
    (contenders, left_out)
}

/// Server, and a client that is connected to it.
pub(super) enum Running {
    /// Raw processes that are the floor of all measurements.
    Raw(running::Running),
    /// Processes of a pair, in the order in which they are to end.
    Pair {
        client: Process,
        server: Process,
        one_way: bool,
    },
}

impl Running {
    /// Starts both processes and waits until the client is connected.
    pub(super) fn start(
        harness: &Harness,
        contender: &Contender,
        processors: Processors,
        orb: &[String],
    ) -> Result<Self> {
        match &contender.carrier {
            Carrier::Raw(raw) => start_raw(harness, *raw, processors),
            Carrier::Pair(medium) => start_pair(harness, medium, processors, orb),
        }
    }

    /// Returns whether it has one-ways only.
    pub(super) fn is_one_way(&self) -> bool {
        matches!(self, Self::Pair { one_way: true, .. })
    }

    pub(super) fn ask(&mut self, command: Command) -> Result<Vec<u64>> {
        match (self, command) {
            (Self::Pair { client, .. }, _) => match client.ask(command)? {
                Answer::Samples(samples) => Ok(samples),
                Answer::Error(message) => Err(message.into()),
                other => Err(format!("it was answered with {other:?}").into()),
            },
            (
                Self::Raw(running),
                Command::Run {
                    operation,
                    warm_up,
                    calls,
                },
            ) => running.run(operation.like(), warm_up, calls),
            (Self::Raw(_), Command::Flood { .. }) => Err("raw sockets have no one-ways".into()),
        }
    }

    /// Ends both processes, the client first.
    pub(super) fn stop(self) -> Result<()> {
        match self {
            Self::Raw(running) => running.stop(),
            Self::Pair { client, server, .. } => {
                client.stop()?;
                server.stop()
            }
        }
    }
}

fn start_raw(harness: &Harness, raw: Raw, processors: Processors) -> Result<Running> {
    let name = match raw {
        Raw::Tcp => contender::RAW_TCP,
        Raw::Unix => contender::RAW_UNIX,
    };
    let (known, _) = contender::known(harness, &Wanted::of(&[name])?);
    let sockets = known.first().ok_or("there are no such sockets")?;
    let running = sockets.start(&Launch {
        processors: Some(processors),
        ..Launch::default()
    })?;
    Ok(Running::Raw(running))
}

fn start_pair(
    harness: &Harness,
    medium: &Medium,
    processors: Processors,
    orb: &[String],
) -> Result<Running> {
    let start = |arguments: &[String]| {
        let mut peer = std::process::Command::new(&harness.program);
        peer.arg("cubit-peer").args(arguments).arg("--").args(orb);
        Process::spawn(&mut peer)
    };
    let mut server = start(&Peer::server(medium, processors.server))?;
    let address = server
        .until_ready()
        .map_err(|error| format!("server: {error}"))?;
    let mut client = start(&Peer::client(medium, processors.client, &address))?;
    let note = client
        .until_ready()
        .map_err(|error| format!("client: {error}"))?;
    Ok(Running::Pair {
        client,
        server,
        one_way: note == ONE_WAY,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_messaging_protocol_meets_every_link_once() {
        let messaging = words(&["giop", "giop_lite", "giop"]);
        assert_eq!(
            protocols(&messaging, &words(&["iiop", "reliable+diop"])),
            [
                "iiop",
                "giop_lite+iiop",
                "reliable+diop",
                "giop_lite+reliable+diop"
            ]
        );
    }

    #[test]
    fn pairs_that_do_not_fit_are_left_out_with_the_reason_and_the_base_is_always_there() {
        let asked = words(&["giop_lite+diop", "pigeon"]);
        let (contenders, left_out) = known(&asked, 100, &[]);
        let names: Vec<&str> = contenders.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["raw tcp", "raw unix", "iiop"]);
        assert!(contenders[2].is_base() && !contenders[0].is_base());
        assert_eq!(left_out[0].contender, "giop_lite+diop");
        assert!(
            left_out[1].reason.contains("unknown link `pigeon`"),
            "{left_out:?}"
        );
    }
}
