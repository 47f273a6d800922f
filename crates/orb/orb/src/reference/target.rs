//! Where a reference points: its profiles, and the endpoints they yield.

use crate::client::endpoint_select::{Endpoint, endpoints};
use crate::exception::SystemException;
use crate::orb::Orb;
use arc_swap::ArcSwapOption;
use punctual_ior::Ior;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A reference's goal, original or forwarded.
pub(crate) struct Target {
    ior: Ior,
    /// Whether the reference's own ORB has made it, so that the object is its adapter's.
    made_here: bool,
    /// Decoded at the first call, and again when the protocols that there are have changed.
    placed: ArcSwapOption<Placed>,
    identity: OnceLock<Identity>,
}

struct Placed {
    /// The registry's number.
    number: u64,
    endpoints: Result<Arc<[Arc<Endpoint>]>, SystemException>,
}

/// What two references to one object have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// Object key, and the first place of the first profile that is understood.
    Place(Vec<u8>, String),
    /// The whole of a reference that is not.
    Profiles(Vec<(u32, Vec<u8>)>),
}

impl Target {
    pub(crate) fn new(ior: Ior) -> Self {
        Self::with_origin(ior, false)
    }

    /// The goal of a reference that its ORB makes.
    pub(crate) fn made_here(ior: Ior) -> Self {
        Self::with_origin(ior, true)
    }

    fn with_origin(ior: Ior, made_here: bool) -> Self {
        Self {
            ior,
            made_here,
            placed: ArcSwapOption::empty(),
            identity: OnceLock::new(),
        }
    }

    pub(crate) fn ior(&self) -> &Ior {
        &self.ior
    }

    pub(crate) fn is_made_here(&self) -> bool {
        self.made_here
    }

    /// All endpoints by protocols that are registered, in the order of the profiles.
    pub(crate) fn endpoints(&self, orb: &Orb) -> Result<Arc<[Arc<Endpoint>]>, SystemException> {
        let registry = orb.protocols().now();
        if let Some(placed) = &*self.placed.load()
            && placed.number == registry.number
        {
            return placed.endpoints.clone();
        }
        let found = endpoints(&self.ior, orb.config().giop_version, &registry);
        let endpoints = found.map(|found| found.into_iter().map(Arc::new).collect());
        let placed = Placed {
            number: registry.number,
            endpoints,
        };
        let endpoints = placed.endpoints.clone();
        self.placed.store(Some(Arc::new(placed)));
        endpoints
    }

    pub(crate) fn identity(&self, orb: &Orb) -> &Identity {
        self.identity.get_or_init(|| {
            let registry = orb.protocols().now();
            let decoded = self.ior.profiles.iter().find_map(|tagged| {
                let profile = registry.codec(tagged.tag)?.decode(&tagged.data).ok()?;
                let place = profile.endpoints.first()?;
                Some((profile.object_key, place.address.to_string()))
            });
            match decoded {
                Some((key, place)) => match orb.adapter() {
                    Some(adapter) => Identity::Place(adapter.name_in(&key).into_owned(), place),
                    None => Identity::Place(key, place),
                },
                None => {
                    let profiles = self.ior.profiles.iter();
                    Identity::Profiles(profiles.map(|one| (one.tag, one.data.clone())).collect())
                }
            }
        })
    }

    /// For people.
    pub(crate) fn describe(&self, orb: &Orb) -> String {
        match self.identity(orb) {
            Identity::Place(_, place) => format!("at {place}"),
            Identity::Profiles(profiles) => format!("with {} profiles", profiles.len()),
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
