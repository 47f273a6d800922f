//! Lanes of Real-time CORBA.

use super::blocking::{Blocking, Steps, queued};
use crate::model::Random;
use crate::support::peers::{Calls, Numbered, Recorder, Setting, event};
use parking_lot::Mutex;
use punctual_rtevent::{
    ConnectError, Filter, LaneThreads, Lanes, LanesOptions, Level, OptionsError, Pushed,
    QueueOptions, Scheduling, Subscription, ThreadSpec,
};
use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Time after which no run of a test blocks its thread.
const NEVER: Duration = Duration::from_secs(3_600);
const SOON: Duration = Duration::from_millis(1);

fn at(priority: i16) -> Level {
    Level::new(0, priority)
}

/// Returns a lane whose threads are named after its priority.
fn lane(priority: i16, static_threads: usize, dynamic_threads: usize) -> LaneThreads {
    let thread = ThreadSpec::named(format!("lane {priority}"));
    LaneThreads::new(at(priority), static_threads, dynamic_threads).thread(thread)
}

fn options(lanes: &[LaneThreads]) -> LanesOptions {
    LanesOptions {
        lanes: lanes.to_vec(),
        blocked_after: NEVER,
        ..LanesOptions::default()
    }
}

fn borrowing(lanes: &[LaneThreads]) -> LanesOptions {
    LanesOptions {
        allow_borrowing: true,
        ..options(lanes)
    }
}

fn opened(options: LanesOptions) -> (Arc<Lanes>, Setting) {
    let lanes = Arc::new(Lanes::new(options).unwrap());
    (lanes.clone(), queued(lanes))
}

fn wants(kind: i32, level: Level) -> Subscription {
    Subscription::new(Filter::event(kind, 0)).level(level)
}

/// Connects a consumer that blocks.
fn steps(setting: &Setting, kind: i32, priority: i16) -> Steps {
    Steps::subscribed(setting, wants(kind, at(priority)))
}

/// Returns the numbers of threads of the lanes.
fn threads(lanes: &Lanes) -> Vec<usize> {
    lanes.status().iter().map(|lane| lane.threads).collect()
}

/// Returns how often each lane has borrowed a thread.
fn borrowed(lanes: &Lanes) -> Vec<u64> {
    lanes.status().iter().map(|lane| lane.borrowed).collect()
}

#[test]
fn a_delivery_is_made_by_the_lane_with_the_highest_priority_not_above_its_own() {
    let (lanes, setting) = opened(options(&[lane(10, 1, 0), lane(20, 1, 0)]));
    let (tell, told) = mpsc::channel();
    let levels = [
        at(i16::MAX),
        at(20),
        at(19),
        at(10),
        at(9),
        Level::new(1, 99),
    ];
    for level in levels {
        let tell = tell.clone();
        let consumer = Calls(move |_: &[Numbered]| {
            let thread = std::thread::current();
            tell.send((level, thread.name().unwrap().to_owned()))
                .unwrap();
            Pushed::Done
        });
        let connected = setting
            .channel
            .connect_consumer(wants(20, level), Arc::new(consumer));
        connected.unwrap();
    }
    setting.push(20, 0, 1);
    let seen: BTreeMap<_, _> = levels.map(|_| told.recv().unwrap()).into();
    let served = levels.map(|level| seen[&level].as_str());
    let (high, low) = ("lane 20", "lane 10");
    assert_eq!(served, [high, high, low, low, low, low]);
    let status = lanes.status();
    assert_eq!([status[0].level, status[1].level], [at(20), at(10)]);
}

