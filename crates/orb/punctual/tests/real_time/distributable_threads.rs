//! Distributable threads: how their ids travel with calls, and their cancellation.

use crate::segments::{LONG, Noting, edf, fixed, object, unasked};
use crate::setting::{LIMIT, Server, at, client, echo};
use crate::support::{Answering, Echo, Gate, watchdog};
use punctual::rt::{
    DistributableThreadId, DistributableThreadState as State, DistributableThreads,
    DynamicScheduling, RtOrb, SegmentError, Spawned,
};
use punctual::stub::{Arc, DispatchError, Dispatched, ServerCall};
use punctual::{Interface, Orb, SystemException, SystemExceptionKind as Kind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const ENDPOINTS: [&str; 2] = ["uiop://", "iiop://127.0.0.1:0"];

fn kind(error: SegmentError) -> Kind {
    SystemException::from(error).kind()
}

fn dynamic() -> Arc<RtOrb> {
    unasked(DynamicScheduling::default())
}

/// Servant that waits at a gate, and then records whether it can begin a segment (a scheduling
/// point).
struct Waiting {
    rt: Arc<RtOrb>,
    gate: Gate,
    /// Distributable thread's id in each upcall, and the result of beginning a segment after the
    /// gate.
    behind_gate: Mutex<Vec<(DistributableThreadId, Result<(), Kind>)>>,
}

impl Answering for Waiting {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let current = self.rt.scheduling();
        let id = current.id()?;
        self.gate.pass();
        let begun = current.begin_scheduling_segment("nested", None, None);
        let begun = begun.or_else(|error| match kind(error.clone()) {
            // It has no implicit parameter: the thread was not cancelled.
            Kind::BadParam => Ok(()),
            _ => Err(error),
        });
        let noted = begun.clone().map_err(kind);
        self.behind_gate.lock().unwrap().push((id, noted));
        begun?;
        call.reply(|_| Ok(()))
    }
}

#[test]
fn a_thread_is_cancelled_from_another_process_by_its_id() {
    let _watchdog = watchdog(LIMIT);
    let (rt, of_server) = (dynamic(), dynamic());
    let server = Server::at(&of_server, &ENDPOINTS);
    let waiting = Arc::new(Waiting {
        rt: of_server.clone(),
        gate: Gate::default(),
        behind_gate: Mutex::default(),
    });
    let poa = server.poa("waiting", &[]).unwrap();
    let servant: Echo = poa.activate(waiting.clone()).unwrap();
    let reference = server.orb.object_to_string(servant.as_object()).unwrap();
    let key = "DistributableThreads";
    of_server
        .publish_distributable_threads(&server.orb, key)
        .unwrap();
    let taken = of_server.publish_distributable_threads(&server.orb, key);
    assert_eq!(taken.unwrap_err().kind(), Kind::BadInvOrder);
    // The cancelling ORB has no Real-time CORBA.
    let foreign = Orb::builder().build().unwrap();
    let tcp = server.orb.endpoints();
    let tcp = tcp.iter().find(|one| one.protocol == "iiop").unwrap();
    let url = format!("corbaloc::{}/{key}", tcp.place);
    let there = DistributableThreads::from_object(foreign.string_to_object(&url).unwrap());
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let current = rt.scheduling();
            current
                .begin_scheduling_segment("far", Some(fixed(5)), None)
                .unwrap();
            tell.send(current.id().unwrap()).unwrap();
            let raised = echo(&client(&rt), &reference).wait().unwrap_err();
            assert_eq!(raised.kind(), Kind::ThreadCancelled, "{raised}");
            // It is cancelled here, too, until its outermost segment ends.
            let id = current.id().unwrap();
            let here = current.lookup(id).unwrap();
            assert_eq!(here.state(), State::Cancelled);
            let ended = current.end_scheduling_segment("far").unwrap_err();
            assert_eq!(ended.kind(), Kind::ThreadCancelled);
            assert_eq!(current.lookup(id), None);
            // Another one, which was not cancelled.
            current
                .begin_scheduling_segment("anew", Some(fixed(5)), None)
                .unwrap();
            assert_ne!(current.id().unwrap(), id);
            current.end_scheduling_segment("anew").unwrap();
        });
        let id = told.recv().unwrap();
        waiting.gate.wait_for_waiters(1);
        assert_eq!(there.state(id).unwrap(), State::Active);
        let nobody = DistributableThreadId::from_octets([7; 16]);
        assert!(!there.cancel(nobody).unwrap());
        assert_eq!(there.state(nobody).unwrap(), State::Ended);
        assert!(there.cancel(id).unwrap());
        assert_eq!(there.state(id).unwrap(), State::Cancelled);
        assert!(there.cancel(id).unwrap());
        waiting.gate.open();
        thread.join().unwrap();
        let noted = waiting.behind_gate.lock().unwrap().pop();
        assert_eq!(noted, Some((id, Err(Kind::ThreadCancelled))));
        // It has left that process once the upcall has ended, which is after the reply.
        while there.state(id).unwrap() != State::Ended {
            std::thread::yield_now();
        }
        assert!(!there.cancel(id).unwrap());
    });
}

