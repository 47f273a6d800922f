//! Access rules: administrators, who decide on commands that are run, and servers, which say where they are.

use punctual::{SystemException, SystemExceptionKind};
use punctual_host::Problem;
use punctual_host::access::{Principal, Rules};

/// Principals that may change a repository.
#[derive(Clone, Debug)]
pub struct Access {
    /// Those that add, start and end servers, and register activators. Default: who runs as the user of the repository and
    /// comes by a Unix socket.
    pub administrators: Rules<()>,
    /// Those that say that a server runs or ends. Default: processes of this host.
    pub servers: Rules<()>,
}

impl Default for Access {
    fn default() -> Self {
        Self {
            administrators: only([Principal::Owner]),
            servers: only([
                Principal::Local,
                Principal::Network {
                    address: [127, 0, 0, 0].into(),
                    bits: 8,
                },
                Principal::Network {
                    address: std::net::Ipv6Addr::LOCALHOST.into(),
                    bits: 128,
                },
            ]),
        }
    }
}

fn only<const N: usize>(principals: [Principal; N]) -> Rules<()> {
    let mut rules = Rules::default();
    for principal in principals {
        rules.grant((), principal);
    }
    rules
}

impl Access {
    /// Returns the rules of settings; where a list is empty, the default.
    ///
    /// # Errors
    /// A text names no principal.
    pub fn of(administrators: &[String], servers: &[String]) -> Result<Self, Problem> {
        let mut access = Self::default();
        for (texts, rules) in [
            (administrators, &mut access.administrators),
            (servers, &mut access.servers),
        ] {
            if !texts.is_empty() {
                *rules = Rules::of(texts)?;
            }
        }
        Ok(access)
    }
}

/// Returns whether the peer of the thread's upcall is among principals.
pub(crate) fn permits(rules: &Rules<()>) -> bool {
    rules.permits(&rules.requester(), |()| true)
}

/// Checks that the peer of the thread's upcall is among principals.
///
/// # Errors
/// NO_PERMISSION.
pub(crate) fn check(rules: &Rules<()>, what: &str) -> Result<(), SystemException> {
    match permits(rules) {
        true => Ok(()),
        false => {
            let peer = punctual::poa::request_peer().map(|peer| peer.address);
            tracing::info!("{peer:?} may not {what}");
            Err(SystemExceptionKind::NoPermission.because(format!("you may not {what}")))
        }
    }
}
