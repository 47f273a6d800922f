//! Operations of the managers on groups and members, and groups that outlive the service.

use punctual::{Any, Interface, ObjectRef, SystemExceptionKind};
use punctual_groups_client::cos_load_balancing::LoadManager;
use punctual_groups_client::portable_group::{
    GenericFactoryCreateObjectError, GenericFactoryDeleteObjectError,
    ObjectGroupManagerAddMemberError, ObjectGroupManagerGetMemberRefError,
    ObjectGroupManagerGetObjectGroupIdError, ObjectGroupManagerRemoveMemberError,
};
use punctual_groups_client::punctual_groups::AdministrationCreateGroupError;
use punctual_groups_service::GroupService;
use punctual_groups_service::ft::ReplicationManager;

use crate::support::{Served, TYPE, at, property, register, until};

#[test]
fn the_managers_have_the_interfaces_and_names_of_the_standards() {
    let served = Served::new();
    for (object, id) in [
        (
            served.replication.as_object(),
            "IDL:omg.org/FT/ReplicationManager:1.0",
        ),
        (
            served.replication.as_object(),
            "IDL:omg.org/PortableGroup/ObjectGroupManager:1.0",
        ),
        (
            served.replication.as_object(),
            "IDL:omg.org/PortableGroup/GenericFactory:1.0",
        ),
        (
            served.replication.as_object(),
            "IDL:omg.org/PortableGroup/PropertyManager:1.0",
        ),
        (
            served.balancing.as_object(),
            "IDL:omg.org/CosLoadBalancing/LoadManager:1.0",
        ),
        (
            served.balancing.as_object(),
            "IDL:punctual/PunctualGroups/Administration:1.0",
        ),
    ] {
        assert!(object.is_a(id).unwrap(), "{id}");
    }
    ReplicationManager::narrow(served.replication.as_object().clone()).unwrap();
    LoadManager::narrow(served.balancing.as_object().clone()).unwrap();
    let host = served.balancing.as_object();
    let named = host.with_object_key(b"LoadManager", "").unwrap();
    assert!(
        named
            .is_a("IDL:omg.org/CosLoadBalancing/LoadManager:1.0")
            .unwrap()
    );
}

#[test]
fn a_group_is_made_filled_asked_about_and_removed() {
    let served = Served::new();
    let manager = &served.replication;
    let style = property(
        "org.omg.PortableGroup.MembershipStyle",
        Any::new(&0_i32).unwrap(),
    );
    let (group, creation) = manager.create_object(TYPE, &[style]).unwrap();
    let group = group.unwrap();
    assert_eq!(group.type_id(), TYPE);
    let id = manager.get_object_group_id(Some(&group)).unwrap();
    served.add(&group, "a");
    let member = manager
        .get_member_ref(Some(&group), &at("a"))
        .unwrap()
        .unwrap();
    assert_eq!(register(&member).whoami().unwrap(), "a");
    let again = manager.add_member(Some(&group), &at("a"), Some(&member));
    assert!(matches!(
        again,
        Err(ObjectGroupManagerAddMemberError::MemberAlreadyPresent(_))
    ));
    let nil = manager.add_member(Some(&group), &at("b"), None);
    assert!(matches!(
        nil,
        Err(ObjectGroupManagerAddMemberError::ObjectNotAdded(_))
    ));
    let nowhere = manager.get_member_ref(Some(&group), &at("b"));
    assert!(matches!(
        nowhere,
        Err(ObjectGroupManagerGetMemberRefError::MemberNotFound(_))
    ));
    assert_eq!(
        manager.locations_of_members(Some(&group)).unwrap(),
        [at("a")]
    );
    let groups = manager.groups_at_location(&at("a")).unwrap();
    assert_eq!(groups.len(), 1);
    assert_eq!(manager.get_object_group_id(groups[0].as_ref()).unwrap(), id);
    assert!(manager.groups_at_location(&at("b")).unwrap().is_empty());
    let by_id = manager.get_object_group_ref_from_id(id).unwrap();
    assert_eq!(manager.get_object_group_id(by_id.as_ref()).unwrap(), id);
    manager.remove_member(Some(&group), &at("a")).unwrap();
    let gone = manager.remove_member(Some(&group), &at("a"));
    assert!(matches!(
        gone,
        Err(ObjectGroupManagerRemoveMemberError::MemberNotFound(_))
    ));
    manager.delete_object(&creation).unwrap();
    let gone = manager.delete_object(&creation);
    assert!(matches!(
        gone,
        Err(GenericFactoryDeleteObjectError::ObjectNotFound(_))
    ));
    for what in [Some(&group), Some(&member), None] {
        let unknown = manager.get_object_group_id(what);
        assert!(matches!(
            unknown,
            Err(ObjectGroupManagerGetObjectGroupIdError::ObjectGroupNotFound(_))
        ));
    }
    assert_eq!(
        register(&group).whoami().unwrap_err().kind(),
        SystemExceptionKind::ObjectNotExist
    );
}

#[test]
fn the_reference_of_a_group_counts_its_versions() {
    let served = Served::new();
    let (group, id) = served.group("stateless", "");
    let version = |object: &ObjectRef| object.ior().group().unwrap().version;
    let mut last = version(&group);
    for name in ["a", "b"] {
        served.add(&group, name);
        let now = version(&served.reference(&group));
        assert!(now > last);
        last = now;
    }
    let stated = served.reference(&group).ior().group().unwrap();
    assert_eq!(stated.id, id);
    // A reference of any version is one of the group.
    assert_eq!(
        served
            .replication
            .get_object_group_id(Some(&group))
            .unwrap(),
        id
    );
}

