//! Hostile references, names and numbers; limits; and who may do what.

use punctual::{ObjectRef, SystemExceptionKind as Kind};
use punctual_groups_client::cos_load_balancing::{CPU, Load};
use punctual_groups_client::portable_group::ObjectGroupManagerAddMemberError;
use punctual_groups_client::punctual_groups::{
    AdministrationCreateGroupError, AdministrationJoinError, AdministrationStoreStateError,
};
use punctual_groups_service::{Access, GroupService};
use punctual_ior::{FtGroup, Ior};
use punctual_naming_client::cos_naming::NameComponent;

use crate::support::{Counter, Served, TYPE, at, until};

fn member(served: &Served) -> ObjectRef {
    served.activate(punctual::poa::servant_of::<crate::idl::Register, _>(
        Counter::named("m"),
    ))
}

#[test]
fn forged_references_of_groups_lead_to_no_other_group() {
    let served = Served::new();
    let (group, id) = served.group("stateless", "");
    let stated = group.ior().group().unwrap();
    let forged = |domain: &str, id: u64| {
        let forged = FtGroup {
            domain: domain.to_owned(),
            id,
            version: u32::MAX,
        };
        let member = member(&served);
        let ior = Ior::of_group(TYPE, &forged, &[member.ior().clone()], None).unwrap();
        served.client.string_to_object(&ior.to_string()).unwrap()
    };
    for (domain, number) in [
        ("elsewhere", id),
        ("", id),
        (&*stated.domain, id + 1),
        (&*stated.domain, u64::MAX),
    ] {
        let found = served
            .replication
            .get_object_group_id(Some(&forged(domain, number)));
        assert!(found.is_err(), "{domain} {number}");
    }
    // One of any version is the group's.
    let found = served
        .replication
        .get_object_group_id(Some(&forged(&stated.domain, id)));
    assert_eq!(found.unwrap(), id);
    for key in [&b""[..], b"x", &[0; 8], &[255; 200]] {
        let object = served.replication.with_key(key);
        assert!(
            served
                .replication
                .get_object_group_id(Some(&object))
                .is_err()
        );
        assert!(object.non_existent().unwrap_or(true));
    }
}

trait WithKey {
    fn with_key(&self, key: &[u8]) -> ObjectRef;
}

impl<I: punctual::Interface> WithKey for I {
    fn with_key(&self, key: &[u8]) -> ObjectRef {
        self.as_object().with_object_key(key, TYPE).unwrap()
    }
}

