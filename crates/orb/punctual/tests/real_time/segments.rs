//! Scheduling segments: their effect on their thread, their encoding in requests, and how far
//! servers obey them.

use crate::deadline_lanes::{DEADLINE, LITTLE, is_granted};
use crate::setting::{LIMIT, Server, at, client, echo, on_a_thread, scheduled};
use crate::support::{Answering, Echo, watchdog};
use punctual::poa::PoaPolicy;
use punctual::rt::{
    AboveHighest, Discipline, DistributableThreadId, DynamicScheduling, Mapping, NativePolicy,
    Propagated, PropagatedReservations, Reservation, ReservationLimit, RtConfig, RtOrb,
    SchedulingParameter, SegmentError,
};
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, ServerCall};
use punctual::{
    Interface, Orb, Policy, RootPoa, SetOverride, SystemException, SystemExceptionKind as Kind,
};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Id of Punctual's service context SchedulingSegment.
pub(crate) const SEGMENT: u32 = 0x5055_4e02;

pub(crate) fn fixed(priority: i16) -> SchedulingParameter {
    SchedulingParameter::FixedPriority(at(priority))
}

pub(crate) fn edf(reserved: Reservation) -> SchedulingParameter {
    SchedulingParameter::EarliestDeadlineFirst(reserved)
}

/// Reservation that is never requested from the kernel, with a deadline that is never missed.
pub(crate) const LONG: Reservation = Reservation {
    runtime: Duration::from_secs(1),
    deadline: Duration::from_secs(3_600),
    period: Duration::from_secs(3_600),
};

/// Processor reservation whose deadline passes after one millisecond.
const SHORT: Reservation = Reservation {
    runtime: Duration::from_micros(10),
    deadline: Duration::from_millis(1),
    period: Duration::from_millis(1),
};

/// Returns an RTORB with dynamic scheduling whose segments do not change the kernel's scheduling.
pub(crate) fn unasked(dynamic: DynamicScheduling) -> Arc<RtOrb> {
    let config = RtConfig {
        policy: NativePolicy::Other,
        dynamic_scheduling: Some(dynamic),
        ..RtConfig::default()
    };
    RtOrb::new(config).unwrap()
}

/// Returns an RTORB with dynamic scheduling by the kernel, with native priorities unchanged; prints
/// the reason and returns `None` if the machine does not permit it.
pub(crate) fn asked(dynamic: DynamicScheduling, propagated: Propagated) -> Option<Arc<RtOrb>> {
    let config = RtConfig {
        mapping: Mapping::Direct,
        propagated,
        dynamic_scheduling: Some(dynamic),
        ..RtConfig::default()
    };
    match RtOrb::new(config) {
        Ok(rt) => is_granted().then_some(rt),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

pub(crate) fn up_to(runtime: Duration, above: AboveHighest) -> DynamicScheduling {
    DynamicScheduling {
        propagated: PropagatedReservations::UpTo {
            most: ReservationLimit {
                runtime,
                percent: 90,
            },
            above,
        },
        ..DynamicScheduling::default()
    }
}

/// State of a server thread during an upcall, recorded by the servant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: Option<DistributableThreadId>,
    pub(crate) parameter: Option<SchedulingParameter>,
    pub(crate) names: Vec<String>,
    pub(crate) scheduled: (u32, u32),
    pub(crate) runtime: Option<Duration>,
    pub(crate) is_carried: bool,
}

/// Servant that answers each `long` with its argument, and records its segment.
pub(crate) struct Noting {
    pub(crate) rt: Arc<RtOrb>,
    pub(crate) seen: Mutex<Vec<Seen>>,
    /// Minimum duration of each call of the servant.
    takes: Duration,
}

impl Noting {
    pub(crate) fn new(rt: &Arc<RtOrb>) -> Arc<Self> {
        Self::that_takes(rt, Duration::ZERO)
    }

    fn that_takes(rt: &Arc<RtOrb>, takes: Duration) -> Arc<Self> {
        Arc::new(Self {
            rt: rt.clone(),
            seen: Mutex::default(),
            takes,
        })
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen.lock().unwrap().pop().unwrap()
    }
}

impl Answering for Noting {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let current = self.rt.scheduling();
        self.seen.lock().unwrap().push(Seen {
            id: current.id().ok(),
            parameter: current.scheduling_parameter(),
            names: current.current_scheduling_segment_names(),
            scheduled: scheduled(),
            runtime: self.rt.current().reservation().map(|one| one.runtime),
            is_carried: call.contexts().find(SEGMENT).is_some(),
        });
        let end = Instant::now() + self.takes;
        while Instant::now() <= end {
            std::thread::yield_now();
        }
        if call.operation() == "fail" {
            // A segment that a servant begins and does not end, ends with the upcall.
            current.begin_scheduling_segment("left open", Some(fixed(3)), None)?;
        }
        let value = call.arguments().get_i32()?;
        call.reply(|out| value.marshal(out))
    }
}

