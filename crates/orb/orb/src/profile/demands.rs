//! Protection that a reference demands in any of its components: nothing may be sent unencrypted to
//! an object that demands it.

use super::{DecodedProfile, SecurityRequirement};
use punctual_ior::{
    AssociationOptions, Component, CompoundMechanism, Ior, MechanismTransport, Profile,
    TaggedComponent, TlsSecTrans, tags,
};
use std::fmt;

/// Protection without which nothing is to be sent, and the part of the reference that demands it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// Protection that a tagged component of the reference demands.
    Component {
        tag: u32,
        requires: AssociationOptions,
    },
    /// Protection that is demanded as a quality of an endpoint.
    Endpoint { requires: AssociationOptions },
    /// A component does not decode, and may demand anything.
    UnreadComponent { tag: u32 },
    /// A profile of components does not decode, and may demand anything.
    UnreadProfile,
}

/// Shows the reason for an error: a clause about the reference.
impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let component = |tag| tags::component_name(tag).unwrap_or("a component");
        match *self {
            Self::Component { tag, requires } => {
                let name = component(tag);
                write!(
                    f,
                    "its server demands protection ({requires}: target_requires of {name})"
                )
            }
            Self::Endpoint { requires } => {
                write!(
                    f,
                    "its server demands protection ({requires}, at one of its endpoints)"
                )
            }
            Self::UnreadComponent { tag } => {
                let name = component(tag);
                write!(
                    f,
                    "its component {name} does not decode, and may demand protection"
                )
            }
            Self::UnreadProfile => f.write_str(
                "its profile of components alone does not decode, and may demand protection",
            ),
        }
    }
}

impl DecodedProfile {
    /// Returns the protection without which nothing may be sent to this profile's endpoints: the
    /// demand of an endpoint, or of any component, even one without an address. A component that
    /// cannot be decoded counts as demanding protection.
    pub(crate) fn demands(&self) -> Option<Demand> {
        demanded_by(&self.components).or_else(|| {
            let endpoints = self.endpoints.iter();
            let mut securities = endpoints.filter_map(|one| one.qualities.security);
            let demand = securities.find(SecurityRequirement::demands_protection)?;
            let requires = demand.requires;
            Some(Demand::Endpoint { requires })
        })
    }
}

/// Returns the protection without which nothing may be sent to any endpoint of a reference: the
/// demands in profiles that contain only components, which apply to the whole object. IIOP 1.0 has
/// no other place for them. A component that cannot be decoded counts as demanding protection.
pub(crate) fn demanded_by_all(ior: &Ior) -> Option<Demand> {
    let mut of_components = ior
        .profiles
        .iter()
        .filter(|one| one.tag == tags::profile::MULTIPLE_COMPONENTS);
    of_components.find_map(|one| match one.decode() {
        Ok(Profile::MultipleComponents(components)) => demanded_by(&components),
        _ => Some(Demand::UnreadProfile),
    })
}

fn demanded_by(components: &[TaggedComponent]) -> Option<Demand> {
    components.iter().find_map(demanded)
}

/// Returns the protection that a component demands; `None` for components other than SSL_SEC_TRANS
/// and the CSIv2 mechanisms.
fn demanded(component: &TaggedComponent) -> Option<Demand> {
    let tag = component.tag;
    let is_security = matches!(
        tag,
        tags::component::SSL_SEC_TRANS | tags::component::CSI_SEC_MECH_LIST
    );
    if !is_security {
        return None;
    }
    let security = match component.decode() {
        Ok(Component::SslSecTrans(ssl)) => Some((&ssl).into()),
        Ok(Component::CsiMechanisms(mechanisms)) => {
            let by_others = demands_of_unknown_transports(&mechanisms);
            let mut securities = securities(&mechanisms)
                .map(|(security, _)| security)
                .chain(by_others);
            securities.find(SecurityRequirement::demands_protection)
        }
        _ => return Some(Demand::UnreadComponent { tag }),
    };
    let demand = security.filter(SecurityRequirement::demands_protection)?;
    let requires = demand.requires;
    Some(Demand::Component { tag, requires })
}

/// Returns the TLS requirements of each mechanism that has any. Each mechanism alone is sufficient:
/// if one of them needs no TLS, the others are not demanded.
pub(super) fn securities(
    mechanisms: &[CompoundMechanism],
) -> impl Iterator<Item = (SecurityRequirement, &TlsSecTrans)> {
    let needs_no_protection = mechanisms.iter().any(needs_no_protection);
    let secured = mechanisms.iter().filter_map(|one| match &one.transport {
        MechanismTransport::Tls(tls) => Some((one.target_requires, tls)),
        _ => None,
    });
    secured.map(move |(requires, tls)| {
        let security = SecurityRequirement {
            supports: tls.target_supports,
            requires: requires.and(tls.target_requires),
        };
        match needs_no_protection {
            true => (security.beside_clear(), tls),
            false => (security, tls),
        }
    })
}

/// Returns whether a mechanism needs no protection by its transport. A mechanism that demands
/// protection on another layer contradicts itself, and is interpreted in the safer way. Client
/// authentication is possible over any transport.
fn needs_no_protection(mechanism: &CompoundMechanism) -> bool {
    mechanism.transport == MechanismTransport::Null
        && !demands_on_all_layers(mechanism).demands_protection_of_messages()
}

/// Returns the demands of a mechanism on all layers together.
fn demands_on_all_layers(mechanism: &CompoundMechanism) -> SecurityRequirement {
    SecurityRequirement {
        supports: mechanism.target_requires,
        requires: mechanism.target_requires,
    }
}

