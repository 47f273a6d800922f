//! Groups whose numbers others choose, and what those get who follow the groups.

use std::collections::BTreeMap;

use punctual::{ObjectRef, OperationError, SystemExceptionKind};
use punctual_groups_client::punctual_groups::{
    AdministrationAdoptGroupError, AdministrationReportError, Changes, Founder,
};
use punctual_groups_service::GroupService;

use crate::support::{SHORT, Served, TYPE, at, until};

/// First of the numbers that the service leaves to others.
const FIRST: u64 = 1 << 63;

fn founder(served: &Served, location: &str, lease_ms: u32) -> Founder {
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:1/{location}");
    Founder {
        the_location: at(location),
        reference: Some(served.client.string_to_object(&text).unwrap()),
        lease_ms,
    }
}

fn locations(changes: &Changes) -> BTreeMap<u64, Vec<String>> {
    let group = |group: &punctual_groups_client::punctual_groups::Group| {
        let members = group.the_members.iter();
        let members = members.map(|member| member.the_location[0].id.clone());
        (group.id, members.collect())
    };
    changes.changed.iter().map(group).collect()
}

#[test]
fn a_group_of_a_chosen_number_has_its_members_at_once_and_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let id = u64::MAX - 3;
    let open = || {
        Served::serve(
            tempfile::tempdir().unwrap(),
            GroupService::open(&path).unwrap(),
        )
    };
    let served = open();
    let founders = [founder(&served, "a", 0), founder(&served, "b", 60_000)];
    let adopt = |founders: &[Founder]| served.replication.adopt_group(id, TYPE, "Random", founders);
    let group = adopt(&founders).unwrap();
    assert_eq!(
        (group.id, group.style.as_str(), group.strategy.as_str()),
        (id, "balanced", "Random")
    );
    let leases: Vec<u32> = group.the_members.iter().map(|one| one.lease_ms).collect();
    assert_eq!(leases, [0, 60_000]);
    let again = adopt(&[founder(&served, "c", 0)]).unwrap();
    assert_eq!((again.the_members.len(), again.version), (2, group.version));
    // Its reference and its number are those of any group.
    let reference = group.reference.unwrap();
    assert_eq!(
        served
            .replication
            .get_object_group_id(Some(&reference))
            .unwrap(),
        id
    );
    served
        .replication
        .remove_member(Some(&reference), &at("a"))
        .unwrap();
    // The service's own numbers go on from where they were.
    assert_eq!(served.group("stateless", "").1, 1);
    drop(served);
    let served = open();
    let kept = served.service.list(FIRST, 9);
    assert_eq!((kept[0].id, kept[0].the_members.len()), (id, 1));
    assert_eq!(served.group("stateless", "").1, 2);
}

#[test]
fn numbers_of_the_service_bad_members_and_too_many_are_refused() {
    let served = Served::with(|limits| limits.members = 2);
    let adopt = |id: u64, strategy: &str, founders: &[Founder]| {
        served.replication.adopt_group(id, TYPE, strategy, founders)
    };
    let nil = Founder {
        reference: None,
        ..founder(&served, "a", 0)
    };
    for (id, strategy, founders) in [
        (FIRST - 1, "Random", vec![]),
        (FIRST, "None", vec![]),
        (FIRST, "Random", vec![nil]),
        (FIRST, "Random", vec![founder(&served, "a", 1)]),
        (FIRST, "Random", vec![founder(&served, "a", u32::MAX)]),
    ] {
        let refused = adopt(id, strategy, &founders).unwrap_err();
        assert!(
            matches!(refused, AdministrationAdoptGroupError::Refused(_)),
            "{refused}"
        );
    }
    let three: Vec<Founder> = ["a", "b", "c"].map(|one| founder(&served, one, 0)).into();
    let refused = adopt(FIRST, "Random", &three).unwrap_err();
    let kind = refused.system().map(punctual::SystemException::kind);
    assert_eq!(kind, Some(SystemExceptionKind::ImpLimit));
    assert_eq!(served.service.groups(), 0);
}

