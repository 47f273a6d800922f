//! Groups of names that a group service has.

use std::path::Path;
use std::time::{Duration, Instant};

use punctual::policy::Collocation;
use punctual::{CompletionStatus, Interface, ObjectRef, OperationError, SystemExceptionKind};
use punctual_groups_client::punctual_groups::Group;
use punctual_groups_service::{Access as GroupAccess, GroupService};
use punctual_host::store::Faults;
use punctual_naming::extension::{BindingKind, Choice, ExtendedContext, Member};
use punctual_naming::store::{ContextId, FileStore, Loading, Store, Target};
use punctual_naming::{NamingService, ServeOptions};

use crate::groups_served::{Place, ServedGroups};
use crate::support::{Served, name, object, orb, orb_with, same};

/// Time that only failures reach.
const PATIENCE: Duration = Duration::from_secs(90);

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn extended(served: &Served) -> ExtendedContext {
    ExtendedContext::narrow(served.root.as_object().clone()).unwrap()
}

fn members(context: &ExtendedContext) -> Vec<Member> {
    context.members(&name("pumps")).unwrap()
}

fn ids(context: &ExtendedContext) -> Vec<String> {
    members(context).into_iter().map(|one| one.id).collect()
}

fn kind(error: &impl OperationError) -> Option<SystemExceptionKind> {
    error.system().map(punctual::SystemException::kind)
}

