//! State on which it depends whether a call reaches the servant: activation of the object, state of
//! the POA's manager, shutdown of the ORB.

use crate::collocation::servant::{
    CounterServant, Home, Register, RegisterImpl, WAYS, WITHOUT_REQUEST, this_thread,
};
use crate::support::watchdog;
use punctual::poa::{IdAssignmentPolicy, ManagerState, PoaPolicy};
use punctual::policy::Collocation;
use punctual::{Interface, ObjectId, Orb, SystemExceptionKind as Kind};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_deactivated_object_does_not_exist_and_its_servant_is_let_go() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let servant = Arc::new(RegisterImpl::default());
        let held = Arc::downgrade(&servant);
        let register: Register = home.poa.activate(servant).unwrap();
        register.set_label("there").unwrap();
        home.poa.deactivate(&register).unwrap();
        let exception = register.label().unwrap_err();
        assert_eq!(exception.kind(), Kind::ObjectNotExist, "{way:?}");
        if way != Collocation::None {
            assert!(
                held.upgrade().is_none(),
                "{way:?}: a reference is no hold on a servant"
            );
        }
    }
}

#[test]
fn a_new_incarnation_is_called_by_the_old_reference() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let policies = [PoaPolicy::IdAssignment(IdAssignmentPolicy::User)];
        let manager = Some(home.poa.manager());
        let poa = home.poa.create_poa("named", manager, &policies).unwrap();
        let (id, first) = (ObjectId::from("one"), Arc::new(RegisterImpl::default()));
        let register: Register = poa.activate_with_id(&id, first.clone()).unwrap();
        assert_eq!(register.add(1).unwrap(), 1, "{way:?}");
        poa.deactivate(&register).unwrap();
        assert_eq!(register.count().unwrap_err().kind(), Kind::ObjectNotExist);

        // As another type, of which nothing is known yet.
        let second: Box<dyn crate::collocation::servant::RegisterServant> =
            Box::new(RegisterImpl::default());
        let _: Register = poa.activate_with_id(&id, second).unwrap();
        assert_eq!(register.add(5).unwrap(), 5, "{way:?}");
        assert_eq!(first.count().unwrap(), 1);
        assert_eq!(
            register.thread().unwrap() == this_thread(),
            way != Collocation::None
        );
    }
}

#[test]
fn an_object_may_end_in_its_own_upcall() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let ends = (home.poa.clone(), home.register.clone());
        *home.servant.ends.lock().unwrap() = Some(ends);
        home.register.end_object().unwrap();
        let exception = home.register.count().unwrap_err();
        assert_eq!(exception.kind(), Kind::ObjectNotExist, "{way:?}");
    }
}

#[test]
fn a_manager_that_discards_turns_calls_away_but_for_direct_ones() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        assert_eq!(home.register.add(1).unwrap(), 1);
        home.poa.manager().discard_requests(false).unwrap();
        match home.register.add(1) {
            Ok(count) => assert_eq!((way, count), (Collocation::Direct, 2)),
            Err(crate::collocation::servant::CounterAddError::System(exception)) => {
                assert_eq!(exception.kind(), Kind::Transient, "{way:?}");
                assert_ne!(way, Collocation::Direct);
            }
            Err(other) => panic!("{way:?}: {other}"),
        }
    }
}

#[test]
fn a_manager_that_holds_lets_calls_wait() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::ThruPoa);
    home.poa.manager().hold_requests(false).unwrap();
    std::thread::scope(|scope| {
        let held = scope.spawn(|| (home.register.thread().unwrap(), this_thread()));
        assert_eq!(home.poa.manager().state(), ManagerState::Holding);
        assert!(!held.is_finished());
        home.poa.manager().activate().unwrap();
        let (served_by, caller) = held.join().unwrap();
        assert_eq!(served_by, caller);
    });
}