/// Returns a reference, as text, to an object of a POA with these policies.
pub(crate) fn object(server: &Server, noting: &Arc<Noting>, policies: &[PoaPolicy]) -> String {
    let poa = server.poa("segments", policies).unwrap();
    let object: Echo = poa.activate(noting.clone()).unwrap();
    server.orb.object_to_string(object.as_object()).unwrap()
}

pub(crate) const ENDPOINTS: [&str; 1] = ["iiop://127.0.0.1:0"];

#[test]
fn a_segment_schedules_the_thread_until_it_ends_and_the_one_around_it_goes_on() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = asked(DynamicScheduling::default(), Propagated::default()) else {
        return;
    };
    on_a_thread(|| {
        rt.current().set_the_priority(at(5)).unwrap();
        let current = rt.scheduling();
        let reserved = |runtime| Reservation {
            runtime: Duration::from_micros(runtime),
            ..LITTLE
        };
        let runtime = || {
            rt.current()
                .reservation()
                .map(|one| one.runtime.as_micros())
        };
        current
            .begin_scheduling_segment("outer", Some(edf(reserved(500))), Some(fixed(30)))
            .unwrap();
        assert_eq!((scheduled(), runtime()), (DEADLINE, Some(500)));
        let id = current.id().unwrap();
        // By the implicit parameter of the segment around it.
        current
            .begin_scheduling_segment("inner", None, None)
            .unwrap();
        assert_eq!(current.scheduling_parameter(), Some(fixed(30)));
        assert_eq!(current.implicit_scheduling_parameter(), None);
        assert_eq!(scheduled(), (1, 30));
        assert_eq!(rt.current().the_priority().unwrap(), at(30));
        let names = current.current_scheduling_segment_names();
        assert_eq!(names, ["outer", "inner"]);
        current
            .begin_scheduling_segment("innermost", Some(edf(reserved(300))), None)
            .unwrap();
        assert_eq!((scheduled(), runtime()), (DEADLINE, Some(300)));
        assert_eq!(current.id().unwrap(), id);
        current.end_scheduling_segment("innermost").unwrap();
        assert_eq!(scheduled(), (1, 30));
        current.end_scheduling_segment("inner").unwrap();
        assert_eq!((scheduled(), runtime()), (DEADLINE, Some(500)));
        assert_eq!(rt.current().the_priority().unwrap(), at(5));
        // Another reservation, and then a priority, in the same segment.
        current
            .update_scheduling_segment("outer", Some(edf(reserved(700))), None)
            .unwrap();
        assert_eq!((scheduled(), runtime()), (DEADLINE, Some(700)));
        current
            .update_scheduling_segment("renamed", Some(fixed(40)), None)
            .unwrap();
        assert_eq!(scheduled(), (1, 40));
        assert_eq!(current.current_scheduling_segment_names(), ["renamed"]);
        current.end_scheduling_segment("renamed").unwrap();
        assert_eq!(scheduled(), (1, 5));
        assert!(current.id().is_err());
    });
}

