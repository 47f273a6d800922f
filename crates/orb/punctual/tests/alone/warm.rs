//! Allocations of warm calls: none, whatever references and kinds of calls a thread uses in turn,
//! and whatever policies other threads have.
#![allow(clippy::unwrap_used)]

use crate::support;
use punctual_heap::allocations as allocated;

use punctual::poa::PoaPolicy;
use punctual::policy::{Mux, Transfer};
use punctual::rt::{
    NativePolicy, Priority, PriorityBandedConnectionPolicy, PriorityModelPolicy,
    PrivateConnectionPolicy, RtConfig, RtOrb,
};
use punctual::stub::{DispatchError, Dispatched, Marshal, ServerCall};
use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, Policy, RootPoa, SetOverride};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use support::{Answering, Echo, EchoImpl, watchdog};

const LIMIT: Duration = Duration::from_secs(60);

/// Number of memory allocations made when a thread is started.
const A_THREAD: u64 = 8;

/// Returns the number of allocations of `calls` after a warm-up.
fn allocations(mut calls: impl FnMut()) -> u64 {
    for _ in 0..8 {
        calls();
    }
    let before = allocated();
    for _ in 0..16 {
        calls();
    }
    allocated() - before
}

/// Server with a number of objects, and a client with a reference to each.
struct Setting {
    client: Orb,
    objects: Vec<Echo>,
    _server: Orb,
}

impl Setting {
    fn with_objects(count: usize) -> Self {
        let server = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let client = Orb::builder().build().unwrap();
        let objects = (0..count).map(|_| {
            let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
            let text = server.object_to_string(echo.as_object()).unwrap();
            Echo::from_object(client.string_to_object(&text).unwrap())
        });
        Self {
            objects: objects.collect(),
            client,
            _server: server,
        }
    }

    fn first(&self) -> &Echo {
        &self.objects[0]
    }
}

#[test]
fn sixteen_references_in_turn_allocate_nothing() {
    let _watchdog = watchdog(LIMIT);
    let setting = Setting::with_objects(16);
    let calls = || {
        for echo in &setting.objects {
            assert_eq!(echo.long(7).unwrap(), 7);
        }
    };
    assert_eq!(allocations(calls), 0);
}

#[test]
fn one_ways_and_two_ways_in_turn_allocate_nothing() {
    let _watchdog = watchdog(LIMIT);
    let setting = Setting::with_objects(2);
    let calls = || {
        for echo in &setting.objects {
            echo.ping().unwrap();
            assert_eq!(echo.long(7).unwrap(), 7);
        }
    };
    // On a busy machine, where a one-way waits for its server, a thread is started once to send it
    // in time.
    let rounds = [(); 3].map(|()| allocations(calls));
    let started = rounds.iter().filter(|round| **round > 0).count();
    assert!(
        started <= 1 && rounds.iter().sum::<u64>() <= A_THREAD,
        "{rounds:?}"
    );
}

#[test]
fn threads_with_policies_of_their_own_share_a_reference_and_allocate_nothing() {
    let _watchdog = watchdog(LIMIT);
    let setting = Setting::with_objects(1);
    let echo = setting.first();
    let together = Barrier::new(2);
    let called_under = |turn: usize, policies: &[Policy]| {
        let current = setting.client.policy_current();
        current
            .set_policy_overrides(policies, SetOverride::Set)
            .unwrap();
        let held = ObjectRef::policies(echo.as_object(), &[]);
        assert_eq!(held, policies);
        allocations(|| {
            // Each call follows one of the other thread, and never meets it on the connection.
            for now in 0..2 {
                together.wait();
                if now == turn {
                    assert_eq!(echo.long(7).unwrap(), 7);
                }
            }
        })
    };
    std::thread::scope(|scope| {
        let one = scope.spawn(|| called_under(0, &[Policy::Transfer(Transfer::Copy)]));
        let timeout = Policy::RelativeRoundtripTimeout(Duration::from_secs(50));
        let other = scope.spawn(move || called_under(1, &[timeout]));
        assert_eq!(one.join().unwrap(), 0);
        assert_eq!(other.join().unwrap(), 0);
    });
}

#[test]
fn a_thread_that_changes_its_policies_goes_on_under_those() {
    let _watchdog = watchdog(LIMIT);
    let setting = Setting::with_objects(1);
    let (echo, current) = (setting.first(), setting.client.policy_current());
    for mux in [Mux::Shared, Mux::Exclusive, Mux::Shared] {
        let policy = [Policy::Mux(mux)];
        current
            .set_policy_overrides(&policy, SetOverride::Set)
            .unwrap();
        assert_eq!(echo.long(7).unwrap(), 7);
        assert_eq!(echo.as_object().policies(&[]), policy);
    }
}

