//! Requests that a pool buffers, and threads that its lanes borrow from one another.

use crate::lanes::propagated;
use crate::setting::{LIMIT, Server, at, client, echo, fifo, on_a_thread, ordinary, scheduled};
use crate::support::{Answering, Echo, EchoImpl, watchdog};
use punctual::poa::PoaPolicy;
use punctual::policy::{PriorityRange, QueueOrder};
use punctual::rt::{
    BufferLimits, LaneReport, LaneStatistics, PoolThreads, Priority, PriorityModelPolicy,
    Propagated, RequestBuffering, RtOrb, RtPoa, ThreadpoolOptions, ThreadpoolPolicy, Urgency,
    UrgencyStrategy, WaitingRequest,
};
use punctual::stub::{Arc, DispatchError, Dispatched, Marshal, ServerCall};
use punctual::{
    Implements, Interface, Orb, OrbBuilder, Policy, SetOverride, SystemExceptionKind as Kind,
};
use std::sync::Mutex;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, SystemTime};

fn threads(priority: i16) -> PoolThreads {
    PoolThreads {
        priority: at(priority),
        static_threads: 1,
        dynamic_threads: 0,
        reservation: None,
    }
}

fn buffering(requests: Option<usize>, octets: Option<usize>) -> ThreadpoolOptions {
    ThreadpoolOptions {
        buffering: RequestBuffering::Bounded(BufferLimits { requests, octets }),
        ..ThreadpoolOptions::default()
    }
}

/// Returns the statistics of the first lane of a pool that fulfils a condition.
fn lane_of_pool(orb: &Orb, is_it: impl Fn(&LaneStatistics) -> bool) -> Option<LaneStatistics> {
    let mut lanes = orb.lane_statistics().into_iter();
    lanes.find(|lane| lane.pool.is_some() && is_it(lane))
}

/// Waits until a lane of a pool fulfils a condition.
fn wait_until(orb: &Orb, is_so: impl Fn(&LaneStatistics) -> bool) {
    while lane_of_pool(orb, &is_so).is_none() {
        std::thread::yield_now();
    }
}

/// Servant that records the arguments of its calls, in the order in which they are served.
#[derive(Default)]
struct Order(Mutex<Vec<i32>>);

impl Answering for Order {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        let value = call.arguments().get_i32()?;
        self.0.lock().unwrap().push(value);
        call.reply(|out| value.marshal(out))
    }
}

/// Server with a pool of one thread, an object whose calls block it, and an object that records the
/// order of its calls.
struct Held {
    rt: Arc<RtOrb>,
    server: Server,
    gate: Arc<EchoImpl>,
    order: Arc<Order>,
    holding: String,
    noting: String,
}

impl Held {
    fn new(options: &ThreadpoolOptions) -> Self {
        Self::of(Orb::builder(), options)
    }

    fn of(builder: OrbBuilder, options: &ThreadpoolOptions) -> Self {
        let rt = ordinary(Propagated::default());
        let endpoint = "iiop://127.0.0.1:0".parse().unwrap();
        let server = Server::of(&rt, builder.listen(endpoint));
        let pool = rt.create_threadpool(&server.orb, threads(0), options);
        let of_pool = PoaPolicy::of(ThreadpoolPolicy(pool.unwrap()));
        let poa = server.poa("pool", &[PoaPolicy::of(propagated()), of_pool]);
        let poa = poa.unwrap();
        let (gate, order) = (Arc::new(EchoImpl::default()), Arc::new(Order::default()));
        let text = |object: Echo| server.orb.object_to_string(object.as_object()).unwrap();
        let holding = text(poa.activate(gate.clone()).unwrap());
        let noting = text(poa.activate(order.clone()).unwrap());
        Self {
            rt,
            server,
            gate,
            order,
            holding,
            noting,
        }
    }

    /// Makes a call at this priority, on a thread and a connection of its own.
    fn call<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        priority: i16,
        value: i32,
    ) -> ScopedJoinHandle<'s, Result<i32, Kind>> {
        scope.spawn(move || {
            self.rt.current().set_the_priority(at(priority)).unwrap();
            let called = echo(&client(&self.rt), &self.noting).long(value);
            called.map_err(|error| error.kind())
        })
    }
}

