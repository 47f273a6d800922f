//! From a reference's profiles to the endpoints it can be reached at, in order.

use super::mux::ClientConnection;
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, code_set_exception, minor,
};
use punctual_cdr::{CodeSets, GiopVersion};
use punctual_giop::code_sets;
use punctual_ior::{Endpoint as Place, IiopProfile, Ior, tags};
use punctual_link::Address;
use std::sync::{Arc, Weak};

/// One way to reach an object.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) address: Address,
    pub(crate) version: GiopVersion,
    pub(crate) code_sets: CodeSets,
    pub(crate) object_key: Arc<[u8]>,
    /// Which of the reference's profiles it comes from.
    pub(crate) profile: usize,
}

/// A connection, and the endpoint it was opened for.
#[derive(Clone, Debug)]
pub(crate) struct Binding {
    pub(crate) connection: Arc<ClientConnection>,
    pub(crate) endpoint: Arc<Endpoint>,
}

/// What a reference remembers of its binding. The connection is the lane's: one that has broken goes,
/// whatever references were bound to it.
#[derive(Debug)]
pub(crate) struct Bound {
    connection: Weak<ClientConnection>,
    endpoint: Arc<Endpoint>,
}

impl Binding {
    /// To be remembered.
    pub(crate) fn to_bound(&self) -> Bound {
        Bound {
            connection: Arc::downgrade(&self.connection),
            endpoint: self.endpoint.clone(),
        }
    }
}

impl Bound {
    /// The binding, if its connection is still there.
    pub(crate) fn binding(&self) -> Option<Binding> {
        Some(Binding {
            connection: self.connection.upgrade()?,
            endpoint: self.endpoint.clone(),
        })
    }
}

/// The endpoints of a reference: each usable profile's own, then its alternates.
///
/// # Errors
/// INV_OBJREF when no profile decodes, TRANSIENT when none is of a known kind,
/// CODESET_INCOMPATIBLE when there is none that shares a code set.
pub(crate) fn endpoints(ior: &Ior, newest: GiopVersion) -> Result<Vec<Endpoint>, SystemException> {
    let mut found = Vec::new();
    let mut problem = None;
    for (index, profile) in ior.profiles.iter().enumerate() {
        if profile.tag != tags::profile::INTERNET_IOP {
            continue;
        }
        let profile = match IiopProfile::decode(&profile.data) {
            Ok(profile) => profile,
            Err(error) => {
                problem = Some(bad_profile(index, &error));
                continue;
            }
        };
        match endpoints_of(&profile, index, newest) {
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
    profile: &IiopProfile,
    index: usize,
    newest: GiopVersion,
) -> Result<Vec<Endpoint>, SystemException> {
    let version = profile.version.giop().ok_or_else(|| {
        SystemException::new(Kind::InvObjref, minor::BAD_REFERENCE, CompletionStatus::No)
            .with_detail(format!(
                "profile {index} is IIOP {}, which nobody knows",
                profile.version
            ))
    })?;
    let version = version.min(newest);
    let code_sets = match version {
        GiopVersion::V1_0 => CodeSets::UNNEGOTIATED,
        _ => code_sets::negotiate(profile.code_sets().as_ref()).map_err(code_set_exception)?,
    };
    let object_key: Arc<[u8]> = profile.object_key.as_slice().into();
    let endpoint = |place: Place| Endpoint {
        address: Address::iiop(&place.host, place.port),
        version,
        code_sets,
        object_key: object_key.clone(),
        profile: index,
    };
    // A port of 0 says that the profile's own address is not for use (another transport's is).
    Ok(profile
        .endpoints()
        .filter(|place| place.port != 0)
        .map(endpoint)
        .collect())
}

fn bad_profile(index: usize, error: &dyn std::fmt::Display) -> SystemException {
    SystemException::new(Kind::InvObjref, minor::BAD_REFERENCE, CompletionStatus::No).with_detail(
        format!("profile {index} of the reference does not decode: {error}"),
    )
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
