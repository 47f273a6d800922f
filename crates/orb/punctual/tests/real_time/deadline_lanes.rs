//! Endpoints and thread pools whose threads have reservations (`SCHED_DEADLINE`).

use crate::lanes::propagated;
use crate::setting::{LIMIT, Seen, Server, at, client, echo, fifo, on_a_thread, scheduled};
use crate::support::{Answering, Echo, EchoImpl, watchdog};
use punctual::poa::PoaPolicy;
use punctual::rt::{
    LaneThreads, Mapping, PoolThreads, PriorityModelPolicy, Processors, Propagated,
    RequestBuffering, Reservation, RtConfig, RtOrb, ThreadpoolOptions, ThreadpoolPolicy,
};
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, ServerCall};
use punctual::{Interface, Orb, RootPoa, SystemException, SystemExceptionKind as Kind};
use punctual_exec::ThreadSpec;
use punctual_exec::thread::Scheduling;
use std::time::Duration;

/// Scheduling policy SCHED_DEADLINE with priority 0, as a pair.
pub(crate) const DEADLINE: (u32, u32) = (6, 0);

/// Small reservation, so that concurrent tests can have theirs, too.
pub(crate) const LITTLE: Reservation = Reservation {
    runtime: Duration::from_micros(500),
    deadline: Duration::from_millis(20),
    period: Duration::from_millis(50),
};

/// Returns whether this process may use SCHED_DEADLINE; prints the reason if not.
pub(crate) fn is_granted() -> bool {
    let tried = ThreadSpec::named("try").scheduling(Scheduling::Deadline(LITTLE));
    let granted = tried.start(|| ());
    if let Err(error) = &granted {
        println!("skipped: {error}");
    }
    granted.is_ok()
}

fn real_time() -> Option<Arc<RtOrb>> {
    let rt = fifo(Propagated::default())?;
    is_granted().then_some(rt)
}

/// Servant that answers `long` with the runtime of its thread's reservation, in microseconds.
struct Runtime(Arc<RtOrb>);

impl Answering for Runtime {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let reserved = self.0.current().reservation();
        let runtime = reserved.map_or(0, |reserved| reserved.runtime.as_micros());
        // A thread that the servant starts is an ordinary one.
        let started = std::thread::spawn(scheduled);
        assert_eq!(started.join().unwrap(), (0, 0));
        let runtime = i32::try_from(runtime).unwrap();
        call.reply(|out| runtime.marshal(out))
    }
}

#[test]
fn an_endpoint_with_a_deadline_is_served_by_threads_that_have_reserved_their_time() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = real_time() else {
        return;
    };
    let of_server = fifo(Propagated::default()).unwrap();
    let server = Server::at(
        &of_server,
        &[
            "iiop://127.0.0.1:0/deadline=500us/20ms/50ms&priority=10",
            "uiop://|deadline=700us/20ms/50ms&priority=10&threads=2",
        ],
    );
    let poa = server.poa("own", &[PoaPolicy::of(propagated())]).unwrap();
    let object: Echo = poa.activate(Arc::new(Runtime(of_server.clone()))).unwrap();
    let reference = server.orb.object_to_string(object.as_object()).unwrap();
    on_a_thread(|| {
        rt.current().set_the_priority(at(10)).unwrap();
        let client = client(&rt);
        for (protocol, runtime) in [("iiop", 500), ("uiop", 700)] {
            let echo = crate::lanes::by(&echo(&client, &reference), protocol);
            for value in 0..5 {
                assert_eq!(echo.long(value).unwrap(), runtime);
            }
        }
    });
}

#[test]
fn no_upcall_takes_a_threads_reservation_from_it_whatever_the_priority_model_says() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = real_time() else {
        return;
    };
    let of_server = fifo(Propagated::default()).unwrap();
    let server = Server::at(&of_server, &["iiop://127.0.0.1:0/deadline=500us/20ms/50ms"]);
    let of_clients = server.object(propagated());
    let declared = PriorityModelPolicy::server_declared(at(12));
    let declared = server.poa("declared", &[PoaPolicy::of(declared)]).unwrap();
    let object: Echo = declared.activate(server.noting.clone()).unwrap();
    let declared = server.orb.object_to_string(object.as_object()).unwrap();
    on_a_thread(|| {
        rt.current().set_the_priority(at(40)).unwrap();
        let client = client(&rt);
        for (reference, priority) in [(&of_clients, 40), (&declared, 12), (&of_clients, 40)] {
            echo(&client, reference).long(1).unwrap();
            let Seen {
                corba, scheduled, ..
            } = server.noting.last();
            // The CORBA priority is the model's, for calls that the servant makes.
            assert_eq!((corba, scheduled), (Some(priority), DEADLINE));
        }
        assert_eq!(scheduled(), (1, 40));
    });
    assert_eq!(of_server.native_changes(), 0);
}

fn lane(priority: i16, static_threads: usize, reservation: Reservation) -> PoolThreads {
    PoolThreads {
        priority: at(priority),
        static_threads,
        dynamic_threads: 0,
        reservation: Some(reservation),
    }
}

