//! Timeline of requests, and its analysis: as a drawing, and for priority inversions.

use crate::lanes::propagated;
use crate::setting::{LIMIT, Server, at, client, echo, on_a_thread, ordinary};
use crate::support::{Echo, EchoImpl, watchdog};
use punctual::Interface;
use punctual::poa::PoaPolicy;
use punctual::rt::timeline::{
    Record, Stage, ThreadRecords, Timeline, TimelineLimits, Within, inversions, requests,
    write_chrome_trace,
};
use punctual::rt::{
    BufferLimits, PoolThreads, Propagated, RequestBuffering, ThreadpoolOptions, ThreadpoolPolicy,
};
use punctual::stub::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Scoped name of the operation that these tests call.
const LONG: &str = "test::Echo::long";

/// Lock for one test at a time: a process has only one timeline.
static ONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the records of the given lanes only, as other tests of the process run concurrently.
fn of_lane(threads: &[ThreadRecords], lanes: &[u32]) -> Vec<ThreadRecords> {
    let is_its = |record: &&Record| lanes.contains(&record.request.lane);
    let of = |thread: &ThreadRecords| ThreadRecords {
        records: thread.records.iter().filter(is_its).copied().collect(),
        ..thread.clone()
    };
    threads.iter().map(of).collect()
}

