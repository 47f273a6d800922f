//! Those who are compared: a server and a client each, in processes of their own.
//!
//! A variant of Punctual is one more entry of `table`: a name, and what its two sides are told.

mod table;

pub use table::{RAW_TCP, RAW_UNIX};

use crate::case::{Case, Operation};
use crate::peer::{LONGEST_SHARED, Program};
use crate::placement::Placement;
use crate::{Error, Result, omniorb, outsider};
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::PathBuf;
use table::{Entry, KNOWN, RAW_SHM, Runs};

/// Who takes part when nobody is named.
const USUAL: [&str; 3] = [RAW_TCP, "punctual", omniorb::NAME];

/// A program that is a server and a client, as [`crate::peer::Side`] says.
#[derive(Clone, Debug)]
pub struct Contender {
    /// What tables and plots call it.
    pub name: &'static str,
    /// What it is, with its version.
    pub description: String,
    /// The contender whose times its own are divided by: a raw one of its kind.
    pub floor: &'static str,
    /// Whether it takes part only where each side has a processor: one that spins keeps the other
    /// side from running.
    pub spins: bool,
    /// The program.
    pub program: PathBuf,
    /// Its arguments ahead of the side's.
    pub arguments: Vec<OsString>,
    /// Its arguments behind those of the server.
    pub server: Vec<OsString>,
    /// Its arguments behind those of the client.
    pub client: Vec<OsString>,
}

/// A contender that cannot take part here.
#[derive(Debug)]
pub struct Absent {
    /// Its name.
    pub name: &'static str,
    /// Why.
    pub reason: Error,
}

/// This program as the harness that starts itself again for the peers.
#[derive(Clone, Debug)]
pub struct Harness {
    /// The program.
    pub program: PathBuf,
    /// Where peers in other languages are compiled into.
    pub peers: PathBuf,
}

impl Harness {
    /// The program that runs.
    ///
    /// # Errors
    /// When the system does not say where it is.
    pub fn this() -> Result<Self> {
        let program = std::env::current_exe()?;
        let peers = program.with_file_name("bench-peers");
        Ok(Self { program, peers })
    }
}

/// Which contenders are asked for: those named, `all`, or the usual ones; and the floors of them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted(Vec<&'static str>);

