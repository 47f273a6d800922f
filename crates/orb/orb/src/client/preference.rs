//! Choice and order of a reference's endpoints by the policies on protocols, protection and
//! priorities.

use super::destination::towards;
use super::target::Target;
use crate::exception::SystemException;
use crate::exception::minor;
use crate::fixed_context::CallPolicies;
use crate::lane::{Endpoint, Lane};
use crate::policy::numbers::{CLIENT_PROTOCOLS, SECURITY};
use crate::policy::{ClientProtocols, Effective, Otherwise, Security, UnmetPolicies};
use crate::priorities::Destination;
use std::sync::Arc;

/// Reason why a reference has no endpoint that calls may go to.
#[derive(Debug)]
pub(super) enum NoEndpoint {
    /// Policies that exclude all endpoints of the reference.
    Unmet(UnmetPolicies),
    /// Another reason, or policies that contradict each other ([`Effective::contradicting`]).
    Raised(SystemException),
}

impl From<UnmetPolicies> for NoEndpoint {
    fn from(unmet: UnmetPolicies) -> Self {
        Self::Unmet(unmet)
    }
}

impl From<SystemException> for NoEndpoint {
    fn from(exception: SystemException) -> Self {
        Self::Raised(exception)
    }
}

impl From<NoEndpoint> for SystemException {
    fn from(why: NoEndpoint) -> Self {
        match why {
            NoEndpoint::Unmet(unmet) => unmet.into(),
            NoEndpoint::Raised(exception) => exception,
        }
    }
}

/// Returns the endpoints of a reference that policies allow, in the policies' order of preference.
pub(super) fn chosen(
    target: &Target,
    lane: &Lane,
    effective: &Effective,
    two_way: bool,
) -> Result<Vec<Arc<Endpoint>>, NoEndpoint> {
    let broker = lane.broker();
    effective.check()?;
    let destination = match &broker.priorities {
        Some(known) => known.destination(CallPolicies(effective), lane.priority()),
        None => Ok(Destination::Any),
    };
    let destination = destination?;
    let all = target.endpoints(broker)?;
    let able: Vec<Arc<Endpoint>> = all
        .iter()
        .filter(|endpoint| !two_way || endpoint.pair.messaging.abilities().two_way)
        .map(|endpoint| endpoint.with_chars_in(effective.char_code_set))
        .collect();
    if able.is_empty() {
        let why = format!(
            "the reference has only protocols for one-ways ({})",
            names(&all)
        );
        return Err(UnmetPolicies::new(&[], why).into());
    }
    let able = if target.may_be_local(broker) {
        able
    } else {
        of_other_hosts(able)?
    };
    let safe = protected(&all, &able, effective.security)?;
    let Some(preference) = &effective.protocols else {
        return Ok(towards(&destination, safe)?);
    };
    let ordered = by_preference(&safe, preference);
    if ordered.is_empty() {
        if !by_preference(&able, preference).is_empty() {
            return Err(unsafe_preference(&safe, preference).into());
        }
        return Err(unmet(&all, &able, preference).into());
    }
    Ok(towards(&destination, ordered)?)
}

/// Removes the endpoints within this host, such as Unix sockets, which references from other hosts
/// must not lead to.
fn of_other_hosts(able: Vec<Arc<Endpoint>>) -> Result<Vec<Arc<Endpoint>>, UnmetPolicies> {
    let names = names(&able);
    let others = able.into_iter().filter(|one| !one.pair.link.is_local());
    let others: Vec<Arc<Endpoint>> = others.collect();
    if others.is_empty() {
        let why = format!(
            "the reference came from another host, but has only endpoints within this one ({names}): allow it by \
             foreign_local_endpoints = true"
        );
        return Err(UnmetPolicies::new(&[], why));
    }
    Ok(others)
}

