//! Names that are bound to several objects.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::groups_served::alone_and_with_group_service;
use crate::support::{Served, name, object, orb, root_poa, same};
use punctual::{Interface, ObjectRef, OperationError, SystemExceptionKind};
use punctual_naming::client::Names;
use punctual_naming::cos_naming::naming_context::NotFoundReason;
use punctual_naming::cos_naming::{
    BindingType, NamingContext, NamingContextBindError, NamingContextRebindError,
    NamingContextResolveError,
};
use punctual_naming::extension::{
    BindingKind, Choice, ExtendedContext, ExtendedContextBindGroupError, ExtendedContextJoinError,
    ExtendedContextLeaveError, ExtendedContextReportError,
};
use punctual_naming::{Access, Limits, NamingService, ServeOptions};

fn extended(served: &Served) -> ExtendedContext {
    ExtendedContext::narrow(served.root.as_object().clone()).unwrap()
}

/// Makes a group of `count` members, `m0`, `m1`, ….
fn grouped(served: &Served, choosing: Choice, count: usize) -> ExtendedContext {
    let context = extended(served);
    context.bind_group(&name("pumps"), choosing).unwrap();
    for at in 0..count {
        let member = object(&served.orb, at);
        let joined = context.join(&name("pumps"), &format!("m{at}"), Some(&member), 0);
        joined.unwrap();
    }
    context
}

/// Resolves the group's name `times` times, and returns the members.
fn resolved(served: &Served, members: usize, times: usize) -> Vec<usize> {
    let one = |_| {
        let found = served.root.resolve(&name("pumps")).unwrap().unwrap();
        let is_it = |at: &usize| same(&found, &object(&served.orb, *at));
        (0..members).find(is_it).unwrap()
    };
    (0..times).map(one).collect()
}

fn kind(error: &impl OperationError) -> Option<SystemExceptionKind> {
    error.system().map(punctual::SystemException::kind)
}

#[test]
fn a_group_leads_to_one_member_after_the_other_and_to_each_by_its_id() {
    for (_groups, served) in alone_and_with_group_service() {
        let context = grouped(&served, Choice::RoundRobin, 3);
        assert_eq!(resolved(&served, 3, 7), [0, 1, 2, 0, 1, 2, 0]);
        let found = context.resolve(&name("pumps/m1")).unwrap().unwrap();
        assert!(same(&found, &object(&served.orb, 1)));
        let found = context.resolve_str("pumps/m2").unwrap().unwrap();
        assert!(same(&found, &object(&served.orb, 2)));
        context.leave(&name("pumps"), "m1").unwrap();
        assert_eq!(resolved(&served, 3, 4), [2, 0, 2, 0]);
        let (listed, _) = context.list(9).unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].binding_type, BindingType::Nobject);
        let about = context.about(&name("pumps")).unwrap();
        assert_eq!(about.leads, BindingKind::ToGroup);
        assert_eq!(about.choosing, Choice::RoundRobin);
        let members = context.members(&name("pumps")).unwrap();
        let ids: Vec<&str> = members.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(ids, ["m0", "m2"]);
        assert!(members.iter().all(|one| one.is_alive && !one.is_loaded));
        // A member that joins by an existing id replaces that.
        let other = object(&served.orb, 9);
        context.join(&name("pumps"), "m0", Some(&other), 0).unwrap();
        let found = context.resolve(&name("pumps/m0")).unwrap().unwrap();
        assert!(same(&found, &other));
    }
}

#[test]
fn each_member_is_met_by_chance() {
    for (_groups, served) in alone_and_with_group_service() {
        grouped(&served, Choice::ByChance, 4);
        let mut met = BTreeMap::new();
        // The probability that one of four is not among 400 is 10^-49.
        for one in resolved(&served, 4, 400) {
            *met.entry(one).or_insert(0) += 1;
        }
        assert_eq!(met.len(), 4, "{met:?}");
        assert!(met.values().all(|count| *count < 250), "{met:?}");
    }
}