#[test]
fn a_timeline_has_each_stage_of_a_request_with_its_priority() {
    let (_watchdog, _one) = (watchdog(LIMIT), alone());
    let rt = ordinary(Propagated::default());
    let server = Server::new(&rt);
    let reference = server.object(propagated());
    let lane = server.orb.lane_statistics()[0].number;
    let client = client(&rt);
    let recording = Timeline::start(TimelineLimits::default()).unwrap();
    let again = Timeline::start(TimelineLimits::default());
    assert!(again.unwrap_err().to_string().contains("already"));
    on_a_thread(|| {
        rt.current().set_the_priority(at(77)).unwrap();
        let echo = echo(&client, &reference);
        for value in 0..20 {
            echo.long(value).unwrap();
        }
    });
    let own: Vec<u32> = client
        .lane_statistics()
        .iter()
        .map(|one| one.number)
        .collect();
    let all = recording.stop();
    assert_eq!(all.iter().map(|thread| thread.lost).sum::<u64>(), 0);
    let threads = of_lane(&all, &[lane]);
    let stages: Vec<Stage> = threads
        .iter()
        .flat_map(|thread| thread.records.iter().map(|record| record.stage))
        .collect();
    let each = [
        Stage::Read,
        Stage::Upcall,
        Stage::RunsAt,
        Stage::UpcallEnd,
        Stage::Replied,
    ];
    // The client may have the last reply before the server has recorded that it left.
    assert!(stages.len() >= 99, "{stages:?}");
    assert!(
        stages.chunks(5).all(|stages| each.starts_with(stages)),
        "{stages:?}"
    );
    let served = requests(&of_lane(&all, &[&own[..], &[lane]].concat()));
    assert_eq!(served.len(), 20);
    for request in &served {
        assert_eq!(request.priority, Some(at(77)));
        // The last reply may come before its upcall's end is recorded.
        assert!(request.upcall_end.is_none() || request.operation.as_deref() == Some(LONG));
        let times = [Some(request.read), request.upcall, request.upcall_end];
        assert!(times.iter().all(Option::is_some) && times.is_sorted());
        assert!(
            request
                .replied
                .is_none_or(|at| Some(at) >= request.upcall_end)
        );
    }
    assert_eq!(inversions(&served, Within::Lane), []);
    // The lane has recorded each wait by now.
    let lane = &server.orb.lane_statistics()[0];
    assert!(
        !lane.worst_wait.is_zero() && lane.to_string().contains("worst wait"),
        "{lane}"
    );
    let mut json = Vec::new();
    write_chrome_trace(&threads, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let upcalls = events.iter().filter(|event| event["ph"] == "B");
    assert_eq!(upcalls.clone().count(), 20);
    let named = upcalls.filter(|event| event["args"]["operation"] == LONG);
    assert!(named.count() >= 19);
    assert_eq!(json["otherData"]["punctual_timeline"], 1);
    assert!(events.iter().any(|event| event["args"]["priority"] == 77));
}

#[test]
fn nothing_is_recorded_without_a_timeline_and_no_more_than_it_may_hold() {
    let (_watchdog, _one) = (watchdog(LIMIT), alone());
    let rt = ordinary(Propagated::default());
    let server = Server::new(&rt);
    let echo = echo(&client(&rt), &server.plain());
    echo.long(1).unwrap();
    let lane = server.orb.lane_statistics()[0].clone();
    assert!(lane.worst_wait.is_zero(), "{lane}");
    let limits = TimelineLimits {
        records: 7,
        ..TimelineLimits::default()
    };
    let recording = Timeline::start(limits).unwrap();
    for value in 0..10 {
        assert_eq!(echo.long(value).unwrap(), value);
    }
    let threads = of_lane(&recording.stop(), &[lane.number]);
    let serving = threads.iter().find(|one| !one.records.is_empty()).unwrap();
    assert!(serving.records.len() <= 7);
    assert!(serving.lost > 0);
    // Dropping it ends it as well.
    drop(Timeline::start(limits).unwrap());
    drop(Timeline::start(limits).unwrap());
}

/// Blocks a pool of one thread while requests with rising priorities come, and returns the number
/// of inversions.
fn served_after_a_hold(buffering: RequestBuffering) -> usize {
    let rt = ordinary(Propagated::default());
    let server = Server::new(&rt);
    let threads = PoolThreads {
        priority: at(0),
        static_threads: 1,
        dynamic_threads: 0,
        reservation: None,
    };
    let options = ThreadpoolOptions {
        buffering,
        ..ThreadpoolOptions::default()
    };
    let pool = rt
        .create_threadpool(&server.orb, threads, &options)
        .unwrap();
    let of_pool = PoaPolicy::of(ThreadpoolPolicy(pool));
    let poa = server
        .poa("pool", &[PoaPolicy::of(propagated()), of_pool])
        .unwrap();
    let gate = Arc::new(EchoImpl::default());
    let object: Echo = poa.activate(gate.clone()).unwrap();
    let reference = server.orb.object_to_string(object.as_object()).unwrap();
    let is_pool = |one: &punctual::rt::LaneStatistics| one.pool.is_some();
    let lanes = server.orb.lane_statistics();
    let lane = lanes.into_iter().find(is_pool).unwrap().number;
    let recording = Timeline::start(TimelineLimits::default()).unwrap();
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| echo(&client(&rt), &reference).wait());
        gate.gate.wait_for_waiters(1);
        let mut calls = Vec::new();
        for priority in [10, 20, 30] {
            let (rt, reference) = (&rt, &reference);
            calls.push(scope.spawn(move || {
                rt.current().set_the_priority(at(priority)).unwrap();
                echo(&client(rt), reference).long(1)
            }));
            // The next one follows this one.
            if matches!(buffering, RequestBuffering::Bounded(_)) {
                let waiting = calls.len();
                let waits = |one: punctual::rt::LaneStatistics| one.waiting == waiting;
                while !server.orb.lane_statistics().into_iter().any(waits) {
                    std::thread::yield_now();
                }
            }
        }
        gate.gate.open();
        holder.join().unwrap().unwrap();
        calls
            .into_iter()
            .for_each(|call| assert_eq!(call.join().unwrap().unwrap(), 1));
    });
    let served = requests(&of_lane(&recording.stop(), &[lane]));
    assert_eq!(served.iter().filter(|one| one.upcall.is_some()).count(), 4);
    inversions(&served, Within::Lane).len()
}

#[test]
fn what_a_pool_has_buffered_is_served_without_inversions() {
    let (_watchdog, _one) = (watchdog(LIMIT), alone());
    let bounded = RequestBuffering::Bounded(BufferLimits::default());
    assert_eq!(served_after_a_hold(bounded), 0);
}
