//! Limits on the segments of requests that a server obeys: its settings, the kernel's limits, and
//! invalid segments.

use crate::deadline_lanes::{DEADLINE, LITTLE};
use crate::segments::{
    ENDPOINTS, Noting, SEGMENT, Seen, asked, edf, fixed, object, unasked, up_to,
};
use crate::setting::{LIMIT, Server, at, client, echo, on_a_thread, scheduled};
use crate::support::watchdog;
use punctual::interceptor::RequestContext;
use punctual::poa::PoaPolicy;
use punctual::rt::{
    AboveHighest, DistributableThreadId, DynamicScheduling, PriorityModelPolicy, Propagated,
    Reservation, RtOrb, SchedulingParameter,
};
use punctual::stub::Arc;
use punctual::{Orb, SystemException, SystemExceptionKind as Kind};
use std::sync::Mutex;
use std::time::Duration;

/// Returns the scheduling of the server's thread for a request in a segment with this parameter.
fn obeyed(
    of_server: &Arc<RtOrb>,
    policies: &[PoaPolicy],
    parameter: SchedulingParameter,
) -> Result<Seen, SystemException> {
    let rt = unasked(DynamicScheduling::default());
    let server = Server::at(of_server, &ENDPOINTS);
    let noting = Noting::new(of_server);
    let reference = object(&server, &noting, policies);
    let mut result = Ok(0);
    on_a_thread(|| {
        // For CLIENT_PROPAGATED.
        rt.current().set_the_priority(at(13)).unwrap();
        let current = rt.scheduling();
        current
            .begin_scheduling_segment("it", Some(parameter), None)
            .unwrap();
        result = echo(&client(&rt), &reference).long(1);
        current.end_scheduling_segment("it").unwrap();
    });
    result.map(|_| noting.last())
}

#[test]
fn no_client_is_given_more_than_the_server_allows() {
    let _watchdog = watchdog(LIMIT);
    let capped = Propagated {
        highest: at(30),
        above: AboveHighest::Cap,
    };
    let refused = Propagated {
        above: AboveHighest::Refuse,
        ..capped
    };
    // Reservations are not obeyed by default; the segment is known all the same.
    let Some(by_default) = asked(DynamicScheduling::default(), capped) else {
        return;
    };
    let seen = obeyed(&by_default, &[], edf(LITTLE)).unwrap();
    assert_eq!(
        (seen.parameter, seen.scheduled),
        (Some(edf(LITTLE)), (0, 0))
    );
    assert!(seen.id.is_some());
    // Fixed priorities are bounded like those of CLIENT_PROPAGATED.
    assert_eq!(
        obeyed(&by_default, &[], fixed(20)).unwrap().scheduled,
        (1, 20)
    );
    assert_eq!(
        obeyed(&by_default, &[], fixed(40)).unwrap().scheduled,
        (1, 30)
    );
    let most = Duration::from_micros(300);
    let cuts = asked(up_to(most, AboveHighest::Cap), capped).unwrap();
    let seen = obeyed(&cuts, &[], edf(LITTLE)).unwrap();
    assert_eq!((seen.scheduled, seen.runtime), (DEADLINE, Some(most)));
    // The requested parameter, not the obeyed part of it.
    assert_eq!(seen.parameter, Some(edf(LITTLE)));
    let refuses = asked(up_to(most, AboveHighest::Refuse), refused).unwrap();
    let kind = |parameter| obeyed(&refuses, &[], parameter).map_err(|error| error.kind());
    assert_eq!(kind(edf(LITTLE)).unwrap_err(), Kind::NoPermission);
    assert_eq!(kind(fixed(40)).unwrap_err(), Kind::NoPermission);
    let little = Reservation {
        runtime: most,
        ..LITTLE
    };
    assert_eq!(kind(edf(little)).unwrap().scheduled, DEADLINE);
}

#[test]
fn a_declared_priority_is_not_the_clients_segments_to_change() {
    let _watchdog = watchdog(LIMIT);
    let allowed = up_to(LITTLE.runtime, AboveHighest::Cap);
    let Some(of_server) = asked(allowed, Propagated::default()) else {
        return;
    };
    let declared = PoaPolicy::of(PriorityModelPolicy::server_declared(at(12)));
    let propagated = PoaPolicy::of(PriorityModelPolicy::client_propagated(at(13)));
    for parameter in [edf(LITTLE), fixed(20)] {
        let seen = obeyed(&of_server, std::slice::from_ref(&declared), parameter).unwrap();
        assert_eq!((seen.parameter, seen.scheduled), (Some(parameter), (1, 12)));
    }
    let propagated = std::slice::from_ref(&propagated);
    let seen = obeyed(&of_server, propagated, edf(LITTLE)).unwrap();
    assert_eq!(seen.scheduled, DEADLINE);
    let seen = obeyed(&of_server, propagated, fixed(20)).unwrap();
    assert_eq!(seen.scheduled, (1, 20));
}

#[test]
fn a_thread_that_has_reserved_its_time_keeps_to_that_in_upcalls_of_segments() {
    let _watchdog = watchdog(LIMIT);
    let allowed = up_to(LITTLE.runtime, AboveHighest::Cap);
    let Some(of_server) = asked(allowed, Propagated::default()) else {
        return;
    };
    let rt = unasked(DynamicScheduling::default());
    let server = Server::at(&of_server, &["iiop://127.0.0.1:0/deadline=400us/20ms/50ms"]);
    let noting = Noting::new(&of_server);
    let reference = object(&server, &noting, &[]);
    let echo = echo(&client(&rt), &reference);
    let current = rt.scheduling();
    for parameter in [edf(LITTLE), fixed(20)] {
        current
            .begin_scheduling_segment("it", Some(parameter), None)
            .unwrap();
        echo.long(1).unwrap();
        let seen = noting.last();
        let own = Duration::from_micros(400);
        assert_eq!((seen.scheduled, seen.runtime), (DEADLINE, Some(own)));
        assert_eq!(seen.parameter, Some(parameter));
        current.end_scheduling_segment("it").unwrap();
    }
}