#[test]
fn the_least_loaded_member_is_chosen_and_one_that_says_nothing_counts_as_average() {
    for (_groups, served) in alone_and_with_group_service() {
        let context = grouped(&served, Choice::LeastLoaded, 3);
        // No load was reported: all are equal.
        assert_eq!(resolved(&served, 3, 3), [0, 1, 2]);
        let report = |id: &str, load| context.report(&name("pumps"), id, load);
        report("m0", 5.0).unwrap();
        report("m1", 1.0).unwrap();
        assert_eq!(resolved(&served, 3, 3), [1, 1, 1]);
        report("m1", 8.0).unwrap();
        // 6.5 is more than 5.
        assert_eq!(resolved(&served, 3, 2), [0, 0]);
        report("m0", 9.0).unwrap();
        // 8.5 is more than 8.
        assert_eq!(resolved(&served, 3, 2), [1, 1]);
        report("m2", 0.0).unwrap();
        assert_eq!(resolved(&served, 3, 2), [2, 2]);
        let members = context.members(&name("pumps")).unwrap();
        let loads: Vec<f64> = members.iter().map(|one| one.load).collect();
        assert_eq!(loads, [9.0, 8.0, 0.0]);
        for load in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                kind(&report("m0", load).unwrap_err()),
                Some(SystemExceptionKind::BadParam)
            );
        }
        let Err(ExtendedContextReportError::NotFound(it)) = report("nobody", 1.0) else {
            panic!("who is no member has a load");
        };
        assert_eq!(it.why, NotFoundReason::MissingNode);
        report("m2", f64::MAX).unwrap();
        report("m1", f64::MAX).unwrap();
        assert_eq!(resolved(&served, 3, 2), [0, 0]);
    }
}

#[test]
fn one_reference_has_the_profiles_of_all_members_of_a_type() {
    for (_groups, served) in alone_and_with_group_service() {
        let context = grouped(&served, Choice::AllProfiles, 3);
        // A member of another type, whose profile would lead to another interface.
        let joined = context.join(&name("pumps"), "x", Some(served.root.as_object()), 0);
        joined.unwrap();
        let found = context.resolve(&name("pumps")).unwrap().unwrap();
        let profiles = &found.ior().profiles;
        assert_eq!(profiles.len(), 3);
        for at in 0..3 {
            let member = object(&served.orb, at);
            assert!(profiles.contains(&member.ior().profiles[0]));
        }
        // The next client starts with another member.
        let next = context.resolve(&name("pumps")).unwrap().unwrap();
        assert_ne!(next.ior().profiles[0], profiles[0]);
    }
}

#[test]
fn a_group_without_members_is_transient_so_that_clients_try_again() {
    for (_groups, served) in alone_and_with_group_service() {
        let context = grouped(&served, Choice::RoundRobin, 0);
        let empty = context.resolve(&name("pumps")).unwrap_err();
        assert_eq!(kind(&empty), Some(SystemExceptionKind::Transient));
        assert!(matches!(
            context.resolve(&name("pumps/m0")),
            Err(NamingContextResolveError::NotFound(_))
        ));
        let pump = object(&served.orb, 1);
        context
            .join(&name("pumps"), "m0", Some(&pump), 1_000)
            .unwrap();
        assert_eq!(context.members(&name("pumps")).unwrap()[0].ttl_ms, 1_000);
        assert!(context.resolve(&name("pumps")).is_ok());
        while context.resolve(&name("pumps")).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(served.service.size().bindings, 1);
    }
}

#[test]
fn a_group_is_kept_with_its_members_and_goes_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    let open = || Served::new(&NamingService::open(&path).unwrap());
    {
        let served = open();
        grouped(&served, Choice::LeastLoaded, 3);
        let size = served.service.size();
        assert_eq!((size.contexts, size.bindings), (2, 4));
    }
    {
        let served = open();
        let context = extended(&served);
        let about = context.about(&name("pumps")).unwrap();
        assert_eq!(about.choosing, Choice::LeastLoaded);
        assert_eq!(resolved(&served, 3, 3), [0, 1, 2]);
        context.bind(&name("other"), None).unwrap();
        context.unbind(&name("pumps")).unwrap();
        let size = served.service.size();
        assert_eq!((size.contexts, size.bindings), (1, 1));
    }
    let served = open();
    let size = served.service.size();
    assert_eq!((size.contexts, size.bindings), (1, 1));
    assert!(extended(&served).members(&name("pumps")).is_err());
}

#[test]
fn for_those_who_know_nothing_of_groups_it_is_an_object_that_they_do_not_replace() {
    for (_groups, served) in alone_and_with_group_service() {
        let context = grouped(&served, Choice::RoundRobin, 1);
        let pump = object(&served.orb, 7);
        let Err(NamingContextRebindError::NotFound(it)) =
            context.rebind(&name("pumps"), Some(&pump))
        else {
            panic!("a group is replaced");
        };
        assert_eq!(it.why, NotFoundReason::NotObject);
        assert!(
            context
                .bind_for(&name("pumps"), Some(&pump), 1_000, true)
                .is_err()
        );
        assert!(
            context
                .bind_context(&name("pumps"), Some(&*served.root))
                .is_err()
        );
        assert!(
            context
                .rebind_context(&name("pumps"), Some(&*served.root))
                .is_err()
        );
        // Only members can be bound in a group, by joining.
        let Err(NamingContextBindError::NotFound(it)) = context.bind(&name("pumps/x"), Some(&pump))
        else {
            panic!("a name is bound in a group");
        };
        assert_eq!(it.why, NotFoundReason::NotContext);
        assert!(context.bind_new_context(&name("pumps/x")).is_err());
        assert!(context.unbind(&name("pumps/m0")).is_err());
        assert!(context.resolve(&name("pumps/m0/x")).is_err());
        assert_eq!(served.service.size().bindings, 2);
    }
}