#[test]
fn under_load_a_lane_delivers_by_priority_and_no_lane_waits_for_another() {
    let (_, setting) = opened(options(&[lane(20, 1, 0), lane(0, 1, 0)]));
    let low = steps(&setting, 20, 0);
    setting.push(20, 0, 0);
    low.thread();
    // What comes now waits in the low lane, and goes past in the high one.
    let order = Arc::new(Mutex::new(Vec::new()));
    for priority in [1, 7, 3] {
        let order = order.clone();
        let consumer = Calls(move |events: &[Numbered]| {
            order.lock().push((priority, events.len()));
            Pushed::Done
        });
        let subscription = wants(21, at(priority)).queue(QueueOptions {
            batch: 50,
            ..QueueOptions::default()
        });
        let channel = &setting.channel;
        let connected = channel.connect_consumer(subscription, Arc::new(consumer));
        connected.unwrap();
    }
    let (high, _) = setting.record(wants(21, at(30)));
    let (last, _) = setting.record(wants(21, Level::new(2, 0)));
    for number in 1..=100 {
        setting.push(21, 0, number);
    }
    high.wait_for(100);
    assert!(order.lock().is_empty() && last.data().is_empty());
    low.go_on();
    last.wait_for(100);
    let expected = [(7, 50), (7, 50), (3, 50), (3, 50), (1, 50), (1, 50)];
    assert_eq!(*order.lock(), expected);
}

#[test]
fn dynamic_threads_start_on_demand_up_to_the_limit_and_end_when_they_are_idle() {
    let (lanes, setting) = opened(LanesOptions {
        idle_for: SOON,
        ..options(&[lane(10, 1, 2)])
    });
    let mut all: Vec<_> = (0..4).map(|_| steps(&setting, 20, 10)).collect();
    assert_eq!(threads(&lanes), [1]);
    setting.push(20, 0, 1);
    let (mut begun, mut waiting) = (0, Vec::new());
    while begun < 3 {
        let has_begun = |steps: &Steps| steps.pushed.try_recv().is_ok();
        let (blocked, others): (Vec<_>, Vec<_>) = all.drain(..).partition(has_begun);
        begun += blocked.len();
        waiting.extend(blocked);
        all = others;
    }
    assert_eq!(threads(&lanes), [3]);
    assert!(all[0].pushed.try_recv().is_err(), "a fourth thread");
    waiting.iter().for_each(Steps::go_on);
    assert_eq!(all[0].thread(), "lane 10");
    all[0].go_on();
    while threads(&lanes) != [1] {
        std::thread::yield_now();
    }
    assert_eq!(lanes.status()[0].blocked, 0);
}

#[test]
fn a_lane_whose_threads_are_in_pushes_borrows_idle_ones_of_lower_lanes() {
    let three = [lane(30, 1, 0), lane(20, 1, 0), lane(10, 1, 0)];
    let (lanes, setting) = opened(borrowing(&three));
    let high = [20, 21, 22].map(|kind| steps(&setting, kind, 30));
    let mut served = Vec::new();
    for (steps, kind) in high.iter().zip(20..) {
        setting.push(kind, 0, 1);
        served.push(steps.thread());
    }
    assert_eq!(served[0], "lane 30");
    served.sort();
    assert_eq!(served, ["lane 10", "lane 20", "lane 30"]);
    assert_eq!(borrowed(&lanes), [2, 0, 0]);
    // Neither the middle lane nor the one below has a thread left.
    let (middle, _) = setting.record(wants(23, at(20)));
    setting.push(23, 0, 1);
    assert!(middle.data().is_empty());
    // A borrowed thread goes back.
    high[1].go_on();
    middle.wait_for(1);
    high[0].go_on();
    high[2].go_on();
    assert_eq!(threads(&lanes), [1, 1, 1]);
}

