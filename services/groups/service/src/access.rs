//! Access rules: administrators, who make groups, and members, which join them.

use punctual::{SystemException, SystemExceptionKind};
use punctual_host::Problem;
use punctual_host::access::Rules;

/// Principals that may change the groups of a service. Without a grant, all may.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Those that make and remove groups, set properties, and add and remove members.
    pub administrators: Rules<()>,
    /// Those that join, renew leases, store state and report loads. Without a grant, those that administer.
    pub members: Rules<()>,
}

impl Access {
    /// Returns the rules of settings.
    ///
    /// # Errors
    /// A text names no principal.
    pub fn of(administrators: &[String], members: &[String]) -> Result<Self, Problem> {
        Ok(Self {
            administrators: Rules::of(administrators)?,
            members: Rules::of(members)?,
        })
    }

    /// Checks that the peer of the thread's upcall may administer.
    ///
    /// # Errors
    /// NO_PERMISSION.
    pub(crate) fn check_administrator(&self) -> Result<(), SystemException> {
        check(&self.administrators, "administer groups")
    }

    /// Checks that the peer of the thread's upcall may be a member.
    ///
    /// # Errors
    /// NO_PERMISSION.
    pub(crate) fn check_member(&self) -> Result<(), SystemException> {
        match self.members.is_restricted() {
            true if permits(&self.administrators) && self.administrators.is_restricted() => Ok(()),
            true => check(&self.members, "be a member of groups"),
            false => check(&self.administrators, "be a member of groups"),
        }
    }
}

fn permits(rules: &Rules<()>) -> bool {
    rules.permits(&rules.requester(), |()| true)
}

fn check(rules: &Rules<()>, what: &str) -> Result<(), SystemException> {
    match permits(rules) {
        true => Ok(()),
        false => {
            let peer = punctual::poa::request_peer().map(|peer| peer.address);
            tracing::info!("{peer:?} may not {what}");
            Err(SystemExceptionKind::NoPermission.because(format!("you may not {what}")))
        }
    }
}