#[test]
fn a_pools_threads_reserve_their_time_and_its_reserve_thread_does_not() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = real_time() else {
        return;
    };
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    for buffering in [RequestBuffering::Unbounded, RequestBuffering::None] {
        let options = ThreadpoolOptions {
            buffering,
            ..ThreadpoolOptions::default()
        };
        let lanes = [lane(10, 2, LITTLE), lane(50, 1, LITTLE)];
        let pool = rt.create_threadpool_with_lanes(&server.orb, &lanes, &options);
        let pool = pool.unwrap();
        let policies = [
            PoaPolicy::of(propagated()),
            PoaPolicy::of(ThreadpoolPolicy(pool)),
        ];
        let poa = server.poa("pool", &policies).unwrap();
        let object: Echo = poa.activate(server.noting.clone()).unwrap();
        let reference = server.orb.object_to_string(object.as_object()).unwrap();
        on_a_thread(|| {
            rt.current().set_the_priority(at(50)).unwrap();
            let echo = echo(&client(&rt), &reference);
            while let Err(error) = echo.long(1) {
                // A busy machine holds the threads up, for which the reserve thread refuses
                // requests.
                assert_eq!(error.kind(), Kind::Transient, "{error}");
            }
            assert_eq!(server.noting.last().scheduled, DEADLINE);
        });
        let servant = Arc::new(EchoImpl::default());
        let gated: Echo = poa.activate(servant.clone()).unwrap();
        let gated = server.orb.object_to_string(gated.as_object()).unwrap();
        if buffering == RequestBuffering::None {
            refused_while_held_up(&rt, &gated, &servant);
        }
        poa.destroy(true, true).unwrap();
        rt.destroy_threadpool(&server.orb, pool).unwrap();
    }
}

/// Checks that, while the lane's only thread is in an upcall, the reserve thread refuses requests,
/// and reads them without a reservation.
fn refused_while_held_up(rt: &Arc<RtOrb>, gated: &str, servant: &EchoImpl) {
    std::thread::scope(|scope| {
        let held = scope.spawn(|| {
            rt.current().set_the_priority(at(50)).unwrap();
            let held = echo(&client(rt), gated);
            while held.wait().is_err() {}
        });
        servant.gate.wait_for_waiters(1);
        let refused = scope.spawn(|| {
            rt.current().set_the_priority(at(50)).unwrap();
            echo(&client(rt), gated).long(3)
        });
        let refused = refused.join().unwrap().unwrap_err();
        servant.gate.open();
        held.join().unwrap();
        assert_eq!(refused.kind(), Kind::Transient, "{refused}");
    });
}

fn assert_refused(error: &SystemException, parts: &[&str]) {
    assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_is_no_reservation_is_refused_where_the_pool_is_made() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    let [short, middle, long] = [1, 5, 10].map(Duration::from_millis);
    for (runtime, deadline, period, why) in [
        (long, middle, long, "longer than the deadline"),
        (short, long, middle, "longer than the period"),
        (Duration::from_nanos(1_000), middle, long, "shortest"),
    ] {
        let reserved = Reservation {
            runtime,
            deadline,
            period,
        };
        let lanes = [lane(10, 1, LITTLE), lane(20, 1, reserved)];
        let options = ThreadpoolOptions::default();
        let error = rt.create_threadpool_with_lanes(&server.orb, &lanes, &options);
        assert_refused(&error.unwrap_err(), &["lane 1", why]);
    }
}

/// Reservation that each thread could have alone, but not all threads of the test together.
const NEARLY_ALL: Reservation = Reservation {
    runtime: Duration::from_millis(80),
    deadline: Duration::from_millis(100),
    period: Duration::from_millis(100),
};

#[test]
fn what_the_processors_cannot_keep_is_refused_with_what_they_offer() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = real_time() else {
        return;
    };
    let processors = std::thread::available_parallelism().unwrap().get();
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    let lanes = [lane(10, processors * 2, NEARLY_ALL)];
    let options = ThreadpoolOptions::default();
    let error = rt.create_threadpool(&server.orb, lanes[0], &options);
    let asked = "80ms by 100ms in each 100ms";
    let offered = format!("{processors} processors");
    assert_refused(&error.unwrap_err(), &[asked, &offered, "can be reserved"]);
    // Nothing of it is left.
    assert_eq!(server.orb.endpoints().len(), 1);

    let threads = processors * 2;
    let endpoint = format!("iiop://127.0.0.1:0/deadline=80ms/100ms/100ms&threads={threads}");
    let orb = Orb::builder().listen(endpoint.parse().unwrap());
    let orb = orb.build().unwrap();
    let error = orb.root_poa().unwrap_err();
    assert_refused(&error, &[asked, &offered]);
}

#[test]
fn an_endpoint_with_a_deadline_that_no_pool_can_serve_is_refused() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    let shared_memory = "shmiop://|deadline=1ms/20ms/50ms".parse().unwrap();
    let orb = rt.extend(Orb::builder().listen(shared_memory)).unwrap();
    let error = orb.build().unwrap().root_poa().unwrap_err();
    assert_refused(&error, &["shmiop", "a thread each"]);
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    let options = ThreadpoolOptions {
        endpoints: vec!["iiop://127.0.0.1:0/deadline=1ms/20ms/50ms".parse().unwrap()],
        ..ThreadpoolOptions::default()
    };
    let error = rt.create_threadpool(&server.orb, lane(10, 1, LITTLE), &options);
    assert_refused(&error.unwrap_err(), &["set in the thread pool"]);
}

#[test]
fn threads_that_are_bound_to_some_of_the_processors_reserve_nothing() {
    let _watchdog = watchdog(LIMIT);
    let own: Vec<usize> = Processors::own().unwrap().numbers().collect();
    if real_time().is_none() || own.len() == 1 {
        println!("skipped: with one processor no thread is bound to less than all");
        return;
    }
    let rt = RtOrb::new(RtConfig {
        mapping: Mapping::Direct,
        threads: LaneThreads {
            processors: Some(Processors::of(&own[..1]).unwrap()),
            ..LaneThreads::default()
        },
        ..RtConfig::default()
    });
    let rt = rt.unwrap();
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    let options = ThreadpoolOptions::default();
    let error = rt.create_threadpool(&server.orb, lane(10, 1, LITTLE), &options);
    assert_refused(&error.unwrap_err(), &["bound to some of the processors"]);
}