#[test]
fn misuse_of_segments_is_refused_as_the_standard_says() {
    let _watchdog = watchdog(LIMIT);
    let only_fixed = DynamicScheduling {
        disciplines: vec![Discipline::FixedPriority],
        ..DynamicScheduling::default()
    };
    let (rt, fixed_alone) = (unasked(DynamicScheduling::default()), unasked(only_fixed));
    let current = rt.scheduling();
    let kind = |error: SegmentError| SystemException::from(error).kind();
    // On a thread outside of any segment.
    let ended = current.end_scheduling_segment("none").unwrap_err();
    assert_eq!(ended.kind(), Kind::BadInvOrder);
    let updated = current.update_scheduling_segment("none", None, None);
    assert_eq!(kind(updated.unwrap_err()), Kind::BadInvOrder);
    assert_eq!(current.id().unwrap_err().kind(), Kind::BadInvOrder);
    assert_eq!(current.scheduling_parameter(), None);
    assert!(current.current_scheduling_segment_names().is_empty());
    // Without a parameter, and with an invalid one.
    let begun = current.begin_scheduling_segment("none", None, None);
    assert_eq!(kind(begun.unwrap_err()), Kind::BadParam);
    let backwards = Reservation {
        runtime: Duration::from_millis(2),
        ..SHORT
    };
    let begun = current.begin_scheduling_segment("bad", Some(edf(backwards)), None);
    let error = begun.unwrap_err();
    assert!(error.to_string().contains("longer than the deadline"));
    assert_eq!(kind(error), Kind::BadParam);
    let begun = current.begin_scheduling_segment("bad", Some(fixed(1)), Some(edf(backwards)));
    assert_eq!(kind(begun.unwrap_err()), Kind::BadParam);
    // With a discipline that the RTORB does not have.
    let begun = fixed_alone
        .scheduling()
        .begin_scheduling_segment("edf", Some(edf(LONG)), None);
    let discipline = Discipline::EarliestDeadlineFirst;
    assert_eq!(
        begun.unwrap_err(),
        SegmentError::UnsupportedSchedulingDiscipline(discipline)
    );
    // By another name: the segment goes on.
    current
        .begin_scheduling_segment("one", Some(edf(LONG)), None)
        .unwrap();
    let ended = current.end_scheduling_segment("other").unwrap_err();
    assert_eq!(ended.kind(), Kind::BadParam);
    assert!(ended.to_string().contains("`one`"), "{ended}");
    let updated = current.update_scheduling_segment("one", Some(edf(backwards)), None);
    assert_eq!(kind(updated.unwrap_err()), Kind::BadParam);
    assert_eq!(current.scheduling_parameter(), Some(edf(LONG)));
    assert_eq!(current.end_scheduling_segment("one"), Ok(None));
    // Without dynamic scheduling.
    let without = RtOrb::new(RtConfig {
        policy: NativePolicy::Other,
        ..RtConfig::default()
    });
    let without = without.unwrap();
    let begun = without
        .scheduling()
        .begin_scheduling_segment("none", Some(fixed(1)), None);
    assert_eq!(kind(begun.unwrap_err()), Kind::NoImplement);
}

