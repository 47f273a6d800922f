//! Behaviour that must not differ between calls over the wire and calls within the process: each
//! test runs with every collocation strategy.

use crate::collocation::servant::{
    Counter, CounterAddError, Home, Octets, Register, RegisterSeveralError, RegisterSwapError,
    WAYS, WITHOUT_REQUEST, this_thread,
};
use crate::support::watchdog;
use punctual::policy::{Collocation, SyncScope};
use punctual::{
    CompletionStatus, Context, Interface, Policy, SetOverride, SystemException,
    SystemExceptionKind as Kind, minor,
};
use std::time::Duration;

#[test]
fn a_call_without_a_request_runs_on_the_callers_thread() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let is_here = home.register.thread().unwrap() == this_thread();
        assert_eq!(is_here, way != Collocation::None, "{way:?}");
    }
}

#[test]
fn results_attributes_and_what_is_inherited_come_as_they_are() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let register = Home::new(way);
        let register = &register.register;
        assert_eq!(register.add(2).unwrap(), 2, "{way:?}");
        assert_eq!(Counter::from(register.clone()).add(3).unwrap(), 5);
        assert_eq!(register.count().unwrap(), 5);
        register.set_label("äöü").unwrap();
        let mut label = "longer than what it becomes".to_owned();
        register.label_into(&mut label).unwrap();
        assert_eq!(label, "äöü");
        assert_eq!(
            register.same(Some(register)).unwrap().as_ref(),
            Some(register)
        );
        assert_eq!(register.same(None).unwrap(), None);
    }
}

#[test]
fn exceptions_are_what_they_are_over_the_wire() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        match home.register.add(-3).unwrap_err() {
            CounterAddError::Refused(refused) => assert_eq!(refused.code, -3, "{way:?}"),
            CounterAddError::System(exception) => panic!("{way:?}: {exception}"),
        }
        let exception = home.register.fail(false).unwrap_err();
        let what = (exception.kind(), exception.minor(), exception.completed());
        assert_eq!(
            what,
            (Kind::NoPermission, 42, CompletionStatus::Yes),
            "{way:?}"
        );
    }
}

#[test]
fn inout_parameters_change_with_a_result_and_stay_with_an_exception() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let (mut data, mut how): (Octets, i32) = (vec![1, 2], 0);
        let (before, first) = home.register.several(&mut data, &mut how).unwrap();
        assert_eq!((before, &*first), (vec![1, 2], "first"), "{way:?}");
        assert_eq!((&data[..], how), (&[1, 2, 7][..], 99));

        let (mut data, mut how): (Octets, i32) = (vec![1], 5);
        let refused = home.register.several(&mut data, &mut how).unwrap_err();
        assert!(matches!(refused, RegisterSeveralError::Refused(refused) if refused.code == 5));
        assert_eq!((&data[..], how), (&[1][..], 5), "{way:?}");
    }
}

#[test]
fn the_twins_fill_the_callers_buffers() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let (mut data, mut how): (Octets, i32) = (vec![1], 0);
        let (mut before, mut first) = (vec![9; 40], "before".to_owned());
        let register = &home.register;
        register
            .several_into(&mut data, &mut how, &mut before, &mut first)
            .unwrap();
        assert_eq!((&*before, &*first), (&[1][..], "first"), "{way:?}");
        assert_eq!((&data[..], how), (&[1, 7][..], 99), "{way:?}");
        let (mut text, mut said) = ("text".to_owned(), String::new());
        register.swap_into(&mut text, &mut said).unwrap();
        assert_eq!((&*text, &*said), ("", "4 octets"), "{way:?}");
    }
}

#[test]
fn a_context_is_what_its_clause_asks_for() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let mut context = Context::new();
    for (name, value) in [("user.name", "ada"), ("exact", "1"), ("exactly", "2")] {
        context.set(name, value);
    }
    for way in WAYS {
        let asked = Home::new(way).register.asked(&context).unwrap();
        assert_eq!(asked, "exact=1,user.name=ada", "{way:?}");
    }
}

#[test]
fn a_servant_that_panics_is_unknown_to_its_caller_and_serves_on() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let exception = home.register.fail(true).unwrap_err();
        let what = (exception.kind(), exception.minor(), exception.completed());
        let expected = (
            Kind::Unknown,
            minor::SERVANT_PANICKED,
            CompletionStatus::Maybe,
        );
        assert_eq!(what, expected, "{way:?}");
        assert_eq!(home.register.add(1).unwrap(), 1);
    }
}

#[test]
fn inout_parameters_stay_when_the_servant_panics() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let mut text = "panic".to_owned();
        let error = Home::new(way).register.swap(&mut text).unwrap_err();
        assert!(matches!(error, RegisterSwapError::System(_)), "{way:?}");
        assert_eq!(text, "panic");
    }
}

#[test]
fn a_one_way_says_nothing_of_what_becomes_of_it() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        home.register.bump(4).unwrap();
        // The servant raises, and panics.
        home.register.bump(-1).unwrap();
        home.register.bump(-2).unwrap();
        // Requests of one connection are served in their order.
        assert_eq!(home.register.count().unwrap(), 4, "{way:?}");
        home.poa.deactivate(&home.register).unwrap();
        home.register.bump(1).unwrap();
    }
}

#[test]
fn of_a_one_way_is_heard_what_its_sync_scope_has_the_caller_wait_for() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let under = |scope| {
            let object = home.register.as_object();
            let with = object.set_policy_overrides(&[Policy::SyncScope(scope)], SetOverride::Add);
            Register::from_object(with.unwrap())
        };
        let (server, target) = (under(SyncScope::WithServer), under(SyncScope::WithTarget));
        let kind = |sent: Result<(), SystemException>| sent.unwrap_err().kind();
        server.bump(4).unwrap();
        target.bump(4).unwrap();
        assert_eq!(home.register.count().unwrap(), 8, "{way:?}");
        // The servant raises, and panics.
        for (by, raised) in [(-1, Kind::NoPermission), (-2, Kind::Unknown)] {
            server.bump(by).unwrap();
            assert_eq!(kind(target.bump(by)), raised, "{way:?}");
        }
        home.poa.deactivate(&home.register).unwrap();
        assert_eq!(kind(server.bump(1)), Kind::ObjectNotExist, "{way:?}");
        assert_eq!(kind(target.bump(1)), Kind::ObjectNotExist, "{way:?}");
    }
}

#[test]
fn a_one_way_without_a_request_has_run_when_it_returns() {
    for way in WITHOUT_REQUEST {
        let home = Home::new(way);
        home.register.bump(4).unwrap();
        assert_eq!(*home.servant.count.lock().unwrap(), 4, "{way:?}");
    }
}

#[test]
fn current_knows_the_object_but_for_direct_calls() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let id = home.poa.reference_to_id(&home.register).unwrap();
        let expected = match way {
            Collocation::Direct => "no upcall".to_owned(),
            _ => format!("{:?}", id.as_bytes()),
        };
        assert_eq!(home.register.whose().unwrap(), expected, "{way:?}");
    }
}

#[test]
fn upcalls_nest_and_current_is_each_ones_own() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WITHOUT_REQUEST {
        let (home, other) = (Home::new(way), Home::new(way));
        let others = other.seen_by(&home.orb);
        let thread = home.register.through(Some(&others)).unwrap();
        assert_eq!(thread, this_thread(), "{way:?}");
    }
}
