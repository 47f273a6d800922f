//! Which objects are called without a request, and the settings that determine it.

use crate::collocation::servant::{Home, Register, RegisterImpl, WITHOUT_REQUEST, this_thread};
use crate::support::{EchoImpl, watchdog};
use punctual::policy::{Collocation, CollocationScope};
use punctual::{Interface, Orb, Policy, SetOverride, SystemExceptionKind as Kind};
use std::sync::Arc;
use std::time::Duration;

fn is_here(register: &Register) -> bool {
    register.thread().unwrap() == this_thread()
}

fn client(scope: CollocationScope) -> Orb {
    let builder = Orb::builder().configure(|config| config.collocation_scope = scope);
    builder.build().unwrap()
}

#[test]
fn a_reference_that_came_as_text_is_known_by_its_address_and_key() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::ThruPoa);
    assert!(is_here(&home.seen_by(&home.orb)));
}

#[test]
fn a_reference_that_came_as_an_argument_is_known_too() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let same = home.register.same(Some(&home.register)).unwrap().unwrap();
    let ways = [Policy::Collocation(Collocation::ThruPoa)];
    let same = same
        .as_object()
        .set_policy_overrides(&ways, SetOverride::Set);
    assert!(is_here(&Register::from_object(same.unwrap())));
}

#[test]
fn objects_of_another_orb_of_the_process_are_here_in_the_scope_of_the_process() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::ThruPoa);
    assert!(is_here(&home.seen_by(&client(CollocationScope::Process))));
    assert!(!is_here(&home.seen_by(&client(CollocationScope::Orb))));
}

#[test]
fn an_orb_keeps_its_objects_from_others_by_its_own_scope() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::with(|config| config.collocation_scope = CollocationScope::Orb);
    assert!(is_here(&home.register));
    assert!(!is_here(&home.seen_by(&client(CollocationScope::Process))));
}

#[test]
fn references_threads_and_orbs_have_policies_and_the_innermost_holds() {
    let _watchdog = watchdog(Duration::from_secs(60));
    let home = Home::new(Collocation::None);
    let set = |way| [Policy::Collocation(way)];
    assert!(!is_here(&home.register));

    let manager = home.orb.policy_manager();
    let ways = set(Collocation::ThruPoa);
    manager
        .set_policy_overrides(&ways, SetOverride::Set)
        .unwrap();
    assert!(is_here(&home.register));

    let current = home.orb.policy_current();
    let ways = set(Collocation::None);
    current
        .set_policy_overrides(&ways, SetOverride::Set)
        .unwrap();
    assert!(!is_here(&home.register));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| is_here(&home.register));
        assert!(other.join().unwrap(), "the policy is the other thread's");
    });

    let object = home.register.as_object();
    let ways = set(Collocation::Direct);
    let direct = object
        .set_policy_overrides(&ways, SetOverride::Set)
        .unwrap();
    assert_eq!(direct.policies(&[0x5055_0005]), ways);
    assert!(is_here(&Register::from_object(direct)));
}

#[test]
fn a_servant_of_another_interface_is_asked_by_request_what_it_has_to_say() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WITHOUT_REQUEST {
        let home = Home::new(way);
        let echo: crate::support::Echo = home.poa.activate(Arc::new(EchoImpl::default())).unwrap();
        let wrong = Register::from_object(echo.as_object().clone());
        for _ in 0..2 {
            let exception = wrong.thread().unwrap_err();
            assert_eq!(exception.kind(), Kind::BadOperation, "{way:?}");
        }
        // The interface has an operation of that name.
        assert_eq!(echo.long(3).unwrap(), 3);
    }
}

#[test]
fn a_forwarded_reference_goes_where_requests_go() {
    let _watchdog = watchdog(Duration::from_secs(60));
    for way in WITHOUT_REQUEST {
        let home = Home::new(way);
        let other = Arc::new(RegisterImpl::default());
        let to: Register = home.poa.activate(other.clone()).unwrap();
        assert_eq!(home.register.add(1).unwrap(), 1);
        home.poa.forward(&home.register, &to).unwrap();
        assert_eq!(home.register.add(10).unwrap(), 10, "{way:?}");
        assert_eq!(home.register.add(10).unwrap(), 20);
        let counts = [&home.servant, &other].map(|servant| *servant.count.lock().unwrap());
        assert_eq!(counts, [1, 20], "{way:?}");
    }
}

#[test]
fn the_way_is_an_option_and_what_is_none_is_named() {
    let options = ["-ORBCollocation", "direct", "-ORBCollocationScope", "orb"];
    let (orb, _) = Orb::init(options.map(str::to_owned)).unwrap();
    assert_eq!(orb.config().collocation, Collocation::Direct);
    assert_eq!(orb.config().collocation_scope, CollocationScope::Orb);
    let options = ["-ORBCollocation", "sometimes"].map(str::to_owned);
    let error = Orb::init(options).unwrap_err().to_string();
    for part in ["sometimes", "-ORBCollocation", "thru_poa, direct or none"] {
        assert!(error.contains(part), "{error}");
    }
}