#[test]
fn a_borrowed_thread_serves_until_nothing_waits_in_the_lane() {
    let (lanes, setting) = opened(borrowing(&[lane(20, 1, 0), lane(10, 1, 0)]));
    let (own, lent) = (steps(&setting, 20, 20), steps(&setting, 21, 20));
    let (recorder, _) = setting.record(wants(22, at(20)));
    let (low, _) = setting.record(wants(22, at(10)));
    setting.push(20, 0, 1);
    assert_eq!(own.thread(), "lane 20");
    setting.push(21, 0, 1);
    assert_eq!(lent.thread(), "lane 10");
    setting.push(22, 0, 1);
    assert!(recorder.data().is_empty() && low.data().is_empty());
    lent.go_on();
    low.wait_for(1);
    // The more urgent one came first, although the thread is of the other's lane.
    assert_eq!(recorder.data(), [1]);
    assert_eq!(borrowed(&lanes), [2, 0]);
    own.go_on();
}

#[test]
fn a_lane_borrows_neither_from_a_higher_one_nor_without_permission() {
    for (options, busy, idle) in [
        (options(&[lane(20, 1, 0), lane(10, 1, 0)]), 20, 10),
        (borrowing(&[lane(20, 1, 0), lane(10, 1, 0)]), 10, 20),
    ] {
        let (lanes, setting) = opened(options);
        let (first, second) = (steps(&setting, 20, busy), steps(&setting, 21, busy));
        let (other, _) = setting.record(wants(22, at(idle)));
        setting.push(20, 0, 1);
        let thread = first.thread();
        setting.push(21, 0, 1);
        for number in 1..=3 {
            setting.push(22, 0, number);
            other.wait_for(number as usize);
        }
        assert!(second.pushed.try_recv().is_err());
        first.go_on();
        assert_eq!(second.thread(), thread);
        second.go_on();
        assert_eq!(borrowed(&lanes), [0, 0]);
    }
}

#[test]
fn a_borrowed_thread_has_the_native_priority_of_the_borrower() {
    let fifo = |priority| Scheduling::Fifo { priority };
    let scheduled = |priority: i16| {
        let thread = ThreadSpec::named("lane").scheduling(fifo(i32::from(priority)));
        LaneThreads::new(at(priority), 1, 0).thread(thread)
    };
    let (lanes, setting) = opened(borrowing(&[scheduled(2), scheduled(1)]));
    let channel = &setting.channel;
    let first = channel.connect_consumer(wants(30, at(2)), Recorder::new());
    if let Err(ConnectError::Thread(reason)) = first {
        println!("skipped: {reason}");
        return;
    }
    let (tell, told) = mpsc::channel();
    for (name, level) in [("high", at(2)), ("low", at(1))] {
        let tell = tell.clone();
        let consumer = Calls(move |_: &[Numbered]| {
            let own = punctual_sys::scheduling::own().unwrap();
            tell.send((name, own)).unwrap();
            Pushed::Done
        });
        let connected = channel.connect_consumer(wants(21, level), Arc::new(consumer));
        connected.unwrap();
    }
    let blocked = steps(&setting, 20, 2);
    setting.push(20, 0, 1);
    blocked.thread();
    setting.push(21, 0, 1);
    let seen: BTreeMap<_, _> = [told.recv().unwrap(), told.recv().unwrap()].into();
    assert_eq!((seen["high"], seen["low"]), (fifo(2), fifo(1)));
    assert_eq!(borrowed(&lanes), [1, 0]);
}

#[test]
fn consumers_that_hang_in_a_lane_cost_neither_it_nor_a_lender_an_event() {
    let (lanes, setting) = opened(LanesOptions {
        blocked_after: SOON,
        idle_for: SOON,
        ..borrowing(&[lane(20, 1, 1), lane(10, 1, 0)])
    });
    let hung: Vec<_> = (0..50).map(|_| Blocking::new()).collect();
    for blocking in &hung {
        blocking.connect(&setting, wants(20, at(20)));
    }
    let (high, _) = setting.record(wants(20, at(20)));
    let (low, _) = setting.record(wants(20, at(10)));
    for number in 1..=200 {
        setting.push(20, 0, number);
        high.wait_for(number as usize);
        low.wait_for(number as usize);
    }
    assert_eq!(high.data(), (1..=200).collect::<Vec<_>>());
    assert_eq!(low.data(), (1..=200).collect::<Vec<_>>());
    drop(hung);
    while lanes.status().iter().any(|lane| lane.blocked > 0) {
        std::thread::yield_now();
    }
}

