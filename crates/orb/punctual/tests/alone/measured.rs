//! Measurement of upcalls: what is counted, under which names, and what a plan says of it. A
//! recording belongs to the process.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual::policy::Collocation;
use punctual::rt::measurement::{
    Arrivals, Expected, FirstUpcall, Measured, MeasuredOperation, MeasuredUpcall, RecentUpcall,
    Recording, RecordingOptions, Violation, ViolationKind, current, is_recording, to_json,
};
use punctual::{Interface, ListenEndpoint, Orb, RootPoa, SystemExceptionKind as Kind};
use punctual_orb::Observers;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::alone::alone;
use support::{Echo, EchoImpl, Pair, watchdog};

const LIMIT: Duration = Duration::from_secs(120);
const LONG: &str = "test::Echo::long";

fn find<'m>(measured: &'m Measured, name: &str) -> Option<&'m MeasuredOperation> {
    measured.operations.iter().find(|one| one.name == name)
}

/// Waits until so many upcalls have ended: a client has the reply before.
fn wait_for(name: &str, jobs: u64) {
    let is_there = || {
        find(&current()?, name)
            .filter(|one| one.jobs() >= jobs)
            .cloned()
    };
    while is_there().is_none() {
        std::thread::yield_now();
    }
}

fn recording(plan: Vec<Expected>) -> RecordingOptions {
    RecordingOptions {
        plan: Some(plan),
        ..RecordingOptions::default()
    }
}

#[test]
fn each_upcall_is_measured_under_its_scoped_name() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let pair = Pair::new();
        pair.echo.long(1).unwrap();
        assert!(!is_recording() && current().is_none());
        let recording = Recording::start(RecordingOptions::default()).unwrap();
        let again = Recording::start(RecordingOptions::default());
        assert!(again.unwrap_err().to_string().contains("already"));
        for value in 0..20 {
            pair.echo.long(value).unwrap();
        }
        wait_for(LONG, 20);
        let measured = recording.stop();
        pair.echo.long(1).unwrap();
        assert!(!is_recording());
        let [long] = &measured.operations[..] else {
            panic!("{measured:?}");
        };
        assert_eq!((long.name.as_str(), long.jobs()), (LONG, 20));
        assert_eq!(long.interface, "IDL:test/Echo:1.0");
        assert_eq!((long.response.count, long.distance.count), (20, 19));
        assert!(long.execution.shortest > Duration::ZERO);
        assert!(long.execution.quantile(0.5) <= long.execution.longest);
        assert!(long.distance.shortest + long.jitter() == long.distance.longest);
        assert!(long.is_planned && measured.not_recorded == 0);
        let json: serde_json::Value = serde_json::from_str(&to_json(&measured)).unwrap();
        let of = &json["operations"][0];
        assert_eq!(
            (&of["name"], &of["execution"]["count"]),
            (&LONG.into(), &20.into())
        );
        let longest = u64::try_from(long.response.longest.as_nanos()).unwrap();
        assert_eq!(of["response"]["max"], longest);
    });
}

#[test]
fn neither_names_that_no_servant_has_nor_operations_of_every_object_are_kept() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let pair = Pair::new();
        let recording = Recording::start(RecordingOptions {
            operations: 1,
            ..RecordingOptions::default()
        });
        let recording = recording.unwrap();
        assert_eq!(pair.echo.unknown().unwrap_err().kind(), Kind::BadOperation);
        let _narrowed = pair.as_client(&pair.echo);
        pair.echo.long(1).unwrap();
        wait_for(LONG, 1);
        // There is room for one.
        pair.echo.text("beyond").unwrap();
        while recording.measured().not_recorded == 0 {
            std::thread::yield_now();
        }
        let measured = recording.stop();
        assert_eq!((measured.operations.len(), measured.not_recorded), (1, 1));
    });
}

#[test]
fn a_servant_that_panics_is_measured_too() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let pair = Pair::new();
        let recording = Recording::start(RecordingOptions::default()).unwrap();
        // The first one of a thread is not: its operation is not known yet.
        pair.echo.panic().unwrap_err();
        pair.echo.fail().unwrap_err();
        wait_for("test::Echo::fail", 1);
        assert_eq!(
            find(&recording.stop(), "test::Echo::fail").unwrap().jobs(),
            1
        );
    });
}

#[test]
fn direct_collocated_calls_are_measured() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .configure(|config| config.collocation = Collocation::Direct)
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let echo: Echo = poa.activate(Arc::new(EchoImpl::default())).unwrap();
        let recording = Recording::start(RecordingOptions::default()).unwrap();
        echo.long(1).unwrap();
        wait_for(LONG, 1);
        drop(recording);
        assert!(!is_recording());
        orb.shutdown(true).unwrap();
    });
}

