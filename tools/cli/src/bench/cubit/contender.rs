//! Who takes part: raw sockets, and every pair of a messaging protocol and a link that the ORB has.

use super::floor::Raw;
use super::pair::{self, BASE};
use super::peer::{Command, Medium, ONE_WAY, Peer};
use punctual_bench::Result;
use punctual_bench::child::Process;
use punctual_bench::placement::Processors;
use punctual_bench::protocol::Answer;
use serde::Serialize;

/// The messaging protocol that a pair's name leaves out.
const SHORT: &str = "giop";
/// The link whose waiters spin or sleep.
const SPINS: &str = "shmiop";
/// What the names of those whose waiters sleep and spin end with.
const BLOCKING: &str = " blocking";
pub(super) const SPINNING: &str = " spinning";

/// One that takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contender {
    pub(super) name: String,
    pub(super) medium: Medium,
}

/// A pair that takes no part, or not to the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LeftOut {
    pub(super) contender: String,
    pub(super) reason: String,
}

impl Contender {
    pub(super) fn raw(raw: Raw) -> Self {
        let medium = Medium {
            raw: Some(raw),
            protocol: BASE.to_owned(),
            spin_us: None,
        };
        Self {
            name: format!("raw {}", raw.name()),
            medium,
        }
    }

    fn pair(protocol: &str) -> Self {
        Self::spinning(protocol, "", None)
    }

    fn spinning(protocol: &str, how: &str, spin_us: Option<u64>) -> Self {
        Self {
            name: format!("{protocol}{how}"),
            medium: Medium {
                raw: None,
                protocol: protocol.to_owned(),
                spin_us,
            },
        }
    }

    pub(super) fn is_raw(&self) -> bool {
        self.medium.raw.is_some()
    }

    /// Whether it is what the gains are over.
    pub(super) fn is_base(&self) -> bool {
        !self.is_raw() && self.medium.protocol == BASE
    }
}

/// Every protocol that `messaging` and `links` make.
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

/// The raw sockets, the base, and those of `protocols` that the ORB can listen by, shared memory twice;
/// and the rest, with its reasons.
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

/// A server and a client that is connected to it.
pub(super) struct Running {
    // In the order in which they are to end.
    client: Process,
    server: Process,
    /// Whether it has one-ways only.
    pub(super) one_way: bool,
}

impl Running {
    /// Starts both processes and waits until the client is connected.
    pub(super) fn start(
        contender: &Contender,
        processors: Processors,
        orb: &[String],
    ) -> Result<Self> {
        let medium = &contender.medium;
        let arguments = Peer::server(medium, processors.server);
        let mut server = start(&arguments, orb)?;
        let address = server
            .until_ready()
            .map_err(|error| format!("server: {error}"))?;
        let arguments = Peer::client(medium, processors.client, &address);
        let mut client = start(&arguments, orb)?;
        let note = client
            .until_ready()
            .map_err(|error| format!("client: {error}"))?;
        Ok(Self {
            client,
            server,
            one_way: note == ONE_WAY,
        })
    }

    pub(super) fn ask(&mut self, command: Command) -> Result<Vec<u64>> {
        match self.client.ask(command)? {
            Answer::Samples(samples) => Ok(samples),
            Answer::Error(message) => Err(message.into()),
            other => Err(format!("`{command}` was answered with {other:?}").into()),
        }
    }

    /// Ends both processes, the client first.
    pub(super) fn stop(self) -> Result<()> {
        self.client.stop()?;
        self.server.stop()
    }
}

/// This command as a child.
fn start(arguments: &[String], orb: &[String]) -> Result<Process> {
    let mut this = std::process::Command::new(std::env::current_exe()?);
    this.args(["bench", "cubit-peer"]).args(arguments);
    Process::spawn(this.arg("--").args(orb))
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
            left_out[1].reason.contains("no link `pigeon`"),
            "{left_out:?}"
        );
    }
}