/// Returns the only group of a group service.
fn only(groups: &ServedGroups) -> Group {
    let mut all = groups.list();
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// Serves names in memory whose groups are at a group service, with a group of `count` members, `m0`, `m1`, ….
fn grouped(groups: &ServedGroups, choosing: Choice, count: usize) -> (Served, ExtendedContext) {
    let service = NamingService::in_memory().unwrap();
    let served = groups.names(&service, ServeOptions::default());
    let context = extended(&served);
    fill(&served, &context, choosing, count);
    (served, context)
}

fn fill(served: &Served, context: &ExtendedContext, choosing: Choice, count: usize) {
    context.bind_group(&name("pumps"), choosing).unwrap();
    for at in 0..count {
        let member = object(&served.orb, at);
        let joined = context.join(&name("pumps"), &format!("m{at}"), Some(&member), 0);
        joined.unwrap();
    }
}

fn resolved(served: &Served) -> ObjectRef {
    served.root.resolve(&name("pumps")).unwrap().unwrap()
}

#[test]
fn a_group_of_names_is_one_of_the_group_service_and_changes_of_either_are_seen_in_both() {
    let groups = ServedGroups::in_memory();
    let (served, context) = grouped(&groups, Choice::RoundRobin, 2);
    let group = only(&groups);
    assert_eq!(
        (group.style.as_str(), group.strategy.as_str()),
        ("balanced", "RoundRobin")
    );
    assert_eq!(group.the_members.len(), 2);
    assert_eq!(group.the_members[0].the_location, name("m0"));
    // One that joins by the group service is resolved by the name.
    let there = groups.administration(&served.orb);
    let third = object(&served.orb, 2);
    let joined = there
        .join(group.reference.as_ref(), &name("m2"), Some(&third), 60_000)
        .unwrap();
    until("the name does not lead to it", || {
        ids(&context) == ["m0", "m1", "m2"]
    });
    let found = context.resolve(&name("pumps/m2")).unwrap().unwrap();
    assert!(same(&found, &third));
    assert_eq!(members(&context)[2].ttl_ms, 60_000);
    // No client is led to one that drains.
    there.drain(group.id, &name("m0"), true).unwrap();
    until("the name leads to it", || !members(&context)[0].is_alive);
    for _ in 0..6 {
        assert!(!same(&resolved(&served), &object(&served.orb, 0)));
    }
    there.drain(group.id, &name("m0"), false).unwrap();
    until("the name does not lead to it", || {
        members(&context)[0].is_alive
    });
    // Members leave by either.
    there.leave(group.id, &name("m2"), joined.token).unwrap();
    until("it is a member", || ids(&context) == ["m0", "m1"]);
    context.leave(&name("pumps"), "m0").unwrap();
    assert_eq!(only(&groups).the_members.len(), 1);
    // Loads count wherever they are reported.
    context.report(&name("pumps"), "m1", 3.5).unwrap();
    assert_eq!(only(&groups).the_members[0].load, 3.5);
    there.report(group.id, &name("m1"), 7.5).unwrap();
    until("the load is not known", || members(&context)[0].load == 7.5);
    // The group has a reference of its own, which may be bound as any object.
    let own = group.reference.unwrap();
    context.bind(&name("own"), Some(&own)).unwrap();
    let found = context.resolve(&name("own")).unwrap().unwrap();
    assert!(same(&found, &own));
    let about = context.about(&name("pumps")).unwrap();
    assert_eq!(about.leads, BindingKind::ToGroup);
}

#[test]
fn a_group_goes_with_its_name_and_is_made_again_for_members_if_the_group_service_has_it_no_more() {
    let groups = ServedGroups::in_memory();
    let (served, context) = grouped(&groups, Choice::ByChance, 1);
    let there = groups.administration(&served.orb);
    let group = only(&groups);
    assert_eq!(group.strategy, "Random");
    there.remove_group(group.id).unwrap();
    until("the name leads to a member", || ids(&context).is_empty());
    let empty = context.resolve(&name("pumps")).unwrap_err();
    assert_eq!(kind(&empty), Some(SystemExceptionKind::Transient));
    let pump = object(&served.orb, 5);
    context.join(&name("pumps"), "m5", Some(&pump), 0).unwrap();
    assert_eq!(only(&groups).id, group.id);
    assert!(same(&resolved(&served), &pump));
    context.unbind(&name("pumps")).unwrap();
    assert!(groups.list().is_empty());
    let size = served.service.size();
    assert_eq!((size.contexts, size.bindings), (1, 0));
    // It is not made again.
    std::thread::sleep(Duration::from_millis(600));
    assert!(groups.list().is_empty());
}

#[test]
fn a_member_that_joins_again_by_its_name_stays_drained_also_at_a_server_that_has_begun_since() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    let groups = ServedGroups::in_memory();
    let served = groups.names(
        &NamingService::open(&path).unwrap(),
        ServeOptions::default(),
    );
    let context = extended(&served);
    fill(&served, &context, Choice::LeastLoaded, 1);
    let pump = object(&served.orb, 0);
    let join = |context: &ExtendedContext| context.join(&name("pumps"), "m0", Some(&pump), 60_000);
    join(&context).unwrap();
    let there = groups.administration(&served.orb);
    there.drain(only(&groups).id, &name("m0"), true).unwrap();
    context.report(&name("pumps"), "m0", 2.5).unwrap();
    let shown = || {
        let mut group = only(&groups);
        group.the_members[0].load_age_ms = 0;
        group
    };
    let before = shown();
    join(&context).unwrap();
    assert_eq!(shown(), before);
    drop((context, served));
    let served = groups.names(&opened(&path), ServeOptions::default());
    let context = extended(&served);
    until("the group is not followed", || ids(&context) == ["m0"]);
    join(&context).unwrap();
    assert_eq!(shown(), before);
    assert!(before.the_members[0].is_draining && !members(&context)[0].is_alive);
}

#[test]
fn a_group_keeps_its_members_if_its_name_cannot_be_unbound() {
    let folder = tempfile::tempdir().unwrap();
    let faults = Faults::default();
    let path = folder.path().join("names.redb");
    let store = FileStore::open_with_faults(&path, faults.clone()).unwrap();
    let service = NamingService::on(Box::new(store)).unwrap();
    let groups = ServedGroups::in_memory();
    let served = groups.names(&service, ServeOptions::default());
    let context = extended(&served);
    fill(&served, &context, Choice::RoundRobin, 2);
    faults.fail_late();
    context.unbind(&name("pumps")).unwrap_err();
    faults.mend();
    assert_eq!(only(&groups).the_members.len(), 2);
    assert_eq!(ids(&context), ["m0", "m1"]);
    context.unbind(&name("pumps")).unwrap();
    assert!(groups.list().is_empty());
}

