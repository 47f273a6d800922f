//! Temporary bindings in stores that only this server changes: a thread removes expired ones.
//!
//! Due times are kept only in this process: after a restart, each binding has its whole time to
//! live again. Expired bindings are removed by an ordinary commit, which first checks again whether
//! they have expired, so that bindings renewed in the meantime stay.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use punctual_exec::thread::ThreadSpec;

use crate::refusal::Refusal;
use crate::store::{Change, ContextId, StoreError, Target, Ttl};

/// Maximum number of expired bindings that one operation removes.
const MOST: usize = 4096;

/// Time that the thread waits after a commit that has failed.
const PAUSE: Duration = Duration::from_secs(1);

/// Due times of temporary bindings, and the thread that removes expired ones, which ends when this
/// is dropped.
#[derive(Debug, Default)]
pub(super) struct Expiry(Arc<Schedule>);

#[derive(Debug, Default)]
struct Schedule {
    state: Mutex<Due>,
    changed: Condvar,
}

type Binding = (ContextId, Arc<str>);

#[derive(Debug, Default)]
struct Due {
    by_binding: BTreeMap<Binding, Instant>,
    by_time: BTreeSet<(Instant, Binding)>,
    has_ended: bool,
}

/// Temporary bindings that a store contains, with their times to live.
pub(super) type Temporary = Vec<(ContextId, Box<str>, Ttl)>;

impl Expiry {
    /// Starts the thread that calls `expire` when bindings are due, until that returns `None`;
    /// `temporary` are the existing bindings.
    pub(super) fn begin(
        &self,
        temporary: Temporary,
        expire: impl Fn() -> Option<Result<(), Refusal>> + Send + 'static,
    ) -> Result<(), StoreError> {
        let schedule = self.0.clone();
        {
            let (mut state, now) = (schedule.state.lock(), Instant::now());
            for (context, key, ttl) in temporary {
                state.set((context, key.into()), now + ttl.duration());
            }
        }
        // The thread ends by itself after the service was dropped, perhaps by that thread.
        let started = ThreadSpec::named("naming-expiry").start(move || run(&schedule, &expire));
        started.map(drop).map_err(StoreError::io)
    }
}

fn run(schedule: &Schedule, expire: &impl Fn() -> Option<Result<(), Refusal>>) {
    while schedule.wait() {
        match expire() {
            None => return,
            Some(Ok(())) => {}
            Some(Err(refusal)) => {
                tracing::warn!("temporary bindings are removed later: {refusal}");
                schedule.pause();
            }
        }
    }
}

impl Expiry {
    /// Updates the due times after a commit of these changes.
    pub(super) fn note(&self, changes: &[Change]) {
        let mut state = self.0.state.lock();
        let mut is_earlier = false;
        for change in changes {
            let (context, key, ttl) = match change {
                Change::Bind {
                    context,
                    key,
                    target: Target::Temporary { ttl, .. },
                } => (*context, key, Some(*ttl)),
                Change::Bind { context, key, .. } | Change::Unbind { context, key } => {
                    (*context, key, None)
                }
                Change::Destroy(context) => {
                    state.remove_all(*context);
                    continue;
                }
                Change::Create { .. } => continue,
            };
            match ttl {
                Some(ttl) => {
                    let first = state.first();
                    state.set(
                        (context, Arc::from(&**key)),
                        Instant::now() + ttl.duration(),
                    );
                    is_earlier |= state.first() != first;
                }
                None if state.by_binding.is_empty() => {}
                None => state.remove(&(context, Arc::from(&**key))),
            }
        }
        drop(state);
        if is_earlier {
            self.0.changed.notify_all();
        }
    }

    /// Returns the temporary bindings that have expired and are due for removal.
    pub(super) fn due(&self) -> Vec<Binding> {
        let (state, now) = (self.0.state.lock(), Instant::now());
        let due = state.by_time.iter().take_while(|(due, _)| *due <= now);
        due.take(MOST).map(|(_, binding)| binding.clone()).collect()
    }
}

impl Drop for Expiry {
    fn drop(&mut self) {
        self.0.state.lock().has_ended = true;
        self.0.changed.notify_all();
    }
}

impl Due {
    fn first(&self) -> Option<Instant> {
        self.by_time.first().map(|(due, _)| *due)
    }

    fn set(&mut self, binding: Binding, due: Instant) {
        self.remove(&binding);
        self.by_time.insert((due, binding.clone()));
        self.by_binding.insert(binding, due);
    }

    fn remove(&mut self, binding: &Binding) {
        if let Some((binding, due)) = self.by_binding.remove_entry(binding) {
            self.by_time.remove(&(due, binding));
        }
    }

    fn remove_all(&mut self, context: ContextId) {
        let from = (context, Arc::from(""));
        let bindings = self.by_binding.range(from..);
        let bindings = bindings.take_while(|((of, _), _)| *of == context);
        let bindings: Vec<Binding> = bindings.map(|(binding, _)| binding.clone()).collect();
        for binding in bindings {
            self.remove(&binding);
        }
    }
}

impl Schedule {
    /// Waits until a binding is due; returns false when this is dropped.
    fn wait(&self) -> bool {
        let mut state = self.state.lock();
        while !state.has_ended {
            match state.first() {
                Some(due) if due <= Instant::now() => return true,
                Some(due) => {
                    self.changed.wait_until(&mut state, due);
                }
                None => self.changed.wait(&mut state),
            }
        }
        false
    }

    fn pause(&self) {
        let until = Instant::now() + PAUSE;
        let mut state = self.state.lock();
        while !state.has_ended && !self.changed.wait_until(&mut state, until).timed_out() {}
    }
}