#[test]
fn a_segments_parameters_reach_the_upcall_and_end_with_it() {
    let _watchdog = watchdog(LIMIT);
    let allowed = up_to(LITTLE.runtime, AboveHighest::Refuse);
    let Some(of_server) = asked(allowed, Propagated::default()) else {
        return;
    };
    let rt = unasked(DynamicScheduling::default());
    let server = Server::at(&of_server, &ENDPOINTS);
    let noting = Noting::new(&of_server);
    let reference = object(&server, &noting, &[]);
    on_a_thread(|| {
        let echo = echo(&client(&rt), &reference);
        let current = rt.scheduling();
        let outside = Seen {
            id: None,
            parameter: None,
            names: Vec::new(),
            scheduled: (0, 0),
            runtime: None,
            is_carried: false,
        };
        for value in 0..5 {
            assert_eq!(echo.long(value).unwrap(), value);
            assert_eq!(noting.last(), outside);
            current
                .begin_scheduling_segment("outer", Some(edf(LITTLE)), None)
                .unwrap();
            let id = current.id().unwrap();
            for value in 0..5 {
                assert_eq!(echo.long(value).unwrap(), value);
                let expected = Seen {
                    id: Some(id),
                    parameter: Some(edf(LITTLE)),
                    scheduled: DEADLINE,
                    runtime: Some(LITTLE.runtime),
                    is_carried: true,
                    ..outside.clone()
                };
                assert_eq!(noting.last(), expected);
            }
            // A nested segment has its own.
            current
                .begin_scheduling_segment("inner", Some(fixed(20)), None)
                .unwrap();
            echo.long(1).unwrap();
            let seen = noting.last();
            assert_eq!((seen.id, seen.scheduled), (Some(id), (1, 20)));
            assert_eq!(seen.parameter, Some(fixed(20)));
            current.end_scheduling_segment("inner").unwrap();
            current.end_scheduling_segment("outer").unwrap();
        }
        // The server's thread has its own scheduling again, whatever the end of the upcall.
        echo.long(1).unwrap();
        assert_eq!(noting.last(), outside);
    });
}

#[test]
fn policies_of_a_thread_and_its_segment_hold_together() {
    let _watchdog = watchdog(LIMIT);
    let rt = unasked(DynamicScheduling::default());
    let server = Server::at(&rt, &ENDPOINTS);
    let noting = Noting::new(&rt);
    let reference = object(&server, &noting, &[]);
    let client = client(&rt);
    let echo = echo(&client, &reference);
    let (current, policies) = (rt.scheduling(), client.policy_current());
    let set = |policies: &[Policy]| {
        let current = client.policy_current();
        let set = current.set_policy_overrides(policies, SetOverride::Set);
        set.unwrap();
    };
    let patient = Policy::RelativeRoundtripTimeout(LIMIT);
    let is_carried = || {
        echo.long(1).unwrap();
        noting.last().is_carried
    };
    for _ in 0..2 {
        assert!(!is_carried());
        current
            .begin_scheduling_segment("it", Some(fixed(1)), None)
            .unwrap();
        assert!(is_carried());
        set(std::slice::from_ref(&patient));
        assert!(is_carried());
        assert_eq!(policies.policy_overrides(&[]).len(), 1);
        set(&[]);
        assert!(is_carried());
        set(std::slice::from_ref(&patient));
        current.end_scheduling_segment("it").unwrap();
        assert!(!is_carried());
        assert_eq!(policies.policy_overrides(&[]).len(), 1);
        set(&[]);
    }
}

#[test]
fn what_a_servant_begins_and_does_not_end_ends_with_its_upcall() {
    let _watchdog = watchdog(LIMIT);
    let of_server = unasked(DynamicScheduling::default());
    let rt = unasked(DynamicScheduling::default());
    let server = Server::at(&of_server, &ENDPOINTS);
    let noting = Noting::new(&of_server);
    let reference = object(&server, &noting, &[]);
    let echo = echo(&client(&rt), &reference);
    let current = rt.scheduling();
    current
        .begin_scheduling_segment("outer", Some(fixed(7)), None)
        .unwrap();
    // Its arguments are no `long`, so that it fails, too.
    echo.fail().unwrap_err();
    let first = noting.last();
    echo.long(2).unwrap();
    let second = noting.last();
    assert_eq!((first.id, &first.names), (second.id, &second.names));
    assert_eq!(second.parameter, Some(fixed(7)));
    let id = current.id().unwrap();
    assert_eq!(second.id, Some(id));
    current.end_scheduling_segment("outer").unwrap();
    echo.long(3).unwrap();
    assert_eq!(noting.last().id, None);
    // The server does not know it any more.
    assert_eq!(of_server.scheduling().lookup(id), None);
}

