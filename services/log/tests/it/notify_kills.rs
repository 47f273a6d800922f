//! A process that serves a notify log and is killed: an event whose push has returned is a record afterwards.
//!
//! The process is this test program, started again for one test, as in [`kills`](crate::kills).

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use punctual_log::ds_log_admin::HALT;
use punctual_notification::cos_notification::{CONNECTION_RELIABILITY, PERSISTENT};
use punctual_notification::cos_notify_channel_admin::ProxySupplier;

use crate::notify::{
    consumers, event, filter, property, pull_supplier, pushes_sequences_to, recorded_if,
};
use crate::support::Served;

const STORE: &str = "PUNCTUAL_NOTIFY_LOG_STORE";

const WRITERS: i32 = 4;

/// Numbers of one writer; the next one's begin behind them.
const EACH: i32 = 1_000_000;

#[test]
fn what_pushes_have_returned_for_survives_kills_with_the_filter_and_connections_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let mut acknowledged = HashSet::new();
    for kill in 0..4 {
        acknowledged.extend(pushed_until_killed(&path, 20 + 30 * kill));
        let served = Served::at(&path, ("127.0.0.1", 0));
        let log = served.find_notify(1);
        let mut stored = Vec::new();
        // By parts, which a reply has room for.
        let (mut last, step) = (0, 500);
        while last < log.get_n_records().unwrap() + 10_000 {
            let part = format!("$.id > {last} and $.id <= {}", last + step);
            stored.extend(recorded_if(&log, &part));
            last += step;
        }
        let numbers: HashSet<_> = stored.iter().copied().collect();
        assert_eq!(numbers.len(), stored.len(), "no record is there twice");
        assert!(numbers.is_superset(&acknowledged));
        assert!(numbers.iter().all(|one| one % 2 == 0), "the filter holds");
        assert_eq!(consumers(&log).pull_suppliers().unwrap().len(), 1);
    }
    assert!(acknowledged.len() > 100);
}

/// Starts the process, and kills it once it has reported so many pushes; returns the even numbers of all that it reported.
fn pushed_until_killed(path: &Path, pushes: usize) -> Vec<i32> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "notify_kills::process_that_is_killed",
        "--nocapture",
    ]);
    command.env(STORE, path).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut reports = BufReader::new(process.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("pushed ")?.parse::<i32>().ok());
    let mut pushed: Vec<_> = reports.by_ref().take(pushes).collect();
    process.kill().unwrap();
    pushed.extend(reports);
    process.wait().unwrap();
    assert!(pushed.len() >= pushes);
    pushed
}

#[test]
fn process_that_is_killed() {
    let Some(path) = std::env::var_os(STORE) else {
        return;
    };
    let served = Served::at(Path::new(&path), ("127.0.0.1", 0));
    // It is there from the second start on.
    if served
        .notify
        .create_with_id(1, HALT, 0, &[], &[], &[])
        .is_ok()
    {
        let log = served.find_notify(1);
        let even = filter(&log, "$even == TRUE");
        log.set_filter(Some(&even)).unwrap();
        let proxy: ProxySupplier = pull_supplier(&consumers(&log)).into();
        let persistent = punctual::Any::new(&PERSISTENT).unwrap();
        proxy
            .set_qos(&[property(CONNECTION_RELIABILITY, persistent)])
            .unwrap();
        let proxy: punctual_notification::cos_notify_channel_admin::StructuredProxyPullSupplier =
            crate::notify::narrowed(&proxy);
        proxy.connect_structured_pull_consumer(None).unwrap();
    }
    let log = served.find_notify(1);
    let begun = i32::try_from(log.get_n_records().unwrap()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let log = &log;
            scope.spawn(move || {
                let pushes = pushes_sequences_to(log);
                for step in 0.. {
                    let first = writer * EACH + 2 * (begun + step);
                    pushes
                        .push_structured_events(&[marked(first), marked(first + 1)])
                        .unwrap();
                    writeln!(std::io::stdout(), "pushed {first}").unwrap();
                }
            });
        }
    });
}

/// Returns an event with a number, and a mark of those that are even.
fn marked(number: i32) -> punctual_notification::cos_notification::StructuredEvent {
    let mut event = event(number);
    let is_even = punctual::Any::new(&(number % 2 == 0)).unwrap();
    event.filterable_data.push(property("even", is_even));
    event
}
