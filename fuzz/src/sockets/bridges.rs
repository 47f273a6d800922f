//! Bridges to targets that the input names by a reference.

use crate::server::{self, PROTOCOLS};
use crate::wire::Slices;
use punctual::bridge::{Bridge, BridgeOptions};
use punctual::policy::Otherwise;
use punctual::{ListenEndpoint, Orb, Policy, SetOverride};
use std::sync::Arc;

/// Address at which the bridge under test listens.
const BRIDGE: &str = "bridge";

/// Checks that an ORB makes at most one bridge to the target, and that the bridge's reference is
/// not equivalent to the target.
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
