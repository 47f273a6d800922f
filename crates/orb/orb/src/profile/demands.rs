//! The protection that a reference demands, by whatever component says so: what demands it is sent nothing in clear.

use super::{DecodedProfile, SecurityRequirement};
use punctual_ior::{
    Component, CompoundMechanism, Ior, MechanismTransport, Profile, TaggedComponent, TlsSecTrans,
    tags,
};

impl DecodedProfile {
    /// The protection without which nothing is to be sent by this profile: what an endpoint demands, or a component,
    /// whether or not that names a place. One that does not decode may demand anything.
    pub(crate) fn demands(&self) -> Option<SecurityRequirement> {
        let mut of_endpoints = self
            .endpoints
            .iter()
            .filter_map(|one| one.qualities.security);
        of_endpoints
            .find(SecurityRequirement::demands_protection)
            .or_else(|| demanded_by(&self.components))
    }
}

/// The protection without which nothing is to be sent by any of a reference's profiles: what those say that are made of
/// components alone, and hold for the object: IIOP 1.0 has no other place for them. One that does not decode may demand
/// anything.
pub(crate) fn demanded_by_all(ior: &Ior) -> Option<SecurityRequirement> {
    let mut of_components = ior
        .profiles
        .iter()
        .filter(|one| one.tag == tags::profile::MULTIPLE_COMPONENTS);
    of_components.find_map(|one| match one.decode() {
        Ok(Profile::MultipleComponents(components)) => demanded_by(&components),
        _ => Some(SecurityRequirement::OF_TLS),
    })
}

fn demanded_by(components: &[TaggedComponent]) -> Option<SecurityRequirement> {
    let mut demands = components.iter().filter_map(demanded);
    demands.find(SecurityRequirement::demands_protection)
}

/// What a component says of protection that is demanded: SSL_SEC_TRANS and the mechanisms of CSIv2. `None` for others.
fn demanded(component: &TaggedComponent) -> Option<SecurityRequirement> {
    let is_security = matches!(
        component.tag,
        tags::component::SSL_SEC_TRANS | tags::component::CSI_SEC_MECH_LIST
    );
    if !is_security {
        return None;
    }
    match component.decode() {
        Ok(Component::SslSecTrans(ssl)) => Some((&ssl).into()),
        Ok(Component::CsiMechanisms(mechanisms)) => {
            let by_others = by_other_transports(&mechanisms);
            let mut securities = securities(&mechanisms)
                .map(|(security, _)| security)
                .chain(by_others);
            securities.find(SecurityRequirement::demands_protection)
        }
        _ => Some(SecurityRequirement::OF_TLS),
    }
}

/// What each mechanism with TLS says. Each mechanism is enough: where one goes without TLS, none of the others is
/// demanded.
pub(super) fn securities(
    mechanisms: &[CompoundMechanism],
) -> impl Iterator<Item = (SecurityRequirement, &TlsSecTrans)> {
    let goes_without = mechanisms.iter().any(goes_without);
    let secured = mechanisms.iter().filter_map(|one| match &one.transport {
        MechanismTransport::Tls(tls) => Some((one.target_requires, tls)),
        _ => None,
    });
    secured.map(move |(requires, tls)| {
        let security = SecurityRequirement {
            supports: tls.target_supports,
            requires: requires.and(tls.target_requires),
        };
        match goes_without {
            true => (security.beside_clear(), tls),
            false => (security, tls),
        }
    })
}

/// Whether a mechanism goes without protection by its transport. One that demands it all the same contradicts itself, and
/// is not taken at the half of its word that is less safe. Who the client is may be told above a transport of any kind.
fn goes_without(mechanism: &CompoundMechanism) -> bool {
    mechanism.transport == MechanismTransport::Null
        && !of_all_layers(mechanism).demands_protection_of_messages()
}

/// What a mechanism demands on all layers together.
fn of_all_layers(mechanism: &CompoundMechanism) -> SecurityRequirement {
    SecurityRequirement {
        supports: mechanism.target_requires,
        requires: mechanism.target_requires,
    }
}

/// What is demanded by mechanisms whose transports are not known here, unless another goes without.
fn by_other_transports(mechanisms: &[CompoundMechanism]) -> Option<SecurityRequirement> {
    if mechanisms.iter().any(goes_without) {
        return None;
    }
    let others = mechanisms
        .iter()
        .filter(|one| !matches!(one.transport, MechanismTransport::Tls(_)));
    others
        .map(of_all_layers)
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
        for goes_without in [false, true] {
            let decoded = with_mechanisms(0, goes_without);
            assert!(decoded.endpoints.iter().all(|one| &*one.protocol == "iiop"));
            assert_eq!(decoded.demands().is_some(), !goes_without);
        }
    }

    /// Integrity, confidentiality and trust in the client.
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
            // Who the client is may be said above any transport; that messages are protected may not.
            (vec![mechanism(Null, 0x40)], false),
            (vec![mechanism(Null, ALL.0)], true),
            (vec![secured(), mechanism(Null, 0)], false),
            (vec![mechanism(Null, ALL.0), mechanism(Null, 0)], false),
        ] {
            let demanded = by_other_transports(&mechanisms);
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
        assert!(decoded.demands().is_some());
    }
}
