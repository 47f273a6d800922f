//! Encoding of endpoints to profiles of references: each protocol's codec writes its own.

use super::registry::Registry;
use crate::profile::{ProfileEndpoint, Publication};
use punctual_cdr::CdrError;
use punctual_ior::{TaggedComponent, TaggedProfile};

/// Returns the profiles for an object at `endpoints`, grouped by codec in the order of the first
/// endpoint that each codec carries. Profiles that only repeat endpoints of other codecs come last.
/// `added` has further components, each for the profiles of one tag or, with `None`, for all
/// profiles.
pub(crate) fn profiles_for(
    registry: &Registry,
    endpoints: &[ProfileEndpoint],
    object: &Publication<'_>,
    added: &[(Option<u32>, TaggedComponent)],
) -> Result<Vec<TaggedProfile>, CdrError> {
    let mut shared = carried(registry, endpoints);
    for endpoint in endpoints {
        let codec = registry.codec_for(&endpoint.protocol);
        if let Some(tag) = codec.and_then(|codec| codec.also_named_in()) {
            share(&mut shared, tag, endpoint);
        }
    }
    let shared = shared.iter().map(|(tag, endpoints)| (*tag, &**endpoints));
    encoded(registry, shared, object, added)
}

/// Returns the profiles like `profiles_for`, but without those that only repeat endpoints, for
/// short references.
pub(crate) fn own_profiles_for(
    registry: &Registry,
    endpoints: &[ProfileEndpoint],
    object: &Publication<'_>,
) -> Result<Vec<TaggedProfile>, CdrError> {
    let mut tags = endpoints.iter().map(|one| {
        let codec = registry.codec_for(&one.protocol);
        codec.map(|codec| codec.tag())
    });
    if let Some(Some(first)) = tags.next()
        && tags.all(|tag| tag == Some(first))
    {
        return encoded(registry, [(first, endpoints)], object, &[]);
    }
    let shared = carried(registry, endpoints);
    let shared = shared.iter().map(|(tag, endpoints)| (*tag, &**endpoints));
    encoded(registry, shared, object, &[])
}

/// Returns the endpoints grouped by the tag of the profile in which a reference contains them.
fn carried(registry: &Registry, endpoints: &[ProfileEndpoint]) -> Vec<(u32, Vec<ProfileEndpoint>)> {
    let mut shared = Vec::new();
    for endpoint in endpoints {
        if let Some(codec) = registry.codec_for(&endpoint.protocol) {
            share(&mut shared, codec.tag(), endpoint);
        }
    }
    shared
}

fn encoded<'p>(
    registry: &Registry,
    shared: impl IntoIterator<Item = (u32, &'p [ProfileEndpoint])>,
    object: &Publication<'_>,
    added: &[(Option<u32>, TaggedComponent)],
) -> Result<Vec<TaggedProfile>, CdrError> {
    let mut profiles = Vec::new();
    for (tag, endpoints) in shared {
        let Some(codec) = registry.codec(tag) else {
            continue;
        };
        let own = added.iter().filter(|(for_tag, _)| *for_tag == Some(tag));
        let own: Vec<TaggedComponent> = own.map(|(_, component)| component.clone()).collect();
        let more = if own.is_empty() {
            codec.encode(endpoints, object)?
        } else {
            let components = [object.components, &own].concat();
            let object = Publication {
                components: &components,
                ..*object
            };
            codec.encode(endpoints, &object)?
        };
        // The first ones are not moved: hardly any reference has others.
        match profiles.is_empty() {
            true => profiles = more,
            false => profiles.extend(more),
        }
    }
    Ok(profiles)
}

fn share(shared: &mut Vec<(u32, Vec<ProfileEndpoint>)>, tag: u32, endpoint: &ProfileEndpoint) {
    match shared.iter_mut().find(|(one, _)| *one == tag) {
        Some((_, endpoints)) => endpoints.push(endpoint.clone()),
        None => shared.push((tag, vec![endpoint.clone()])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::OrbConfig;
    use crate::protocol::{Protocols, builtin};
    use punctual_cdr::GiopVersion;
    use punctual_ior::tags::profile::{INTERNET_IOP, PUNCTUAL_PAIR, TAO_UIOP};
    use punctual_link::Address;

    fn tags_at(protocols: &[&str]) -> Vec<u32> {
        let registered = Protocols::default();
        registered.add(&builtin(&OrbConfig::default())).unwrap();
        let endpoint = |protocol: &&str| match *protocol {
            "iiop" => ProfileEndpoint::new("iiop", Address::iiop("h", 1)),
            link => ProfileEndpoint::new(link, Address::new(link, "/a")),
        };
        let endpoints: Vec<ProfileEndpoint> = protocols.iter().map(endpoint).collect();
        let object = Publication {
            version: GiopVersion::V1_2,
            object_key: b"key",
            components: &[],
        };
        let profiles = profiles_for(&registered.now(), &endpoints, &object, &[]).unwrap();
        profiles.iter().map(|profile| profile.tag).collect()
    }

    #[test]
    fn profiles_stand_in_the_order_of_the_endpoints() {
        let tags = tags_at(&["uiop", "iiop", "shmiop"]);
        assert_eq!(tags, [TAO_UIOP, INTERNET_IOP, PUNCTUAL_PAIR]);
        let tags = tags_at(&["iiop", "shmiop", "uiop"]);
        assert_eq!(tags, [INTERNET_IOP, PUNCTUAL_PAIR, TAO_UIOP]);
    }

    #[test]
    fn a_profile_that_names_what_others_carry_comes_last() {
        let tags = tags_at(&["uiop", "shmiop"]);
        assert_eq!(tags, [TAO_UIOP, PUNCTUAL_PAIR, INTERNET_IOP]);
    }
}
