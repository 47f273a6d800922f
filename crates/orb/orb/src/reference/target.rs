//! Where a reference points: its profiles, the endpoints they yield, and the one it is bound to.

use crate::client::endpoint_select::{Binding, Bound, Endpoint, endpoints};
use crate::client::unreachable;
use crate::exception::SystemException;
use crate::orb::Orb;
use arc_swap::ArcSwapOption;
use punctual_exec::Deadline;
use punctual_ior::{IiopProfile, Ior, tags};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A reference's goal, original or forwarded.
pub(crate) struct Target {
    ior: Ior,
    endpoints: OnceLock<Result<Vec<Arc<Endpoint>>, SystemException>>,
    bound: ArcSwapOption<Bound>,
    identity: OnceLock<Identity>,
}

/// What two references to one object have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// Object key, host and port.
    Place(Vec<u8>, String, u16),
    /// The whole of a reference without an IIOP profile.
    Profiles(Vec<(u32, Vec<u8>)>),
}

impl Target {
    pub(crate) fn new(ior: Ior) -> Self {
        Self {
            ior,
            endpoints: OnceLock::new(),
            bound: ArcSwapOption::empty(),
            identity: OnceLock::new(),
        }
    }

    pub(crate) fn ior(&self) -> &Ior {
        &self.ior
    }

    /// A usable connection: the one bound before, or the first endpoint's that can be had.
    ///
    /// Warm, this takes no lock. Cold, it blocks for the connection's set-up.
    pub(crate) fn bind(&self, orb: &Orb, deadline: Deadline) -> Result<Binding, SystemException> {
        let bound = self.bound.load();
        if let Some(binding) = bound.as_ref().and_then(|bound| bound.binding()) {
            if binding.connection.is_usable(deadline) {
                return Ok(binding);
            }
            self.bound.store(None);
        }
        orb.check_not_over()?;
        let config = orb.config();
        let all = self.endpoints.get_or_init(|| {
            let found = endpoints(&self.ior, config.giop_version)?;
            Ok(found.into_iter().map(Arc::new).collect())
        });
        let all = all.as_ref().map_err(Clone::clone)?;
        let until = deadline.earlier(Deadline::after_maybe(config.timeouts.connect));
        let mut failures = Vec::new();
        for endpoint in all {
            match orb.lane().connection(orb, endpoint, until) {
                Ok(connection) => {
                    let endpoint = endpoint.clone();
                    let binding = Binding {
                        connection,
                        endpoint,
                    };
                    self.bound.store(Some(Arc::new(binding.to_bound())));
                    return Ok(binding);
                }
                Err(error) => failures.push((endpoint.address.clone(), error)),
            }
        }
        Err(unreachable(&failures, deadline))
    }

    pub(crate) fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| {
            let iiop = self
                .ior
                .profiles
                .iter()
                .find(|one| one.tag == tags::profile::INTERNET_IOP);
            match iiop.map(|profile| IiopProfile::decode(&profile.data)) {
                Some(Ok(profile)) => {
                    Identity::Place(profile.object_key, profile.host, profile.port)
                }
                _ => Identity::Profiles(
                    self.ior
                        .profiles
                        .iter()
                        .map(|one| (one.tag, one.data.clone()))
                        .collect(),
                ),
            }
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.identity() {
            Identity::Place(_, host, port) => {
                write!(f, "at {}", punctual_link::Address::iiop(host, *port))
            }
            Identity::Profiles(profiles) => write!(f, "with {} profiles", profiles.len()),
        }
    }
}
