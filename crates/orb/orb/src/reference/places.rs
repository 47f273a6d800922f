//! Functions for the endpoints in references, and for references with other endpoints.

use super::object::ObjectRef;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, cdr_exception, minor,
};
use crate::orb::Orb;
use crate::profile::Origin;
use crate::profile::{DecodedProfile, ProfileEndpoint, Publication};
use crate::protocol;
use crate::relayed::{self, Terms};
use punctual_cdr::{CodeSets, NarrowCodeSet, WideCodeSet};
use punctual_ior::{CodeSetComponent, CodeSetComponentInfo, Ior, TaggedProfile};

/// Returns all endpoints in a reference's profiles, as far as this ORB can decode them.
#[must_use]
pub fn endpoints_of(orb: &Orb, ior: &Ior) -> Vec<ProfileEndpoint> {
    let registry = orb.broker().protocols.now();
    let decoded = ior.profiles.iter().filter_map(|tagged| {
        let profile = registry.codec(tagged.tag)?.decode(&tagged.data).ok()?;
        Some(profile.endpoints)
    });
    decoded.flatten().collect()
}

/// Decodes a profile that contains an endpoint of a protocol of this ORB; returns `None` for any
/// other profile.
#[must_use]
pub fn decoded_profile(orb: &Orb, tag: u32, data: &[u8]) -> Option<DecodedProfile> {
    let registry = orb.broker().protocols.now();
    let profile = registry.codec(tag)?.decode(data).ok()?;
    let usable = |endpoint: &ProfileEndpoint| registry.pair(&endpoint.protocol).is_ok();
    profile.endpoints.iter().any(usable).then_some(profile)
}

/// Decodes the first profile that contains an endpoint of a protocol of this ORB; if `preferred`
/// protocols are given and the reference has any of them, the profile of the first of these.
///
/// # Errors
/// INV_OBJREF if there is no such profile.
pub fn first_profile(
    orb: &Orb,
    ior: &Ior,
    preferred: &[String],
) -> Result<DecodedProfile, SystemException> {
    let registry = orb.broker().protocols.now();
    let usable = |endpoint: &ProfileEndpoint| registry.pair(&endpoint.protocol).is_ok();
    let decoded = ior.profiles.iter().filter_map(|tagged| {
        let profile = registry.codec(tagged.tag)?.decode(&tagged.data).ok()?;
        profile.endpoints.iter().any(usable).then_some(profile)
    });
    // By rank, and by position in the reference among those of one rank.
    let rank = |profile: &DecodedProfile| {
        let is = |name: &str| {
            profile
                .endpoints
                .iter()
                .any(|endpoint| *endpoint.protocol == *name)
        };
        preferred
            .iter()
            .position(|name| is(name))
            .unwrap_or(preferred.len())
    };
    decoded.min_by_key(rank).ok_or_else(|| {
        let kind = Kind::InvObjref;
        SystemException::new(kind, minor::BAD_REFERENCE, CompletionStatus::No)
            .with_detail("the reference has no endpoint of a protocol of this ORB")
    })
}

/// Returns the code sets to announce in references of a bridge that passes calls on to this
/// profile's endpoints: the code sets that the profile announces or, if its protocol does not
/// negotiate code sets, the fixed ones of that protocol.
#[must_use]
pub fn offered_code_sets(orb: &Orb, profile: &DecodedProfile) -> Option<CodeSetComponentInfo> {
    let registry = orb.broker().protocols.now();
    let negotiates = |endpoint: &ProfileEndpoint| {
        let pair = registry.pair(&endpoint.protocol).ok();
        pair.map(|pair| pair.messaging.abilities().contexts)
    };
    match profile.endpoints.iter().find_map(negotiates) {
        Some(false) => Some(only(CodeSets::NATIVE)),
        _ => crate::client::announced(&profile.components),
    }
}

fn only(code_sets: CodeSets) -> CodeSetComponentInfo {
    let one = |native| CodeSetComponent {
        native,
        conversion: Vec::new(),
    };
    CodeSetComponentInfo {
        char_data: one(NarrowCodeSet::id(code_sets.narrow)),
        wchar_data: one(code_sets.wide.map_or(0, WideCodeSet::id)),
    }
}

/// Returns the profiles for an object at `endpoints`, encoded by the codecs of the endpoints'
/// protocols, in the order of the endpoints.
///
/// # Errors
/// MARSHAL for text or lengths that cannot be encoded.
pub fn profiles_at(
    orb: &Orb,
    endpoints: &[ProfileEndpoint],
    object: &Publication<'_>,
) -> Result<Vec<TaggedProfile>, SystemException> {
    protocol::own_profiles_for(&orb.broker().protocols.now(), endpoints, object)
        .map_err(|error| cdr_exception(error, CompletionStatus::No))
}

/// Returns the profiles of a reference with another object key, as far as this ORB can decode them. Their endpoints and
/// components stay, except for a component that holds the key.
pub(super) fn profiles_under(orb: &Orb, ior: &Ior, object_key: &[u8]) -> Vec<TaggedProfile> {
    let registry = orb.broker().protocols.now();
    let under = |tagged: &TaggedProfile| relayed::under_key(&registry, tagged, object_key);
    ior.profiles.iter().filter_map(under).flatten().collect()
}

/// Creates an object reference from an IOR.
#[must_use]
pub fn reference_to(orb: &Orb, ior: Ior) -> ObjectRef {
    ObjectRef::new(orb.clone(), ior, Origin::ThisHost)
}

/// Returns a reference to the object of `ior` for calls on these terms, with another object key if
/// one is given. Its profiles have no newer GIOP version and no other code sets than the terms say,
/// if the server supports them. Profiles that cannot satisfy the terms are left unchanged, and
/// calls through them are refused.
#[must_use]
pub fn on_terms(orb: &Orb, ior: &Ior, object_key: Option<&[u8]>, terms: Terms) -> Ior {
    relayed::on_terms(&orb.broker().protocols.now(), ior, object_key, terms)
}