/// Works until the thread has had the processor for this long.
fn work(time: Duration) {
    let cpu = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let nanos =
        |at: rustix::time::Timespec| i128::from(at.tv_sec) * 1_000_000_000 + i128::from(at.tv_nsec);
    let begin = nanos(cpu());
    while nanos(cpu()) - begin < i128::try_from(time.as_nanos()).unwrap() {
        std::hint::spin_loop();
    }
}

const ID: &str = "IDL:test/Nested:1.0";
static IDS: &[&str] = &[ID];

/// Returns the first upcall of an operation on a thread.
fn first(operation: &str) -> FirstUpcall<'_> {
    FirstUpcall {
        interfaces: IDS,
        declared_by: ID,
        operation,
    }
}

#[test]
fn bursts_are_measured_over_all_threads() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let recording = Recording::start(RecordingOptions::default()).unwrap();
        let begun = Mutex::new(Vec::new());
        let upcalls = || {
            for number in 0..200 {
                if number % 20 == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                let mut begun = begun.lock().unwrap();
                let before = std::time::Instant::now();
                let upcall = MeasuredUpcall::begin(IDS, "burst");
                begun.push((before, std::time::Instant::now()));
                upcall.end(|| Some(first("burst")));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(upcalls);
            }
        });
        let measured = recording.stop();
        let burst = find(&measured, "test::Nested::burst").unwrap();
        assert_eq!(burst.jobs(), 600);
        let begun = begun.into_inner().unwrap();
        let Arrivals { period, jitter } = burst.arrivals.unwrap();
        // The two clocks differ in their rate.
        let margin = (begun[599].1 - begun[0].0) / 1000 + Duration::from_micros(1);
        for (first, (begin, _)) in begun.iter().enumerate() {
            for (distances, (_, end)) in (0..).zip(&begun[first..]) {
                let planned = (period * distances).saturating_sub(jitter);
                assert!(
                    *end - *begin + margin >= planned,
                    "{distances} in {:?}",
                    *end - *begin
                );
            }
        }
        let mean = (begun[599].1 - begun[0].0) / 599;
        assert!(
            period <= mean + margin && jitter >= period,
            "{period:?} {jitter:?} {mean:?}"
        );
    });
}

#[test]
fn execution_times_are_without_those_of_nested_upcalls() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let recording = Recording::start(RecordingOptions::default()).unwrap();
        let upcall = |name: &str, inside: &dyn Fn()| {
            let upcall = MeasuredUpcall::begin(IDS, name);
            inside();
            upcall.end(|| Some(first(name)));
        };
        let long = Duration::from_millis(20);
        for _ in 0..2 {
            upcall("outer", &|| {
                upcall("inner", &|| work(long));
                upcall("inner", &|| work(long));
                work(long / 20);
            });
        }
        let measured = recording.stop();
        let inner = find(&measured, "test::Nested::inner").unwrap();
        let outer = find(&measured, "test::Nested::outer").unwrap();
        assert_eq!((inner.jobs(), outer.jobs()), (4, 2));
        assert!(inner.execution.shortest >= long);
        assert!(outer.execution.shortest >= long / 20);
        assert!(outer.execution.longest < long, "{outer:?}");
        assert!(outer.response.shortest >= long * 2 + long / 20);
    });
}

