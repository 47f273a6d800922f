//! Management systems, and when each was heard. TMF 814 has a system send heartbeats when it sends nothing else, so that
//! any event is a sign of life.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;

/// Most systems; events of others are listed, and not supervised.
const MOST: usize = 100;

/// Management systems that have been heard.
#[derive(Clone, Debug)]
pub struct Sources {
    heard: BTreeMap<String, Instant>,
    /// Time without an event after which a system counts as silent.
    longest: Duration,
}

/// State of one system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceState {
    /// Name of the system.
    pub system: String,
    /// Seconds since it was heard.
    pub seconds: u64,
    /// True if that is too long.
    pub silent: bool,
}

impl Sources {
    /// Begins without a system; one counts as silent after `longest` without an event.
    #[must_use]
    pub fn new(longest: Duration) -> Self {
        Self {
            heard: BTreeMap::new(),
            longest,
        }
    }

    /// Notes a sign of life.
    pub fn hear(&mut self, system: &str) {
        if self.heard.len() < MOST || self.heard.contains_key(system) {
            self.heard.insert(system.to_owned(), Instant::now());
        }
    }

    /// Returns the state of each system.
    #[must_use]
    pub fn states(&self) -> Vec<SourceState> {
        let state = |(system, heard): (&String, &Instant)| {
            let since = heard.elapsed();
            SourceState {
                system: system.clone(),
                seconds: since.as_secs(),
                silent: since > self.longest,
            }
        };
        self.heard.iter().map(state).collect()
    }
}