/// Reservation of most of a processor: the machine can grant only a few.
const MUCH: Reservation = Reservation {
    runtime: Duration::from_millis(80),
    deadline: Duration::from_millis(100),
    period: Duration::from_millis(100),
};

#[test]
fn what_the_kernel_does_not_admit_is_refused_here_and_at_the_server() {
    let _watchdog = watchdog(LIMIT);
    let allowed = up_to(MUCH.runtime, AboveHighest::Refuse);
    let Some(asks) = asked(allowed, Propagated::default()) else {
        return;
    };
    let server = Server::at(&asks, &ENDPOINTS);
    let noting = Noting::new(&asks);
    let reference = object(&server, &noting, &[]);
    let rt = unasked(DynamicScheduling::default());
    let (done, told) = (Mutex::new(false), std::sync::Condvar::new());
    // One thread after the other takes as much, until there is no more.
    let holds = |result: &std::sync::mpsc::Sender<Result<(), SystemException>>| {
        asks.current().set_the_priority(at(3)).unwrap();
        let current = asks.scheduling();
        let begun = current.begin_scheduling_segment("much", Some(edf(MUCH)), None);
        let is_held = begun.is_ok();
        result.send(begun.map_err(SystemException::from)).unwrap();
        let guard = done.lock().unwrap();
        drop(told.wait_while(guard, |done| is_held && !*done).unwrap());
        if is_held {
            // Its deadline may have passed.
            current.end_scheduling_segment("much").unwrap();
        }
        assert_eq!(scheduled(), (1, 3));
        assert!(current.id().is_err());
    };
    std::thread::scope(|scope| {
        let (result, results) = std::sync::mpsc::channel();
        let one_more = || {
            let result = result.clone();
            let holds = &holds;
            scope.spawn(move || holds(&result));
            results.recv().unwrap()
        };
        let assert_refused = |error: &SystemException| {
            assert_eq!(error.kind(), Kind::InvPolicy, "{error}");
        };
        let refused = loop {
            if let Err(refused) = one_more() {
                break refused;
            }
        };
        assert_refused(&refused);
        let text = refused.to_string();
        for part in [
            "80ms by 100ms in each 100ms",
            "processors",
            "can be reserved",
        ] {
            assert!(text.contains(part), "{text}");
        }
        // Other processes of this machine may have given some back meanwhile: it is taken, too.
        let current = rt.scheduling();
        current
            .begin_scheduling_segment("it", Some(edf(MUCH)), None)
            .unwrap();
        let echo = echo(&client(&rt), &reference);
        let refused = loop {
            match echo.long(1) {
                Err(refused) => break refused,
                Ok(_) => while one_more().is_ok() {},
            }
        };
        assert_refused(&refused);
        current.end_scheduling_segment("it").unwrap();
        *done.lock().unwrap() = true;
        told.notify_all();
    });
    // With room again, the server's thread serves as before.
    let echo = echo(&client(&rt), &reference);
    echo.long(1).unwrap();
    assert_eq!(noting.last().scheduled, (0, 0));
}

/// Service context of a scheduling segment with arbitrary data.
#[derive(Debug)]
struct Says(Vec<u8>);

impl RequestContext for Says {
    fn id(&self) -> u32 {
        SEGMENT
    }

    fn length(&self) -> usize {
        self.0.len()
    }

    fn fill(&self, data: &mut [u8]) {
        data.copy_from_slice(&self.0);
    }
}

#[test]
fn what_is_no_segment_is_refused_and_nobody_else_suffers() {
    let _watchdog = watchdog(LIMIT);
    let rt = unasked(DynamicScheduling::default());
    let server = Server::at(&rt, &ENDPOINTS);
    let noting = Noting::new(&rt);
    let model = PriorityModelPolicy::server_declared(at(12));
    let reference = object(&server, &noting, &[PoaPolicy::of(model)]);
    let answer = |octets: &[u8]| {
        let context = Arc::new(Says(octets.to_vec()));
        let client = Orb::builder().request_context(context).build().unwrap();
        echo(&client, &reference).long(1).map(|_| noting.last())
    };
    // A fixed priority of 7, big-endian, as another implementation would write it.
    let mut good = [0; 48];
    good[2..4].copy_from_slice(&[0, 7]);
    good[4..20].copy_from_slice(b"0123456789abcdef");
    let mut unknown = good;
    unknown[1] = 9;
    let mut negative = good;
    negative[2] = 0x80;
    let mut nothing = good;
    nothing[1] = 1;
    for bad in [&[][..], &[0], &good[..47], &unknown, &negative, &nothing] {
        let error = answer(bad).unwrap_err();
        assert_eq!(error.kind(), Kind::Marshal, "{error}");
    }
    let seen = answer(&good).unwrap();
    let id = DistributableThreadId::from_octets(*b"0123456789abcdef");
    assert_eq!((seen.id, seen.parameter), (Some(id), Some(fixed(7))));
    // No refused segment is left on the thread.
    assert!(rt.scheduling().id().is_err());
    let foreign = Orb::builder().build().unwrap();
    echo(&foreign, &reference).long(1).unwrap();
    assert_eq!(noting.last().id, None);
}
