//! Target of a reference: its profiles, and the endpoints they yield.

use super::resolve::endpoints;
use crate::broker::Broker;
use crate::exception::SystemException;
use crate::groups::StatedGroup;
use crate::lane::{BackChannel, ClientConnection, Endpoint};
use crate::profile::{DecodedProfile, Origin};
use arc_swap::ArcSwapOption;
use punctual_ior::{Component, Ior, PolicyValue, TaggedComponent, tags};
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

/// Target of a reference: the original one, or one that the call was forwarded to.
pub(crate) struct Target {
    ior: Ior,
    origin: Origin,
    /// Decoded profiles. Decoded at the first call, and again when the set of registered protocols
    /// has changed.
    decoded: ArcSwapOption<Decoded>,
    identity: OnceLock<Identity>,
    /// What the reference says about fault tolerance; read where an ORB calls object groups.
    stated: OnceLock<Box<StatedGroup>>,
    /// The incoming connection over which the reference was received, if calls may be made over it
    /// (bidirectional GIOP).
    back: Option<Weak<BackChannel>>,
}

struct Decoded {
    /// Version number of the protocol registry with which the endpoints were decoded.
    number: u64,
    endpoints: Result<Arc<[Arc<Endpoint>]>, SystemException>,
}

/// Identity of an object, equal for two references to one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// Object key, and the first endpoint of the first profile that this ORB can decode.
    Endpoint(Vec<u8>, String),
    /// All profiles of a reference of which this ORB can decode none.
    Profiles(Vec<(u32, Vec<u8>)>),
}

impl Target {
    pub(crate) fn new(ior: Ior, origin: Origin) -> Self {
        Self {
            ior,
            origin,
            decoded: ArcSwapOption::empty(),
            identity: OnceLock::new(),
            stated: OnceLock::new(),
            back: None,
        }
    }

    /// Records the client's connection over which the reference was received.
    pub(crate) fn came_by(self, back: Option<Weak<BackChannel>>) -> Self {
        Self { back, ..self }
    }

    /// Returns the connection over which the reference was received, if its client has announced
    /// there that it listens at this endpoint.
    pub(super) fn way_back(&self, endpoint: &Endpoint) -> Option<Arc<ClientConnection>> {
        self.back.as_ref()?.upgrade()?.connection(endpoint)
    }

    pub(crate) fn ior(&self) -> &Ior {
        &self.ior
    }

    /// Returns what the reference says about fault tolerance.
    pub(crate) fn stated(&self) -> &StatedGroup {
        self.stated
            .get_or_init(|| Box::new(StatedGroup::of(&self.ior)))
    }

    pub(crate) fn is_made_here(&self) -> bool {
        self.origin == Origin::OwnOrb
    }

    /// Returns whether calls may use endpoints of the reference that are local to this host: the
    /// reference was created on this host, or the configuration allows it.
    pub(super) fn may_be_local(&self, broker: &Broker) -> bool {
        self.origin != Origin::Elsewhere || broker.config().foreign_local_endpoints
    }

    /// Returns the first `Some` that `what` returns for the profiles that this ORB can decode.
    pub(crate) fn first_that_says<T>(
        &self,
        broker: &Broker,
        what: impl Fn(DecodedProfile) -> Option<T>,
    ) -> Option<T> {
        let registry = broker.protocols.now();
        self.ior.profiles.iter().find_map(|tagged| {
            let codec = registry.codec(tagged.tag)?;
            codec.decode(&tagged.data).ok().and_then(&what)
        })
    }

    /// Returns the policies that the server published in the first profile that has any (the
    /// component TAG_POLICIES of CORBA Messaging).
    pub(crate) fn published_policies(&self, broker: &Broker) -> Vec<PolicyValue> {
        let policies = self.first_that_says(broker, |profile| {
            profile.components.iter().find_map(policies)
        });
        policies.unwrap_or_default()
    }

    /// Returns all endpoints whose protocols are registered, in the order of the profiles.
    pub(crate) fn endpoints(
        &self,
        broker: &Broker,
    ) -> Result<Arc<[Arc<Endpoint>]>, SystemException> {
        let registry = broker.protocols.now();
        if let Some(decoded) = &*self.decoded.load()
            && decoded.number == registry.number
        {
            return decoded.endpoints.clone();
        }
        let config = broker.config();
        let found = endpoints(
            &self.ior,
            config.giop_version,
            &registry,
            config.budgets.endpoints,
        );
        let endpoints = found.map(|found| found.into_iter().map(Arc::new).collect());
        let decoded = Decoded {
            number: registry.number,
            endpoints,
        };
        let endpoints = decoded.endpoints.clone();
        self.decoded.store(Some(Arc::new(decoded)));
        endpoints
    }

    /// Returns the object's identity. `name_in` extracts the part of an object key that names the
    /// object.
    pub(crate) fn identity(
        &self,
        broker: &Broker,
        name_in: impl FnOnce(Vec<u8>) -> Vec<u8>,
    ) -> &Identity {
        self.identity.get_or_init(|| {
            let registry = broker.protocols.now();
            let decoded = self.ior.profiles.iter().find_map(|tagged| {
                let profile = registry.codec(tagged.tag)?.decode(&tagged.data).ok()?;
                let place = profile.endpoints.first()?;
                Some((profile.object_key, place.address.to_string()))
            });
            match decoded {
                Some((key, place)) => Identity::Endpoint(name_in(key), place),
                None => {
                    let profiles = self.ior.profiles.iter();
                    Identity::Profiles(profiles.map(|one| (one.tag, one.data.clone())).collect())
                }
            }
        })
    }
}

impl fmt::Display for Identity {
    /// Writes the object's location in human-readable form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(_, place) => write!(f, "at {place}"),
            Self::Profiles(profiles) => write!(f, "with {} profiles", profiles.len()),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("type_id", &self.ior.type_id)
            .field("profiles", &self.ior.profiles.len())
            .finish_non_exhaustive()
    }
}

fn policies(component: &TaggedComponent) -> Option<Vec<PolicyValue>> {
    if component.tag != tags::component::POLICIES {
        return None;
    }
    match component.decode() {
        Ok(Component::Policies(values)) => Some(values),
        _ => None,
    }
}