#[test]
fn what_is_no_group_odd_ids_nil_and_too_many_members_are_refused() {
    for (_groups, served) in alone_and_with_group_service() {
        let context = grouped(&served, Choice::RoundRobin, 2);
        let pump = object(&served.orb, 7);
        context.bind(&name("pump"), Some(&pump)).unwrap();
        context.bind_new_context(&name("plants")).unwrap();
        let join = |group: &str, id: &str, ttl| context.join(&name(group), id, Some(&pump), ttl);
        for group in ["pump", "plants", "pumps/m0"] {
            let Err(ExtendedContextJoinError::NotFound(it)) = join(group, "x", 0) else {
                panic!("`{group}` is joined");
            };
            assert_eq!(it.why, NotFoundReason::NotContext);
            assert_eq!(it.rest_of_name, name(group));
            assert!(context.members(&name(group)).is_err());
        }
        let Err(ExtendedContextJoinError::NotFound(it)) = join("nothing", "x", 0) else {
            panic!("what is not bound is joined");
        };
        assert_eq!(
            (it.why, it.rest_of_name),
            (NotFoundReason::MissingNode, name("nothing"))
        );
        let Err(ExtendedContextLeaveError::NotFound(it)) = context.leave(&name("pumps"), "x")
        else {
            panic!("who is no member leaves");
        };
        assert_eq!(
            (it.why, it.rest_of_name),
            (NotFoundReason::MissingNode, name("x"))
        );
        // A group in a group, and one in place of another binding.
        assert!(matches!(
            context.bind_group(&name("pumps/inner"), Choice::ByChance),
            Err(ExtendedContextBindGroupError::NotFound(_))
        ));
        for bound in ["pump", "plants", "pumps"] {
            assert!(matches!(
                context.bind_group(&name(bound), Choice::ByChance),
                Err(ExtendedContextBindGroupError::AlreadyBound(_))
            ));
        }
        let too_long = "x".repeat(1_025);
        for id in ["", &too_long] {
            assert!(matches!(
                join("pumps", id, 0),
                Err(ExtendedContextJoinError::InvalidName(_))
            ));
        }
        let nil = context.join(&name("pumps"), "nil", None, 0).unwrap_err();
        assert_eq!(kind(&nil), Some(SystemExceptionKind::BadParam));
        let short = join("pumps", "short", 10).unwrap_err();
        assert_eq!(kind(&short), Some(SystemExceptionKind::BadParam));
        served.service.set_limits(Limits {
            members: 4,
            ..Limits::default()
        });
        for id in ["a/b.c\\", "ü \u{1}"] {
            join("pumps", id, 0).unwrap();
        }
        let found = context.resolve_str(r"pumps/a\/b\.c\\").unwrap().unwrap();
        assert!(same(&found, &pump));
        let full = join("pumps", "one more", 0).unwrap_err();
        assert_eq!(kind(&full), Some(SystemExceptionKind::NoResources));
        join("pumps", "m0", 0).unwrap();
    }
}

/// Starts a server, and returns the reference to an object in it.
fn alive() -> (punctual::Orb, ObjectRef) {
    let orb = orb();
    let service = NamingService::in_memory().unwrap();
    let root = service.serve(&root_poa(&orb), ServeOptions::default());
    let root = root.unwrap().as_object().clone();
    (orb, root)
}

