//! omniORB beside the lanes. It supports no priorities: its client's threads have the priorities of
//! their clients, and its server's threads are either ordinary threads or all have the high
//! client's priority.

use super::setup::{CONTROL, Contender, Link, Setup};
use crate::Result;
use crate::contender::Harness;
use crate::omniorb::REAL_TIME;
use std::path::PathBuf;
use std::process::Command;

/// omniORB program, and its arguments as a server and as a client.
#[derive(Debug)]
pub(super) struct Sides {
    program: PathBuf,
    server: Vec<String>,
    client: Vec<String>,
}

impl Sides {
    /// Returns the command that starts the omniORB server on a processor.
    pub(super) fn server(&self, processor: usize) -> Command {
        let mut command = self.side("server", processor);
        command.args(&self.server);
        command
    }

    /// Returns the command that starts a client of the server at this address.
    pub(super) fn client(&self, processor: usize, address: &str) -> Command {
        let mut command = self.side("client", processor);
        command.args(&self.client).args(["--at", address]);
        command
    }

    fn side(&self, side: &str, processor: usize) -> Command {
        let mut command = Command::new(&self.program);
        command.args([side, "--pin", &processor.to_string()]);
        command
    }

    /// Compiles the program on demand.
    ///
    /// # Errors
    /// The reason why it cannot take part.
    pub(super) fn of(harness: &Harness, setup: &Setup) -> Result<Self> {
        let link = link_of(setup.link)?;
        let native = match (setup.contender, setup.best_effort) {
            (Contender::OmniOrbFifo, true) => return Err("no thread of its has a priority".into()),
            (Contender::OmniOrbFifo, false) => setup.priority_of(0),
            _ => 0,
        };
        let built = REAL_TIME.build(&harness.peers)?;
        let (work, natives) = (setup.work, natives(setup).join(","));
        Ok(Self {
            program: built.program,
            server: words(&[
                ("--link", link.to_owned()),
                ("--work", work.to_string()),
                ("--native", native.to_string()),
            ]),
            client: words(&[
                ("--natives", natives),
                ("--control", setup.native(CONTROL).to_string()),
            ]),
        })
    }
}

fn link_of(link: Link) -> Result<&'static str> {
    match link {
        Link::Uiop => Ok("unix"),
        Link::Iiop => Ok("tcp"),
        Link::Shmiop => Err("it has no shared memory".into()),
    }
}

/// Returns the native priorities of the clients' threads, the high one's first.
fn natives(setup: &Setup) -> Vec<String> {
    let native = |client| setup.native(setup.priority_of(client)).to_string();
    (0..=setup.low).map(native).collect()
}

fn words(options: &[(&str, String)]) -> Vec<String> {
    let words = options.iter();
    words
        .flat_map(|(option, value)| [(*option).to_owned(), value.clone()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rt::setup::sample;

    #[test]
    fn its_clients_threads_have_their_clients_priorities_unless_none_has_any() {
        let mut setup = sample(Contender::OmniOrb);
        assert_eq!(natives(&setup), ["0"; 4]);
        setup.best_effort = false;
        assert_eq!(natives(&setup), ["80", "10", "11", "12"]);
    }

    #[test]
    fn what_it_cannot_do_is_said() {
        let harness = Harness::this().unwrap();
        let mut setup = sample(Contender::OmniOrbFifo);
        let refused = Sides::of(&harness, &setup).unwrap_err();
        assert_eq!(refused.to_string(), "no thread of its has a priority");
        setup.link = Link::Shmiop;
        let refused = Sides::of(&harness, &setup).unwrap_err();
        assert_eq!(refused.to_string(), "it has no shared memory");
    }
}