#[test]
fn lanes_of_any_sizes_deliver_all_events_in_order() {
    let mut random = Random::new(7);
    for round in 0..30 {
        let count = 1 + random.below(4) as i16;
        let size = |priority| {
            let (fixed, further) = (1 + random.below(3), random.below(4));
            lane(10 * priority, fixed as usize, further as usize)
        };
        let (_, setting) = opened(LanesOptions {
            allow_borrowing: round % 3 > 0,
            // Even runs that do not block lead to further threads at times.
            blocked_after: if round % 2 == 0 { SOON } else { NEVER },
            idle_for: SOON,
            ..options(&(0..count).map(size).collect::<Vec<_>>())
        });
        let subscription = |_| {
            let level = Level::new(random.below(2) as u8, random.below(50) as i16 - 5);
            Subscription::new(Filter::null())
                .level(level)
                .queue(QueueOptions {
                    batch: 1 + random.below(5) as usize,
                    ..QueueOptions::default()
                })
        };
        let recorders: Vec<_> = (0..6)
            .map(subscription)
            .map(|subscription| setting.record(subscription).0)
            .collect();
        let supplier = &setting.supplier;
        std::thread::scope(|scope| {
            for source in 1..=2 {
                scope.spawn(move || {
                    for number in 1..=300 {
                        supplier.push(&[event(20, source, number)]).unwrap();
                    }
                });
            }
        });
        for recorder in recorders {
            recorder.wait_for(600);
            let events = recorder.take();
            for source in 1..=2 {
                let of_source = events.iter().filter(|one| one.header.source == source);
                let numbers: Vec<_> = of_source.map(|one| one.data).collect();
                assert_eq!(numbers, (1..=300).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn lanes_end_with_the_strategy_also_while_a_thread_is_lent() {
    let (lanes, setting) = opened(borrowing(&[lane(20, 1, 1), lane(10, 2, 0)]));
    let (recorder, handle) = setting.record(wants(30, at(20)));
    let blocked = [20, 21, 22, 23].map(|kind| steps(&setting, kind, 20));
    for (steps, kind) in blocked.iter().zip(20..) {
        setting.push(kind, 0, 1);
        steps.thread();
    }
    assert_eq!(borrowed(&lanes), [2, 0]);
    // Nothing is left that would serve it.
    setting.push(30, 0, 1);
    let weak = Arc::downgrade(&recorder);
    drop((recorder, handle, setting, lanes));
    assert!(weak.upgrade().is_some());
    drop(blocked);
    while weak.upgrade().is_some() {
        std::thread::yield_now();
    }
}

#[test]
fn lanes_that_cannot_be_are_refused() {
    let zero = |name| OptionsError::Zero { name };
    let refused = |lanes: &[LaneThreads]| Lanes::new(options(lanes)).unwrap_err();
    assert_eq!(refused(&[]), zero("lanes"));
    assert_eq!(refused(&[lane(1, 0, 5)]), zero("static_threads"));
    let twice = refused(&[lane(1, 1, 0), lane(2, 1, 0), lane(1, 1, 0)]);
    assert_eq!(twice, OptionsError::LanesOfOneLevel(at(1)));
    assert!(twice.to_string().contains("priority 1"), "{twice}");
    let unnamed = ThreadSpec::named("no\0thread");
    let last = LaneThreads::new(at(0), 1, 0).thread(unnamed);
    let (lanes, setting) = opened(options(&[lane(1, 1, 0), last]));
    let channel = &setting.channel;
    let refused = channel.connect_consumer(wants(20, at(1)), Recorder::new());
    assert!(matches!(refused, Err(ConnectError::Thread(_))));
    assert!(lanes.status().is_empty());
}
