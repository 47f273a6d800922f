//! The policy types that every ORB knows.

use super::manager::KnownProtocols;
use super::types::Definition;
use super::{Policy, PolicyLevels};

/// Messaging's RELATIVE_RT_TIMEOUT_POLICY_TYPE (CORBA 3.3 part 1, §17.3).
pub(super) const RELATIVE_ROUNDTRIP_TIMEOUT: u32 = 32;
/// Real-time CORBA's CLIENT_PROTOCOL_POLICY_TYPE.
pub(super) const CLIENT_PROTOCOLS: u32 = 43;
// In Punctual's own range.
pub(super) const TRANSFER: u32 = 0x5055_0001;
pub(super) const LINK_PROPERTY: u32 = 0x5055_0002;
pub(super) const MUX: u32 = 0x5055_0003;
pub(super) const WAIT: u32 = 0x5055_0004;
pub(super) const COLLOCATION: u32 = 0x5055_0005;

/// The POA's own, which it judges itself (CORBA 3.3 part 1, §15.3.8): their numbers are taken.
const OF_POAS: [(u32, &str); 7] = [
    (16, "ThreadPolicy"),
    (17, "LifespanPolicy"),
    (18, "IdUniquenessPolicy"),
    (19, "IdAssignmentPolicy"),
    (20, "ImplicitActivationPolicy"),
    (21, "ServantRetentionPolicy"),
    (22, "RequestProcessingPolicy"),
];

pub(super) fn definitions() -> impl Iterator<Item = Definition> {
    let of_clients = [
        (RELATIVE_ROUNDTRIP_TIMEOUT, "RelativeRoundtripTimeout"),
        (CLIENT_PROTOCOLS, "ClientProtocols"),
        (TRANSFER, "Transfer"),
        (LINK_PROPERTY, "LinkProperty"),
        (MUX, "Mux"),
        (WAIT, "Wait"),
        (COLLOCATION, "Collocation"),
    ];
    let of_clients = of_clients
        .into_iter()
        .map(|one| (one, PolicyLevels::CLIENT));
    let of_poas = OF_POAS.into_iter().map(|one| (one, PolicyLevels::POA));
    let all = of_clients.chain(of_poas);
    all.map(|((number, name), levels)| Definition {
        number,
        name,
        levels,
        check,
        merge: |_, inner| Ok(inner.clone()),
        reconcile: |client, _| Ok(client.clone()),
        codec: None,
    })
}

fn check(policy: &Policy, protocols: &dyn KnownProtocols) -> Result<(), String> {
    match policy {
        Policy::ClientProtocols(wish) if wish.preferred.is_empty() => {
            Err("no protocol is named".to_owned())
        }
        Policy::ClientProtocols(wish) => {
            let mut names = wish.preferred.iter();
            names.try_for_each(|name| protocols.check(name))
        }
        Policy::LinkProperty(property) if property.name.is_empty() => {
            Err("the property has no name".to_owned())
        }
        Policy::RelativeRoundtripTimeout(timeout) if timeout.is_zero() => {
            Err("a time-out of nothing".to_owned())
        }
        _ => Ok(()),
    }
}
