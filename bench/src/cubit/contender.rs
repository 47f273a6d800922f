//! Contenders: raw sockets, omniORB, and every pair of a messaging protocol and a link that the ORB has.

use super::Calls;
use super::pair::{self, BASE, Medium, Setup};
use crate::Result;
use crate::contender::{self, Harness, Selection};
use crate::experiment::{self, Pair};
use crate::placement::Processors;
use crate::protocol::{Command, Order};
use crate::running::Launch;
use std::fmt;

/// Default messaging protocol, which the names of contenders leave out.
const SHORT: &str = "giop";
/// Link for which two contenders are made: one spins while it waits, the other sleeps.
const SPINS: &str = "shmiop";
/// Suffixes of the names of contenders that sleep, or spin, while they wait.
const BLOCKING: &str = " blocking";
const SPINNING: &str = " spinning";

/// Contender of the benchmark: a named transport to be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contender {
    pub(super) name: String,
    carrier: Carrier,
}

/// Transport of the contender's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Carrier {
    Raw(Raw),
    /// omniORB, by the name of its contender in all measurements.
    OmniOrb(&'static str),
    Pair(Medium),
}

/// Kind of blocking raw socket, used as a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    Tcp,
    Unix,
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
                lend_from: None,
            }),
        }
    }

    /// Makes omniORB over a link, if it has that.
    fn omniorb(link: &str) -> Option<Self> {
        let (name, entry) = match link {
            BASE => ("omniORB", "omniorb"),
            "uiop" => ("omniORB unix", "omniorb-unix"),
            _ => return None,
        };
        Some(Self {
            name: name.to_owned(),
            carrier: Carrier::OmniOrb(entry),
        })
    }

    /// Sets the size from which shared memory lends; `None` for the usual one.
    pub(super) fn lend_from(&mut self, octets: Option<usize>) {
        if let Carrier::Pair(medium) = &mut self.carrier {
            medium.lend_from = octets;
        }
    }

    /// Returns whether the contender is this kind of raw socket.
    pub(super) fn is(&self, raw: Raw) -> bool {
        self.carrier == Carrier::Raw(raw)
    }

    /// Returns the name of the ORB's transport protocol; `None` for raw sockets.
    pub(super) fn protocol(&self) -> Option<&str> {
        match &self.carrier {
            Carrier::Raw(_) | Carrier::OmniOrb(_) => None,
            Carrier::Pair(medium) => Some(&medium.protocol),
        }
    }

    /// Starts both processes and waits until the client is connected.
    ///
    /// # Errors
    /// A process does not start; the message has its output.
    pub(super) fn start(
        &self,
        harness: &Harness,
        orb: &[String],
        at: Option<Processors>,
    ) -> Result<Pair> {
        match &self.carrier {
            Carrier::Raw(Raw::Tcp) => start_known(harness, contender::RAW_TCP, at),
            Carrier::Raw(Raw::Unix) => start_known(harness, contender::RAW_UNIX, at),
            Carrier::OmniOrb(entry) => start_known(harness, entry, at),
            Carrier::Pair(medium) => {
                let setup = experiment::Setup::Cubit(Setup {
                    medium: medium.clone(),
                    orb: orb.to_vec(),
                });
                experiment::start(harness, &setup, at)
            }
        }
    }

    /// Makes the client call.
    ///
    /// # Errors
    /// A call fails.
    pub(super) fn ask(&self, pair: &mut Pair, calls: Calls) -> Result<Vec<u64>> {
        match (&self.carrier, calls) {
            (Carrier::Pair(_), _) => pair.ask(Order(calls)),
            (Carrier::Raw(_), Calls::TwoWay { operation, calls }) => pair.ask(Command::Run {
                case: operation.like(),
                warm_up: calls.div_ceil(10),
                calls,
            }),
            (Carrier::OmniOrb(_), Calls::TwoWay { operation, calls }) => {
                let warm_up = calls.div_ceil(10);
                pair.ask(format!("run {} {warm_up} {calls}", operation.of_cubit()))
            }
            (_, Calls::OneWay { .. }) => Err(format!("{self} has no such one-ways").into()),
        }
    }

    /// Returns whether the contender is GIOP over TCP, with which the others are compared.
    pub(super) fn is_base(&self) -> bool {
        self.protocol() == Some(BASE)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Starts a contender of all measurements.
fn start_known(harness: &Harness, name: &str, processors: Option<Processors>) -> Result<Pair> {
    let (known, absent) = contender::known(harness, &Selection::of(&[name])?);
    match known.iter().find(|one| one.name == name) {
        Some(contender) => contender.start(&Launch {
            processors,
            ..Launch::default()
        }),
        None => Err(absent
            .into_iter()
            .next()
            .map_or_else(|| "it is not here".into(), |absent| absent.reason)),
    }
}

/// Returns every combination of a messaging protocol and a link, by the protocol's name.
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

/// Returns the contenders: raw sockets, the base, and those of `protocols` that the ORB can listen
/// on, with shared memory twice (spinning and sleeping); and the names of the protocols left out,
/// with the reasons.
pub(super) fn known(
    protocols: &[String],
    spin_us: u64,
    orb: &[String],
) -> (Vec<Contender>, Vec<String>) {
    let mut contenders = Vec::from([Raw::Tcp, Raw::Unix].map(Contender::raw));
    contenders.push(Contender::pair(BASE));
    let mut left_out = Vec::new();
    for protocol in protocols.iter().filter(|one| *one != BASE) {
        match pair::refusal(protocol, orb) {
            Some(reason) => left_out.push(format!("{protocol}: {reason}")),
            None if protocol.rsplit('+').next() == Some(SPINS) => contenders.extend([
                Contender::spinning(protocol, BLOCKING, Some(0)),
                Contender::spinning(protocol, SPINNING, Some(spin_us)),
            ]),
            None => contenders.push(Contender::pair(protocol)),
        }
    }
    contenders.extend(protocols.iter().filter_map(|one| Contender::omniorb(one)));
    (contenders, left_out)
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
        assert!(left_out[0].starts_with("giop_lite+diop: "), "{left_out:?}");
        assert!(
            left_out[1].contains("unknown link `pigeon`"),
            "{left_out:?}"
        );
    }
}
