//! Where an object is, as profiles say it: one model for every tag.

use crate::priority::Priority;
use punctual_ior::{AssociationOptions, Endpoint, SslSecTrans};
use punctual_link::Address;
use std::fmt;

/// An endpoint that a profile names: a protocol, an address of its link, and what is known of it beside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProfileEndpoint {
    /// The protocol, e.g. `iiop` or `giop_lite+uiop`.
    pub protocol: Box<str>,
    /// Where.
    pub address: Address,
    /// What else the profile says of it.
    pub qualities: EndpointQualities,
}

/// What a profile says of an endpoint beside where it is; nothing, by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EndpointQualities {
    /// The priority that requests are served at which come there.
    pub priority: Option<Priority>,
    /// The protection that connections have there.
    pub security: Option<SecurityRequirement>,
    /// The lane whose threads serve it.
    pub lane: Option<LaneId>,
}

/// Names a lane of a thread pool. What it means is known only to who made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneId {
    /// The pool's number in its ORB.
    pub pool: u32,
    /// The lane's place in the pool.
    pub index: u32,
}

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {} of thread pool {}", self.index, self.pool)
    }
}

/// How connections to an endpoint are protected, as SSL_SEC_TRANS says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecurityRequirement {
    /// What the server can do.
    pub supports: AssociationOptions,
    /// What it demands.
    pub requires: AssociationOptions,
}

impl SecurityRequirement {
    /// What a TLS endpoint of ours offers and demands, if it was not told to demand more.
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

    /// The same of a server that demands that its clients prove who they are, too.
    pub(crate) fn with_trust_in_client(self) -> Self {
        Self {
            requires: self
                .requires
                .and(AssociationOptions::ESTABLISH_TRUST_IN_CLIENT),
            ..self
        }
    }

    /// Whether the server demands that what it is sent be protected, or that who sends it prove who that is: it is
    /// not to be sent anything in clear.
    #[must_use]
    pub fn demands_protection(&self) -> bool {
        const DEMANDS: [AssociationOptions; 2] = [
            AssociationOptions::ESTABLISH_TRUST_IN_TARGET,
            AssociationOptions::ESTABLISH_TRUST_IN_CLIENT,
        ];
        self.demands_protection_of_messages()
            || DEMANDS.into_iter().any(|one| self.requires.contain(one))
    }

    /// Whether the server demands that what it is sent be protected.
    pub(crate) fn demands_protection_of_messages(&self) -> bool {
        const DEMANDS: [AssociationOptions; 4] = [
            AssociationOptions::INTEGRITY,
            AssociationOptions::CONFIDENTIALITY,
            AssociationOptions::DETECT_REPLAY,
            AssociationOptions::DETECT_MISORDERING,
        ];
        DEMANDS.into_iter().any(|one| self.requires.contain(one))
    }

    /// The same of a server that can be reached in clear, too: it offers, and demands nothing.
    pub(crate) fn beside_clear(self) -> Self {
        Self {
            supports: self.supports.and(AssociationOptions::NO_PROTECTION),
            requires: AssociationOptions::NO_PROTECTION,
        }
    }
}

impl ProfileEndpoint {
    /// One of which nothing more is known.
    #[must_use]
    pub fn new(protocol: &str, address: Address) -> Self {
        Self {
            protocol: protocol.into(),
            address,
            qualities: EndpointQualities::default(),
        }
    }

    /// The endpoint, protected like this.
    #[must_use]
    pub fn with_security(mut self, security: SecurityRequirement) -> Self {
        self.qualities.security = Some(security);
        self
    }

    /// The endpoint of a priority.
    #[must_use]
    pub fn with_priority(mut self, priority: Priority) -> Self {
        self.qualities.priority = Some(priority);
        self
    }

    /// The endpoint of a lane.
    #[must_use]
    pub fn with_lane(mut self, lane: LaneId) -> Self {
        self.qualities.lane = Some(lane);
        self
    }

    /// Whether both are at one address by one protocol, whatever else is said of them.
    #[must_use]
    pub fn is_where(&self, other: &Self) -> bool {
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

/// An address as host and port.
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
        assert!(plain.is_where(&high));
        assert_ne!(plain, high);
        let lane = LaneId { pool: 1, index: 0 };
        assert_ne!(high, plain.clone().with_lane(lane));
        let elsewhere = ProfileEndpoint::new("iiop", Address::iiop("h", 2));
        assert!(!plain.is_where(&elsewhere));
    }
}
