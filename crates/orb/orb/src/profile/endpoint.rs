//! Endpoints in profiles, in a form that is independent of the profile's tag.

use crate::priority::Priority;
use punctual_ior::{AssociationOptions, Endpoint, SslSecTrans};
use punctual_link::Address;
use std::fmt;

/// Endpoint in a profile: a protocol, an address of its link, and its known qualities.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProfileEndpoint {
    /// Name of the endpoint's protocol, e.g. `iiop` or `giop_lite+uiop`.
    pub protocol: Box<str>,
    /// Address of the endpoint.
    pub address: Address,
    /// Known qualities of the endpoint, such as the priority.
    pub qualities: EndpointQualities,
}

/// Qualities of an endpoint in a profile, beside its address; none, by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EndpointQualities {
    /// Priority at which requests to the endpoint are served.
    pub priority: Option<Priority>,
    /// Protection that connections to the endpoint offer or demand.
    pub security: Option<SecurityRequirement>,
    /// Lane of a thread pool whose threads serve the endpoint.
    pub lane: Option<LaneId>,
}

/// Identifier of a lane of a thread pool. Its meaning is defined by the creator of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneId {
    /// Number of the thread pool in the ORB.
    pub pool: u32,
    /// Index of the lane in the thread pool.
    pub index: u32,
}

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {} of thread pool {}", self.index, self.pool)
    }
}

/// Protection of connections to an endpoint, as in SSL_SEC_TRANS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecurityRequirement {
    /// Protection that the server's endpoint supports.
    pub supports: AssociationOptions,
    /// Protection that the server's endpoint demands of clients.
    pub requires: AssociationOptions,
}

impl SecurityRequirement {
    /// Offer and demands of Punctual's TLS endpoints, unless they are configured to demand more.
    pub(crate) const OF_TLS: Self = {
        let protection = AssociationOptions::INTEGRITY
            .and(AssociationOptions::CONFIDENTIALITY)
            .and(AssociationOptions::DETECT_REPLAY)
            .and(AssociationOptions::DETECT_MISORDERING);
        let trust = AssociationOptions::ESTABLISH_TRUST_IN_TARGET
            .and(AssociationOptions::ESTABLISH_TRUST_IN_CLIENT)
            .and(AssociationOptions::NO_DELEGATION);
        Self {
            supports: protection.and(trust),
            requires: protection,
        }
    };

    /// Returns the requirement with the additional demand that clients authenticate themselves.
    pub(crate) fn with_trust_in_client(self) -> Self {
        Self {
            requires: self
                .requires
                .and(AssociationOptions::ESTABLISH_TRUST_IN_CLIENT),
            ..self
        }
    }

    /// Returns whether the server demands encryption of messages or authentication of clients, so
    /// that nothing may be sent to it unencrypted.
    #[must_use]
    pub fn demands_protection(&self) -> bool {
        const DEMANDS: [AssociationOptions; 2] = [
            AssociationOptions::ESTABLISH_TRUST_IN_TARGET,
            AssociationOptions::ESTABLISH_TRUST_IN_CLIENT,
        ];
        self.demands_protection_of_messages()
            || DEMANDS.into_iter().any(|one| self.requires.contain(one))
    }

    /// Returns whether the server demands protection (integrity or confidentiality) of messages.
    pub(crate) fn demands_protection_of_messages(&self) -> bool {
        const DEMANDS: [AssociationOptions; 4] = [
            AssociationOptions::INTEGRITY,
            AssociationOptions::CONFIDENTIALITY,
            AssociationOptions::DETECT_REPLAY,
            AssociationOptions::DETECT_MISORDERING,
        ];
        DEMANDS.into_iter().any(|one| self.requires.contain(one))
    }

    /// Returns the requirement of a server that can also be reached without encryption: it offers
    /// protection, and demands none.
    pub(crate) fn beside_clear(self) -> Self {
        Self {
            supports: self.supports.and(AssociationOptions::NO_PROTECTION),
            requires: AssociationOptions::NO_PROTECTION,
        }
    }
}

impl ProfileEndpoint {
    /// Creates a profile's endpoint without known qualities.
    #[must_use]
    pub fn new(protocol: &str, address: Address) -> Self {
        Self {
            protocol: protocol.into(),
            address,
            qualities: EndpointQualities::default(),
        }
    }

    /// Sets the protection of connections to the endpoint.
    #[must_use]
    pub fn with_security(mut self, security: SecurityRequirement) -> Self {
        self.qualities.security = Some(security);
        self
    }

    /// Sets the priority at which requests to the endpoint are served.
    #[must_use]
    pub fn with_priority(mut self, priority: Priority) -> Self {
        self.qualities.priority = Some(priority);
        self
    }

    /// Sets the lane whose threads serve the endpoint.
    #[must_use]
    pub fn with_lane(mut self, lane: LaneId) -> Self {
        self.qualities.lane = Some(lane);
        self
    }

    /// Returns whether both endpoints have an equal address and protocol, whatever their qualities.
    #[must_use]
    pub fn has_same_address(&self, other: &Self) -> bool {
        self.protocol == other.protocol && self.address == other.address
    }
}

impl From<&SslSecTrans> for SecurityRequirement {
    fn from(ssl: &SslSecTrans) -> Self {
        Self {
            supports: ssl.target_supports,
            requires: ssl.target_requires,
        }
    }
}

/// Returns an address as host and port, if it has that form.
pub(super) fn host_and_port(address: &Address) -> Option<Endpoint> {
    let (host, port) = address.host_and_port()?;
    Some(Endpoint {
        host: host.to_owned(),
        port,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_that_differ_in_their_qualities_are_at_one_address_and_not_equal() {
        let plain = ProfileEndpoint::new("iiop", Address::iiop("h", 1));
        let high = plain.clone().with_priority(Priority::MAX);
        assert!(plain.has_same_address(&high));
        assert_ne!(plain, high);
        let lane = LaneId { pool: 1, index: 0 };
        assert_ne!(high, plain.clone().with_lane(lane));
        let elsewhere = ProfileEndpoint::new("iiop", Address::iiop("h", 2));
        assert!(!plain.has_same_address(&elsewhere));
    }
}