#[test]
fn an_id_that_is_none_is_refused_by_the_object_that_cancels() {
    let _watchdog = watchdog(LIMIT);
    let of_server = dynamic();
    let server = Server::at(&of_server, &ENDPOINTS);
    let published = of_server.publish_distributable_threads(&server.orb, "Threads");
    let published = published.unwrap();
    let text = server.orb.object_to_string(published.as_object()).unwrap();
    let foreign = Orb::builder().build().unwrap();
    let object = foreign.string_to_object(&text).unwrap();
    for length in [0, 15, 17, 5_000] {
        const CANCEL: punctual::stub::Operation = punctual::stub::Operation::two_way("cancel");
        let octets = vec![1; length];
        let error = object.invoke(&CANCEL, |out| out.put_octets(&octets), |_| Ok(()));
        assert_eq!(error.unwrap_err().kind(), Kind::BadParam, "{length}");
    }
    let plain = punctual::rt::RtOrb::new(punctual::rt::RtConfig {
        policy: punctual::rt::NativePolicy::Other,
        ..punctual::rt::RtConfig::default()
    });
    let error = plain
        .unwrap()
        .publish_distributable_threads(&server.orb, "none");
    assert_eq!(error.unwrap_err().kind(), Kind::NoImplement);
}

#[test]
fn a_cancelled_thread_is_told_at_each_scheduling_point_and_calls_nobody() {
    let _watchdog = watchdog(LIMIT);
    let (rt, of_server) = (dynamic(), dynamic());
    let server = Server::at(&of_server, &ENDPOINTS);
    let noting = Noting::new(&of_server);
    let there = echo(&client(&rt), &object(&server, &noting, &[]));
    // A reference that has never called.
    let fresh = echo(&client(&rt), &object_of(&server, &noting));
    let current = rt.scheduling();
    current
        .begin_scheduling_segment("outer", Some(fixed(1)), Some(fixed(2)))
        .unwrap();
    current
        .begin_scheduling_segment("inner", None, None)
        .unwrap();
    there.long(1).unwrap();
    there.long(2).unwrap();
    let thread = current.lookup(current.id().unwrap()).unwrap();
    assert_eq!(thread.state(), State::Active);
    std::thread::scope(|scope| scope.spawn(|| thread.cancel()).join().unwrap().unwrap());
    assert_eq!(thread.state(), State::Cancelled);
    let before = noting.seen.lock().unwrap().len();
    for refused in [there.long(3), fresh.long(4), there.ping().map(|()| 0)] {
        let refused = refused.unwrap_err();
        assert_eq!(refused.kind(), Kind::ThreadCancelled, "{refused}");
        assert!(refused.is_not_begun());
    }
    assert_eq!(noting.seen.lock().unwrap().len(), before);
    let begun = current.begin_scheduling_segment("more", None, None);
    assert_eq!(kind(begun.unwrap_err()), Kind::ThreadCancelled);
    let updated = current.update_scheduling_segment("inner", Some(fixed(9)), None);
    assert_eq!(kind(updated.unwrap_err()), Kind::ThreadCancelled);
    assert_eq!(current.scheduling_parameter(), Some(fixed(2)));
    let spawned = current.spawn(spawned("none"), || ());
    assert_eq!(kind(spawned.unwrap_err()), Kind::ThreadCancelled);
    // Segments end all the same, each with the exception.
    for name in ["inner", "outer"] {
        let ended = current.end_scheduling_segment(name).unwrap_err();
        assert_eq!(ended.kind(), Kind::ThreadCancelled);
    }
    assert_eq!(current.lookup(thread.id()), None);
    // The underlying thread calls as before.
    assert_eq!(there.long(5).unwrap(), 5);
}

fn object_of(server: &Server, noting: &Arc<Noting>) -> String {
    let poa = server.poa("fresh", &[]).unwrap();
    let object: Echo = poa.activate(noting.clone()).unwrap();
    server.orb.object_to_string(object.as_object()).unwrap()
}

/// Servant that cancels the calling client's distributable thread, in the client's process, while
/// the client waits for the reply.
struct Cancels {
    of_client: Arc<RtOrb>,
    of_server: Arc<RtOrb>,
}

impl Answering for Cancels {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let id = self.of_server.scheduling().id()?;
        let there = self.of_client.scheduling().lookup(id);
        there.ok_or(Kind::Internal)?.cancel()?;
        let value = call.arguments().get_i32()?;
        call.reply(|out| {
            out.put_i32(value);
            Ok(())
        })
    }
}

