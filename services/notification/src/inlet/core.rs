//! A supplier's proxy: events that it passes on, and when its connection begins and ends.

use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex;
use punctual_events::watch::Watched;

use super::pull::Pull;
use crate::census::Changes;
use crate::client::{Client, Heard, Style};
use crate::draft::Draft;
use crate::group::Group;
use crate::hub::Owner;
use crate::line::Line;
use crate::proxy::Proxy;
use crate::queue::Bounds;
use crate::refusal::Refusal;
use crate::stated::Stating;
use crate::telling::Listener;
use crate::types::Types;

/// Proxy of a supplier.
pub(crate) struct Inlet {
    pub(crate) base: Proxy,
    pub(crate) group: Arc<Group>,
    owner: Weak<dyn Owner>,
    pub(super) pull: Mutex<Pull>,
    /// Events that wait for verdicts of foreign filters.
    pub(super) line: Line,
    /// Types under which the channel's census has the inlet, while it is connected.
    counted: Mutex<Option<Types>>,
    pub(super) own: Weak<Self>,
}

impl Inlet {
    pub(crate) fn new(base: Proxy, group: Arc<Group>, owner: Weak<dyn Owner>) -> Arc<Self> {
        let limits = &base.common.limits;
        let pull = Pull::new(limits);
        let line = Line::new(Bounds {
            events: limits.queue_events,
            bytes: limits.queue_bytes,
        });
        Arc::new_cyclic(|own| Self {
            base,
            group,
            owner,
            pull: Mutex::new(pull),
            line,
            counted: Mutex::default(),
            own: own.clone(),
        })
    }

    /// Connects the supplier, and begins to pull from one that is pulled from.
    ///
    /// # Errors
    /// The proxy is connected, or has ended; the connection cannot be stored.
    pub(super) fn connect(&self, client: Option<Client>) -> Result<(), Refusal> {
        self.base.connect(client, || Ok(()))?;
        self.begin();
        Ok(())
    }

    /// Connects a supplier whose connection was kept.
    ///
    /// # Errors
    /// The proxy has ended.
    pub(crate) fn restore(&self, client: Option<Client>, draft: Draft) -> Result<(), Refusal> {
        self.pull.lock().is_suspended = draft.is_suspended;
        self.base.stated.restore(draft);
        self.base.connection.connect(client)?;
        self.begin();
        Ok(())
    }

    /// Returns a text that names the supplier, for logs.
    pub(super) fn name(&self) -> String {
        self.group.client(self.base.id)
    }

    fn begin(&self) {
        self.retype();
        if self.base.style == Style::Pull {
            self.pull_soon();
        }
    }

    /// Counts the types of the proxy, or else of its administrator.
    pub(crate) fn retype(&self) {
        let mut counted = self.counted.lock();
        let types = match self.base.stated.types() {
            Types::All => self.group.stated.types(),
            only => only,
        };
        let types = Some(types).filter(|_| self.base.connection.is_connected());
        if *counted == types {
            return;
        }
        let old = std::mem::replace(&mut *counted, types.clone());
        self.group.hub.offer(old.as_ref(), types.as_ref());
    }

    /// Ends the connection, and removes the proxy; returns whether this call did so.
    pub(crate) fn finish(&self, tells_supplier: bool) -> bool {
        let Some(client) = self.base.connection.end() else {
            return false;
        };
        self.base.forget();
        self.retype();
        let owner = self.owner.upgrade();
        if owner.is_some_and(|owner| owner.remove(self.base.id)) {
            self.group.hub.supplier_left();
        }
        self.base.remove_object();
        if self.base.common.is_ending() {
            self.line.cancel();
        }
        if let Some(client) = client.filter(|_| tells_supplier) {
            let client = client.bounded(self.base.common.limits.call_timeout);
            let tell = move || client.say_supplier_disconnected();
            self.base.common.checks.run(tell);
        }
        true
    }
}

impl Watched for Inlet {
    fn is_abandoned(&self, now: Instant) -> bool {
        self.base.is_abandoned(now)
    }

    fn is_lost(&self) -> bool {
        self.base.is_lost()
    }

    fn end(&self) {
        self.finish(true);
    }
}

impl Listener for Inlet {
    fn base(&self) -> &Proxy {
        &self.base
    }

    fn tell(client: &Client, changes: &Changes, heard: Heard) {
        client.subscription_change(changes, heard);
    }
}
