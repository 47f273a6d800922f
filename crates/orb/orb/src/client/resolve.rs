//! Resolution of a reference's profiles to endpoints, in order.

use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, code_set_exception, minor,
};
use crate::lane::Endpoint;
use crate::profile::{DecodedProfile, Demand, ProfileCodec, demanded_by_all};
use crate::protocol::{Pair, Registry};
use punctual_cdr::{CodeSets, GiopVersion, NarrowCodeSet};
use punctual_giop::code_sets;
use punctual_ior::{CodeSetComponentInfo, Component, Ior, TaggedComponent, tags};
use punctual_link::Protection;
use std::sync::Arc;

/// Returns the endpoints of a reference, profile by profile, as far as this ORB speaks their
/// protocols, but no more than `most`. The creator of a reference lists the preferred endpoints
/// first. If there are more than `most`, encrypted ones are kept among them: a reference cannot
/// hide its encrypted endpoints behind a large number of others.
///
/// # Errors
/// INV_OBJREF if no profile can be decoded, TRANSIENT if none has a registered protocol,
/// CODESET_INCOMPATIBLE if none has a code set in common with this ORB.
pub(crate) fn endpoints(
    ior: &Ior,
    newest: GiopVersion,
    registry: &Registry,
    most: usize,
) -> Result<Vec<Endpoint>, SystemException> {
    let mut found = Vec::new();
    let mut problem = None;
    let demanded = demanded_by_all(ior);
    for (index, tagged) in ior.profiles.iter().enumerate() {
        let Some(codec) = registry.codec(tagged.tag) else {
            continue;
        };
        let mut add = |codec: &dyn ProfileCodec, data: &[u8]| {
            let profile = codec.decode(data);
            let profile = profile.map_err(|error| bad_profile(index, &error))?;
            let known = (newest, registry, demanded);
            add_endpoints_of(profile, index, known, (&mut found, most))
        };
        if let Err(exception) = add(&**codec, &tagged.data) {
            problem = Some(exception);
        }
        for inside in codec.nested(&tagged.data) {
            let added = registry.codec(inside.tag);
            if let Some(Err(exception)) = added.map(|codec| add(&**codec, &inside.data)) {
                problem = Some(exception);
            }
        }
    }
    if found.is_empty() {
        Err(problem.unwrap_or_else(|| no_profile(ior)))
    } else {
        Ok(found)
    }
}

/// Adds all endpoints of a profile, or some of them. The error is the reason why one of them was
/// left out.
fn add_endpoints_of(
    profile: DecodedProfile,
    index: usize,
    (newest, registry, demanded): (GiopVersion, &Registry, Option<Demand>),
    (found, most): (&mut Vec<Endpoint>, usize),
) -> Result<(), SystemException> {
    let object_key: Arc<[u8]> = profile.object_key.as_slice().into();
    let demands = profile.demands().or(demanded);
    let announced = announced(&profile.components);
    let mut problem = None;
    // Nearly all endpoints of a profile are of one protocol.
    let mut last: Option<(Box<str>, Arc<Pair>)> = None;
    for endpoint in profile.endpoints {
        let known = last.as_ref().filter(|(name, _)| *name == endpoint.protocol);
        let pair = match known {
            Some((_, pair)) => pair.clone(),
            None => match registry.pair(&endpoint.protocol) {
                Ok(pair) => Arc::new(pair),
                Err(error) => {
                    problem = Some(no_protocol(index, &error));
                    continue;
                }
            },
        };
        last = Some((endpoint.protocol.clone(), pair.clone()));
        if found.len() >= most {
            let is_encrypted = pair.link.protection() == Protection::Encryption;
            let in_clear = found.iter().rposition(|one| !one.is_encrypted());
            let Some(instead) = in_clear.filter(|_| is_encrypted) else {
                continue;
            };
            found.remove(instead);
        }
        let (version, [code_sets, code_sets_of_latin]) = if pair.messaging.abilities().contexts {
            let version = profile.version.min(newest);
            (version, agreed(version, announced.as_ref())?)
        } else {
            (GiopVersion::V1_2, [CodeSets::NATIVE; 2])
        };
        found.push(Endpoint {
            pair,
            address: endpoint.address,
            qualities: endpoint.qualities,
            demands,
            version,
            code_sets,
            code_sets_of_latin,
            announces_code_sets: announced.is_some(),
            object_key: object_key.clone(),
            profile: index,
        });
    }
    problem.map_or(Ok(()), Err)
}

/// Returns the code sets to use with the server: first for clients that prefer UTF-8, then for
/// clients that prefer ISO 8859-1.
fn agreed(
    version: GiopVersion,
    announced: Option<&CodeSetComponentInfo>,
) -> Result<[CodeSets; 2], SystemException> {
    if version == GiopVersion::V1_0 {
        return Ok([CodeSets::UNNEGOTIATED; 2]);
    }
    let preferring = |native| code_sets::negotiate(announced, native).map_err(code_set_exception);
    Ok([
        preferring(NarrowCodeSet::Utf8)?,
        preferring(NarrowCodeSet::Iso8859_1)?,
    ])
}

/// Returns the code sets that a profile's components announce.
pub(crate) fn announced(components: &[TaggedComponent]) -> Option<CodeSetComponentInfo> {
    let component = components
        .iter()
        .find(|component| component.tag == tags::component::CODE_SETS)?;
    match component.decode() {
        Ok(Component::CodeSets(info)) => Some(info),
        _ => None,
    }
}

fn bad_profile(index: usize, error: &dyn std::fmt::Display) -> SystemException {
    SystemException::new(Kind::InvObjref, minor::BAD_REFERENCE, CompletionStatus::No).with_detail(
        format!("profile {index} of the reference does not decode: {error}"),
    )
}

fn no_protocol(index: usize, error: &dyn std::fmt::Display) -> SystemException {
    SystemException::new(
        Kind::Transient,
        minor::NO_USABLE_PROFILE,
        CompletionStatus::No,
    )
    .with_detail(format!(
        "profile {index} of the reference cannot be used: {error}"
    ))
}

fn no_profile(ior: &Ior) -> SystemException {
    let kinds: Vec<String> = ior
        .profiles
        .iter()
        .map(|profile| {
            tags::profile_name(profile.tag)
                .map_or_else(|| format!("{:#x}", profile.tag), ToString::to_string)
        })
        .collect();
    SystemException::new(
        Kind::Transient,
        minor::NO_USABLE_PROFILE,
        CompletionStatus::No,
    )
    .with_detail(format!(
        "no profile of the reference can be used: it has {}",
        kinds.join(", ")
    ))
}