#[test]
fn a_load_of_one_group_is_not_one_of_another_group_at_the_same_location() {
    let served = Served::new();
    for id in [FIRST, FIRST + 1] {
        let founders = [founder(&served, "a", 0)];
        let adopted = served
            .replication
            .adopt_group(id, TYPE, "LeastLoaded", &founders);
        adopted.unwrap();
    }
    served.replication.report(FIRST, &at("a"), 2.5).unwrap();
    let groups = served.replication.list(FIRST - 1, 9).unwrap();
    let loads: Vec<_> = groups
        .iter()
        .map(|group| group.the_members[0].is_loaded)
        .collect();
    assert_eq!(
        (loads, groups[0].the_members[0].load),
        (vec![true, false], 2.5)
    );
    let report =
        |id: u64, location: &str, load: f32| served.replication.report(id, &at(location), load);
    assert!(matches!(
        report(FIRST, "b", 1.0),
        Err(AdministrationReportError::MemberNotFound(_))
    ));
    assert!(matches!(
        report(FIRST + 2, "a", 1.0),
        Err(AdministrationReportError::ObjectGroupNotFound(_))
    ));
    for load in [-1.0, f32::NAN, f32::INFINITY] {
        let refused = report(FIRST, "a", load).unwrap_err();
        let kind = refused.system().map(punctual::SystemException::kind);
        assert_eq!(kind, Some(SystemExceptionKind::BadParam));
    }
}

#[test]
fn who_follows_gets_what_has_changed_and_nothing_of_renewals() {
    let served = Served::new();
    let since = |before: &Changes| {
        let changes = served
            .replication
            .changes_since(before.epoch, before.revision, 100);
        changes.unwrap()
    };
    let (first, one) = served.group("stateless", "");
    let (_, other) = served.group("", "RoundRobin");
    let begin = served.replication.changes_since(0, 0, 100).unwrap();
    assert!(begin.is_anew && !begin.has_more);
    assert_eq!(
        locations(&begin),
        BTreeMap::from([(one, vec![]), (other, vec![])])
    );
    assert!(since(&begin).changed.is_empty());
    // A member that renews its lease all the time.
    let member = served.join(&first, "a", SHORT);
    let joined = since(&begin);
    assert_eq!(
        locations(&joined),
        BTreeMap::from([(one, vec!["a".to_owned()])])
    );
    let renewed = || served.metrics().contains("renewals_total 0");
    until(|| !renewed());
    let none = since(&joined);
    assert!(none.changed.is_empty() && !none.is_anew);
    served.replication.drain(one, &at("a"), true).unwrap();
    let drained = since(&none);
    assert!(drained.changed[0].the_members[0].is_draining);
    member.leave();
    served.replication.remove_group(other).unwrap();
    until(|| {
        served
            .replication
            .locations_of_members(Some(&first))
            .unwrap()
            .is_empty()
    });
    let last = since(&drained);
    assert_eq!(locations(&last), BTreeMap::from([(one, vec![])]));
    assert_eq!(last.removed, [other]);
    // Parts of two groups; a number that is none of this start begins anew.
    for _ in 0..4 {
        served.group("stateless", "");
    }
    let mut all = Vec::new();
    let mut part = served.replication.changes_since(7, 9, 2).unwrap();
    assert!(part.is_anew);
    loop {
        all.extend(locations(&part).into_keys());
        if !part.has_more {
            break;
        }
        part = served
            .replication
            .changes_since(part.epoch, part.revision, 2)
            .unwrap();
        assert!(!part.is_anew && part.changed.len() <= 2);
    }
    assert_eq!(all.len(), 5);
}

#[test]
fn a_member_that_does_not_answer_is_a_change_and_so_is_one_that_answers_again() {
    let served = Served::new();
    let (group, id) = served.group("", "RoundRobin");
    served.add(&group, "a");
    let before = served.replication.changes_since(0, 0, 9).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/b");
    let gone: ObjectRef = served.client.string_to_object(&text).unwrap();
    served
        .replication
        .add_member(Some(&group), &at("b"), Some(&gone))
        .unwrap();
    until(|| {
        let changes = served
            .replication
            .changes_since(before.epoch, before.revision, 9)
            .unwrap();
        let members = changes.changed.iter().flat_map(|group| &group.the_members);
        members.filter(|member| !member.is_alive).count() == 1
    });
    assert!(id < FIRST);
}
