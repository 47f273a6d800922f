//! Which of a reference's endpoints calls may go by, and in which order: what policies say of protocols.

use super::target::Target;
use crate::broker::Broker;
use crate::exception::SystemException;
use crate::lane::Endpoint;
use crate::policy::{ClientProtocols, Effective, Otherwise, invalid};
use std::sync::Arc;

/// The endpoints of a reference that policies allow, in the order that they prefer.
pub(super) fn chosen(
    target: &Target,
    broker: &Broker,
    effective: &Effective,
    two_way: bool,
) -> Result<Vec<Arc<Endpoint>>, SystemException> {
    effective.check()?;
    let all = target.endpoints(broker)?;
    let able: Vec<Arc<Endpoint>> = all
        .iter()
        .filter(|endpoint| !two_way || endpoint.pair.messaging.abilities().two_way)
        .cloned()
        .collect();
    if able.is_empty() {
        return Err(invalid(format!(
            "the reference has only protocols for one-ways ({})",
            names(&all)
        )));
    }
    let Some(wish) = &effective.protocols else {
        return Ok(able);
    };
    let ordered = by_preference(&able, wish);
    if ordered.is_empty() {
        return Err(unmet(&all, &able, wish));
    }
    Ok(ordered)
}

/// Why no endpoint that is able to carry the call is of a protocol that policies prefer.
fn unmet(all: &[Arc<Endpoint>], able: &[Arc<Endpoint>], wish: &ClientProtocols) -> SystemException {
    let (preferred, able) = (wish.preferred.join(", "), names(able));
    let for_one_ways = by_preference(all, wish);
    if for_one_ways.is_empty() {
        return invalid(format!(
            "the reference has none of the protocols that policies prefer ({preferred}): it has {able}"
        ));
    }
    invalid(format!(
        "of the protocols that policies prefer ({preferred}) the reference has {}, for one-ways only; \
         a call with a reply could go by {able}",
        names(&for_one_ways)
    ))
}

fn by_preference(able: &[Arc<Endpoint>], wish: &ClientProtocols) -> Vec<Arc<Endpoint>> {
    let is = |endpoint: &Endpoint, name: &str| {
        *endpoint.pair.name == *name || name.strip_prefix("giop+") == Some(&endpoint.pair.name)
    };
    let mut ordered: Vec<Arc<Endpoint>> = Vec::with_capacity(able.len());
    for name in &wish.preferred {
        ordered.extend(able.iter().filter(|one| is(one, name)).cloned());
    }
    if wish.otherwise == Otherwise::Choose {
        let others = able
            .iter()
            .filter(|one| !wish.preferred.iter().any(|name| is(one, name)));
        ordered.extend(others.cloned());
    }
    ordered
}

fn names(endpoints: &[Arc<Endpoint>]) -> String {
    let mut names: Vec<&str> = endpoints.iter().map(|one| &*one.pair.name).collect();
    names.dedup();
    names.join(", ")
}
