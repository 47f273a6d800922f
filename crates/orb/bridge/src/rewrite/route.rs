//! Endpoints of the bridge and of its target.

use super::fit;
use super::side::Side;
use punctual_cdr::GiopVersion;
use punctual_ior::{CodeSetComponentInfo, Ior, TaggedComponent, tags};
use punctual_orb::relay::reference_to;
use punctual_orb::{ObjectRef, Orb, ProfileEndpoint, SystemException};

/// Endpoints of the bridge and of its target, with what their references have in common.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) orb: Orb,
    pub(crate) bridge: Vec<ProfileEndpoint>,
    pub(crate) target_orb: Orb,
    pub(crate) target: Vec<ProfileEndpoint>,
    /// GIOP version and code sets that references to either of them publish.
    pub(crate) version: GiopVersion,
    pub(crate) code_sets: Option<CodeSetComponentInfo>,
}

impl Route {
    /// Returns an address at which both the bridge and the target listen, if there is one: the
    /// bridge would then call itself.
    pub(crate) fn loops(&self) -> Option<&str> {
        let mut both = self
            .target
            .iter()
            .filter(|one| self.bridge.iter().any(|here| here.has_same_address(one)));
        both.next().map(|one| one.address.place())
    }

    /// Returns a reference by way of the bridge to an object of the target's server. It is no
    /// shorter than one to the target itself, if it can be padded, so that it can be rewritten to
    /// that.
    ///
    /// # Errors
    /// Parts that cannot be encoded.
    pub(crate) fn through_bridge(
        self,
        type_id: &str,
        object_key: &[u8],
    ) -> Result<ObjectRef, SystemException> {
        let orb = self.orb.clone();
        let (bridge, target) = self.sides();
        let ior = |profiles| Ior {
            type_id: type_id.to_owned(),
            profiles,
        };
        let own = ior(bridge.profiles(
            &bridge.endpoints,
            object_key,
            &[TaggedComponent::orb_type(tags::orb_type::PUNCTUAL)],
        )?);
        let targets = ior(target.profiles(&target.endpoints, object_key, &[])?);
        let room = fit::length(&targets);
        if fit::length(&own) < room {
            let padded = fit::of_length(room, type_id, object_key, &bridge, &[]);
            if let Some(padded) = padded {
                return Ok(reference_to(&orb, padded));
            }
        }
        Ok(reference_to(&orb, own))
    }

    pub(crate) fn sides(self) -> (Side, Side) {
        let info = self.code_sets.as_ref();
        // Code sets that were received can always be encoded.
        let code_sets = info.and_then(|info| TaggedComponent::code_sets(info).ok());
        let side = |orb, endpoints| Side {
            orb,
            endpoints,
            version: self.version,
            code_sets: code_sets.clone(),
        };
        (
            side(self.orb, self.bridge),
            side(self.target_orb, self.target),
        )
    }
}
