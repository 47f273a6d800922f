//! Link of an activator to its repository: it registers, and says which processes have been started and have ended.
//!
//! A thread makes the calls. What the repository could not be told is kept, in order, until it can be called again; the
//! registration is repeated at intervals, in case that a repository without a store has been started anew.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use punctual::{Interface, ObjectRef, SystemException};
use punctual_exec::thread::{JoinHandle, SpawnError, ThreadSpec};

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

    /// Starts the thread that keeps an activator registered under a name.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(
        self: &Arc<Self>,
        name: &str,
        activator: &ObjectRef,
        locator: &ObjectRef,
    ) -> Result<JoinHandle<()>, SpawnError> {
        let (link, name) = (self.clone(), name.to_owned());
        let activator = Activator::from_object(activator.clone());
        let locator = Locator::from_object(locator.with_timeout(CALL));
        ThreadSpec::named("imr-link").start(move || link.keep(&name, &activator, &locator))
    }

    /// Ends the thread, which unregisters the activator first.
    pub(super) fn stop(&self) {
        self.queue.lock().has_stopped = true;
        self.changed.notify_all();
    }

    fn keep(&self, name: &str, activator: &Activator, locator: &Locator) {
        let mut token = None;
        loop {
            let told = self.tell(name, activator, locator, &mut token);
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

    /// Registers the activator, and tells all events.
    fn tell(
        &self,
        name: &str,
        activator: &Activator,
        locator: &Locator,
        token: &mut Option<i32>,
    ) -> Result<(), SystemException> {
        *token = Some(locator.register_activator(name, Some(activator))?);
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
