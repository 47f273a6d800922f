//! A process that serves logs and is killed: what a write has returned for is there afterwards.
//!
//! The process is this test program, started again for one test, [`process_that_is_killed`], with the path of its store in
//! the environment. It writes by several threads, and reports each write that has returned on standard output, which
//! survives it: `WRITER NUMBER`.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use punctual_log::ds_log_admin::HALT;

use crate::support::{Served, number, numbers, record};

const STORE: &str = "PUNCTUAL_LOG_STORE";

const WRITERS: i32 = 4;

/// Numbers of one writer; the next one's begin behind them.
const EACH: i32 = 1_000_000;

/// Records of one write.
const BATCH: i32 = 3;

#[test]
fn what_write_recordlist_has_returned_for_survives_kills_of_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let mut acknowledged = HashSet::new();
    for kill in 0..6 {
        acknowledged.extend(written_until_killed(&path, 20 + 30 * kill));
        let served = Served::at(&path, ("127.0.0.1", 0));
        let log = served.find(1);
        let stored = everything(&log);
        let numbers: HashSet<_> = stored.iter().copied().collect();
        assert_eq!(numbers.len(), stored.len(), "no record is there twice");
        assert!(numbers.is_superset(&acknowledged));
        // A write is there whole or not at all.
        for one in &numbers {
            let first = one - one % EACH % BATCH;
            assert!((first..first + BATCH).all(|one| numbers.contains(&one)));
        }
    }
    assert!(acknowledged.len() > 100);
}

/// Starts the process, and kills it once it has reported so many writes; returns the numbers of all that it reported.
fn written_until_killed(path: &Path, writes: usize) -> Vec<i32> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "kills::process_that_is_killed", "--nocapture"]);
    command.env(STORE, path).stdout(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut reports = BufReader::new(process.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("written ")?.parse::<i32>().ok());
    let mut written: Vec<_> = reports.by_ref().take(writes).collect();
    process.kill().unwrap();
    written.extend(reports);
    process.wait().unwrap();
    assert!(written.len() >= writes);
    let all = written.iter().flat_map(|first| *first..*first + BATCH);
    all.collect()
}

fn everything(log: &punctual_log::ds_log_admin::Log) -> Vec<i32> {
    let (records, rest) = log.query("TCL", "").unwrap();
    let mut all = numbers(&records);
    while let Some(rest) = &rest {
        let position = u32::try_from(all.len()).unwrap();
        let more = rest.get(position, 1_000).unwrap();
        if more.is_empty() {
            break;
        }
        all.extend(numbers(&more));
    }
    all
}

#[test]
fn process_that_is_killed() {
    let Some(path) = std::env::var_os(STORE) else {
        return;
    };
    let served = Served::at(Path::new(&path), ("127.0.0.1", 0));
    // It is there from the second start on.
    let _ = served.factory.create_with_id(1, HALT, 0);
    let log = served.find(1);
    let begun = i32::try_from(log.get_n_records().unwrap()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let log = &log;
            scope.spawn(move || {
                let first = writer * EACH + begun / BATCH * BATCH;
                for batch in 0.. {
                    let first = first + batch * BATCH;
                    let list: Vec<_> = (first..first + BATCH)
                        .map(|one| record(number(one), Vec::new()))
                        .collect();
                    log.write_recordlist(&list).unwrap();
                    writeln!(std::io::stdout(), "written {first}").unwrap();
                }
            });
        }
    });
}
