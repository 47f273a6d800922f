//! Bindings with a time to live.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{Served, name, object, same};
use punctual::{Interface, ObjectRef, SystemExceptionKind};
use punctual_naming::client::Names;
use punctual_naming::cos_naming::{
    NamingContext, NamingContextExt, NamingContextResolveError, naming_context::NotFoundReason,
};
use punctual_naming::extension::{BindingKind, ExtendedContext, ExtendedContextBindForError};
use punctual_naming::{Limits, NamingService, ServeOptions};

const SECOND: Duration = Duration::from_secs(1);

fn extended(served: &Served) -> ExtendedContext {
    ExtendedContext::narrow(served.root.as_object().clone()).unwrap()
}

fn found(root: &NamingContext, text: &str) -> Option<ObjectRef> {
    match root.resolve(&name(text)) {
        Ok(found) => found,
        Err(NamingContextResolveError::NotFound(it)) => {
            assert_eq!(it.why, NotFoundReason::MissingNode);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Waits until a name is unbound, and returns the time for which it stayed bound.
fn life(root: &NamingContext, text: &str) -> Duration {
    let begun = Instant::now();
    while found(root, text).is_some() {
        std::thread::sleep(Duration::from_millis(5));
    }
    begun.elapsed()
}

fn file(path: &Path) -> Served {
    // If a server has just ended, its thread may have to notice that first.
    Served::new(&NamingService::open(path).unwrap())
}

#[test]
fn a_binding_ends_with_its_time_and_one_that_is_renewed_does_not() {
    let folder = tempfile::tempdir().unwrap();
    for served in [Served::in_memory(), file(&folder.path().join("names.redb"))] {
        let (context, pump) = (extended(&served), object(&served.orb, 1));
        let bind = |text: &str, replace| context.bind_for(&name(text), Some(&pump), 2_000, replace);
        let begun = Instant::now();
        bind("ends", false).unwrap();
        bind("renewed", false).unwrap();
        context.bind(&name("stays"), Some(&pump)).unwrap();
        assert!(same(&found(&served.root, "ends").unwrap(), &pump));
        assert_eq!(served.service.size().bindings, 3);
        std::thread::sleep(Duration::from_millis(1_200));
        let renewed = Instant::now();
        bind("renewed", true).unwrap();
        life(&served.root, "ends");
        assert!(begun.elapsed() >= 2 * SECOND);
        assert!(found(&served.root, "renewed").is_some());
        life(&served.root, "renewed");
        assert!(renewed.elapsed() >= 2 * SECOND);
        assert!(found(&served.root, "stays").is_some());
        assert_eq!(served.service.size().bindings, 1);
    }
}

#[test]
fn a_temporary_binding_that_becomes_another_one_is_left_to_that() {
    let served = Served::in_memory();
    let (context, pump, other) = (
        extended(&served),
        object(&served.orb, 1),
        object(&served.orb, 2),
    );
    for text in ["rebound", "bound", "longer", "marker"] {
        context
            .bind_for(&name(text), Some(&pump), 2_000, false)
            .unwrap();
    }
    context.rebind(&name("rebound"), Some(&other)).unwrap();
    context.unbind(&name("bound")).unwrap();
    context.bind(&name("bound"), Some(&other)).unwrap();
    context
        .bind_for(&name("longer"), Some(&other), 60_000, true)
        .unwrap();
    life(&served.root, "marker");
    for text in ["rebound", "bound", "longer"] {
        assert!(same(&found(&served.root, text).unwrap(), &other), "{text}");
    }
}

#[test]
fn after_a_restart_each_has_its_whole_time_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.redb");
    {
        let served = file(&path);
        let pump = object(&served.orb, 1);
        served.root.bind_new_context(&name("plants")).unwrap();
        let bound = extended(&served).bind_for(&name("plants/pump"), Some(&pump), 1_500, false);
        bound.unwrap();
        std::thread::sleep(Duration::from_millis(700));
    }
    let begun = Instant::now();
    let served = file(&path);
    let about = extended(&served).about(&name("plants/pump")).unwrap();
    assert_eq!((about.leads, about.ttl_ms), (BindingKind::ToObject, 1_500));
    life(&served.root, "plants/pump");
    assert!(begun.elapsed() >= Duration::from_millis(1_500));
    drop(served);
    let served = file(&path);
    assert_eq!(served.service.size().bindings, 1);
}

#[test]
fn many_that_end_at_once_are_removed_by_few_commits() {
    let served = Served::in_memory();
    let (context, pump) = (extended(&served), object(&served.orb, 1));
    for at in 0..500 {
        let text = format!("pump{at}");
        context
            .bind_for(&name(&text), Some(&pump), 1_000, false)
            .unwrap();
    }
    while served.service.size().bindings > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_context_is_of_both_interfaces_and_says_the_one_that_others_know() {
    let served = Served::in_memory();
    let root = served.root.as_object();
    for id in [
        ExtendedContext::REPOSITORY_ID,
        NamingContextExt::REPOSITORY_ID,
        NamingContext::REPOSITORY_ID,
    ] {
        assert!(root.is_a(id).unwrap(), "{id}");
    }
    assert_eq!(root.ior().type_id, NamingContextExt::REPOSITORY_ID);
    let made = served.root.bind_new_context(&name("plants")).unwrap();
    let made = ExtendedContext::narrow(made.unwrap().as_object().clone()).unwrap();
    made.bind_for(&name("pump"), Some(&object(&served.orb, 1)), 60_000, false)
        .unwrap();
    let about = extended(&served).about(&name("plants")).unwrap();
    assert_eq!((about.leads, about.ttl_ms), (BindingKind::ToContext, 0));
}

#[test]
fn times_that_are_too_short_or_too_long_and_names_that_are_bound_are_refused() {
    let served = Served::in_memory();
    let (context, pump) = (extended(&served), object(&served.orb, 1));
    for ttl in [0, 999, 86_400_001, u32::MAX] {
        for replace in [false, true] {
            let refused = context.bind_for(&name("pump"), Some(&pump), ttl, replace);
            let Err(ExtendedContextBindForError::System(exception)) = refused else {
                panic!("{ttl}: {refused:?}");
            };
            assert_eq!(exception.kind(), SystemExceptionKind::BadParam);
        }
    }
    assert_eq!(served.service.size().bindings, 0);
    context.bind(&name("pump"), Some(&pump)).unwrap();
    let bind = |text: &str, replace| context.bind_for(&name(text), Some(&pump), 60_000, replace);
    assert!(matches!(
        bind("pump", false),
        Err(ExtendedContextBindForError::AlreadyBound(_))
    ));
    assert!(matches!(
        bind("plants/pump", false),
        Err(ExtendedContextBindForError::NotFound(_))
    ));
    assert!(matches!(
        context.bind_for(&[], Some(&pump), 60_000, false),
        Err(ExtendedContextBindForError::InvalidName(_))
    ));
    context.bind_new_context(&name("plants")).unwrap();
    let Err(ExtendedContextBindForError::NotFound(it)) = bind("plants", true) else {
        panic!("an object is bound in place of a context");
    };
    assert_eq!(it.why, NotFoundReason::NotObject);
    bind("pump", true).unwrap();
    // Names cannot lead through it, as through any object.
    let Err(NamingContextResolveError::NotFound(it)) = context.resolve(&name("pump/in")) else {
        panic!("a name leads through an object");
    };
    assert_eq!(it.why, NotFoundReason::NotContext);
    served.service.set_limits(Limits {
        bindings: 2,
        ..Limits::default()
    });
    let Err(ExtendedContextBindForError::System(exception)) = bind("another", false) else {
        panic!("there are more bindings than there may be");
    };
    assert_eq!(exception.kind(), SystemExceptionKind::NoResources);
}

#[test]
fn a_name_through_another_server_is_bound_there_for_a_time() {
    let (here, there) = (Served::in_memory(), Served::in_memory());
    let other = here
        .orb
        .string_to_object(&there.orb.object_to_string(&there.root).unwrap());
    let other = NamingContext::from_object(other.unwrap());
    here.root
        .bind_context(&name("other"), Some(&other))
        .unwrap();
    let pump = object(&here.orb, 1);
    let context = extended(&here);
    context
        .bind_for(&name("other/pump"), Some(&pump), 2_000, false)
        .unwrap();
    let about = context.about(&name("other/pump")).unwrap();
    assert_eq!(about.ttl_ms, 2_000);
    assert!(found(&there.root, "pump").is_some());
    life(&here.root, "other/pump");
    assert_eq!(there.service.size().bindings, 0);
}

#[test]
fn a_name_that_is_kept_for_a_time_is_renewed_and_gone_when_it_is_dropped() {
    let served = Served::in_memory();
    let pump = object(&served.orb, 1);
    let names = || Names::below(&served.root);
    let kept = names()
        .keep_bound_for("plants/pump", &pump, 2 * SECOND)
        .unwrap();
    let begun = Instant::now();
    while found(&served.root, "plants/pump").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    while begun.elapsed() < 5 * SECOND {
        assert!(found(&served.root, "plants/pump").is_some());
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(kept);
    assert!(found(&served.root, "plants/pump").is_none());
    let refused = names().keep_bound_for("pump", &pump, Duration::from_millis(10));
    assert_eq!(refused.unwrap_err().kind(), SystemExceptionKind::BadParam);
}

#[test]
fn a_name_that_somebody_else_has_bound_meanwhile_is_neither_renewed_nor_removed() {
    let served = Served::in_memory();
    let (pump, other) = (object(&served.orb, 1), object(&served.orb, 2));
    let names = Names::below(&served.root);
    let kept = names.keep_bound_for("pump", &pump, 2 * SECOND).unwrap();
    while found(&served.root, "pump").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    served.root.rebind(&name("pump"), Some(&other)).unwrap();
    let marked = extended(&served).bind_for(&name("marker"), Some(&pump), 2_000, false);
    marked.unwrap();
    life(&served.root, "marker");
    drop(kept);
    assert!(same(&found(&served.root, "pump").unwrap(), &other));
}

#[test]
fn a_context_of_another_interface_is_told_from_ours() {
    let served = Served::with(
        &NamingService::in_memory().unwrap(),
        ServeOptions::default(),
    );
    // It answers, but is not a context of Punctual's naming service.
    let (_, iterator) = {
        for at in 0..2 {
            let pump = object(&served.orb, at);
            served
                .root
                .bind(&name(&format!("pump{at}")), Some(&pump))
                .unwrap();
        }
        served.root.list(1).unwrap()
    };
    let stranger = NamingContext::from_object(iterator.unwrap().into());
    let refused =
        Names::below(&stranger).keep_bound_for("pump", &object(&served.orb, 1), 2 * SECOND);
    assert_eq!(refused.unwrap_err().kind(), SystemExceptionKind::BadParam);
}