#[test]
fn a_thread_that_is_cancelled_during_a_call_is_told_when_that_returns() {
    let _watchdog = watchdog(LIMIT);
    let (rt, of_server) = (dynamic(), dynamic());
    let server = Server::at(&of_server, &ENDPOINTS);
    let cancels = Arc::new(Cancels {
        of_client: rt.clone(),
        of_server: of_server.clone(),
    });
    let poa = server.poa("cancels", &[]).unwrap();
    let object: Echo = poa.activate(cancels).unwrap();
    let reference = server.orb.object_to_string(object.as_object()).unwrap();
    let echo = echo(&client(&rt), &reference);
    let current = rt.scheduling();
    for value in 0..3 {
        current
            .begin_scheduling_segment("it", Some(edf(LONG)), None)
            .unwrap();
        let raised = echo.long(value).unwrap_err();
        assert_eq!(raised.kind(), Kind::ThreadCancelled, "{raised}");
        assert!(!raised.is_not_begun(), "the call has run");
        current.end_scheduling_segment("it").unwrap_err();
    }
}

#[test]
fn a_server_in_the_same_process_knows_the_callers_thread_once() {
    let _watchdog = watchdog(LIMIT);
    let rt = dynamic();
    let server = Server::at(&rt, &ENDPOINTS);
    let noting = Noting::new(&rt);
    let poa = server.poa("local", &[]).unwrap();
    let echo: Echo = poa.activate(noting.clone()).unwrap();
    let current = rt.scheduling();
    current
        .begin_scheduling_segment("it", Some(fixed(3)), None)
        .unwrap();
    // By wire to the same process, as the tests' stubs are: the same distributable thread, known
    // once.
    echo.long(1).unwrap();
    let id = current.id().unwrap();
    assert_eq!(noting.last().id, Some(id));
    current.lookup(id).unwrap().cancel().unwrap();
    assert_eq!(echo.long(2).unwrap_err().kind(), Kind::ThreadCancelled);
    assert_eq!(noting.seen.lock().unwrap().len(), 0);
    current.end_scheduling_segment("it").unwrap_err();
    assert_eq!(current.lookup(id), None);
}

fn spawned(name: &str) -> Spawned {
    Spawned {
        name: name.to_owned(),
        parameter: None,
        implicit: None,
        stack_size: Some(256 * 1024),
        base_priority: at(1),
    }
}

#[test]
fn a_thread_starts_another_which_is_a_distributable_thread_of_its_own() {
    let _watchdog = watchdog(LIMIT);
    let rt = dynamic();
    let current = rt.scheduling();
    let outside = current.spawn(spawned("none"), || ());
    assert_eq!(kind(outside.unwrap_err()), Kind::BadInvOrder);
    current
        .begin_scheduling_segment("outer", Some(fixed(4)), Some(fixed(8)))
        .unwrap();
    let id = current.id().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let go_on = Arc::new(AtomicBool::new(false));
    let (of_thread, waits) = (rt.clone(), go_on.clone());
    let thread = current.spawn(spawned("spawned"), move || {
        let current = of_thread.scheduling();
        let names = current.current_scheduling_segment_names();
        tell.send((current.id(), current.scheduling_parameter(), names))
            .unwrap();
        while !waits.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        // Segments that it begins and does not end, end with it.
        current
            .begin_scheduling_segment("open", Some(fixed(1)), None)
            .unwrap();
    });
    let thread = thread.unwrap();
    assert_ne!(thread.id(), id);
    assert_eq!(current.lookup(thread.id()), Some(thread.clone()));
    let seen = told.recv().unwrap();
    let names = vec!["spawned".to_owned()];
    assert_eq!(seen, (Ok(thread.id()), Some(fixed(8)), names));
    assert_eq!(current.id().unwrap(), id);
    go_on.store(true, Ordering::Relaxed);
    while thread.state() == State::Active {
        std::thread::yield_now();
    }
    assert_eq!(thread.state(), State::Ended);
    assert_eq!(current.lookup(thread.id()), None);
    // A thread that panics ends, too.
    let panics = current.spawn(spawned("panics"), || panic!("on purpose"));
    let panics = panics.unwrap();
    while panics.state() == State::Active {
        std::thread::yield_now();
    }
    assert_eq!(current.lookup(panics.id()), None);
    // A thread whose segment cannot begin does nothing.
    let begun = Arc::new(AtomicU32::new(0));
    let counts = begun.clone();
    let nothing = punctual::rt::Reservation {
        runtime: std::time::Duration::ZERO,
        ..LONG
    };
    let bad = Spawned {
        parameter: Some(edf(nothing)),
        ..spawned("bad")
    };
    let refused = current.spawn(bad, move || {
        counts.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(kind(refused.unwrap_err()), Kind::BadParam);
    current.end_scheduling_segment("outer").unwrap();
    // The closure was dropped, not run.
    while Arc::strong_count(&begun) > 1 {
        std::thread::yield_now();
    }
    assert_eq!(begun.load(Ordering::Relaxed), 0);
}
