//! Test that a real-time lane starts the thread that reads its replies at the lane's first
//! asynchronous call and not before, and at the lane's priority. The only test of its process, as
//! it counts the process's threads.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, dead_code)]

#[path = "../it/asynchronous/behind.rs"]
mod behind;
use crate::support;

use behind::Behind;
use generated::asynchronous::Clerk;
use punctual::config::ReplyHandlers;
use punctual::policy::Collocation;
use punctual::rt::{Mapping, Priority, RtConfig, RtOrb};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa};
use punctual_idl_tests::clerks as generated;
use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use support::watchdog;

/// Returns the policies (0 SCHED_OTHER, 1 SCHED_FIFO) and real-time priorities of the threads that
/// read replies (`proc(5)`).
fn readers() -> Vec<(u32, u32)> {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let stats = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("stat")).ok());
    let readers = stats.filter(|stat| stat.contains("(punctual-replie"));
    readers
        .map(|stat| {
            let behind_name = stat.rsplit_once(')').unwrap().1.to_owned();
            let fields: Vec<&str> = behind_name.split_whitespace().collect();
            (fields[38].parse().unwrap(), fields[37].parse().unwrap())
        })
        .collect()
}

/// Makes asynchronous calls on a client thread with the CORBA priority `priority`.
fn call_at(rt: &RtOrb, clerk: &Clerk, priority: i16) {
    rt.current()
        .set_the_priority(Priority::new(priority).unwrap())
        .unwrap();
    let before = readers();
    // A waiting caller reads its reply itself, for synchronous and polled calls.
    assert_eq!(clerk.add(1, 2).unwrap(), 3);
    assert_eq!(clerk.sendp_add(1, 2).wait().unwrap(), 3);
    assert_eq!(readers(), before);
    let (say, heard) = mpsc::channel();
    for number in 0..10 {
        let say = say.clone();
        let handler = move |sum: Result<i32, _>| {
            let name = thread::current().name().map(str::to_owned);
            say.send((name, sum.unwrap())).unwrap();
        };
        clerk.sendc_add(handler, number, 0);
    }
    drop(say);
    for (number, (name, sum)) in (0..10).zip(heard.iter()) {
        assert_eq!(sum, number);
        assert!(name.unwrap().starts_with("punctual-replie"));
    }
    let mut expected = before;
    expected.push((1, u32::try_from(priority).unwrap()));
    assert_eq!(readers(), expected);
}

#[test]
fn a_lane_has_no_thread_that_reads_replies_before_it_needs_one_and_then_one_of_its_priority() {
    crate::support::alone::alone(|| {
        let _watchdog = watchdog(Duration::from_secs(120));
        let config = RtConfig {
            mapping: Mapping::Direct,
            ..RtConfig::default()
        };
        let rt = match RtOrb::new(config) {
            Ok(rt) => rt,
            Err(error) => return println!("skipped: {error}"),
        };
        let server = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = server.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let clerk: Clerk = poa.activate(Behind::default()).unwrap();
        let text = server.object_to_string(&clerk).unwrap();
        let client = rt
            .extend(Orb::builder())
            .unwrap()
            .configure(|config| {
                config.collocation = Collocation::None;
                // Not for lanes with priorities: their handlers do not wait for `run`.
                config.reply_handlers = ReplyHandlers::Run;
            })
            .build()
            .unwrap();
        let clerk = Clerk::from_object(client.string_to_object(&text).unwrap());
        thread::scope(|scope| {
            for priority in [10, 20] {
                let (rt, clerk) = (&rt, &clerk);
                let ended = scope.spawn(move || call_at(rt, clerk, priority)).join();
                ended.unwrap();
            }
        });
        client.shutdown(true).unwrap();
        server.shutdown(true).unwrap();
    });
}