/// Servant that returns the number of its thread's allocations up to now.
struct Asked;

const ALLOCATED: i32 = 0;
const FAULTED: i32 = 1;

impl Answering for Asked {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let asked = match call.arguments().get_i32()? {
            ALLOCATED => allocated(),
            _ => page_faults(),
        };
        let asked = i32::try_from(asked).unwrap();
        call.reply(|out| asked.marshal(out))
    }
}

/// Returns the page faults of the calling thread (`proc(5)`, fields 10 and 12).
fn page_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let behind_name = stat.rsplit_once(')').unwrap().1;
    let fields: Vec<&str> = behind_name.split_whitespace().collect();
    fields[7].parse::<u64>().unwrap() + fields[9].parse::<u64>().unwrap()
}

#[test]
fn a_warm_call_through_a_lane_neither_allocates_nor_waits_for_a_page_at_either_side() {
    let _watchdog = watchdog(LIMIT);
    let priority = Priority::new(50).unwrap();
    let config = || RtConfig {
        // The result does not depend on whether the kernel grants priorities.
        policy: NativePolicy::Other,
        ..RtConfig::default()
    };
    let (of_server, of_client) = (RtOrb::new(config()).unwrap(), RtOrb::new(config()).unwrap());
    for link in [
        "iiop://127.0.0.1:0/priority=50",
        "uiop://|priority=50",
        "shmiop://|priority=50",
    ] {
        let listening = Orb::builder().listen(link.parse::<ListenEndpoint>().unwrap());
        let server = of_server.extend(listening).unwrap().build().unwrap();
        let root = server.root_poa().unwrap();
        root.manager().activate().unwrap();
        let model = PoaPolicy::of(PriorityModelPolicy::client_propagated(priority));
        let poa = root.create_poa("lane", Some(root.manager()), &[model]);
        let object: Echo = poa.unwrap().activate(Arc::new(Asked)).unwrap();
        let reference = server.object_to_string(object.as_object()).unwrap();
        // Calls go over the wire, although all is one process.
        let words = ["-ORBCollocationScope", "orb"].map(str::to_owned);
        let client = of_client.extend(Orb::builder()).unwrap().init(words);
        let client = client.unwrap().0;
        std::thread::scope(|scope| {
            let caller = scope.spawn(|| {
                of_client.current().set_the_priority(priority).unwrap();
                let echo = Echo::from_object(client.string_to_object(&reference).unwrap());
                let call = |what| echo.long(what).unwrap();
                // Until each page of a ring has been used.
                let warm_up = || (0..20_000).map(|_| call(ALLOCATED)).max();
                warm_up();
                let own = allocations(|| assert!(call(ALLOCATED) > 0));
                assert_eq!(own, 0, "{link}");
                let before = call(ALLOCATED);
                (0..100).for_each(|_| assert_eq!(call(ALLOCATED), before, "{link}"));
                // Reading them takes a page or two, once.
                for _ in 0..8 {
                    call(FAULTED);
                    page_faults();
                }
                let (own, of_server) = (page_faults(), call(FAULTED));
                (0..1000).for_each(|_| assert!(call(ALLOCATED) > 0));
                // The kernel moves a page now and then, whatever a program does.
                assert!(call(FAULTED) - of_server <= 1, "{link}");
                assert!(page_faults() - own <= 1, "{link}");
            });
            caller.join().unwrap();
        });
    }
}

#[test]
fn banded_and_private_connections_keep_the_short_way_of_a_call() {
    let _watchdog = watchdog(LIMIT);
    let rt = RtOrb::new(RtConfig {
        policy: NativePolicy::Other,
        ..RtConfig::default()
    });
    let rt = rt.unwrap();
    let server = rt.extend(Orb::builder().listen(ListenEndpoint::iiop("127.0.0.1", 0)));
    let server = server.unwrap().build().unwrap();
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
    let text = server.object_to_string(echo.as_object()).unwrap();
    let client = rt.extend(Orb::builder()).unwrap().build().unwrap();
    let bands = PriorityBandedConnectionPolicy::new([Priority::MIN..=Priority::MAX]);
    let under = |policy: Policy| {
        let object = client.string_to_object(&text).unwrap();
        let object = object.set_policy_overrides(&[policy], SetOverride::Add);
        Echo::from_object(object.unwrap())
    };
    let echoes = [Policy::of(bands), Policy::of(PrivateConnectionPolicy)].map(under);
    let calls = || {
        for echo in &echoes {
            assert_eq!(echo.long(7).unwrap(), 7);
        }
    };
    assert_eq!(allocations(calls), 0);
    assert_eq!(server.client_connections(), 2);
}