#[test]
fn a_call_that_waits_for_a_time_is_not_held_for_longer() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let timeout = Duration::from_millis(200);
    // Direct calls are never held.
    for way in [Collocation::ThruPoa, Collocation::None] {
        for by_reference in [true, false] {
            let home = Home::with(|config| {
                config.collocation = way;
                config.timeouts.call = (!by_reference).then_some(timeout);
            });
            // Its manager was never activated.
            let poa = home.poa.create_poa("held", None, &[]).unwrap();
            let mut held: Register = poa.activate(Arc::new(RegisterImpl::default())).unwrap();
            if by_reference {
                held = Register::from_object(held.as_object().with_timeout(timeout));
            }
            let late = held.label().unwrap_err();
            assert_eq!(late.kind(), Kind::Timeout, "{way:?}: {late}");
            poa.manager().activate().unwrap();
            assert_eq!(held.label().unwrap(), "", "{way:?}");
        }
    }
}

#[test]
fn a_one_way_to_what_is_held_does_not_hold_its_caller() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::ThruPoa);
    home.poa.manager().hold_requests(false).unwrap();
    home.register.bump(3).unwrap();
    assert_eq!(home.servant.count().unwrap(), 0);
    home.poa.manager().activate().unwrap();
    while home.servant.count().unwrap() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(home.servant.count().unwrap(), 3);
}

#[test]
fn an_orb_that_has_ended_is_called_no_more() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let (home, client) = (Home::new(way), Orb::builder().build().unwrap());
        let register = home.seen_by(&client);
        let own = home.register.clone();
        assert_eq!(register.add(1).unwrap(), 1);
        assert_eq!(own.add(1).unwrap(), 2);
        home.orb.shutdown(true).unwrap();
        // There is no listener any more.
        let exception = register.count().unwrap_err();
        let kinds = [Kind::Transient, Kind::CommFailure];
        assert!(kinds.contains(&exception.kind()), "{way:?}: {exception}");
        assert_eq!(
            own.count().unwrap_err().kind(),
            Kind::BadInvOrder,
            "{way:?}"
        );
        assert_eq!(home.servant.count().unwrap(), 2);
    }
}

#[test]
fn a_caller_whose_orb_has_ended_calls_no_more() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let (home, client) = (Home::new(way), Orb::builder().build().unwrap());
        let register = home.seen_by(&client);
        assert_eq!(register.add(1).unwrap(), 1);
        client.shutdown(true).unwrap();
        let exception = register.count().unwrap_err();
        assert_eq!(exception.kind(), Kind::BadInvOrder, "{way:?}: {exception}");
    }
}

#[test]
fn a_reference_does_not_keep_the_orb_of_its_object() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WITHOUT_REQUEST {
        let client = Orb::builder().build().unwrap();
        let home = Home::new(way);
        let register = home.seen_by(&client);
        assert_eq!(register.add(1).unwrap(), 1);
        let (orb, servant) = (home.orb.downgrade(), Arc::downgrade(&home.servant));
        home.orb.shutdown(true).unwrap();
        drop(home);
        // The ORB's threads drop it as they end.
        while servant.upgrade().is_some() || orb.upgrade().is_some() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(register.count().is_err());
    }
}

#[test]
fn an_upcall_without_a_request_cannot_wait_for_its_own_end() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WAYS {
        let home = Home::new(way);
        let ends = (home.poa.clone(), home.register.clone());
        *home.servant.ends.lock().unwrap() = Some(ends);
        let exception = home.register.end_orb().unwrap_err();
        assert_eq!(exception.kind(), Kind::BadInvOrder, "{way:?}: {exception}");
        assert!(!home.orb.is_shut_down());
    }
}

#[test]
fn callers_and_the_end_of_an_object_may_meet_at_any_time() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for way in WITHOUT_REQUEST {
        let home = Home::new(way);
        for _ in 0..50 {
            let register: Register = home
                .poa
                .activate(Arc::new(RegisterImpl::default()))
                .unwrap();
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    let register = &register;
                    scope.spawn(move || {
                        while let Ok(_count) = register.add(1) {}
                        let exception = register.count().unwrap_err();
                        assert_eq!(exception.kind(), Kind::ObjectNotExist);
                    });
                }
                while register.as_object().non_existent() != Ok(false) {}
                home.poa.deactivate(&register).unwrap();
            });
        }
    }
}