#[test]
fn buffered_requests_are_served_in_the_order_of_their_priorities() {
    let _watchdog = watchdog(LIMIT);
    let held = Held::new(&buffering(Some(5), None));
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| echo(&client(&held.rt), &held.holding).wait());
        held.gate.gate.wait_for_waiters(1);
        let mut calls = Vec::new();
        for (priority, value) in [(5, 1), (40, 2), (20, 3), (40, 4), (0, 5)] {
            let waiting = calls.len() + 1;
            calls.push(held.call(scope, priority, value));
            wait_until(&held.server.orb, |lane| lane.waiting == waiting);
        }
        // There is no room for more, whatever the priority.
        let refused = held.call(scope, 100, 6).join().unwrap();
        assert_eq!(refused, Err(Kind::Transient));
        held.gate.gate.open();
        holder.join().unwrap().unwrap();
        for (call, value) in calls.into_iter().zip(1..) {
            assert_eq!(call.join().unwrap(), Ok(value));
        }
    });
    assert_eq!(*held.order.0.lock().unwrap(), [2, 4, 3, 1, 5]);
    let lane = lane_of_pool(&held.server.orb, |_| true).unwrap();
    assert_eq!((lane.waiting, lane.refused), (0, 1));
    assert!(lane.messages >= 7, "{lane}");
    // The refused one is not among those served; the blocking call has no priority, and carries the
    // lowest.
    let counted: Vec<_> = lane.by_priority.clone();
    let expected = [(0, 2), (5, 1), (20, 1), (40, 2)].map(|(priority, n)| (at(priority), n));
    assert_eq!(counted, expected);
    assert_eq!(lane.at_other_priorities, 0);
    assert!(
        lane.to_string().contains(", 2 at priority 40, 0 waiting"),
        "{lane}"
    );
    // An idle pool serves as usual.
    std::thread::scope(|scope| {
        assert_eq!(held.call(scope, 1, 7).join().unwrap(), Ok(7));
    });
}

/// Strategy that serves the lowest priority first, and panics for priority 13.
#[derive(Debug, Default)]
struct LowestFirst {
    operations: Mutex<Vec<String>>,
}

impl UrgencyStrategy for LowestFirst {
    fn urgency(&self, request: &WaitingRequest<'_>) -> Urgency {
        let policies = request.policies.expect("its adapter is there");
        assert!(policies.value::<ThreadpoolPolicy>().is_some());
        let priority = request.by_policies.priority().map(Priority::get);
        assert_ne!(priority, Some(13));
        let operation = request.operation.to_owned();
        self.operations.lock().unwrap().push(operation);
        let deadline = u64::try_from(priority.unwrap()).unwrap();
        Urgency::of_priority(Priority::new(1).ok()).with_deadline(deadline)
    }
}

#[test]
fn a_strategy_of_ones_own_orders_buffered_requests_and_one_that_panics_keeps_none_from_being_served()
 {
    let _watchdog = watchdog(LIMIT);
    let strategy = Arc::new(LowestFirst::default());
    let builder = Orb::builder().urgency(strategy.clone());
    let held = Held::of(builder, &buffering(None, None));
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| echo(&client(&held.rt), &held.holding).wait());
        held.gate.gate.wait_for_waiters(1);
        let mut calls = Vec::new();
        for (priority, value) in [(5, 1), (40, 2), (20, 3), (13, 4), (3, 5)] {
            let waiting = calls.len() + 1;
            calls.push(held.call(scope, priority, value));
            wait_until(&held.server.orb, |lane| lane.waiting == waiting);
        }
        held.gate.gate.open();
        holder.join().unwrap().unwrap();
        for (call, value) in calls.into_iter().zip(1..) {
            assert_eq!(call.join().unwrap(), Ok(value));
        }
    });
    // The lane has priority 0, by which the request waits whose urgency could not be computed.
    assert_eq!(*held.order.0.lock().unwrap(), [5, 1, 3, 2, 4]);
    // The reserve may have read that of the holder, too.
    let operations = strategy.operations.lock().unwrap();
    assert_eq!(operations.iter().filter(|name| *name == "long").count(), 4);
}