#[test]
fn what_a_plan_does_not_allow_is_counted_and_called_back() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let pair = Pair::new();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let tight = Expected {
            operation: LONG.to_owned(),
            wcet: Some(Duration::ZERO),
            period: Some(Duration::from_secs(3600)),
            jitter: Duration::from_secs(1),
            deadline: Some(Duration::ZERO),
        };
        let generous = Expected {
            operation: "test::Echo::pings".to_owned(),
            wcet: Some(Duration::from_secs(3600)),
            deadline: Some(Duration::from_secs(3600)),
            ..Expected::default()
        };
        let to = seen.clone();
        let handler = move |violation: &Violation<'_>| {
            let name = violation.operation.to_owned();
            to.lock()
                .unwrap()
                .push((name, violation.kind, violation.bound));
            panic!("{violation}");
        };
        let options = RecordingOptions {
            handler: Some(Arc::new(handler)),
            ..recording(vec![tight, generous])
        };
        let recording = Recording::start(options).unwrap();
        for value in 0..3 {
            pair.echo.long(value).unwrap();
            pair.echo.pings().unwrap();
        }
        wait_for(LONG, 3);
        pair.echo.text("not planned").unwrap();
        wait_for("test::Echo::text", 1);
        wait_for("test::Echo::pings", 3);
        // The handler is called after an upcall has been counted.
        while seen
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .len()
            < 9
        {
            std::thread::yield_now();
        }
        let measured = recording.stop();
        let long = find(&measured, LONG).unwrap();
        assert_eq!((long.overruns, long.missed_deadlines), (3, 3));
        assert_eq!((long.early_releases, long.is_planned), (2, true));
        let pings = find(&measured, "test::Echo::pings").unwrap();
        assert_eq!(
            (pings.overruns, pings.early_releases, pings.missed_deadlines),
            (0, 0, 0)
        );
        assert!(!find(&measured, "test::Echo::text").unwrap().is_planned);
        let seen = seen
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let least = Duration::from_secs(3599);
        assert!(seen.contains(&(LONG.to_owned(), ViolationKind::EarlyRelease, least)));
        let unknown = (
            "test::Echo::text".to_owned(),
            ViolationKind::UnknownOperation,
            Duration::ZERO,
        );
        assert!(seen.contains(&unknown));
    });
}

#[test]
fn an_orb_with_the_option_writes_its_times_when_it_has_shut_down() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let json = written("-ORBRecord", |echo| {
            for value in 0..5 {
                echo.long(value).unwrap();
            }
        });
        assert_eq!(json["version"], 1);
        assert_eq!(json["operations"][0]["name"], LONG);
        assert_eq!(json["operations"][0]["execution"]["count"], 5);
    });
}

/// Makes a server with this option and its file, has it called by `calls`, and returns the file's content after its
/// shutdown.
fn written(option: &str, calls: impl FnOnce(&Echo)) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("written.json");
    let arguments = ["program", option, file.to_str().unwrap()];
    let arguments = arguments.map(ToOwned::to_owned);
    let (server, rest) = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .init(arguments)
        .unwrap();
    assert_eq!(rest, ["program"]);
    let poa = server.root_poa().unwrap();
    poa.manager().activate().unwrap();
    calls(&poa.activate(Arc::new(EchoImpl::default())).unwrap());
    server.shutdown(true).unwrap();
    serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap()
}

#[test]
fn an_orb_with_the_option_writes_its_timeline_with_the_names_of_operations() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let json = written("-ORBTimeline", |echo| {
            for value in 0..5 {
                echo.long(value).unwrap();
            }
            echo.fail().unwrap_err();
            assert_eq!(echo.unknown().unwrap_err().kind(), Kind::BadOperation);
            assert!(!echo.as_object().non_existent().unwrap());
        });
        assert_eq!(json["otherData"]["lost"], 0);
        let events = json["traceEvents"].as_array().unwrap();
        let begun = events.iter().filter(|event| event["ph"] == "B");
        let mut names: Vec<_> = begun
            .map(|event| event["args"]["operation"].as_str())
            .collect();
        names.dedup();
        // A name that no servant has is not kept, and operations of every object have none.
        assert_eq!(names, [Some(LONG), Some("test::Echo::fail"), None]);
        assert!(!is_recording());
    });
}

/// Measures an upcall as the object adapter does; another one is nested in it.
fn measured_upcall(name: &str, inside: &dyn Fn()) {
    match RecentUpcall::begin(Observers::running(), IDS, name) {
        Some(upcall) => {
            inside();
            upcall.end();
        }
        None => {
            let upcall = MeasuredUpcall::begin(IDS, name);
            inside();
            upcall.end(|| Some(first(name)));
        }
    }
}

#[test]
fn operations_that_a_thread_serves_by_turns_are_kept_apart() {
    let _watchdog = watchdog(LIMIT);
    alone(|| {
        let recording = Recording::start(RecordingOptions::default()).unwrap();
        // More than there are places for recent ones; of the long names only the middle differs.
        let short = (0..60).map(|number| format!("get_{number}"));
        let long = (0..60).map(|number| format!("get_all_of_{number:02}_at_a_time"));
        let names: Vec<String> = short.chain(long).collect();
        for _ in 0..5 {
            for (outer, inner) in names.iter().zip(names.iter().rev()) {
                measured_upcall(outer, &|| {
                    measured_upcall(inner, &|| ());
                    measured_upcall(outer, &|| measured_upcall(outer, &|| ()));
                });
            }
        }
        let measured = recording.stop();
        for name in names {
            let found = find(&measured, &format!("test::Nested::{name}"));
            assert_eq!(found.map(MeasuredOperation::jobs), Some(20), "{name}");
        }
    });
}
