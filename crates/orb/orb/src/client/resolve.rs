//! From a reference's profiles to the endpoints it can be reached at, in order.

use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, code_set_exception, minor,
};
use crate::lane::Endpoint;
use crate::profile::{DecodedProfile, SecurityRequirement};
use crate::protocol::Registry;
use punctual_cdr::{CodeSets, GiopVersion, NarrowCodeSet};
use punctual_giop::code_sets;
use punctual_ior::{CodeSetComponentInfo, Component, Ior, TaggedComponent, tags};
use std::sync::Arc;

/// The endpoints of a reference, profile by profile, as far as this ORB speaks their protocols: `most` of them. Who
/// made it puts those first that are to be tried first.
///
/// # Errors
/// INV_OBJREF when no profile decodes, TRANSIENT when none is of a protocol that is registered,
/// CODESET_INCOMPATIBLE when there is none that shares a code set.
pub(crate) fn endpoints(
    ior: &Ior,
    newest: GiopVersion,
    registry: &Registry,
    most: usize,
) -> Result<Vec<Endpoint>, SystemException> {
    let mut found = Vec::new();
    let mut problem = None;
    let mut read = 0;
    for (index, tagged) in ior.profiles.iter().enumerate() {
        let left = most.saturating_sub(found.len());
        if left == 0 || read == most {
            tracing::debug!(
                type_id = ior.type_id,
                "the reference has more endpoints than are read"
            );
            break;
        }
        let Some(codec) = registry.codec(tagged.tag) else {
            continue;
        };
        read += 1;
        let profile = match codec.decode(&tagged.data) {
            Ok(profile) => profile,
            Err(error) => {
                problem = Some(bad_profile(index, &error));
                continue;
            }
        };
        match endpoints_of(profile, index, newest, registry, left) {
            Ok(endpoints) => found.extend(endpoints),
            Err(exception) => problem = Some(exception),
        }
    }
    if found.is_empty() {
        Err(problem.unwrap_or_else(|| no_profile(ior)))
    } else {
        Ok(found)
    }
}

fn endpoints_of(
    profile: DecodedProfile,
    index: usize,
    newest: GiopVersion,
    registry: &Registry,
    most: usize,
) -> Result<Vec<Endpoint>, SystemException> {
    let object_key: Arc<[u8]> = profile.object_key.as_slice().into();
    let mut securities = profile
        .endpoints
        .iter()
        .filter_map(|one| one.qualities.security);
    let demands = securities.find(SecurityRequirement::demands_protection);
    let announced = announced(&profile.components);
    let mut found = Vec::new();
    let mut problem = None;
    for endpoint in profile.endpoints.into_iter().take(most) {
        let pair = match registry.pair(&endpoint.protocol) {
            Ok(pair) => Arc::new(pair),
            Err(error) => {
                problem = Some(no_protocol(index, &error));
                continue;
            }
        };
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
    match problem {
        Some(problem) if found.is_empty() => Err(problem),
        _ => Ok(found),
    }
}

/// The code sets where UTF-8 is preferred, and where ISO 8859-1 is.
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

/// The code sets that a profile's components announce.
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
