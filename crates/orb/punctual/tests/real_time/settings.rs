//! Further settings of Real-time CORBA: priority transforms, and the start of lanes' threads.

use crate::lanes::propagated;
use crate::setting::{LIMIT, Server, at, client, echo, fifo, on_a_thread};
use crate::support::{Answering, Echo, watchdog};
use punctual::poa::PoaPolicy;
use punctual::rt::{
    LaneThreads, Mapping, NativePolicy, Priority, PriorityModelPolicy, PriorityTransform,
    Processors, Propagated, RtConfig, RtOrb,
};
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, ServerCall};
use punctual::{Interface, Orb, SystemExceptionKind as Kind, minor};

/// Transform that raises the requested priority of upcalls by 5, refuses those above 90, and
/// propagates half of a thread's priority.
#[derive(Debug)]
struct Changes;

impl PriorityTransform for Changes {
    fn inbound(&self, priority: Priority) -> Option<Priority> {
        (priority <= at(90)).then(|| at(priority.get() + 5))
    }

    fn outbound(&self, priority: Priority) -> Priority {
        at(priority.get() / 2)
    }
}

#[test]
fn priorities_are_changed_on_their_way() {
    let _watchdog = watchdog(LIMIT);
    let Some(plain) = fifo(Propagated::default()) else {
        return;
    };
    let config = RtConfig {
        mapping: Mapping::Direct,
        transform: Some(Arc::new(Changes)),
        ..RtConfig::default()
    };
    let changes = RtOrb::new(config).unwrap();
    let priority_at = |server: &Arc<RtOrb>, by: &Arc<RtOrb>, model, priority| {
        let server = Server::at(server, &["iiop://127.0.0.1:0"]);
        let reference = server.object(model);
        let mut result = Ok(0);
        on_a_thread(|| {
            by.current().set_the_priority(at(priority)).unwrap();
            result = echo(&client(by), &reference).long(1);
        });
        result.map(|_| server.noting.last().scheduled.1)
    };
    let declared = PriorityModelPolicy::server_declared(at(30));
    assert_eq!(priority_at(&changes, &plain, propagated(), 40).unwrap(), 45);
    assert_eq!(priority_at(&changes, &plain, declared, 40).unwrap(), 35);
    assert_eq!(priority_at(&plain, &changes, propagated(), 40).unwrap(), 20);
    assert_eq!(priority_at(&plain, &plain, propagated(), 40).unwrap(), 40);
    let refused = priority_at(&changes, &plain, propagated(), 91).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.minor()),
        (Kind::DataConversion, minor::omg(2))
    );
}

/// Returns the numbers of the processors that the calling thread may run on.
fn allowed() -> Vec<usize> {
    Processors::own().unwrap().numbers().collect()
}

/// Servant that answers `long` with the number of processors that its thread may run on.
struct Counts;

impl Answering for Counts {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let count = u32::try_from(allowed().len()).unwrap();
        call.reply(|out| count.marshal(out))
    }
}

#[test]
fn lanes_keep_to_their_processors() {
    let _watchdog = watchdog(LIMIT);
    let config = |threads| RtConfig {
        policy: NativePolicy::Other,
        threads,
        ..RtConfig::default()
    };
    let of_first = LaneThreads {
        processors: Some(Processors::of(&allowed()[..1]).unwrap()),
        prefault_stack: true,
    };
    let own = allowed().len();
    for (threads, expected) in [(LaneThreads::default(), own), (of_first, 1)] {
        let rt = RtOrb::new(config(threads)).unwrap();
        let server = Server::at(&rt, &["iiop://127.0.0.1:0/priority=3"]);
        let poa = server
            .poa("counts", &[PoaPolicy::of(propagated())])
            .unwrap();
        let object: Echo = poa.activate(Arc::new(Counts)).unwrap();
        let reference = server.orb.object_to_string(object.as_object()).unwrap();
        let count = echo(&client(&rt), &reference).long(0).unwrap();
        assert_eq!(usize::try_from(count).unwrap(), expected);
    }
}

#[test]
fn what_is_configured_is_obeyed_or_the_orb_does_not_start() {
    let _watchdog = watchdog(LIMIT);
    let words = [
        "program",
        "-ORBSchedPolicy",
        "SCHED_OTHER",
        "-ORBPropagated",
        "50,refuse",
        "rest",
    ];
    let arguments = || words.map(str::to_owned);
    let config = RtConfig::default().configured(arguments()).unwrap();
    let rt = RtOrb::new(config).unwrap();
    let started = rt.extend(Orb::builder()).unwrap().init(arguments());
    let (_orb, rest) = started.unwrap();
    assert_eq!(rest, ["program", "rest"]);
    assert_eq!(rt.propagated().highest, at(50));

    // The RTORB has another cap than the configuration.
    let other = RtConfig {
        policy: NativePolicy::Other,
        ..RtConfig::default()
    };
    let builder = RtOrb::new(other).unwrap().extend(Orb::builder()).unwrap();
    let error = builder.init(arguments()).unwrap_err().to_string();
    assert!(
        error.contains("`highest_propagated`, `above_highest`"),
        "{error}"
    );
    // There is none at all.
    let error = Orb::init(arguments()).unwrap_err().to_string();
    assert!(error.contains("`RtOrb::extend`"), "{error}");
}
