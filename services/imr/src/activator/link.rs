//! Link of an activator to its repository: it registers, and says which processes have been started and have ended.
//!
//! A thread makes the calls. What the repository could not be told is kept, in order, until it can be called again. The
//! registration is repeated at intervals, in case that the repository has been started anew: one with a store says so by another token, and the processes that go on
//! are told again, as some of them may not have registered yet.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use punctual::{Interface, ObjectRef, SystemException};
use punctual_exec::thread::{JoinHandle, SpawnError, ThreadSpec};

use super::processes::Processes;
use crate::implementation_repository::{Activator, Locator};

/// Interval at which the activator registers again, and pause after a call that has failed.
const INTERVAL: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(500);
/// Time-out of a call.
const CALL: Duration = Duration::from_secs(5);
/// Maximum number of events that are kept; the oldest is dropped for another.
const MOST: usize = 10_000;

/// Event that the repository has not heard of yet.
#[derive(Clone, Debug)]
enum Event {
    Started(String, i32),
    Ended(String, i32),
}

/// Events that the repository has not been told, and whether the link ends.
#[derive(Debug, Default)]
struct Queue {
    events: VecDeque<Event>,
    has_stopped: bool,
}

/// Link of an activator to its repository.
#[derive(Debug, Default)]
pub(super) struct Link {
    queue: Mutex<Queue>,
    changed: Condvar,
}

fn add(queue: &mut Queue, event: Event) {
    if queue.events.len() >= MOST {
        queue.events.pop_front();
    }
    queue.events.push_back(event);
}

impl Link {
    /// Adds that a process has been started.
    pub(super) fn started(&self, name: &str, pid: i32) {
        add(&mut self.queue.lock(), Event::Started(name.to_owned(), pid));
        self.changed.notify_all();
    }

    /// Adds that a process has ended.
    pub(super) fn ended(&self, name: &str, pid: i32) {
        add(&mut self.queue.lock(), Event::Ended(name.to_owned(), pid));
        self.changed.notify_all();
    }

    /// Puts the processes that run before all other events, unless their starts are among these.
    fn tell_again(&self, processes: &Processes) {
        processes.with_running(|running| {
            let events = &mut self.queue.lock().events;
            for (name, pid) in running.iter().rev() {
                let is_it = |event: &Event| matches!(event, Event::Started(_, one) if one == pid);
                if !events.iter().any(is_it) {
                    events.push_front(Event::Started((*name).to_owned(), *pid));
                }
            }
        });
    }

    /// Starts the thread that keeps an activator with processes registered under a name.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(
        self: &Arc<Self>,
        name: &str,
        activator: &ObjectRef,
        locator: &ObjectRef,
        processes: Processes,
    ) -> Result<JoinHandle<()>, SpawnError> {
        let (link, name) = (self.clone(), name.to_owned());
        let activator = Activator::from_object(activator.clone());
        let locator = Locator::from_object(locator.with_timeout(CALL));
        let keep = move || link.keep(&name, &activator, &locator, &processes);
        ThreadSpec::named("imr-link").start(keep)
    }

    /// Ends the thread, which unregisters the activator first.
    pub(super) fn stop(&self) {
        self.queue.lock().has_stopped = true;
        self.changed.notify_all();
    }

    fn keep(&self, name: &str, activator: &Activator, locator: &Locator, processes: &Processes) {
        let mut token = None;
        loop {
            let told = locator
                .register_activator(name, Some(activator))
                .and_then(|now| {
                    if token.replace(now).is_some_and(|before| before != now) {
                        self.tell_again(processes);
                    }
                    self.tell(locator)
                });
            if let Err(exception) = &told {
                tracing::warn!("the Implementation Repository is not told: {exception}");
            }
            let mut queue = self.queue.lock();
            if !queue.has_stopped {
                let time = match told {
                    Ok(()) => INTERVAL,
                    Err(_) => PAUSE,
                };
                // After a failure, another event is no reason to try again at once.
                if told.is_err() || queue.events.is_empty() {
                    self.changed.wait_for(&mut queue, time);
                }
            }
            if queue.has_stopped {
                drop(queue);
                if let Some(token) = token {
                    let _cannot_be_called = locator.unregister_activator(name, token);
                }
                return;
            }
        }
    }

    /// Tells all events.
    fn tell(&self, locator: &Locator) -> Result<(), SystemException> {
        loop {
            let first = self.queue.lock().events.front().cloned();
            match first {
                None => return Ok(()),
                Some(Event::Started(name, pid)) => locator.spawn_pid(&name, pid)?,
                Some(Event::Ended(name, pid)) => locator.child_death_pid(&name, pid)?,
            }
            self.queue.lock().events.pop_front();
        }
    }
}
