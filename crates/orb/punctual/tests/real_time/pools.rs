//! Thread pools: the threads that serve a POA's objects, their number, and requests when all are in
//! upcalls.

use crate::lanes::{named, propagated};
use crate::setting::{LIMIT, Server, at, client, echo, fifo, on_a_thread, ordinary};
use crate::support::{Echo, EchoImpl, watchdog};
use punctual::poa::PoaPolicy;
use punctual::rt::{
    PoolThreads, PriorityModelPolicy, Propagated, RequestBuffering, ThreadpoolOptions,
    ThreadpoolPolicy,
};
use punctual::stub::Arc;
use punctual::{Interface, SystemExceptionKind as Kind};
use std::time::Duration;

fn threads(priority: i16, static_threads: usize) -> PoolThreads {
    PoolThreads {
        priority: at(priority),
        static_threads,
        dynamic_threads: 0,
        reservation: None,
    }
}

/// Returns options of a pool that refuses no request, even if a busy machine delays its threads.
fn patient() -> ThreadpoolOptions {
    ThreadpoolOptions {
        buffering: RequestBuffering::Unbounded,
        ..ThreadpoolOptions::default()
    }
}

#[test]
fn a_pools_lanes_have_endpoints_and_threads_of_their_own() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    let of_server = fifo(Propagated::default()).unwrap();
    let server = Server::at(&of_server, &["iiop://127.0.0.1:0", "uiop://"]);
    let lanes = [threads(10, 2), threads(50, 1)];
    let options = ThreadpoolOptions {
        stack_size: Some(256 * 1024),
        ..patient()
    };
    let pool = of_server.create_threadpool_with_lanes(&server.orb, &lanes, &options);
    let of_pool = PoaPolicy::of(ThreadpoolPolicy(pool.unwrap()));
    let policies = [PoaPolicy::of(propagated()), of_pool];
    let poa = server.poa("pool", &policies).unwrap();
    let object: Echo = poa.activate(server.noting.clone()).unwrap();
    let reference = server.orb.object_to_string(object.as_object()).unwrap();
    let client = client(&rt);
    let lanes = ["iiop 10", "iiop 50", "uiop 10", "uiop 50"];
    let mut endpoints = named(&client, &reference);
    endpoints.sort();
    assert_eq!(endpoints, lanes);
    assert_eq!(named(&client, &server.plain()), ["iiop", "uiop"]);
    for priority in [10, 50, 10] {
        on_a_thread(|| {
            rt.current().set_the_priority(at(priority)).unwrap();
            let echo = echo(&client, &reference);
            for value in 0..10 {
                assert_eq!(echo.long(value).unwrap(), value);
                let native = (1, u32::from(priority.cast_unsigned()));
                let seen = server.noting.last();
                assert_eq!((seen.corba, seen.scheduled), (Some(priority), native));
            }
        });
    }
    assert_eq!(of_server.native_changes(), 0);
}

#[test]
fn a_pool_without_lanes_serves_requests_of_all_priorities() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    let of_server = fifo(Propagated::default()).unwrap();
    let server = Server::at(&of_server, &["iiop://127.0.0.1:0"]);
    let options = patient();
    let pool = of_server.create_threadpool(&server.orb, threads(30, 2), &options);
    let of_pool = PoaPolicy::of(ThreadpoolPolicy(pool.unwrap()));
    let reference = |name: &str, policies: &[PoaPolicy]| {
        let poa = server.poa(name, policies).unwrap();
        let object: Echo = poa.activate(server.noting.clone()).unwrap();
        server.orb.object_to_string(object.as_object()).unwrap()
    };
    let model = PriorityModelPolicy::server_declared(at(70));
    let declared = reference("declared", &[PoaPolicy::of(model), of_pool.clone()]);
    let propagated = reference(
        "propagated",
        &[PoaPolicy::of(propagated()), of_pool.clone()],
    );
    let plain = reference("plain", &[of_pool]);
    let client = client(&rt);
    on_a_thread(|| {
        rt.current().set_the_priority(at(20)).unwrap();
        for (reference, native) in [(&declared, 70), (&propagated, 20), (&plain, 30)] {
            echo(&client, reference).long(1).unwrap();
            assert_eq!(server.noting.last().scheduled, (1, native));
        }
    });
}

