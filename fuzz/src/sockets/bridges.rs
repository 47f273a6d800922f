//! Bridges to targets that the input names.

use super::Seed;
use crate::server::{self, PROTOCOLS};
use crate::wire::Slices;
use punctual::bridge::{Bridge, BridgeOptions};
use punctual::policy::Otherwise;
use punctual::{Interface, ListenEndpoint, Orb, Policy, SetOverride};
use punctual_cdr::ByteOrder;
use punctual_ior::{Ior, PairProfile};
use std::sync::Arc;

/// Name of the bridge's socket.
const BRIDGE: &str = "bridge";

/// Checks that a bridge to a reference's target is made once, and that its reference leads
/// elsewhere.
pub(super) fn bridged(how: usize, octets: &[u8]) {
    let text = &String::from_utf8_lossy(octets);
    // Making an ORB takes time, so none is made without a target.
    if server::server().orb.string_to_object(text).is_err() {
        return;
    }
    let builder = Orb::builder()
        .link(Arc::new(Slices))
        .listen(ListenEndpoint::new(PROTOCOLS[0], BRIDGE));
    let orb = builder.build().expect("the configuration is sound");
    let Ok(target) = orb.string_to_object(text) else {
        return;
    };
    let by = Policy::protocols(&["iiop", PROTOCOLS[0]], Otherwise::Choose);
    let target = match how {
        0 => target,
        _ => match target.set_policy_overrides(&[by], SetOverride::Add) {
            Ok(target) => target,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return;
            }
        },
    };
    match Bridge::new(&orb, &target, &BridgeOptions::default()) {
        Ok(bridge) => {
            let object = bridge.reference().expect("it listens");
            assert!(!object.is_equivalent(&target));
            // An ORB has one bridge at most.
            let again = Bridge::new(&orb, &target, &BridgeOptions::default());
            assert!(again.is_err_and(|error| !error.to_string().is_empty()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    orb.shutdown(true).expect("nothing is in progress");
}

/// Returns targets of bridges: another server's, the bridge itself, one whose reference is longer,
/// and none.
pub(super) fn seeds() -> Vec<Seed> {
    let other = server::server().every.as_object();
    let of = |place: &str| {
        let profile = PairProfile {
            protocol: format!("giop+{}", PROTOCOLS[0]),
            places: vec![place.to_owned()],
            object_key: b"key".to_vec(),
            components: Vec::new(),
        };
        Ior {
            type_id: other.type_id().to_owned(),
            profiles: vec![profile.to_tagged(ByteOrder::NATIVE).expect("it is short")],
        }
    };
    let texts = [
        ("other", other.ior().clone()),
        ("itself", of(BRIDGE)),
        ("far", of(&"far".repeat(60))),
        ("nil", Ior::nil()),
    ];
    let texts = texts.map(|(name, ior)| (name, ior.to_string()));
    let more = [("iiop", "corbaloc:iiop:1.2@nowhere:1/key".to_owned())];
    let mut all = Vec::new();
    for (name, text) in texts.into_iter().chain(more) {
        for how in 0..2 {
            let number = u8::try_from((super::BRIDGED + how) * 2 + 1).expect("it is a byte");
            let input = [&[number], text.as_bytes()].concat();
            all.push((format!("bridge-{name}-{how}"), input));
        }
    }
    all
}