/// Returns the endpoints whose protection is sufficient. If one of them is encrypted, all
/// unencrypted endpoints are removed, so that an attacker who breaks the handshake cannot make the
/// client send the request unencrypted.
fn protected(
    all: &[Arc<Endpoint>],
    able: &[Arc<Endpoint>],
    security: Security,
) -> Result<Vec<Arc<Endpoint>>, UnmetPolicies> {
    let in_clear = match security {
        Security::Off => return Ok(able.to_vec()),
        Security::Require => false,
        Security::Prefer => !all.iter().any(|one| one.is_encrypted()),
    };
    let is_safe = |one: &&Arc<Endpoint>| one.is_encrypted() || (in_clear && one.demands.is_none());
    let safe: Vec<Arc<Endpoint>> = able.iter().filter(is_safe).cloned().collect();
    match safe.is_empty() {
        true => Err(unprotected(able, security)),
        false => Ok(safe),
    }
}

#[cold]
fn unprotected(able: &[Arc<Endpoint>], security: Security) -> UnmetPolicies {
    let demand = able.iter().find_map(|one| one.demands);
    let why = match (security, demand) {
        (Security::Require, _) => "security = require".to_owned(),
        (_, Some(demand)) => demand.to_string(),
        (_, None) => "it offers TLS, for one-ways only".to_owned(),
    };
    let why = format!(
        "nothing may be sent unencrypted to this object, as {why}, but its endpoints that the ORB can use are \
         {}; configure [tls] at both sides, or allow it by security = off",
        names(able)
    );
    UnmetPolicies::new(&[SECURITY], why).with_minor(minor::NO_PROTECTED_ENDPOINT)
}

/// Returns the error for policies that prefer a protocol without encryption to the encrypted ones.
#[cold]
fn unsafe_preference(safe: &[Arc<Endpoint>], preference: &ClientProtocols) -> UnmetPolicies {
    let why = format!(
        "the protocols that policies prefer ({}) would send in clear what the reference can protect ({}); \
         allow it by security = off",
        preference.preferred.join(", "),
        names(safe)
    );
    UnmetPolicies::new(&[CLIENT_PROTOCOLS, SECURITY], why)
}

/// Returns the error for policies whose preferred protocols include none of the usable endpoints.
fn unmet(
    all: &[Arc<Endpoint>],
    able: &[Arc<Endpoint>],
    preference: &ClientProtocols,
) -> UnmetPolicies {
    let (preferred, able) = (preference.preferred.join(", "), names(able));
    let for_one_ways = by_preference(all, preference);
    let why = match for_one_ways.is_empty() {
        true => format!(
            "the reference has none of the protocols that policies prefer ({preferred}): it has {able}"
        ),
        false => format!(
            "of the protocols that policies prefer ({preferred}) the reference has {}, for one-ways only; \
             a call with a reply could go by {able}",
            names(&for_one_ways)
        ),
    };
    UnmetPolicies::new(&[CLIENT_PROTOCOLS], why)
}

fn by_preference(able: &[Arc<Endpoint>], preference: &ClientProtocols) -> Vec<Arc<Endpoint>> {
    let is = |endpoint: &Endpoint, name: &str| {
        *endpoint.pair.name == *name || name.strip_prefix("giop+") == Some(&endpoint.pair.name)
    };
    let mut ordered: Vec<Arc<Endpoint>> = Vec::with_capacity(able.len());
    for name in &preference.preferred {
        ordered.extend(able.iter().filter(|one| is(one, name)).cloned());
    }
    if preference.otherwise == Otherwise::Choose {
        let others = able
            .iter()
            .filter(|one| !preference.preferred.iter().any(|name| is(one, name)));
        ordered.extend(others.cloned());
    }
    ordered
}

fn names(endpoints: &[Arc<Endpoint>]) -> String {
    let mut names: Vec<&str> = endpoints.iter().map(|one| &*one.pair.name).collect();
    names.dedup();
    names.join(", ")
}