#[test]
fn a_segment_that_overruns_is_told_and_counted_here_and_at_the_server() {
    let _watchdog = watchdog(LIMIT);
    let of_server = unasked(DynamicScheduling::default());
    let rt = unasked(DynamicScheduling::default());
    let server = Server::at(&of_server, &ENDPOINTS);
    // Longer than the deadline.
    let noting = Noting::that_takes(&of_server, 2 * SHORT.deadline);
    let reference = object(&server, &noting, &[]);
    let echo = echo(&client(&rt), &reference);
    let current = rt.scheduling();
    current
        .begin_scheduling_segment("long", Some(edf(LONG)), None)
        .unwrap();
    echo.long(1).unwrap();
    let updated = current.update_scheduling_segment("long", None, None);
    assert_eq!(updated, Ok(None));
    assert_eq!(
        (rt.segment_overruns(), of_server.segment_overruns()),
        (0, 0)
    );
    current
        .update_scheduling_segment("short", Some(edf(SHORT)), None)
        .unwrap();
    echo.long(1).unwrap();
    let overrun = current.update_scheduling_segment("long", Some(edf(LONG)), None);
    let overrun = overrun.unwrap().unwrap();
    assert!(overrun.by >= SHORT.deadline, "{overrun:?}");
    assert_eq!(rt.segment_overruns(), 1);
    // The upcall ends after its reply.
    while of_server.segment_overruns() == 0 {
        std::thread::yield_now();
    }
    assert_eq!(of_server.segment_overruns(), 1);
    assert_eq!(current.end_scheduling_segment("long"), Ok(None));
    // A priority has no deadline.
    current
        .begin_scheduling_segment("fixed", Some(fixed(1)), None)
        .unwrap();
    assert_eq!(current.end_scheduling_segment("fixed"), Ok(None));
    assert_eq!(rt.segment_overruns(), 1);
}

#[test]
fn peers_without_dynamic_scheduling_serve_and_call_as_before() {
    let _watchdog = watchdog(LIMIT);
    let rt = unasked(DynamicScheduling::default());
    let without = RtOrb::new(RtConfig {
        policy: NativePolicy::Other,
        ..RtConfig::default()
    });
    let without = without.unwrap();
    let noting = Noting::new(&without);
    // An ORB with Real-time CORBA, and one without.
    let server = Server::at(&without, &ENDPOINTS);
    let plain = Orb::builder()
        .listen("iiop://127.0.0.1:0".parse().unwrap())
        .build()
        .unwrap();
    let root = plain.root_poa().unwrap();
    root.manager().activate().unwrap();
    let of_plain: Echo = root.activate(noting.clone()).unwrap();
    let of_plain = plain.object_to_string(of_plain.as_object()).unwrap();
    let current = rt.scheduling();
    for reference in [object(&server, &noting, &[]), of_plain] {
        let echo = echo(&client(&rt), &reference);
        current
            .begin_scheduling_segment("it", Some(edf(LONG)), None)
            .unwrap();
        for value in 0..3 {
            assert_eq!(echo.long(value).unwrap(), value);
            let seen = noting.last();
            assert_eq!((seen.id, seen.is_carried), (None, true));
        }
        current.end_scheduling_segment("it").unwrap();
    }
    // And the other way round: a client without it.
    let server = Server::at(&rt, &ENDPOINTS);
    let noting = Noting::new(&rt);
    let foreign = Orb::builder().build().unwrap();
    let echo = echo(&foreign, &object(&server, &noting, &[]));
    assert_eq!(echo.long(4).unwrap(), 4);
    let seen = noting.last();
    assert_eq!((seen.id, seen.is_carried), (None, false));
}