#[test]
fn buffered_requests_of_one_priority_are_served_in_the_order_that_their_clients_allow() {
    let _watchdog = watchdog(LIMIT);
    let (temporal, by_priority, by_end) = (
        || Policy::QueueOrder(QueueOrder::TEMPORAL),
        || Policy::QueueOrder(QueueOrder::PRIORITY),
        || Policy::QueueOrder(QueueOrder::DEADLINE),
    );
    let ranked = |priority| {
        let range = PriorityRange::exactly(priority);
        vec![by_priority(), Policy::RequestPriority(range)]
    };
    let now = SystemTime::now();
    let until = |hours: u64| {
        let end = now + Duration::from_secs(3600 * hours);
        vec![by_end(), Policy::RequestEndTime(end)]
    };
    for (policies, served) in [
        (
            vec![ranked(3), ranked(9), vec![by_priority()], ranked(9)],
            [2, 4, 1, 3],
        ),
        (
            vec![until(9), vec![by_end()], until(3), until(6)],
            [3, 4, 1, 2],
        ),
        // Requests with different orders do not pass each other.
        (
            vec![ranked(3), vec![temporal()], ranked(3), ranked(9)],
            [1, 2, 4, 3],
        ),
        (vec![vec![], vec![temporal()], vec![], vec![]], [1, 2, 3, 4]),
    ] {
        let held = Held::new(&buffering(None, None));
        std::thread::scope(|scope| {
            let holder = scope.spawn(|| echo(&client(&held.rt), &held.holding).wait());
            held.gate.gate.wait_for_waiters(1);
            for (policies, value) in policies.into_iter().zip(1..) {
                let held = &held;
                scope.spawn(move || {
                    held.rt.current().set_the_priority(at(5)).unwrap();
                    let object = echo(&client(&held.rt), &held.noting);
                    let object = object.as_object();
                    let object = object.set_policy_overrides(&policies, SetOverride::Add);
                    assert_eq!(
                        Echo::from_object(object.unwrap()).long(value).unwrap(),
                        value
                    );
                });
                let waiting = usize::try_from(value).unwrap();
                wait_until(&held.server.orb, |lane| lane.waiting == waiting);
            }
            held.gate.gate.open();
            holder.join().unwrap().unwrap();
        });
        assert_eq!(*held.order.0.lock().unwrap(), served);
    }
}

#[test]
fn buffered_requests_have_the_priorities_of_their_objects() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::at(&rt, &["iiop://127.0.0.1:0"]);
    let options = buffering(None, None);
    let pool = rt.create_threadpool(&server.orb, threads(0), &options);
    let of_pool = PoaPolicy::of(ThreadpoolPolicy(pool.unwrap()));
    let declared = PoaPolicy::of(PriorityModelPolicy::server_declared(at(20)));
    let poa = server.poa("pool", &[declared, of_pool]).unwrap();
    let (gate, order) = (Arc::new(EchoImpl::default()), Arc::new(Order::default()));
    let text = |object: Echo| server.orb.object_to_string(object.as_object()).unwrap();
    let holding = text(poa.activate(gate.clone()).unwrap());
    // The POA's priority, and those of the objects.
    let usual = text(poa.activate(order.clone()).unwrap());
    let own = |priority: i16| {
        let servant = <Echo as Implements<Arc<Order>>>::servant(order.clone());
        let id = poa.activate_object_with_priority(servant, at(priority));
        text(poa.id_to_reference(&id.unwrap()).unwrap())
    };
    let objects = [own(10), usual, own(30)];
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| echo(&client(&rt), &holding).wait());
        gate.gate.wait_for_waiters(1);
        let mut calls = Vec::new();
        for (object, value) in objects.iter().zip(1..) {
            let rt = &rt;
            calls.push(scope.spawn(move || echo(&client(rt), object).long(value)));
            let waiting = calls.len();
            wait_until(&server.orb, |lane| lane.waiting == waiting);
        }
        gate.gate.open();
        holder.join().unwrap().unwrap();
        for (call, value) in calls.into_iter().zip(1..) {
            assert_eq!(call.join().unwrap().unwrap(), value);
        }
    });
    assert_eq!(*order.0.lock().unwrap(), [3, 2, 1]);
}

#[test]
fn a_pool_buffers_no_more_octets_than_it_may() {
    let _watchdog = watchdog(LIMIT);
    // One such request has some hundred bytes.
    let held = Held::new(&buffering(None, Some(150)));
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| echo(&client(&held.rt), &held.holding).wait());
        held.gate.gate.wait_for_waiters(1);
        let first = held.call(scope, 1, 1);
        wait_until(&held.server.orb, |lane| lane.waiting == 1);
        let second = held.call(scope, 1, 2);
        wait_until(&held.server.orb, |lane| {
            lane.waiting == 2 || lane.refused == 1
        });
        let lane = lane_of_pool(&held.server.orb, |_| true).unwrap();
        held.gate.gate.open();
        holder.join().unwrap().unwrap();
        assert_eq!((lane.waiting, lane.refused), (1, 1));
        assert_eq!(first.join().unwrap(), Ok(1));
        assert_eq!(second.join().unwrap(), Err(Kind::Transient));
    });
}

