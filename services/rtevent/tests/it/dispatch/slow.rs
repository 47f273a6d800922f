//! Consumers that block, and the lane of slow ones.

use super::blocking::{Blocking, Steps, queued};
use crate::support::peers::Setting;
use punctual_rtevent::{
    Dispatcher, Filter, LaneThreads, Lanes, LanesOptions, Level, OptionsError, Pool, PoolOptions,
    SlowOptions, Threads, ThreadsOptions,
};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);
/// Name of the threads of slow consumers.
const SLOW: &str = "slow events";

#[test]
fn a_consumer_that_blocks_does_not_hold_up_the_others_of_its_level() {
    let options = ThreadsOptions {
        blocked_after: Duration::from_millis(1),
        idle_for: Duration::from_millis(1),
        most_threads: 3,
        ..ThreadsOptions::default()
    };
    let setting = queued(Arc::new(Threads::new(options).unwrap()));
    let blocked = Blocking::connected(&setting, 2);
    let (recorder, _) = setting.filter(Filter::event(20, 0));
    for number in 1..=3 {
        setting.push(20, 0, number);
        recorder.wait_for(number as usize);
    }
    assert_eq!(recorder.data(), [1, 2, 3]);
    drop(blocked);
}

#[test]
fn consumers_that_block_occupy_no_more_threads_than_the_limit() {
    let options = PoolOptions {
        threads: 1,
        most_threads: 1,
        most_blocked: 1,
        blocked_after: SOON,
        ..PoolOptions::default()
    };
    let setting = queued(Arc::new(Pool::new(options).unwrap()));
    let mut all = Blocking::connected(&setting, 3);
    setting.push(20, 0, 1);
    all[0].begun.recv().unwrap();
    all[1].begun.recv().unwrap();
    // One thread is written off, and the pool's is in a push.
    assert!(all[2].begun.try_recv().is_err());
    drop(all.remove(1).release);
    all[1].begun.recv().unwrap();
}

/// Strategies of each kind.
fn strategies() -> [Arc<dyn Dispatcher>; 3] {
    let threads = ThreadsOptions {
        blocked_after: SOON,
        idle_for: SOON,
        ..ThreadsOptions::default()
    };
    let pool = PoolOptions {
        threads: 1,
        blocked_after: SOON,
        idle_for: SOON,
        ..PoolOptions::default()
    };
    let lanes = LanesOptions {
        lanes: vec![LaneThreads::new(Level::default(), 1, 0)],
        blocked_after: SOON,
        idle_for: SOON,
        ..LanesOptions::default()
    };
    [
        Arc::new(Threads::new(threads).unwrap()),
        Arc::new(Pool::new(pool).unwrap()),
        Arc::new(Lanes::new(lanes).unwrap()),
    ]
}

#[test]
fn two_hundred_consumers_that_never_return_leave_the_level_to_the_others() {
    for strategy in strategies() {
        let setting = queued(strategy);
        let hung = Blocking::connected(&setting, 200);
        let (recorder, _) = setting.filter(Filter::event(20, 0));
        for number in 1..=500 {
            setting.push(20, 0, number);
            recorder.wait_for(number as usize);
        }
        assert_eq!(recorder.data(), (1..=500).collect::<Vec<_>>());
        drop(hung);
    }
}

/// Returns the number of slow consumers.
fn slow(setting: &Setting) -> usize {
    let consumers = setting.channel.statistics().consumers;
    consumers.iter().filter(|one| one.is_slow).count()
}

/// Waits until a number of consumers are slow.
fn wait_for_slow(setting: &Setting, count: usize) {
    while slow(setting) != count {
        std::thread::yield_now();
    }
}

#[test]
fn a_consumer_that_blocked_is_served_apart_until_it_returns_in_time() {
    for strategy in strategies() {
        let setting = queued(strategy);
        let steps = Steps::connected(&setting);
        let (recorder, _) = setting.filter(Filter::null());
        setting.push(20, 0, 1);
        assert_ne!(steps.thread(), SLOW);
        // The other consumer gets its event from a further thread, as the first is written off.
        recorder.wait_for(1);
        steps.go_on();
        wait_for_slow(&setting, 1);
        setting.push(20, 0, 2);
        assert_eq!(steps.thread(), SLOW);
        steps.go_on();
        recorder.wait_for(2);
        // On a busy machine, more than one push may be late.
        let mut number = 3;
        let is_served_apart = |number| {
            steps.go_on();
            setting.push(20, 0, number);
            recorder.wait_for(number as usize);
            steps.thread() == SLOW
        };
        while is_served_apart(number) {
            number += 1;
        }
    }
}

#[test]
fn slow_consumers_share_few_threads() {
    let options = ThreadsOptions {
        blocked_after: SOON,
        // So each consumer waits until the thread of the one before is written off.
        most_threads: 1,
        slow: SlowOptions {
            threads: 2,
            ..SlowOptions::default()
        },
        ..ThreadsOptions::default()
    };
    let setting = queued(Arc::new(Threads::new(options).unwrap()));
    let all: Vec<_> = (0..20).map(|_| Steps::connected(&setting)).collect();
    let (recorder, _) = setting.filter(Filter::null());
    setting.push(20, 0, 1);
    recorder.wait_for(1);
    all.iter()
        .for_each(|steps| assert_ne!(steps.thread(), SLOW));
    all.iter().for_each(Steps::go_on);
    wait_for_slow(&setting, 20);
    setting.push(20, 0, 2);
    recorder.wait_for(2);
    let begun = || all.iter().filter(|steps| steps.pushed.try_recv().is_ok());
    let mut count = 0;
    while count < 2 {
        count += begun().count();
    }
    setting.push(21, 0, 3);
    recorder.wait_for(3);
    assert_eq!(begun().count(), 0, "both threads are in pushes");
}

#[test]
fn a_lane_of_slow_consumers_without_threads_is_refused() {
    let none = || SlowOptions {
        threads: 0,
        ..SlowOptions::default()
    };
    let zero = OptionsError::Zero {
        name: "slow.threads",
    };
    let options = ThreadsOptions {
        slow: none(),
        ..ThreadsOptions::default()
    };
    assert_eq!(Threads::new(options).unwrap_err(), zero);
    let options = PoolOptions {
        slow: none(),
        ..PoolOptions::default()
    };
    assert_eq!(Pool::new(options).unwrap_err(), zero);
    let options = LanesOptions {
        lanes: vec![LaneThreads::new(Level::default(), 1, 0)],
        slow: none(),
        ..LanesOptions::default()
    };
    assert_eq!(Lanes::new(options).unwrap_err(), zero);
}
