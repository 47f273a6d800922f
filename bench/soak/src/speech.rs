//! Messages between the processes of the soak: words from the controller, lines of JSON back.

use crate::work::{Count, Load, Tally};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::time::Duration;

/// Time limit for a process to pause its load after the command to do so.
const PAUSE: Duration = Duration::from_secs(60);
/// Time limit for a process to end; work still in progress then is abandoned.
const END: Duration = Duration::from_secs(60);
/// Exit status of a process that exceeded the time limit for its end.
const END_EXIT: i32 = 3;
/// Interval at which a process reports the work that it has done.
const PERIOD: Duration = Duration::from_secs(1);

/// Server's objects and endpoints, as its clients need them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Served {
    /// Name of the server's concurrency strategy.
    pub(crate) name: String,
    /// Protocols and addresses of the server's endpoints.
    pub(crate) endpoints: Vec<(String, String)>,
    /// Stringified reference to the server's `Maker` object.
    pub(crate) maker: String,
    /// Stringified reference to the `Target` object that all callers share.
    pub(crate) target: String,
}

/// Message from a process to the controller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Said {
    /// Report that the process is ready to serve, with its servers.
    Ready(Vec<Served>),
    /// Report of the work done so far, the faults found, and the heap.
    Done {
        counts: BTreeMap<String, Count>,
        faults: Vec<String>,
        /// Bytes in small blocks of the heap.
        small_blocks: u64,
    },
    /// Report that the load is paused: no work is in progress.
    Paused,
    /// Report that the named command has been carried out.
    Obeyed(String),
    /// Report that a repository has been opened: a reference to it, and the ids of its definitions.
    Opened { reference: String, ids: Vec<String> },
    /// Report that the process cannot do its work on this machine, with the reason.
    Unable(String),
}

impl Said {
    /// Sends the message. Without a reader, the process is about to end anyway.
    pub(crate) fn say(&self) {
        if let Ok(line) = serde_json::to_string(self) {
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{line}").and_then(|()| out.flush());
        }
    }

    fn done(tally: &Tally) -> Self {
        Self::Done {
            counts: tally.counts(),
            faults: tally.faults(),
            small_blocks: u64::try_from(punctual_heap::in_small_blocks()).unwrap_or_default(),
        }
    }
}

/// Command from the controller to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told<'l> {
    Go,
    Pause,
    Stop,
    /// Command that only some roles of child processes support.
    Other(&'l str),
}

impl<'l> Told<'l> {
    fn of(line: &'l str) -> Self {
        match line {
            "go" => Self::Go,
            "pause" => Self::Pause,
            "stop" => Self::Stop,
            other => Self::Other(other),
        }
    }
}

/// Carries out commands until the controller ends the run or is gone, and reports
/// each second what was done. `other` carries out the commands that only this process knows.
pub(crate) fn obey(load: &Load, tally: &Tally, mut other: impl FnMut(&str)) {
    let (reporting, reported) = (tally.clone(), load.clone());
    let reporter = std::thread::spawn(move || {
        while !reported.is_over_after(PERIOD) {
            Said::done(&reporting).say();
        }
    });
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match Told::of(&line) {
            Told::Go => load.go(),
            Told::Pause => match load.pause(PAUSE) {
                true => Said::Paused.say(),
                false => tally.fault("something in progress did not end"),
            },
            Told::Stop => break,
            Told::Other(line) => other(line),
        }
    }
    load.stop();
    std::thread::spawn(|| {
        std::thread::sleep(END);
        std::process::exit(END_EXIT);
    });
    // The thread ends soon, and has no result.
    let _ = reporter.join();
}

/// Sends the final report on the work done.
pub(crate) fn conclude(tally: &Tally) {
    Said::done(tally).say();
}
