//! A disk that is full at each write of a commit, and one that fails late.

use punctual::SystemExceptionKind;
use punctual_groups_client::portable_group::ObjectGroupManagerAddMemberError;
use punctual_groups_client::punctual_groups::{
    AdministrationCreateGroupError, AdministrationStoreStateError,
};
use punctual_groups_service::GroupService;
use punctual_host::store::Faults;

use crate::support::{Counter, Served, TYPE, at, until};

#[test]
fn a_full_disk_at_each_write_refuses_a_group_whole_and_later_ones_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let faults = Faults::default();
    let service = GroupService::open_with_faults(&path, faults.clone()).unwrap();
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let create = || served.replication.create_group(TYPE, "stateless", "");
    let mut expected = 0;
    let limits = faults.at_each_write(
        |_| match create() {
            Ok(_) => false,
            Err(AdministrationCreateGroupError::System(exception)) => {
                assert_eq!(exception.kind(), SystemExceptionKind::PersistStore);
                true
            }
            Err(other) => panic!("{other}"),
        },
        |limit, is_refused| {
            expected += usize::from(!is_refused);
            assert_eq!(served.service.groups(), expected, "{limit}");
            // There is room again.
            create().unwrap();
            expected += 1;
        },
    );
    assert!(limits > 1, "a commit has several writes");
    drop(served);
    let again = Served::serve(
        tempfile::tempdir().unwrap(),
        GroupService::open(&path).unwrap(),
    );
    assert_eq!(again.service.groups(), expected);
}

#[test]
fn members_and_states_that_cannot_be_stored_are_refused_and_nothing_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let faults = Faults::default();
    let service = GroupService::open_with_faults(&path, faults.clone()).unwrap();
    let served = Served::serve(tempfile::tempdir().unwrap(), service);
    let (group, id) = served.group("warm-passive", "");
    let servant = punctual::poa::servant_of::<crate::idl::Register, _>(Counter::named("a"));
    let object = served.activate(servant);
    let joined = served
        .replication
        .join(Some(&group), &at("a"), Some(&object), 60_000)
        .unwrap();
    until(|| served.primary(id).is_some());
    served
        .replication
        .store_state(id, &at("a"), joined.token, 1, b"before")
        .unwrap();
    faults.fail_late();
    let refused = served
        .replication
        .store_state(id, &at("a"), joined.token, 2, b"late");
    let Err(AdministrationStoreStateError::System(exception)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(exception.kind(), SystemExceptionKind::PersistStore);
    assert_eq!(served.replication.stored_state(id).unwrap(), b"before");
    let refused = served
        .replication
        .add_member(Some(&group), &at("b"), Some(&object));
    assert!(matches!(
        refused,
        Err(ObjectGroupManagerAddMemberError::System(_))
    ));
    assert_eq!(
        served
            .replication
            .locations_of_members(Some(&group))
            .unwrap(),
        [at("a")]
    );
    // What was not acknowledged is not there later either.
    faults.mend();
    served
        .replication
        .add_member(Some(&group), &at("c"), Some(&object))
        .unwrap();
    drop(served);
    let again = Served::serve(
        tempfile::tempdir().unwrap(),
        GroupService::open(&path).unwrap(),
    );
    let group = again.replication.get_object_group_ref_from_id(id).unwrap();
    let locations = again
        .replication
        .locations_of_members(group.as_ref())
        .unwrap();
    assert_eq!(locations, [at("a"), at("c")]);
    assert_eq!(again.replication.stored_state(id).unwrap(), b"before");
}