#[test]
fn a_group_that_cannot_be_removed_when_its_name_is_unbound_is_removed_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let faults = Faults::default();
    let service = GroupService::open_with_faults(&path, faults.clone()).unwrap();
    let groups = ServedGroups::with(service, orb());
    let (served, context) = grouped(&groups, Choice::RoundRobin, 1);
    faults.fail_late();
    context.unbind(&name("pumps")).unwrap();
    assert_eq!(served.service.size().contexts, 1);
    assert_eq!(only(&groups).the_members.len(), 1);
    faults.mend();
    until("the group stays", || groups.list().is_empty());
}

#[test]
fn names_are_resolved_while_the_group_service_is_away_and_groups_go_on_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("groups.redb");
    let place = Place::new();
    let groups = ServedGroups::open(&path, &place);
    let (served, context) = grouped(&groups, Choice::RoundRobin, 2);
    drop(groups);
    let found: Vec<bool> = (0..4)
        .map(|_| same(&resolved(&served), &object(&served.orb, 0)))
        .collect();
    assert_eq!(found, [true, false, true, false]);
    let pump = object(&served.orb, 2);
    let refused = context
        .join(&name("pumps"), "m2", Some(&pump), 0)
        .unwrap_err();
    assert_eq!(kind(&refused), Some(SystemExceptionKind::Transient));
    let refused = context.unbind(&name("pumps")).unwrap_err();
    assert_eq!(kind(&refused), Some(SystemExceptionKind::Transient));
    let refused = context
        .bind_group(&name("valves"), Choice::ByChance)
        .unwrap_err();
    assert_eq!(kind(&refused), Some(SystemExceptionKind::Transient));
    // What is no group does not depend on it.
    context.bind(&name("pump"), Some(&pump)).unwrap();
    context.unbind(&name("pump")).unwrap();
    assert_eq!(ids(&context), ["m0", "m1"]);
    let groups = ServedGroups::open(&path, &place);
    let group = only(&groups);
    let there = groups.administration(&served.orb);
    there
        .join(group.reference.as_ref(), &name("m2"), Some(&pump), 0)
        .unwrap();
    until("it is not followed again", || ids(&context).len() == 3);
    context.leave(&name("pumps"), "m2").unwrap();
    assert_eq!(only(&groups).the_members.len(), 2);
    assert_eq!(served.service.size().bindings, 3);
}

#[test]
fn a_group_service_that_has_lost_its_groups_gets_them_again_from_the_members_that_join() {
    let place = Place::new();
    let start = || ServedGroups::with(GroupService::in_memory(), place.orb());
    let groups = start();
    let (served, context) = grouped(&groups, Choice::RoundRobin, 4);
    drop(groups);
    let groups = start();
    until("the copies stay", || ids(&context).is_empty());
    let pump = object(&served.orb, 0);
    context.join(&name("pumps"), "m0", Some(&pump), 0).unwrap();
    assert_eq!(ids(&context), ["m0"]);
    // Its version is lower than that of the group before.
    let group = only(&groups);
    let there = groups.administration(&served.orb);
    there
        .join(group.reference.as_ref(), &name("host/m1"), Some(&pump), 0)
        .unwrap();
    until("it is not followed", || ids(&context) == ["host/m1", "m0"]);
    context.leave(&name("pumps"), "host/m1").unwrap();
    assert_eq!(ids(&context), ["m0"]);
    // Removed and made again between two questions.
    there.remove_group(group.id).unwrap();
    there
        .adopt_group(group.id, "IDL:Pump:1.0", "Random", &[])
        .unwrap();
    until("the members stay", || ids(&context).is_empty());
}

/// Counts the bindings of a store.
#[derive(Default)]
struct Counted(Vec<String>);

impl Loading for Counted {
    fn context(&mut self, _: ContextId, _: ContextId) {}

    fn binding(&mut self, _: ContextId, key: &str, _: Target) {
        self.0.push(key.to_owned());
    }
}

fn stored(path: &Path) -> Vec<String> {
    let mut counted = Counted::default();
    let mut store = None;
    // A thread of a service that was dropped may have it until a group has moved.
    until("the file stays in use", || {
        store = FileStore::open(path).ok();
        store.is_some()
    });
    store.unwrap().load(&mut counted).unwrap();
    counted.0.sort();
    counted.0
}

