//! `NotifyExt::ReconnectionRegistry` of TAO: callbacks of clients that are called when the service has been started again.
//!
//! A callback is called until it answers, be it by an exception; one that does not exist, or does not answer for the time of
//! `give-up`, is removed.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use punctual::{Interface, Orb, SystemException};
use punctual_events::peer::bounded;

use crate::client::Failure;
use crate::common::Common;
use crate::cos_notify_channel_admin::EventChannelFactory;
use crate::notify_ext::ReconnectionCallback;
use crate::reference;
use crate::refusal::Refusal;
use crate::storage::Change;

/// Callbacks, by id.
pub(crate) struct Reconnections {
    common: Arc<Common>,
    state: Mutex<State>,
    /// Held while a callback is registered or removed.
    order: Mutex<()>,
    own: Weak<Self>,
}

#[derive(Default)]
struct State {
    last: i32,
    /// Callbacks with their references as text.
    callbacks: BTreeMap<i32, (ReconnectionCallback, String)>,
}

impl Reconnections {
    pub(crate) fn new(common: Arc<Common>) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            common,
            state: Mutex::default(),
            order: Mutex::default(),
            own: own.clone(),
        })
    }

    /// Takes the callbacks over that a store has kept.
    pub(crate) fn restore(&self, orb: &Orb, kept: &[(u64, String)]) {
        let mut state = self.state.lock();
        for (number, text) in kept {
            let id = i32::try_from(*number).unwrap_or(i32::MAX);
            state.last = state.last.max(id);
            match reference::of_text(orb, text) {
                Ok(object) => {
                    let callback = ReconnectionCallback::from_object(object);
                    state.callbacks.insert(id, (callback, text.clone()));
                }
                Err(error) => tracing::error!("reconnection {id} of the store is damaged: {error}"),
            }
        }
    }

    /// Calls all callbacks, on other threads, with the factory of channels.
    pub(crate) fn call_all(&self, factory: &EventChannelFactory) {
        let ids: Vec<i32> = self.state.lock().callbacks.keys().copied().collect();
        for id in ids {
            let attempt = Attempt {
                id,
                factory: factory.clone(),
                since: Instant::now(),
                wait: self.common.limits.retry,
            };
            self.call_soon(attempt);
        }
    }

    /// Registers a callback, once; returns its id. Blocks.
    ///
    /// # Errors
    /// It is nil; there are as many as may be; it cannot be stored.
    pub(crate) fn register(&self, callback: Option<&ReconnectionCallback>) -> Result<i32, Refusal> {
        let callback = callback.ok_or(Refusal::Nil("callback"))?;
        let text = reference::to_text(callback)?;
        let _order = self.order.lock();
        let id = match self.next_id(&text)? {
            Registered::Before(id) => return Ok(id),
            Registered::Now(id) => id,
        };
        self.keep(id, Some(text.clone()))?;
        let mut state = self.state.lock();
        state.last = id;
        state.callbacks.insert(id, (callback.clone(), text));
        Ok(id)
    }

    fn next_id(&self, text: &str) -> Result<Registered, Refusal> {
        let limit = self.common.limits.proxies;
        let state = self.state.lock();
        let mut known = state.callbacks.iter();
        if let Some((id, _)) = known.find(|(_, (_, known))| known == text) {
            return Ok(Registered::Before(*id));
        }
        if state.callbacks.len() >= limit {
            return Err(Refusal::Full {
                what: "reconnections",
                option: "most-proxies",
                limit,
            });
        }
        let mut id = state.last;
        loop {
            id = id.wrapping_add(1).max(1);
            if !state.callbacks.contains_key(&id) {
                return Ok(Registered::Now(id));
            }
        }
    }

    /// Removes a callback, if it is there. Blocks.
    ///
    /// # Errors
    /// The change cannot be stored.
    pub(crate) fn unregister(&self, id: i32) -> Result<(), Refusal> {
        let _order = self.order.lock();
        if !self.state.lock().callbacks.contains_key(&id) {
            return Ok(());
        }
        self.keep(id, None)?;
        let removed = self.state.lock().callbacks.remove(&id);
        drop(removed);
        Ok(())
    }

    fn keep(&self, id: i32, text: Option<String>) -> Result<(), Refusal> {
        let number = u64::try_from(id).unwrap_or_default();
        self.common.keep(vec![Change::Reconnection(number, text)])
    }

    fn call_soon(&self, attempt: Attempt) {
        let own = self.own.clone();
        self.common.checks.run(move || {
            if let Some(own) = own.upgrade() {
                own.call(attempt);
            }
        });
    }

    fn call(&self, attempt: Attempt) {
        let callback = self.state.lock().callbacks.get(&attempt.id).cloned();
        let Some((callback, _)) = callback else {
            return;
        };
        let callback = bounded(&callback, self.common.limits.call_timeout);
        let (own, factory) = (self.own.clone(), attempt.factory.clone());
        let done = move |outcome: Result<(), SystemException>| {
            if let (Err(exception), Some(own)) = (outcome, own.upgrade()) {
                own.failed(attempt, &exception);
            }
        };
        callback.sendc_reconnect(done, Some(factory.as_object()));
    }

    /// Decides what follows a call that has failed. Called by the thread that reads replies; does not block.
    fn failed(&self, attempt: Attempt, exception: &SystemException) {
        if self.common.is_ending() {
            return;
        }
        let failure = Failure::from(exception.clone());
        let give_up = self.common.limits.give_up;
        let is_given_up = give_up.is_some_and(|time| attempt.since.elapsed() >= time);
        if matches!(failure, Failure::Gone) || is_given_up {
            tracing::info!("reconnection {} is removed: {exception}", attempt.id);
            let own = self.own.clone();
            return self.common.checks.run(move || {
                let removed = own.upgrade().map(|own| own.unregister(attempt.id));
                if let Some(Err(refusal)) = removed {
                    tracing::warn!("reconnection {} cannot be removed: {refusal}", attempt.id);
                }
            });
        }
        if !failure.is_unanswered() {
            tracing::warn!(
                "the client of reconnection {} was told to connect again, and has failed: {exception}",
                attempt.id
            );
            return;
        }
        tracing::debug!(
            "the client of reconnection {} cannot be told to connect again: {exception}",
            attempt.id
        );
        let own = self.own.clone();
        self.common.timetable.after(attempt.wait, move || {
            if let Some(own) = own.upgrade() {
                let wait = own.common.limits.next_retry(attempt.wait);
                own.call_soon(Attempt { wait, ..attempt });
            }
        });
    }
}

/// Id of a callback that is registered.
enum Registered {
    Before(i32),
    Now(i32),
}

/// Call of a callback.
struct Attempt {
    id: i32,
    factory: EventChannelFactory,
    /// Time of the first call.
    since: Instant,
    /// Time until the next call.
    wait: Duration,
}