#[test]
fn a_member_that_does_not_answer_is_passed_over_and_removed_after_a_time() {
    let options = ServeOptions {
        group_check: Some(Duration::from_millis(50)),
        group_remove: Some(Duration::from_millis(600)),
        ..ServeOptions::default()
    };
    let served = Served::with(&NamingService::in_memory().unwrap(), options);
    let context = grouped(&served, Choice::RoundRobin, 0);
    let (first, one) = alive();
    let (_second, other) = alive();
    let join = |id: &str, reference: &ObjectRef| {
        let text = reference.orb().object_to_string(reference).unwrap();
        let object = served.orb.string_to_object(&text).unwrap();
        context.join(&name("pumps"), id, Some(&object), 0).unwrap();
    };
    join("one", &one);
    join("other", &other);
    let begun = Instant::now();
    first.shutdown(true).unwrap();
    let is_alive = |id: &str| {
        let members = context.members(&name("pumps")).unwrap();
        members
            .iter()
            .find(|one| one.id == id)
            .map(|one| one.is_alive)
    };
    while is_alive("one") == Some(true) {
        std::thread::sleep(Duration::from_millis(2));
    }
    if is_alive("one") == Some(false) {
        for _ in 0..4 {
            let found = context.resolve(&name("pumps")).unwrap().unwrap();
            assert!(same(&found, &other));
        }
    }
    while is_alive("one").is_some() {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(begun.elapsed() >= Duration::from_millis(600));
    assert_eq!(is_alive("other"), Some(true));
    assert_eq!(served.service.size().bindings, 2);
}

#[test]
fn without_federation_nobody_is_asked() {
    let options = ServeOptions {
        federated: false,
        group_check: Some(Duration::from_millis(20)),
        group_remove: Some(Duration::from_millis(20)),
        ..ServeOptions::default()
    };
    let served = Served::with(&NamingService::in_memory().unwrap(), options);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let context = grouped(&served, Choice::RoundRobin, 0);
    let text = format!("corbaloc:iiop:1.2@127.0.0.1:{port}/pump");
    let pump = served.orb.string_to_object(&text).unwrap();
    context.join(&name("pumps"), "m0", Some(&pump), 0).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
    assert_eq!(context.members(&name("pumps")).unwrap().len(), 1);
}

#[test]
fn who_may_join_a_group_may_change_nothing_else() {
    for (_groups, served) in alone_and_with_group_service() {
        let context = grouped(&served, Choice::RoundRobin, 1);
        let mut access = Access::default();
        access
            .grant("pumps", "127.0.0.0/8".parse().unwrap())
            .unwrap();
        served.service.set_access(access);
        let pump = object(&served.orb, 7);
        context
            .join(&name("pumps"), "mine", Some(&pump), 0)
            .unwrap();
        context.report(&name("pumps"), "mine", 1.0).unwrap();
        context.leave(&name("pumps"), "mine").unwrap();
        let refused = context.bind(&name("pump"), Some(&pump)).unwrap_err();
        assert_eq!(kind(&refused), Some(SystemExceptionKind::NoPermission));
        let refused = context.unbind(&name("pumps")).unwrap_err();
        assert_eq!(kind(&refused), Some(SystemExceptionKind::NoPermission));
        let mut access = Access::default();
        access.grant("", "10.0.0.0/8".parse().unwrap()).unwrap();
        served.service.set_access(access);
        let refused = context.join(&name("pumps"), "mine", Some(&pump), 0);
        assert_eq!(
            kind(&refused.unwrap_err()),
            Some(SystemExceptionKind::NoPermission)
        );
        let refused = context.report(&name("pumps"), "m0", 1.0).unwrap_err();
        assert_eq!(kind(&refused), Some(SystemExceptionKind::NoPermission));
        assert_eq!(resolved(&served, 1, 1), [0]);
    }
}

#[test]
fn a_group_of_another_server_is_joined_and_resolved_through_this_one() {
    let (here, there) = (Served::in_memory(), Served::in_memory());
    let text = there.orb.object_to_string(&there.root).unwrap();
    let other = here.orb.string_to_object(&text).unwrap();
    let other = NamingContext::from_object(other);
    here.root
        .bind_context(&name("other"), Some(&other))
        .unwrap();
    let (context, pump) = (extended(&here), object(&here.orb, 1));
    let group = name("other/pumps");
    context.bind_group(&group, Choice::RoundRobin).unwrap();
    context.join(&group, "m0", Some(&pump), 0).unwrap();
    context.report(&group, "m0", 2.0).unwrap();
    assert!(same(&context.resolve(&group).unwrap().unwrap(), &pump));
    assert_eq!(context.members(&group).unwrap()[0].load, 2.0);
    context.leave(&group, "m0").unwrap();
    assert_eq!(there.service.size().bindings, 1);
    let Err(ExtendedContextJoinError::NotFound(it)) =
        context.join(&name("other"), "m0", Some(&pump), 0)
    else {
        panic!("a context of another server is joined");
    };
    assert_eq!(
        (it.why, it.rest_of_name),
        (NotFoundReason::NotContext, name("other"))
    );
}

#[test]
fn a_membership_that_is_kept_is_renewed_and_ends_when_it_is_dropped() {
    for (_groups, served) in alone_and_with_group_service() {
        let pump = object(&served.orb, 1);
        let ttl = Duration::from_secs(2);
        let names = Names::below(&served.root);
        // The group is made later.
        let kept = names.keep_joined("pumps", "mine", &pump, ttl).unwrap();
        let context = grouped(&served, Choice::RoundRobin, 0);
        while context.members(&name("pumps")).unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let begun = Instant::now();
        while begun.elapsed() < 2 * ttl {
            assert!(same(
                &context.resolve(&name("pumps")).unwrap().unwrap(),
                &pump
            ));
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(kept);
        assert!(context.members(&name("pumps")).unwrap().is_empty());
    }
}