/// Opens a file of names as soon as no service has it that was dropped.
fn opened(path: &Path) -> NamingService {
    let mut service = None;
    until("the file stays in use", || {
        service = NamingService::open(path).ok();
        service.is_some()
    });
    service.unwrap()
}

/// Makes a file of names with a group of two members, one of them with a lease.
fn file_with_group(path: &Path) {
    let served = Served::new(&NamingService::open(path).unwrap());
    let context = extended(&served);
    fill(&served, &context, Choice::LeastLoaded, 1);
    let leased = object(&served.orb, 1);
    context
        .join(&name("pumps"), "m1", Some(&leased), 60_000)
        .unwrap();
    context.bind(&name("pump"), Some(&leased)).unwrap();
}

#[test]
fn groups_of_a_file_of_names_move_to_the_group_service_once_with_their_members() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    file_with_group(&path);
    assert_eq!(stored(&path), ["m0", "m1", "pump", "pumps"]);
    let groups = ServedGroups::in_memory();
    {
        let service = NamingService::open(&path).unwrap();
        let served = groups.names(&service, ServeOptions::default());
        until("the group has not moved", || {
            groups.list().len() == 1 && ids(&extended(&served)).len() == 2
        });
        let group = only(&groups);
        assert_eq!(group.strategy, "LeastLoaded");
        let leases: Vec<u32> = group.the_members.iter().map(|one| one.lease_ms).collect();
        assert_eq!(leases, [0, 60_000]);
        let about = extended(&served).about(&name("pumps")).unwrap();
        assert_eq!(about.choosing, Choice::LeastLoaded);
        until("members are in the store", || {
            members(&extended(&served)).len() == 2 && served.service.size().bindings == 4
        });
        extended(&served).leave(&name("pumps"), "m0").unwrap();
    }
    assert_eq!(stored(&path), ["pump", "pumps"]);
    // The member that has left is not there again.
    let service = opened(&path);
    let served = groups.names(&service, ServeOptions::default());
    until("the group is not followed", || {
        ids(&extended(&served)) == ["m1"]
    });
    assert_eq!(only(&groups).the_members.len(), 1);
}

#[test]
fn a_group_that_the_group_service_refuses_moves_when_it_may_and_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    file_with_group(&path);
    let served = Served::new(&opened(&path));
    let context = extended(&served);
    for group in ["fans", "valves"] {
        context.bind_group(&name(group), Choice::ByChance).unwrap();
    }
    drop((context, served));
    let groups = ServedGroups::in_memory();
    groups.set_most_members(1);
    let served = groups.names(&opened(&path), ServeOptions::default());
    until("the others do not move", || groups.list().len() == 2);
    assert_eq!(members(&extended(&served)).len(), 2);
    groups.set_most_members(2);
    until("it does not move", || groups.list().len() == 3);
    assert_eq!(members(&extended(&served)).len(), 2);
}

#[test]
fn a_member_of_a_group_that_has_moved_moves_later_if_a_server_without_the_group_service_added_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    file_with_group(&path);
    let groups = ServedGroups::in_memory();
    let served = groups.names(&opened(&path), ServeOptions::default());
    until("the group has not moved", || groups.list().len() == 1);
    drop(served);
    assert_eq!(stored(&path), ["pump", "pumps"]);
    let served = Served::new(&opened(&path));
    let third = object(&served.orb, 2);
    let context = extended(&served);
    context.join(&name("pumps"), "m2", Some(&third), 0).unwrap();
    drop((context, served));
    let served = groups.names(&opened(&path), ServeOptions::default());
    until("it has not moved", || {
        ids(&extended(&served)) == ["m0", "m1", "m2"]
    });
    assert_eq!(only(&groups).the_members.len(), 3);
    drop(served);
    assert_eq!(stored(&path), ["pump", "pumps"]);
}

