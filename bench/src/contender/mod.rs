//! Contenders: programs that are compared, each with a server and a client in processes of their
//! own.
//!
//! A variant of Punctual is one more entry of `table`: a name, and the arguments of its two sides.

mod table;

pub use table::{RAW_TCP, RAW_UNIX};

use crate::case::{Case, Operation};
use crate::peer::{LONGEST_SHARED, Program};
use crate::placement::Placement;
use crate::{Error, Result, omniorb, outsider};
use clap::ValueEnum;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use table::{Entry, KNOWN, RAW_SHM, Runs};

/// Default contenders.
const USUAL: [&str; 3] = [RAW_TCP, "punctual", omniorb::NAME];

/// Program that can run as a server and as a client (see [`crate::peer::Side`]), whose calls are
/// measured.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Name in tables and plots.
    pub name: &'static str,
    /// Description, with the version.
    pub description: String,
    /// Name of the raw-socket or raw-memory contender on the transport that this one uses; times
    /// are also shown as ratios to its times.
    pub floor: &'static str,
    /// Set if a processor of its own is needed for each side, since a spinning side would keep the
    /// other from running.
    pub spins: bool,
    /// Path of the program.
    pub program: PathBuf,
    /// Arguments before the one that selects the side (server or client).
    pub arguments: Vec<OsString>,
    /// Additional arguments of the server.
    pub server: Vec<OsString>,
    /// Additional arguments of the client.
    pub client: Vec<OsString>,
}

/// Contender that cannot run on this machine.
#[derive(Debug)]
pub struct Absent {
    /// Name of the contender.
    pub name: &'static str,
    /// Reason why it cannot run.
    pub reason: Error,
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Benchmark program itself, which starts further instances of itself as clients and servers.
#[derive(Clone, Debug)]
pub struct Harness {
    /// Path of the program.
    pub program: PathBuf,
    /// Folder into which peers in other languages are compiled.
    pub peers: PathBuf,
}

impl Harness {
    /// Returns the harness of the running program.
    ///
    /// # Errors
    /// The system does not tell the program's path.
    pub fn this() -> Result<Self> {
        let program = std::env::current_exe()?;
        let peers = program.with_file_name("bench-peers");
        Ok(Self { program, peers })
    }
}

/// Selected contenders: those named on the command line, all, or the default ones; and the raw
/// contender that each is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection(Vec<&'static str>);

impl Selection {
    /// Selects contenders by the names on a command line.
    ///
    /// # Errors
    /// An unknown name, with the list of known ones.
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

    /// Selects contenders by the names on a command line; without any names, those of `usual`.
    ///
    /// # Errors
    /// An unknown name, with the list of known ones.
    pub fn named_or(names: &[String], usual: &[&str]) -> Result<Self> {
        match names.is_empty() {
            true => Self::of(usual),
            false => Self::named(names),
        }
    }

    /// Selects the contenders of these names.
    ///
    /// # Errors
    /// An unknown name, with the list of known ones.
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

    /// Removes the raw contenders from the selection.
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

/// Returns the selected contenders: those that can take part, and those that cannot. Programs are
/// compiled now if need be; whether an ORB knows its options shows when it starts.
#[must_use]
pub fn known(harness: &Harness, wanted: &Selection) -> (Vec<Contender>, Vec<Absent>) {
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
    /// Returns whether the contender's client can buffer one-ways.
    #[must_use]
    pub fn buffers(&self) -> bool {
        self.name.starts_with("punctual") && self.name != outsider::NAME
    }

    /// Returns whether the contender can run at a placement: a spinning one needs a processor for
    /// each side.
    #[must_use]
    pub fn suits(&self, placement: Placement) -> bool {
        placement == Placement::Cross || !self.spins
    }

    /// Returns whether the contender can make the calls of a case: raw shared memory has no
    /// one-ways, and supports only some lengths; the outsider has a few small operations,
    /// and asynchronous clients make void calls.
    #[must_use]
    pub fn knows(&self, case: Case) -> bool {
        use Operation::{CubeLong, CubeVoid, EchoBinStructsInto, EchoOctetsInto, Ping};
        let lengths = case.lengths();
        match self.name {
            RAW_SHM => {
                let longest = lengths.request.max(lengths.reply);
                case.operation.is_two_way() && longest <= LONGEST_SHARED
            }
            outsider::NAME => matches!(case.operation, CubeVoid | CubeLong | Ping),
            // Its stubs return a result in memory of its own.
            name if name.starts_with(omniorb::NAME) => {
                !matches!(case.operation, EchoOctetsInto | EchoBinStructsInto)
            }
            _ if self.client.iter().any(|word| word == "--deferred") => case.operation == CubeVoid,
            _ => true,
        }
    }

    /// Makes a contender that is never started, for tests of reports.
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
        let named = |names: &[&str]| Selection::of(names).unwrap().0;
        assert_eq!(named(&["punctual-uiop"]), [RAW_UNIX, "punctual-uiop"]);
        assert_eq!(
            named(&["punctual", "omniorb"]),
            [RAW_TCP, "punctual", "omniorb"]
        );
        assert_eq!(
            Selection::named(&["all".to_owned()]).unwrap().0.len(),
            KNOWN.len()
        );
        assert!(
            Selection::of(&["corba"])
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