#[test]
fn locations_of_any_characters_are_kept_and_those_that_are_too_long_are_refused() {
    let served = Served::new();
    let (group, _) = served.group("stateless", "");
    let component = |id: &str, kind: &str| NameComponent {
        id: id.to_owned(),
        kind: kind.to_owned(),
    };
    let object = member(&served);
    let odd = [
        vec![component("a/b\\", ".")],
        vec![component("", ""), component("\u{1b}[2J", "\u{202e}")],
        vec![component("x", ""), component("x", "")],
    ];
    for location in &odd {
        served
            .replication
            .add_member(Some(&group), location, Some(&object))
            .unwrap();
        served
            .replication
            .get_member_ref(Some(&group), location)
            .unwrap()
            .unwrap();
    }
    assert_eq!(
        served
            .replication
            .locations_of_members(Some(&group))
            .unwrap()
            .len(),
        odd.len()
    );
    for location in [
        vec![],
        vec![component(&"x".repeat(5_000), "")],
        vec![component("", ""); 3_000],
    ] {
        let refused = served
            .replication
            .add_member(Some(&group), &location, Some(&object));
        let Err(ObjectGroupManagerAddMemberError::System(exception)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(exception.kind(), Kind::BadParam);
    }
}

#[test]
fn groups_members_references_and_states_are_bounded() {
    let served = Served::with(|limits| {
        limits.groups = 2;
        limits.members = 1;
        limits.state_bytes = 10;
        limits.name_bytes = 2_000;
    });
    let (group, id) = served.group("warm-passive", "");
    served.group("stateless", "");
    let third = served.replication.create_group(TYPE, "", "");
    let Err(AdministrationCreateGroupError::System(exception)) = third else {
        panic!("{third:?}");
    };
    assert_eq!(exception.kind(), Kind::ImpLimit);
    assert!(
        served
            .replication
            .create_group(&"x".repeat(3_000), "", "")
            .is_err()
    );
    let object = member(&served);
    let joined = served
        .replication
        .join(Some(&group), &at("a"), Some(&object), 60_000)
        .unwrap();
    until(|| served.primary(id).is_some());
    let second = served
        .replication
        .add_member(Some(&group), &at("b"), Some(&object));
    assert!(matches!(
        second,
        Err(ObjectGroupManagerAddMemberError::System(_))
    ));
    let second = served
        .replication
        .join(Some(&group), &at("b"), Some(&object), 60_000);
    assert!(matches!(second, Err(AdministrationJoinError::Refused(_))));
    served
        .replication
        .remove_member(Some(&group), &at("a"))
        .unwrap();
    let long = format!("corbaloc::h:1/{}", "k".repeat(3_000));
    let long = served.client.string_to_object(&long).unwrap();
    assert!(
        served
            .replication
            .add_member(Some(&group), &at("b"), Some(&long))
            .is_err()
    );
    assert!(
        served
            .replication
            .join(Some(&group), &at("b"), None, 60_000)
            .is_err()
    );
    let (other, other_id) = {
        served.replication.remove_group(id).unwrap();
        served.group("warm-passive", "")
    };
    let again = served
        .replication
        .join(Some(&other), &at("a"), Some(&object), 60_000)
        .unwrap();
    until(|| served.primary(other_id).is_some());
    let stored = served
        .replication
        .store_state(other_id, &at("a"), again.token, 1, &[0; 11]);
    assert!(matches!(
        stored,
        Err(AdministrationStoreStateError::Refused(_))
    ));
    served
        .replication
        .store_state(other_id, &at("a"), again.token, 2, &[0; 10])
        .unwrap();
    // The token of a group that is no more.
    let late = served.replication.renew(id, &at("a"), joined.token, &[]);
    assert!(late.is_err());
}

#[test]
fn members_and_states_of_all_groups_are_bounded() {
    let served = Served::with(|limits| {
        limits.all_members = 2;
        limits.all_state_bytes = 10;
    });
    let object = member(&served);
    let join = |name: &str| {
        let (group, id) = served.group("warm-passive", "");
        let joined = served
            .replication
            .join(Some(&group), &at(name), Some(&object), 60_000);
        (id, joined)
    };
    let ((first, one), (second, two)) = (join("a"), join("b"));
    let (one, two) = (one.unwrap().token, two.unwrap().token);
    assert!(join("c").1.is_err());
    let (third, _) = served.group("", "");
    assert!(
        served
            .replication
            .add_member(Some(&third), &at("d"), Some(&object))
            .is_err()
    );
    until(|| served.primary(first).is_some() && served.primary(second).is_some());
    served
        .replication
        .store_state(first, &at("a"), one, 3, &[0; 8])
        .unwrap();
    let refused = served
        .replication
        .store_state(second, &at("b"), two, 4, &[0; 3]);
    assert!(matches!(
        refused,
        Err(AdministrationStoreStateError::Refused(_))
    ));
    // A state that takes the place of a longer one makes room, and a group that is removed.
    served
        .replication
        .store_state(first, &at("a"), one, 5, &[0; 7])
        .unwrap();
    served
        .replication
        .store_state(second, &at("b"), two, 6, &[0; 3])
        .unwrap();
    served.replication.remove_group(first).unwrap();
    served
        .replication
        .store_state(second, &at("b"), two, 7, &[0; 10])
        .unwrap();
}

#[test]
fn only_those_who_may_administer_change_groups_and_members_renew_their_leases() {
    let service = GroupService::in_memory();
    service.set_limits(crate::support::quick());
    let access = Access::of(&["10.0.0.0/8".to_owned()], &["any".to_owned()]).unwrap();
    service.set_access(access);
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let refused = served.replication.create_group(TYPE, "", "");
    let Err(AdministrationCreateGroupError::System(exception)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(exception.kind(), Kind::NoPermission);
    assert!(served.replication.set_default_properties(&[]).is_err());
    assert!(served.replication.remove_group(1).is_err());
    assert!(served.balancing.add_member(None, &at("a"), None).is_err());
    assert!(
        served
            .replication
            .delete_object(&punctual::Any::default())
            .is_err()
    );
    assert!(served.replication.list(0, 100).unwrap().is_empty());
    served
        .balancing
        .push_loads(&at("a"), &[Default::default()])
        .unwrap();
}

#[test]
fn those_who_may_not_be_members_report_no_loads() {
    let service = GroupService::in_memory();
    service.set_access(Access::of(&["10.0.0.0/8".to_owned()], &[]).unwrap());
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let refused = served
        .balancing
        .push_loads(&at("a"), &[Default::default()])
        .unwrap_err();
    assert_eq!(refused.kind(), Kind::NoPermission);
    assert!(served.replication.join(None, &at("a"), None, 100).is_err());
    assert!(served.replication.renew(1, &at("a"), 1, &[]).is_err());
}

#[test]
fn a_member_that_joins_again_and_again_makes_the_service_keep_no_more() {
    let served = Served::new();
    let (group, _) = served.group("stateless", "");
    let object = member(&served);
    let due = || {
        let metrics = served.metrics();
        let line = metrics
            .lines()
            .find(|line| line.starts_with("punctual_group_due "));
        line.unwrap().rsplit(' ').next().unwrap().parse::<usize>()
    };
    let before = due().unwrap();
    for _ in 0..100 {
        let joined = served
            .replication
            .join(Some(&group), &at("a"), Some(&object), 3_600_000);
        joined.unwrap();
    }
    let after = due().unwrap();
    assert!(after <= before + 2, "{before} {after}");
}

#[test]
fn loads_of_locations_that_have_no_member_any_more_make_room_for_others() {
    let served = Served::with(|limits| limits.locations = 2);
    let (group, id) = served.group("", "LeastLoaded");
    let object = member(&served);
    for name in ["a", "b", "c", "d"] {
        let joined = served
            .balancing
            .join(Some(&group), &at(name), Some(&object), 60_000)
            .unwrap();
        let load = Load {
            id: CPU,
            value: 1.0,
        };
        served
            .balancing
            .renew(id, &at(name), joined.token, &[load])
            .unwrap();
        assert_eq!(served.balancing.get_loads(&at(name)).unwrap()[0].value, 1.0);
        served.balancing.leave(id, &at(name), joined.token).unwrap();
    }
}
