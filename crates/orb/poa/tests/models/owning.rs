//! Model: an object and the references to it never have two different policies of their own, even
//! if they are made at once.

use super::{by_id, explore, servant};
use crate::entry::Refused;
use crate::map::{Active, ActiveMap};
use crate::own_policies::{ConflictingPolicy, OwnPolicies, OwnPoliciesOfObjects};
use punctual_models::loom::thread;
use punctual_orb::{AdapterPolicies, Policy, PolicyLevels, PolicyType};
use std::sync::Arc;

/// Policy type of these tests, as an application could define it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Number(u32);

impl PolicyType for Number {
    const NUMBER: u32 = 0x7001;
    const NAME: &'static str = "NumberPolicy";
    const LEVELS: PolicyLevels = PolicyLevels::POA;
}

fn own(number: u32) -> Arc<OwnPolicies> {
    Arc::new(OwnPolicies {
        policy: Policy::of(Number(number)),
        defined: AdapterPolicies::default(),
        around: None,
    })
}

const ID: &[u8] = b"x";

/// Makes a reference as the POA does: only if the object is inactive, or has the same policy.
fn make_reference(
    map: &ActiveMap,
    owns: &OwnPoliciesOfObjects,
    own: &Arc<OwnPolicies>,
) -> Result<(), ConflictingPolicy> {
    map.while_nothing_is_activated(ID, |active| match active {
        Active::With(Some(other)) if other.is_same(own) => owns.remember(ID, own),
        Active::With(_) => Err(ConflictingPolicy),
        Active::Not => owns.remember(ID, own),
    })
}

/// Makes a reference with one policy, and concurrently activates the object with policy
/// `activated_with`, or with none.
fn race(name: &'static str, activated_with: Option<u32>) {
    explore(name, move || {
        let (map, _) = by_id();
        let owns = Arc::new(OwnPoliciesOfObjects::default());
        let making = {
            let (map, owns) = (map.clone(), owns.clone());
            thread::spawn(move || make_reference(&map, &owns, &own(1)))
        };
        let given = activated_with.map(own);
        let activated = map.activate_under(Some(ID), servant(), || owns.of_activated(ID, given));
        let made = making.join().unwrap();
        if made.is_err() {
            assert!(activated.is_ok(), "one of them is the first");
            assert!(owns.remembered(ID).is_none());
            return;
        }
        match activated {
            Err(refused) => assert_eq!(refused, Refused::OwnPolicyDiffers),
            Ok(entry_id) => {
                let active = map.pin(entry_id).unwrap().own.clone();
                assert!(active.is_some_and(|one| one.is_same(&own(1))));
            }
        }
    });
}

#[test]
fn a_reference_and_an_activation_with_another_policy_do_not_both_succeed() {
    race("a reference and an activation with another policy", Some(2));
}

#[test]
fn an_object_that_is_activated_without_a_policy_has_the_references_or_there_is_none() {
    race("a reference and an activation without a policy", None);
}
