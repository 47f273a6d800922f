//! Active alarms. An event raises, changes or clears the one of its object and cause.
//!
//! A channel with persistent events delivers each at least once: after a failure some come again. The latest ids of
//! notifications are kept, and an event with one of them changes nothing.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet, VecDeque};

use crate::alarm::{Alarm, Notice, Severity};

/// Most active alarms.
const MOST_ALARMS: usize = 10_000;

/// Number of ids that are kept. A failure repeats what was pulled within a tenth of a second, and one batch.
const MOST_IDS: usize = 4_096;

/// Effect of an event on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The alarm is active from now on.
    Raised,
    /// The alarm was active, and has another severity or text.
    Changed,
    /// The alarm is not active any more.
    Cleared,
    /// The list stays as it is: a repeat, or the end of an alarm that was not active.
    None,
    /// The list has its maximum of alarms.
    Full,
}

/// Management system, object and cause of an alarm.
type Key = (String, String, String);

/// List of active alarms.
#[derive(Clone, Debug, Default)]
pub struct AlarmList {
    active: BTreeMap<Key, Alarm>,
    ids: VecDeque<String>,
    known: HashSet<String>,
    notices: u64,
    repeats: u64,
    unlisted: u64,
}

impl AlarmList {
    /// Makes a list anew of what was kept: its alarms, and its latest ids.
    #[must_use]
    pub fn restored(alarms: Vec<Alarm>, ids: Vec<String>) -> Self {
        let mut list = Self::default();
        let alarms = alarms.into_iter().take(MOST_ALARMS);
        list.active = alarms.map(|alarm| (key(&alarm), alarm)).collect();
        ids.into_iter().for_each(|id| _ = list.note(id));
        list
    }

    /// Applies an event.
    pub fn apply(&mut self, Notice { id, alarm }: Notice) -> Change {
        self.notices += 1;
        if !id.is_empty() && !self.note(format!("{} {id}", alarm.system)) {
            self.repeats += 1;
            return Change::None;
        }
        let is_full = self.active.len() >= MOST_ALARMS;
        match (self.active.entry(key(&alarm)), alarm.severity) {
            (Entry::Occupied(entry), Severity::Cleared) => {
                entry.remove();
                Change::Cleared
            }
            (Entry::Occupied(mut entry), _) => {
                let known = entry.get_mut();
                if (known.severity, &known.text) == (alarm.severity, &alarm.text) {
                    return Change::None;
                }
                (known.severity, known.text) = (alarm.severity, alarm.text);
                known.changes = known.changes.saturating_add(1);
                Change::Changed
            }
            (Entry::Vacant(_), Severity::Cleared) => Change::None,
            (Entry::Vacant(_), _) if is_full => {
                self.unlisted += 1;
                Change::Full
            }
            (Entry::Vacant(entry), _) => {
                entry.insert(alarm);
                Change::Raised
            }
        }
    }

    /// Returns the active alarms, the gravest first.
    #[must_use]
    pub fn active(&self) -> Vec<&Alarm> {
        let mut all: Vec<&Alarm> = self.active.values().collect();
        all.sort_by_key(|alarm| std::cmp::Reverse(alarm.severity));
        all
    }

    /// Returns the latest ids, the oldest first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }

    /// Returns the number of events that were applied, with repeats.
    #[must_use]
    pub fn notices(&self) -> u64 {
        self.notices
    }

    /// Returns the number of events that were repeats.
    #[must_use]
    pub fn repeats(&self) -> u64 {
        self.repeats
    }

    /// Returns the number of alarms for which the list had no room.
    #[must_use]
    pub fn unlisted(&self) -> u64 {
        self.unlisted
    }

    /// Notes an id; returns false if it is among the latest.
    fn note(&mut self, id: String) -> bool {
        if !self.known.insert(id.clone()) {
            return false;
        }
        self.ids.push_back(id);
        if self.ids.len() > MOST_IDS
            && let Some(oldest) = self.ids.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

fn key(alarm: &Alarm) -> Key {
    (
        alarm.system.clone(),
        alarm.object.clone(),
        alarm.cause.clone(),
    )
}
