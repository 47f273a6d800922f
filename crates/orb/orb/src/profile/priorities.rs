//! Priorities of endpoints in profiles: TAO's endpoints component, which TAO's clients read (O'Ryan et al. 2001,
//! §4.2.2).

use super::ProfileEndpoint;
use super::endpoint::host_and_port;
use crate::priority::Priority;
use punctual_cdr::CdrError;
use punctual_ior::{TaggedComponent, TaoEndpoint, TaoPlace};
use punctual_link::Address;
use std::collections::HashMap;

/// Maximum number of addresses in a profile whose priorities are read.
const MOST: usize = 256;

/// Priority that TAO encodes for an endpoint without a priority.
const NONE: i16 = -1;

/// Returns the component for a profile of these endpoints; `place` returns the address of an
/// endpoint in the component's form. `None` if no endpoint has a priority.
pub(super) fn component<'e>(
    endpoints: impl IntoIterator<Item = &'e ProfileEndpoint, IntoIter: Clone>,
    place: impl Fn(&Address) -> Option<TaoPlace>,
) -> Result<Option<TaggedComponent>, CdrError> {
    let endpoints = endpoints.into_iter();
    let has_priority = |one: &ProfileEndpoint| one.qualities.priority.is_some();
    if !endpoints.clone().any(has_priority) {
        return Ok(None);
    }
    let said: Vec<TaoEndpoint> = endpoints
        .filter_map(|endpoint| {
            let priority = endpoint.qualities.priority.map_or(NONE, Priority::get);
            let place = place(&endpoint.address)?;
            Some(TaoEndpoint { place, priority })
        })
        .collect();
    TaggedComponent::of_tao_endpoints(&said).map(Some)
}

/// Returns an address that is a path or another text, in the component's form.
pub(super) fn at_path(address: &Address) -> Option<TaoPlace> {
    Some(TaoPlace::Path(address.place().to_owned()))
}

/// Returns an address with host and port, in the component's form.
pub(super) fn at_host(address: &Address) -> Option<TaoPlace> {
    host_and_port(address).map(TaoPlace::Host)
}

/// Returns the addresses and priorities in the component for profiles of this tag, if there is one
/// that can be decoded. At most [`MOST`] are read.
pub(super) fn said(
    components: &[TaggedComponent],
    profile: u32,
) -> Vec<(TaoPlace, Option<Priority>)> {
    let mut components = components.iter();
    let said = components.find_map(|one| one.tao_endpoints(profile).ok().flatten());
    let priority = |number: i16| Priority::new(number).ok();
    let said = said.unwrap_or_default().into_iter().take(MOST);
    said.map(|one| (one.place, priority(one.priority)))
        .collect()
}

/// Assigns the priorities in the profile's component to the endpoints.
pub(super) fn give(
    endpoints: &mut [ProfileEndpoint],
    components: &[TaggedComponent],
    profile: u32,
    place: impl Fn(&Address) -> Option<TaoPlace>,
) {
    let said: HashMap<TaoPlace, Option<Priority>> = said(components, profile).into_iter().collect();
    if said.is_empty() {
        return;
    }
    for one in endpoints {
        if let Some(priority) = place(&one.address).and_then(|place| said.get(&place)) {
            one.qualities.priority = *priority;
        }
    }
}
