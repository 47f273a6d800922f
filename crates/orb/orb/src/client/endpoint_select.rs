//! From a reference's profiles to the endpoints it can be reached at, in order.

use super::mux::{Claim, ClientConnection};
use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind as Kind, code_set_exception, minor,
};
use crate::policy::Mux;
use crate::profile::{DecodedProfile, EndpointQualities};
use crate::protocol::{Pair, Registry};
use punctual_cdr::{CodeSets, GiopVersion};
use punctual_exec::Deadline;
use punctual_giop::code_sets;
use punctual_ior::{CodeSetComponentInfo, Component, Ior, TaggedComponent, tags};
use punctual_link::Address;
use std::sync::{Arc, Weak};

/// One way to reach an object.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub(crate) pair: Arc<Pair>,
    pub(crate) address: Address,
    pub(crate) qualities: EndpointQualities,
    pub(crate) version: GiopVersion,
    pub(crate) code_sets: CodeSets,
    pub(crate) object_key: Arc<[u8]>,
    /// Which of the reference's profiles it comes from.
    pub(crate) profile: usize,
}

impl Endpoint {
    /// Whether both are one endpoint of one profile.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.profile == other.profile
            && self.address == other.address
            && self.qualities == other.qualities
            && self.pair.name == other.pair.name
    }
}

/// A connection, and the endpoint it was opened for.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) connection: Arc<ClientConnection>,
    pub(crate) endpoint: Arc<Endpoint>,
    /// Given back with the binding, where no other call uses the connection meanwhile.
    _claim: Option<Claim>,
}

/// What a reference remembers of its binding. The connection is the lane's: one that has broken goes,
/// whatever references were bound to it.
#[derive(Debug)]
pub(crate) struct Bound {
    connection: Weak<ClientConnection>,
    endpoint: Arc<Endpoint>,
}

impl Binding {
    /// One that other calls share.
    pub(crate) fn shared(connection: Arc<ClientConnection>, endpoint: Arc<Endpoint>) -> Self {
        Self {
            connection,
            endpoint,
            _claim: None,
        }
    }

    /// One for the caller alone.
    pub(crate) fn claimed(claim: Claim, endpoint: Arc<Endpoint>) -> Self {
        Self {
            connection: claim.connection().clone(),
            endpoint,
            _claim: Some(claim),
        }
    }

    /// To be remembered.
    pub(crate) fn to_bound(&self) -> Bound {
        Bound {
            connection: Arc::downgrade(&self.connection),
            endpoint: self.endpoint.clone(),
        }
    }
}

impl Bound {
    /// The connection, if it is still there.
    pub(crate) fn connection(&self) -> Option<Arc<ClientConnection>> {
        self.connection.upgrade()
    }

    /// The endpoint it was bound to.
    #[inline]
    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The binding, if its connection is still there, usable, and to be had.
    pub(crate) fn binding(&self, mux: Mux, deadline: Deadline) -> Option<Binding> {
        self.connection()?.bind(&self.endpoint, mux, deadline)
    }
}

/// The endpoints of a reference, profile by profile, as far as this ORB speaks their protocols.
///
/// # Errors
/// INV_OBJREF when no profile decodes, TRANSIENT when none is of a protocol that is registered,
/// CODESET_INCOMPATIBLE when there is none that shares a code set.
pub(crate) fn endpoints(
    ior: &Ior,
    newest: GiopVersion,
    registry: &Registry,
) -> Result<Vec<Endpoint>, SystemException> {
    let mut found = Vec::new();
    let mut problem = None;
    for (index, tagged) in ior.profiles.iter().enumerate() {
        let Some(codec) = registry.codec(tagged.tag) else {
            continue;
        };
        let profile = match codec.decode(&tagged.data) {
            Ok(profile) => profile,
            Err(error) => {
                problem = Some(bad_profile(index, &error));
                continue;
            }
        };
        match endpoints_of(profile, index, newest, registry) {
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
) -> Result<Vec<Endpoint>, SystemException> {
    let object_key: Arc<[u8]> = profile.object_key.as_slice().into();
    let mut found = Vec::new();
    let mut problem = None;
    for endpoint in profile.endpoints {
        let pair = match registry.pair(&endpoint.protocol) {
            Ok(pair) => Arc::new(pair),
            Err(error) => {
                problem = Some(no_protocol(index, &error));
                continue;
            }
        };
        let (version, code_sets) = if pair.messaging.abilities().contexts {
            let version = profile.version.min(newest);
            (version, agreed(version, &profile.components)?)
        } else {
            (GiopVersion::V1_2, CodeSets::NATIVE)
        };
        found.push(Endpoint {
            pair,
            address: endpoint.address,
            qualities: endpoint.qualities,
            version,
            code_sets,
            object_key: object_key.clone(),
            profile: index,
        });
    }
    match problem {
        Some(problem) if found.is_empty() => Err(problem),
        _ => Ok(found),
    }
}

fn agreed(
    version: GiopVersion,
    components: &[TaggedComponent],
) -> Result<CodeSets, SystemException> {
    match version {
        GiopVersion::V1_0 => Ok(CodeSets::UNNEGOTIATED),
        _ => code_sets::negotiate(announced(components).as_ref()).map_err(code_set_exception),
    }
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
