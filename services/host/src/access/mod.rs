//! Access control: the peer of a request, and rules on the changes that it may make.
//!
//! [`Rules`] grant principals the right to change a place. A place is of a type that the service
//! defines: a naming context, a channel, or `()` if the service has only one. As long as there is
//! no grant, every peer may change everything. All peers that reach a service may read.

mod principal;
mod requester;

use punctual::poa::request_peer;

use crate::Problem;

pub use principal::{BadPrincipal, Principal};
pub use requester::Requester;

const ON_PRINCIPALS: &str =
    "--allow takes `any`, `local`, `owner`, an address or network, or `cert:NAME`";

/// Grants: each permits a principal to change a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules<P> {
    grants: Vec<(P, Principal)>,
}

impl<P> Default for Rules<P> {
    fn default() -> Self {
        Self { grants: Vec::new() }
    }
}

impl Rules<()> {
    /// Parses principals from the settings; each may change everything.
    ///
    /// # Errors
    /// A text names no principal.
    pub fn of(principals: &[String]) -> Result<Self, Problem> {
        let mut rules = Self::default();
        for principal in principals {
            let principal = principal.parse();
            let bad = |error: BadPrincipal| Problem::new(error, ON_PRINCIPALS);
            rules.grant((), principal.map_err(bad)?);
        }
        Ok(rules)
    }
}

impl<P> Rules<P> {
    /// Grants a principal the right to change a place.
    pub fn grant(&mut self, place: P, to: Principal) {
        self.grants.push((place, to));
    }

    /// Returns true if there is a grant, so that changes without one are forbidden.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        !self.grants.is_empty()
    }

    /// Returns true if a requester may make a change; `covers` returns whether a granted place
    /// includes what is changed.
    pub fn permits(&self, by: &Requester, covers: impl Fn(&P) -> bool) -> bool {
        if self.grants.is_empty() || matches!(by, Requester::Process) {
            return true;
        }
        let mut grants = self.grants.iter();
        grants.any(|(place, to)| to.includes(by) && covers(place))
    }

    /// Returns the requester of the upcall that this thread serves. The peer's data is collected
    /// only if rules need it.
    #[must_use]
    pub fn requester(&self) -> Requester {
        match self.is_restricted() {
            true => Requester::from_peer(request_peer()),
            false => Requester::Process,
        }
    }
}

/// Checks the text of a principal, for settings.
///
/// # Errors
/// The text names no principal.
pub fn check_principal(text: &str) -> Result<(), String> {
    let parsed = text.parse::<Principal>();
    parsed.map(drop).map_err(|error| error.to_string())
}

/// Parses a grant from the settings, `PLACE=PRINCIPAL`; the place may be empty.
///
/// # Errors
/// The text has no equals sign, or no principal behind it.
pub fn parse_grant(text: &str) -> Result<(String, Principal), String> {
    // A place may have an equals sign, a principal has none, but for a certificate's name.
    let (place, to) = match text.find("=cert:") {
        Some(at) => (text.get(..at), text.get(at + 1..)),
        None => text
            .rsplit_once('=')
            .map_or((None, None), |(place, to)| (Some(place), Some(to))),
    };
    let (place, to) = place
        .zip(to)
        .ok_or("expected CONTEXT=WHO, e.g. plants=10.0.0.0/8")?;
    let to = to
        .parse()
        .map_err(|error: BadPrincipal| error.to_string())?;
    Ok((place.to_owned(), to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> Requester {
        Requester::Peer {
            is_local: true,
            is_owner: false,
            address: None,
            names: Vec::new(),
        }
    }

    #[test]
    fn what_is_not_granted_is_forbidden_as_soon_as_anything_is() {
        let mut rules = Rules::<&str>::default();
        assert!(rules.permits(&local(), |_| false));
        rules.grant("plants", Principal::Local);
        assert!(rules.permits(&local(), |place| *place == "plants"));
        assert!(!rules.permits(&local(), |place| *place == "clocks"));
        assert!(rules.permits(&Requester::Process, |_| false));
    }

    #[test]
    fn a_grant_is_a_place_and_a_principal_with_an_equals_sign_between() {
        let local = (String::new(), Principal::Local);
        assert_eq!(parse_grant("=local"), Ok(local));
        let place = parse_grant("a=b=10.0.0.0/8").unwrap().0;
        assert_eq!(place, "a=b");
        let (place, to) = parse_grant("plants=cert:C=DE").unwrap();
        assert_eq!(
            (&*place, to.to_string()),
            ("plants", "cert:C=DE".to_owned())
        );
        for bad in ["local", "plants=", "plants=somebody"] {
            assert!(parse_grant(bad).is_err(), "{bad}");
        }
    }
}