/// Returns the demands of mechanisms whose transports are unknown, unless another mechanism needs
/// no protection.
fn demands_of_unknown_transports(mechanisms: &[CompoundMechanism]) -> Option<SecurityRequirement> {
    if mechanisms.iter().any(needs_no_protection) {
        return None;
    }
    let others = mechanisms
        .iter()
        .filter(|one| !matches!(one.transport, MechanismTransport::Tls(_)));
    others
        .map(demands_on_all_layers)
        .find(SecurityRequirement::demands_protection)
}

#[cfg(test)]
mod tests {
    use super::super::iiop::tests::with_mechanisms;
    use super::*;
    use punctual_cdr::{ByteOrder, Coding, Encoder, Marshal};
    use punctual_ior::{AssociationOptions, IiopProfile, IiopVersion, SslSecTrans, TaggedProfile};

    #[test]
    fn what_mechanisms_demand_holds_where_they_name_no_place() {
        for needs_no_protection in [false, true] {
            let decoded = with_mechanisms(0, needs_no_protection);
            assert!(decoded.endpoints.iter().all(|one| &*one.protocol == "iiop"));
            assert_eq!(decoded.demands().is_some(), !needs_no_protection);
        }
    }

    /// Association options for integrity, confidentiality and client authentication.
    const ALL: AssociationOptions = AssociationOptions(0x46);

    fn mechanism(transport: MechanismTransport, requires: u16) -> CompoundMechanism {
        CompoundMechanism {
            target_requires: AssociationOptions(requires),
            transport,
        }
    }

    #[test]
    fn mechanisms_by_transports_that_are_not_known_are_not_taken_for_none() {
        use MechanismTransport::{Null, Other};
        let secured = || mechanism(Other(0x7777), ALL.0);
        for (mechanisms, is_demand) in [
            (vec![], false),
            (vec![secured()], true),
            (vec![mechanism(Other(35), 0)], false),
            (vec![mechanism(Null, 0)], false),
            // The client can be authenticated above any transport; messages cannot be protected
            // there.
            (vec![mechanism(Null, 0x40)], false),
            (vec![mechanism(Null, ALL.0)], true),
            (vec![secured(), mechanism(Null, 0)], false),
            (vec![mechanism(Null, ALL.0), mechanism(Null, 0)], false),
        ] {
            let demanded = demands_of_unknown_transports(&mechanisms);
            assert_eq!(demanded.is_some(), is_demand, "{mechanisms:?}");
        }
    }

    #[test]
    fn what_a_profile_of_components_alone_demands_holds_for_all_others() {
        let ssl = |requires| {
            TaggedComponent::ssl_sec_trans(&SslSecTrans {
                target_supports: AssociationOptions(0x7e),
                target_requires: requires,
                port: 9,
            })
        };
        let components = |some: &[TaggedComponent]| {
            let data = Encoder::encapsulated(ByteOrder::Big, Coding::default(), |out| {
                some.to_vec().marshal(out)
            });
            TaggedProfile {
                tag: tags::profile::MULTIPLE_COMPONENTS,
                data: data.unwrap(),
            }
        };
        let plain = IiopProfile {
            version: IiopVersion { major: 1, minor: 0 },
            host: "h".to_owned(),
            port: 2809,
            object_key: b"key".to_vec(),
            components: Vec::new(),
        };
        let plain = plain.to_tagged(ByteOrder::Big).unwrap();
        let mut broken = components(&[ssl(ALL)]);
        broken.data.truncate(20);
        for (beside, is_demand) in [
            (None, false),
            (Some(components(&[ssl(AssociationOptions(0))])), false),
            (Some(components(&[ssl(ALL)])), true),
            (Some(broken), true),
        ] {
            let ior = Ior {
                type_id: String::new(),
                profiles: std::iter::once(plain.clone()).chain(beside).collect(),
            };
            assert_eq!(demanded_by_all(&ior).is_some(), is_demand, "{ior:?}");
        }
    }

    #[test]
    fn mechanisms_that_do_not_decode_may_demand_anything() {
        let mut decoded = with_mechanisms(684, true);
        assert!(decoded.demands().is_none());
        decoded.components[0].data.truncate(20);
        let tag = tags::component::CSI_SEC_MECH_LIST;
        assert_eq!(decoded.demands(), Some(Demand::UnreadComponent { tag }));
    }

    #[test]
    fn the_component_that_demands_is_named() {
        let shown = |decoded: &DecodedProfile| decoded.demands().unwrap().to_string();
        let mut decoded = with_mechanisms(684, false);
        assert_eq!(
            shown(&decoded),
            "its server demands protection (Integrity, Confidentiality: target_requires of CSI_SEC_MECH_LIST)"
        );
        let ssl = |requires| {
            TaggedComponent::ssl_sec_trans(&SslSecTrans {
                target_supports: AssociationOptions(0x7e),
                target_requires: AssociationOptions(requires),
                port: 9,
            })
        };
        // One that demands nothing says nothing.
        decoded.components.insert(0, ssl(1));
        assert!(shown(&decoded).ends_with("CSI_SEC_MECH_LIST)"));
        decoded.components[0] = ssl(0x40);
        assert_eq!(
            shown(&decoded),
            "its server demands protection (EstablishTrustInClient: target_requires of SSL_SEC_TRANS)"
        );
        decoded.components.clear();
        assert_eq!(
            shown(&decoded),
            "its server demands protection (Integrity, Confidentiality, at one of its endpoints)"
        );
        decoded.endpoints.clear();
        assert_eq!(decoded.demands(), None);
    }
}