#[test]
fn what_comes_while_all_threads_are_in_upcalls_is_refused_or_waits() {
    let _watchdog = watchdog(LIMIT);
    for (buffering, waits) in [
        (RequestBuffering::None, false),
        (RequestBuffering::Unbounded, true),
    ] {
        let rt = ordinary(Propagated::default());
        let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
        let options = ThreadpoolOptions {
            buffering,
            ..ThreadpoolOptions::default()
        };
        let pool = rt.create_threadpool(&server.orb, threads(0, 2), &options);
        let of_pool = PoaPolicy::of(ThreadpoolPolicy(pool.unwrap()));
        let poa = server.poa("pool", &[of_pool]).unwrap();
        let servant = Arc::new(EchoImpl::default());
        let object: Echo = poa.activate(servant.clone()).unwrap();
        let reference = server.orb.object_to_string(object.as_object()).unwrap();
        std::thread::scope(|scope| {
            let held: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| echo(&client(&rt), &reference).wait()))
                .collect();
            servant.gate.wait_for_waiters(2);
            let third = scope.spawn(|| echo(&client(&rt), &reference).long(3));
            let result = match waits {
                false => {
                    let refused = third.join().unwrap().unwrap_err();
                    servant.gate.open();
                    Err(refused.kind())
                }
                true => {
                    // Long enough for a refusal to have come.
                    std::thread::sleep(Duration::from_millis(200));
                    assert!(!third.is_finished());
                    servant.gate.open();
                    Ok(third.join().unwrap().unwrap())
                }
            };
            assert_eq!(result, if waits { Ok(3) } else { Err(Kind::Transient) });
            held.into_iter()
                .for_each(|thread| thread.join().unwrap().unwrap());
        });
    }
}

#[test]
fn a_pool_that_ends_serves_no_more_and_the_orb_goes_on() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    let options = patient();
    for _ in 0..3 {
        let pool = rt.create_threadpool(&server.orb, threads(0, 1), &options);
        let pool = pool.unwrap();
        let of_pool = PoaPolicy::of(ThreadpoolPolicy(pool));
        let poa = server.poa("pool", &[of_pool]).unwrap();
        let object: Echo = poa.activate(server.noting.clone()).unwrap();
        let reference = server.orb.object_to_string(object.as_object()).unwrap();
        let echo = echo(&client(&rt), &reference);
        assert_eq!(echo.long(1).unwrap(), 1);
        assert_eq!(server.orb.endpoints().len(), 2);
        rt.destroy_threadpool(&server.orb, pool).unwrap();
        echo.long(1).unwrap_err();
        // No reference without a destination is made.
        let error = poa.activate::<Echo, _>(server.noting.clone()).unwrap_err();
        assert!(error.to_string().contains("are closed"), "{error}");
        poa.destroy(true, true).unwrap();
        assert_eq!(server.orb.endpoints().len(), 1);
    }
    let plain = server.plain();
    assert_eq!(echo(&client(&rt), &plain).long(2).unwrap(), 2);
    server.orb.shutdown(true).unwrap();
}

#[test]
fn references_name_new_endpoints_however_many_pools_have_come_and_gone() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    let client = client(&rt);
    let pool = || {
        let options = ThreadpoolOptions::default();
        rt.create_threadpool(&server.orb, threads(0, 1), &options)
            .unwrap()
    };
    let first = pool();
    rt.destroy_threadpool(&server.orb, first).unwrap();
    assert_eq!(named(&client, &server.plain()), ["iiop"]);
    // The first one is forgotten here.
    let second = pool();
    for endpoints in 2..6 {
        let socket = "uiop://".parse().unwrap();
        server.orb.add_endpoint(socket).unwrap();
        assert_eq!(named(&client, &server.plain()).len(), endpoints);
    }
    rt.destroy_threadpool(&server.orb, second).unwrap();
}

#[test]
fn a_pool_that_cannot_be_is_refused_where_it_is_made() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    let (orb, options) = (&server.orb, ThreadpoolOptions::default());
    let refused = |lanes: &[PoolThreads], options: &ThreadpoolOptions, kind, why: &str| {
        let error = rt
            .create_threadpool_with_lanes(orb, lanes, options)
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(why), "{error}");
    };
    refused(&[], &options, Kind::BadParam, "without lanes");
    let lanes = [threads(1, 1), threads(2, 0)];
    refused(
        &lanes,
        &options,
        Kind::BadParam,
        "lane 1 has no static thread",
    );
    let lanes = [threads(3, 1), threads(4, 1), threads(3, 2)];
    refused(&lanes, &options, Kind::BadParam, "priority 3");
    let shared_memory = ThreadpoolOptions {
        endpoints: vec!["shmiop://".parse().unwrap()],
        ..ThreadpoolOptions::default()
    };
    let lanes = [threads(3, 1)];
    refused(&lanes, &shared_memory, Kind::Initialize, "a thread each");
    // Nothing of those is left.
    assert_eq!(orb.endpoints().len(), 1);
    let pool = rt.create_threadpool(orb, threads(0, 1), &options).unwrap();
    rt.destroy_threadpool(orb, pool).unwrap();
    let of_pool = PoaPolicy::of(ThreadpoolPolicy(pool));
    let error = server.poa("gone", &[PoaPolicy::of(propagated()), of_pool]);
    let error = error.err().unwrap().to_string();
    assert!(
        error.contains("policy number 1") && error.contains("no thread pool"),
        "{error}"
    );
}