impl Wanted {
    /// What names on a command line mean.
    ///
    /// # Errors
    /// A name that nobody has, and those there are.
    pub fn named(names: &[String]) -> Result<Self> {
        if names.iter().any(|name| name == "all") {
            return Ok(Self(KNOWN.iter().map(|entry| entry.name).collect()));
        }
        let usual = || USUAL.map(str::to_owned).to_vec();
        let names = if names.is_empty() {
            usual()
        } else {
            names.to_vec()
        };
        Self::of(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Those of these names.
    ///
    /// # Errors
    /// A name that nobody has, and those there are.
    pub fn of(names: &[&str]) -> Result<Self> {
        let mut wanted = Vec::new();
        for name in names {
            let entry = KNOWN.iter().find(|entry| entry.name == *name);
            let entry = entry.ok_or_else(|| {
                let known: Vec<&str> = KNOWN.iter().map(|entry| entry.name).collect();
                format!(
                    "`{name}` is no contender: expected all, {}",
                    known.join(", ")
                )
            })?;
            for name in [entry.floor, entry.name] {
                if !wanted.contains(&name) {
                    wanted.push(name);
                }
            }
        }
        Ok(Self(wanted))
    }

    /// The same without raw ones.
    #[must_use]
    pub fn without_floors(mut self) -> Self {
        self.0.retain(|name| {
            KNOWN
                .iter()
                .any(|it| it.name == *name && it.floor != it.name)
        });
        self
    }
}

/// The contenders that are wanted: those that can take part, and those that cannot. What has to be
/// compiled is compiled now; whether an ORB knows its options is found out when it starts.
#[must_use]
pub fn known(harness: &Harness, wanted: &Wanted) -> (Vec<Contender>, Vec<Absent>) {
    let (mut here, mut absent) = (Vec::new(), Vec::new());
    for entry in KNOWN.iter().filter(|entry| wanted.0.contains(&entry.name)) {
        match entry.contender(harness) {
            Ok(contender) => here.push(contender),
            Err(reason) => absent.push(Absent {
                name: entry.name,
                reason,
            }),
        }
    }
    (here, absent)
}

impl Entry {
    fn contender(&self, harness: &Harness) -> Result<Contender> {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect();
        let punctual = concat!("Punctual ", env!("CARGO_PKG_VERSION"));
        let (what, program, arguments) = match self.runs {
            Runs::Peer(program) => (
                match program {
                    Program::Punctual => punctual,
                    _ => "raw",
                }
                .to_owned(),
                harness.program.clone(),
                peer_arguments(program),
            ),
            Runs::Outsider => {
                let program = outsider::build(&harness.peers)?;
                (punctual.to_owned(), program, Vec::new())
            }
            Runs::OmniOrb => {
                let built = omniorb::PEER.build(&harness.peers)?;
                (built.version, built.program, Vec::new())
            }
        };
        Ok(Contender {
            name: self.name,
            description: format!("{what}, {}", self.about),
            floor: self.floor,
            spins: self.spins,
            program,
            arguments,
            server: words(self.server),
            client: words(self.client),
        })
    }
}

fn peer_arguments(program: Program) -> Vec<OsString> {
    let name = program.to_possible_value();
    let name = name.map_or_else(String::new, |value| value.get_name().to_owned());
    vec!["peer".into(), name.into()]
}

impl Contender {
    /// Whether it is a raw one, whose times others' are divided by.
    #[must_use]
    pub fn is_floor(&self) -> bool {
        self.name == self.floor
    }

    /// Whether its client can be told to buffer one-ways.
    #[must_use]
    pub fn buffers(&self) -> bool {
        self.name.starts_with("punctual") && self.name != outsider::NAME
    }

    /// Whether it makes sense where the two sides run.
    #[must_use]
    pub fn suits(&self, placement: Placement) -> bool {
        placement == Placement::Cross || !self.spins
    }

    /// Whether it can make the calls of a case: raw shared memory has no one-ways, and not for any
    /// length; the outsider has a few small operations.
    #[must_use]
    pub fn knows(&self, case: Case) -> bool {
        use Operation::{CubeLong, CubeVoid, Ping};
        let lengths = case.lengths();
        match self.name {
            RAW_SHM => {
                let longest = lengths.request.max(lengths.reply);
                case.operation.is_two_way() && longest <= LONGEST_SHARED
            }
            outsider::NAME => matches!(case.operation, CubeVoid | CubeLong | Ping),
            _ => true,
        }
    }

    /// A contender of this name that is never started, for tests of what is made of figures.
    #[cfg(test)]
    pub(crate) fn imagined(name: &'static str, floor: &'static str) -> Self {
        Self {
            name,
            description: String::new(),
            floor,
            spins: false,
            program: PathBuf::new(),
            arguments: Vec::new(),
            server: Vec::new(),
            client: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_named_brings_the_floor_of_its_kind() {
        let named = |names: &[&str]| Wanted::of(names).unwrap().0;
        assert_eq!(named(&["punctual-uiop"]), [RAW_UNIX, "punctual-uiop"]);
        assert_eq!(
            named(&["punctual", "omniorb"]),
            [RAW_TCP, "punctual", "omniorb"]
        );
        assert_eq!(
            Wanted::named(&["all".to_owned()]).unwrap().0.len(),
            KNOWN.len()
        );
        assert!(
            Wanted::of(&["corba"])
                .unwrap_err()
                .to_string()
                .contains("omniorb-unix")
        );
    }

    #[test]
    fn every_floor_is_a_contender_that_is_its_own_floor() {
        for entry in KNOWN {
            let floor = KNOWN
                .iter()
                .find(|other| other.name == entry.floor)
                .unwrap();
            assert_eq!(floor.floor, floor.name);
            assert!(entry.spins || !floor.spins, "{}", entry.name);
        }
    }

    #[test]
    fn the_outsider_knows_small_calls_and_does_not_buffer() {
        let outsider = Contender::imagined(outsider::NAME, RAW_TCP);
        assert!(!outsider.buffers());
        assert!(outsider.knows(Case::plain(Operation::Ping)));
        assert!(!outsider.knows(Case::sized(Operation::TakeOctets, 1)));
    }

    #[test]
    fn peers_are_started_by_the_names_that_their_command_knows() {
        let words = peer_arguments(Program::RawTcpSpin);
        assert_eq!(words, ["peer", "raw-tcp-spin"]);
    }
}
