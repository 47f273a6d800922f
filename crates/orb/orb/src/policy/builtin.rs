//! Policy types that every ORB supports.

use super::any_policy::Policy;
use super::definition::Definition;
use super::known_protocols::KnownProtocols;
use super::numbers::{
    BIDIRECTIONAL, BUFFER_CAPACITY, BUFFERING, CALLS_IN_FLIGHT, CHAR_CODE_SET, CLIENT_PROTOCOLS,
    COLLOCATION, CONNECT_TIMEOUT, LINK_PROPERTY, MUX, OUT_OF_BAND, QUEUE_ORDER, REBIND,
    RELATIVE_REQUEST_TIMEOUT, RELATIVE_ROUNDTRIP_TIMEOUT, REPLY_END, REPLY_PRIORITY, REPLY_START,
    REQUEST_END, REQUEST_PRIORITY, REQUEST_START, SECURITY, SYNC_SCOPE, TRANSFER, WAIT,
};
use super::policy_type::PolicyLevels;
use super::values::Bidirectional;

/// Policy types that the POA itself interprets and checks (CORBA 3.3 part 1, §15.3.8). Their
/// numbers are reserved.
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
        (RELATIVE_REQUEST_TIMEOUT, "RelativeRequestTimeout"),
        (REQUEST_END, "RequestEndTime"),
        (REPLY_END, "ReplyEndTime"),
        (CONNECT_TIMEOUT, "ConnectTimeout"),
        (REBIND, "Rebind"),
        (SYNC_SCOPE, "SyncScope"),
        (BUFFERING, "Buffering"),
        (BUFFER_CAPACITY, "BufferCapacity"),
        (OUT_OF_BAND, "OutOfBand"),
        (QUEUE_ORDER, "QueueOrder"),
        (REQUEST_PRIORITY, "RequestPriority"),
        (REPLY_PRIORITY, "ReplyPriority"),
        (REQUEST_START, "RequestStartTime"),
        (REPLY_START, "ReplyStartTime"),
        (CLIENT_PROTOCOLS, "ClientProtocols"),
        (TRANSFER, "Transfer"),
        (LINK_PROPERTY, "LinkProperty"),
        (MUX, "Mux"),
        (WAIT, "Wait"),
        (COLLOCATION, "Collocation"),
        (SECURITY, "Security"),
        (CHAR_CODE_SET, "CharCodeSet"),
        (CALLS_IN_FLIGHT, "CallsInFlight"),
    ];
    let of_clients = of_clients
        .into_iter()
        .map(|one| (one, PolicyLevels::CLIENT));
    let of_poas = OF_POAS.into_iter().map(|one| (one, PolicyLevels::POA));
    let both_ways = (
        (BIDIRECTIONAL, "Bidirectional"),
        PolicyLevels::CLIENT | PolicyLevels::POA,
    );
    let all = of_clients.chain(of_poas).chain([both_ways]);
    all.map(|((number, name), levels)| Definition {
        number,
        name,
        levels,
        check,
        merge: |_, inner| Ok(inner.clone()),
        reconcile: |client, _| Ok(client.clone()),
        codec: None,
        surrounds_upcalls: false,
        component: |_| None,
    })
}

fn check(policy: &Policy, protocols: &dyn KnownProtocols) -> Result<(), String> {
    match policy {
        Policy::ClientProtocols(preference) if preference.preferred.is_empty() => {
            Err("no protocol is named".to_owned())
        }
        Policy::ClientProtocols(preference) => {
            let mut names = preference.preferred.iter();
            names.try_for_each(|name| protocols.check(name))
        }
        Policy::LinkProperty(property) if property.name.is_empty() => {
            Err("the property has no name".to_owned())
        }
        Policy::RelativeRoundtripTimeout(timeout)
        | Policy::RelativeRequestTimeout(timeout)
        | Policy::ConnectTimeout(timeout)
            if timeout.is_zero() =>
        {
            Err("a time-out of 0".to_owned())
        }
        Policy::Bidirectional(Bidirectional::Both) if !Bidirectional::IS_BUILT_IN => {
            Err("this program was built without the feature `bidirectional`".to_owned())
        }
        Policy::Buffering(Some(buffering)) => buffering.check(),
        Policy::BufferCapacity(capacity) => capacity.check(),
        Policy::RequestPriority(range) | Policy::ReplyPriority(range) => range.check(),
        _ => Ok(()),
    }
}
