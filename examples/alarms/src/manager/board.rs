//! State that the page shows: the list of alarms, the management systems, and the connection to the service.

use std::io::Write;
use std::time::Instant;

use parking_lot::Mutex;
use punctual_example_alarms::{Alarm, AlarmList, Change, Severity, SourceState, Sources, read};
use punctual_notification::cos_notification::StructuredEvent;
use serde::Serialize;

use crate::kept::Kept;

/// Shared state of the manager.
#[derive(Debug)]
pub(crate) struct Board {
    state: Mutex<State>,
    filter: Option<String>,
}

#[derive(Debug)]
struct State {
    list: AlarmList,
    sources: Sources,
    /// Reason why the service cannot be called, and since when; `None` while it can.
    problem: Option<(String, Instant)>,
}

/// State as JSON.
#[derive(Serialize)]
struct View<'b> {
    filter: &'b Option<String>,
    service: Service<'b>,
    counts: Counts,
    alarms: Vec<&'b Alarm>,
    systems: Vec<SourceState>,
    /// Numbers of events that were alarms, and of those that were repeats.
    notices: u64,
    repeats: u64,
    unlisted: u64,
}

#[derive(Serialize)]
struct Service<'b> {
    connected: bool,
    problem: Option<&'b str>,
    /// Seconds since it has been away.
    away: Option<u64>,
}

/// Numbers of active alarms.
#[derive(Serialize)]
struct Counts {
    critical: usize,
    major: usize,
    minor: usize,
    warning: usize,
    indeterminate: usize,
}

impl Board {
    pub(crate) fn new(list: AlarmList, mut sources: Sources, filter: Option<String>) -> Self {
        for alarm in list.active() {
            sources.hear(&alarm.system);
        }
        let problem = Some(("not connected yet".to_owned(), Instant::now()));
        Self {
            state: Mutex::new(State {
                list,
                sources,
                problem,
            }),
            filter,
        }
    }

    /// Applies events, and returns a line for each change of the list.
    pub(crate) fn take(&self, events: &[StructuredEvent]) -> Vec<String> {
        let state = &mut *self.state.lock();
        let mut lines = Vec::new();
        for reading in events.iter().map(read) {
            state.sources.hear(&reading.system);
            let Some(notice) = reading.notice else {
                continue;
            };
            let alarm = notice.alarm.clone();
            let change = match state.list.apply(notice) {
                Change::Raised => "raised",
                Change::Changed => "changed",
                Change::Cleared => "cleared",
                Change::Full => "not listed",
                Change::None => continue,
            };
            let severity = alarm.severity.name();
            let what = format!("{} at {}", alarm.cause, alarm.object);
            lines.push(match change {
                "cleared" => format!("{change}: {}", what.escape_debug()),
                _ => format!("{change}: {severity} {}", what.escape_debug()),
            });
        }
        lines
    }

    /// Notes that the service answers.
    pub(crate) fn connect(&self) {
        if self.state.lock().problem.take().is_some() {
            say("connected");
        }
    }

    /// Notes that the service cannot be called.
    pub(crate) fn lose(&self, why: &str) {
        let mut state = self.state.lock();
        match &mut state.problem {
            Some((known, _)) => why.clone_into(known),
            None => {
                state.problem = Some((why.to_owned(), Instant::now()));
                say(&why.escape_debug().to_string());
            }
        }
    }

    /// Returns the contents of the file for another run.
    pub(crate) fn kept(&self, reference: String, grammar: &str) -> Kept {
        let state = self.state.lock();
        Kept {
            reference,
            filter: self.filter.clone(),
            grammar: grammar.to_owned(),
            alarms: state.list.active().into_iter().cloned().collect(),
            ids: state.list.ids().map(str::to_owned).collect(),
        }
    }

    /// Returns the state as JSON.
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        let state = self.state.lock();
        let alarms = state.list.active();
        let count = |severity| {
            let those = alarms.iter().filter(|alarm| alarm.severity == severity);
            those.count()
        };
        let problem = state.problem.as_ref();
        serde_json::to_string(&View {
            filter: &self.filter,
            service: Service {
                connected: problem.is_none(),
                problem: problem.map(|(why, _)| why.as_str()),
                away: problem.map(|(_, since)| since.elapsed().as_secs()),
            },
            counts: Counts {
                critical: count(Severity::Critical),
                major: count(Severity::Major),
                minor: count(Severity::Minor),
                warning: count(Severity::Warning),
                indeterminate: count(Severity::Indeterminate),
            },
            systems: state.sources.states(),
            notices: state.list.notices(),
            repeats: state.list.repeats(),
            unlisted: state.list.unlisted(),
            alarms,
        })
    }
}

/// Prints a line, whether or not there is a reader.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