#[test]
fn commands_make_groups_by_names_of_styles_and_strategies() {
    let served = Served::new();
    for (style, strategy, shown) in [
        ("warm-passive", "", ("warm-passive", "")),
        ("active", "", ("active", "")),
        ("", "LeastLoaded", ("balanced", "LeastLoaded")),
        ("balanced", "", ("balanced", "RoundRobin")),
        ("", "", ("stateless", "")),
    ] {
        let (_, id) = served
            .replication
            .create_group(TYPE, style, strategy)
            .unwrap();
        let groups = served.replication.list(0, 100).unwrap();
        let group = groups.iter().find(|group| group.id == id).unwrap();
        assert_eq!((&*group.style, &*group.strategy), shown);
        assert_eq!(group.type_id, TYPE);
    }
    for (style, strategy) in [("luke-warm", ""), ("", "Fairest"), ("stateless", "Random")] {
        let refused = served.replication.create_group(TYPE, style, strategy);
        assert!(
            matches!(refused, Err(AdministrationCreateGroupError::Refused(_))),
            "{style} {strategy}"
        );
    }
    let (_, id) = served.balancing.create_group(TYPE, "", "").unwrap();
    served.balancing.remove_group(id).unwrap();
    assert!(served.balancing.remove_group(id).is_err());
}

#[test]
fn a_list_comes_in_parts_in_the_order_of_the_groups_numbers() {
    let served = Served::new();
    let ids: Vec<u64> = (0..5).map(|_| served.group("", "").1).collect();
    let listed = |after: u64, how_many: u32| -> Vec<u64> {
        let groups = served.replication.list(after, how_many).unwrap();
        groups.iter().map(|group| group.id).collect()
    };
    assert_eq!(listed(0, 2), ids[..2]);
    assert_eq!(listed(ids[1], 100), ids[2..]);
    assert!(listed(ids[4], 100).is_empty());
    assert!(listed(u64::MAX, u32::MAX).is_empty());
}

#[test]
fn groups_members_properties_primaries_and_states_are_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let served = Served::serve(
        tempfile::tempdir().unwrap(),
        GroupService::open(&path).unwrap(),
    );
    let (balanced, balanced_id) = served.group("", "LeastLoaded");
    served.add(&balanced, "x");
    let (passive, id) = served.group("warm-passive", "");
    let object = served.activate(punctual::poa::servant_of::<crate::idl::Register, _>(
        crate::support::Counter::named("a"),
    ));
    let joined = served
        .replication
        .join(Some(&passive), &at("a"), Some(&object), 60_000)
        .unwrap();
    until(|| served.primary(id).is_some());
    served
        .replication
        .store_state(id, &at("a"), joined.token, 1, b"kept")
        .unwrap();
    let defaults = [property(
        "org.omg.ft.MinimumNumberReplicas",
        Any::new(&3_u16).unwrap(),
    )];
    served
        .replication
        .set_default_properties(&defaults)
        .unwrap();
    let types = [property(
        "org.omg.ft.InitialNumberReplicas",
        Any::new(&2_u16).unwrap(),
    )];
    served
        .replication
        .set_type_properties(TYPE, &types)
        .unwrap();
    let before = served.replication.get_properties(Some(&passive)).unwrap();
    assert_eq!(before.len(), 3);
    let stated = served.reference(&passive).ior().group().unwrap();
    drop(served);

    let served = Served::serve(
        tempfile::tempdir().unwrap(),
        GroupService::open(&path).unwrap(),
    );
    let group = served
        .replication
        .get_object_group_ref_from_id(id)
        .unwrap()
        .unwrap();
    assert_eq!(group.ior().group().unwrap(), stated);
    assert_eq!(served.primary(id).as_deref(), Some("a"));
    assert_eq!(served.replication.stored_state(id).unwrap(), b"kept");
    assert_eq!(
        served.replication.get_properties(Some(&group)).unwrap(),
        before
    );
    // The lease goes on.
    let standing = served
        .replication
        .renew(id, &at("a"), joined.token, &[])
        .unwrap();
    assert!(standing.is_primary);
    let groups = served.replication.list(0, 100).unwrap();
    let strategies: Vec<_> = groups
        .iter()
        .map(|group| (group.id, &*group.strategy))
        .collect();
    assert_eq!(strategies, [(balanced_id, "LeastLoaded"), (id, "")]);
    // A new group has an id that no group before had.
    served.replication.remove_group(id).unwrap();
    assert!(served.group("stateless", "").1 > id);
}

#[test]
fn criteria_that_are_no_properties_are_refused() {
    let served = Served::new();
    let unknown = [property("org.example.Colour", Any::new(&1_i32).unwrap())];
    let refused = served.replication.create_object(TYPE, &unknown);
    let Err(GenericFactoryCreateObjectError::InvalidCriteria(raised)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(raised.invalid_criteria, unknown);
    let bad = [property(
        "org.omg.ft.ReplicationStyle",
        Any::new(&17_i32).unwrap(),
    )];
    let refused = served.replication.create_object(TYPE, &bad);
    assert!(matches!(
        refused,
        Err(GenericFactoryCreateObjectError::InvalidProperty(_))
    ));
    assert_eq!(served.service.groups(), 0);
}