#[test]
fn a_move_that_a_full_disk_interrupts_ends_later_and_revives_no_member_that_has_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    file_with_group(&path);
    let groups = ServedGroups::in_memory();
    let faults = Faults::default();
    let store = FileStore::open_with_faults(&path, faults.clone()).unwrap();
    let service = NamingService::on(Box::new(store)).unwrap();
    faults.fail_late();
    let served = groups.names(&service, ServeOptions::default());
    until("the group is not adopted", || groups.list().len() == 1);
    // The service has the members, and the store has them still.
    let there = groups.administration(&served.orb);
    let group = only(&groups);
    let member = group.the_members[0].the_location.clone();
    assert_eq!(member, name("m0"));
    let again = there.join(
        group.reference.as_ref(),
        &member,
        Some(&object(&served.orb, 0)),
        0,
    );
    there
        .leave(group.id, &member, again.unwrap().token)
        .unwrap();
    faults.mend();
    until("the move does not end", || {
        ids(&extended(&served)) == ["m1"]
    });
    let (one, size) = (only(&groups), served.service.size());
    assert_eq!((one.the_members.len(), size.bindings), (1, 3));
    drop((served, service));
    assert_eq!(stored(&path), ["pump", "pumps"]);
}

#[test]
fn a_name_is_not_bound_to_a_group_that_the_group_service_refuses() {
    let service = GroupService::in_memory();
    service.set_access(GroupAccess::of(&["10.0.0.0/8".to_owned()], &[]).unwrap());
    let groups = ServedGroups::with(service, orb());
    let names = NamingService::in_memory().unwrap();
    let served = groups.names(&names, ServeOptions::default());
    let context = extended(&served);
    let refused = context
        .bind_group(&name("pumps"), Choice::RoundRobin)
        .unwrap_err();
    assert_eq!(kind(&refused), Some(SystemExceptionKind::NoPermission));
    let size = served.service.size();
    assert_eq!((size.contexts, size.bindings), (1, 0));
}

#[test]
fn a_group_that_may_have_been_made_keeps_its_name() {
    // It takes requests, and answers none.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let names = NamingService::in_memory().unwrap();
    names.keep_groups_at(format!(
        "corbaloc:iiop:1.2@127.0.0.1:{port}/ReplicationManager"
    ));
    let options = ServeOptions {
        federated_timeout: Duration::from_secs(3),
        ..ServeOptions::default()
    };
    let served = Served::with(&names, options);
    let context = extended(&served);
    let unsure = context
        .bind_group(&name("pumps"), Choice::RoundRobin)
        .unwrap_err();
    let unsure = unsure.system().unwrap();
    assert_eq!(unsure.kind(), SystemExceptionKind::Transient);
    assert_eq!(unsure.completed(), CompletionStatus::Maybe);
    let about = context.about(&name("pumps")).unwrap();
    assert_eq!(about.leads, BindingKind::ToGroup);
    let empty = context.resolve(&name("pumps")).unwrap_err();
    assert_eq!(kind(&empty), Some(SystemExceptionKind::Transient));
    // Other names do not wait for it.
    let pump = object(&served.orb, 0);
    context.bind(&name("pump"), Some(&pump)).unwrap();
    assert!(same(
        &context.resolve(&name("pump")).unwrap().unwrap(),
        &pump
    ));
}

#[test]
fn a_group_service_in_the_process_of_the_names_is_one_too() {
    let orb = orb_with(|config| config.collocation = Collocation::ThruPoa);
    let groups = ServedGroups::with(GroupService::in_memory(), orb.clone());
    let names = NamingService::in_memory().unwrap();
    names.keep_groups_at(groups.reference.clone());
    let served = Served::by(orb, &names, ServeOptions::default());
    let context = extended(&served);
    fill(&served, &context, Choice::AllProfiles, 3);
    assert_eq!(only(&groups).the_members.len(), 3);
    assert_eq!(resolved(&served).ior().profiles.len(), 3);
}

#[test]
fn a_reference_that_is_none_keeps_names_from_being_served() {
    let names = NamingService::in_memory().unwrap();
    names.keep_groups_at("corbaloc");
    let orb = orb();
    let poa = crate::support::root_poa(&orb);
    let refused = names.serve(&poa, ServeOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("`corbaloc`"), "{refused}");
}
