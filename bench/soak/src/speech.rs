//! What the processes of the soak say to each other: words from the one that runs it, lines of JSON back.

use crate::work::{Count, Load, Tally};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::time::Duration;

/// No pause takes longer, or something is wrong.
const PAUSE: Duration = Duration::from_secs(60);
/// What has not ended by then, when a process is to end, is left.
const END: Duration = Duration::from_secs(60);
/// What a process ends with then.
const END_EXIT: i32 = 3;
/// How often a process says what it has done.
const PERIOD: Duration = Duration::from_secs(1);

/// What a server has, as its clients reach it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Served {
    /// How its connections are served.
    pub(crate) name: String,
    /// How it is reached: protocols and places.
    pub(crate) endpoints: Vec<(String, String)>,
    /// A reference to its `Maker`.
    pub(crate) maker: String,
    /// A reference to a `Target` for all.
    pub(crate) target: String,
}

/// What a process says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Said {
    /// It serves.
    Ready(Vec<Served>),
    /// What it has done so far, and what went wrong.
    Done {
        counts: BTreeMap<String, Count>,
        faults: Vec<String>,
    },
    /// Nothing is in progress any more.
    Paused,
    /// It has done what it was told.
    Obeyed(String),
    /// What a repository has, once it was opened, and a reference to it.
    Opened { reference: String, ids: Vec<String> },
    /// It cannot do its work here.
    Unable(String),
}

impl Said {
    /// Says it. Where nobody listens any more, the process is soon to end.
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
        }
    }
}

/// What a process is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told<'l> {
    Go,
    Pause,
    Stop,
    /// Something that only some processes know.
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

/// Obeys until the process is told to stop, or the one that tells it is gone, and says each second what was done.
/// `other` does what only this process knows.
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
    // It ends soon, and has nothing to return.
    let _ = reporter.join();
}

/// Says the last of it.
pub(crate) fn conclude(tally: &Tally) {
    Said::done(tally).say();
}