#[test]
fn what_an_orb_has_buffered_when_it_is_shut_down_is_refused() {
    let _watchdog = watchdog(LIMIT);
    let held = Held::new(&buffering(None, None));
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| echo(&client(&held.rt), &held.holding).wait());
        held.gate.gate.wait_for_waiters(1);
        let calls: Vec<_> = (1..=3).map(|value| held.call(scope, 1, value)).collect();
        wait_until(&held.server.orb, |lane| lane.waiting == 3);
        held.server.orb.shutdown(false).unwrap();
        held.gate.gate.open();
        // The one in progress finishes; the clients of the others learn that they were not begun.
        holder.join().unwrap().unwrap();
        for call in calls {
            assert_eq!(call.join().unwrap(), Err(Kind::Transient));
        }
    });
    assert_eq!(*held.order.0.lock().unwrap(), [0; 0]);
}

/// Servant that returns its thread's scheduling, and can be made to wait first.
struct Scheduled(Arc<EchoImpl>);

impl Answering for Scheduled {
    fn answer(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError> {
        if call.arguments().get_i32()? != 0 {
            self.0.gate.pass();
        }
        let (policy, priority) = scheduled();
        let at = i32::try_from(policy * 1000 + priority).unwrap();
        call.reply(|out| at.marshal(out))
    }
}

#[test]
fn a_lane_whose_threads_are_in_upcalls_borrows_one_of_a_lower_lane() {
    let _watchdog = watchdog(LIMIT);
    let Some(rt) = fifo(Propagated::default()) else {
        return;
    };
    for buffering in [
        RequestBuffering::None,
        RequestBuffering::Unbounded,
        RequestBuffering::Bounded(BufferLimits::default()),
    ] {
        let of_server = fifo(Propagated::default()).unwrap();
        let server = Server::at(&of_server, &["iiop://127.0.0.1:0"]);
        let options = ThreadpoolOptions {
            buffering,
            allow_borrowing: true,
            ..ThreadpoolOptions::default()
        };
        let lanes = [threads(10), threads(50)];
        let pool = of_server.create_threadpool_with_lanes(&server.orb, &lanes, &options);
        let of_pool = PoaPolicy::of(ThreadpoolPolicy(pool.unwrap()));
        let poa = server.poa("pool", &[PoaPolicy::of(propagated()), of_pool]);
        let gate = Arc::new(EchoImpl::default());
        let servant = Arc::new(Scheduled(gate.clone()));
        let object: Echo = poa.unwrap().activate(servant).unwrap();
        let reference = server.orb.object_to_string(object.as_object()).unwrap();
        let call = |priority: i16, waits: i32| {
            rt.current().set_the_priority(at(priority)).unwrap();
            echo(&client(&rt), &reference).long(waits).unwrap()
        };
        std::thread::scope(|scope| {
            let holder = scope.spawn(|| call(50, 1));
            gate.gate.wait_for_waiters(1);
            // Served while the lane's own thread waits, at the lane's priority.
            on_a_thread(|| assert_eq!(call(50, 0), 1050, "{buffering:?}"));
            let lent = lane_of_pool(&server.orb, |lane| lane.priority == Some(at(50)));
            assert!(lent.unwrap().borrowed > 0);
            // The thread that was lent is back, and runs at its own.
            on_a_thread(|| assert_eq!(call(10, 0), 1010, "{buffering:?}"));
            gate.gate.open();
            assert_eq!(holder.join().unwrap(), 1050);
        });
        let low = lane_of_pool(&server.orb, |lane| lane.priority == Some(at(10)));
        assert_eq!(low.unwrap().borrowed, 0);
    }
}

#[test]
fn lanes_are_reported_while_they_do_something() {
    let _watchdog = watchdog(LIMIT);
    let rt = ordinary(Propagated::default());
    let server = Server::new(&rt);
    let (tell, hear) = std::sync::mpsc::channel();
    let every = std::time::Duration::from_millis(5);
    let report = LaneReport::start(&server.orb, every, move |lane| {
        // The receiver is gone once the test is over.
        let _ = tell.send(lane.clone());
    });
    let report = report.unwrap();
    let echo = echo(&client(&rt), &server.plain());
    (0..3).for_each(|value| assert_eq!(echo.long(value).unwrap(), value));
    let lane = hear.iter().find(|lane| lane.messages >= 3).unwrap();
    // Its object has no priority model.
    assert_eq!(lane.by_priority, []);
    let line = lane.to_string();
    assert!(
        line.contains("1 connections") && line.contains("0 refused"),
        "{line}"
    );
    drop(report);
    // Its thread ends, and with that the channel.
    hear.iter().for_each(drop);
}
