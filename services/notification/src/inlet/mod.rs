//! Proxies of suppliers: events that are pushed to them, or that they pull, go into the channel.
//!
//! ```text
//! pulling      calls to suppliers that are pulled from
//! interface    operations that all have; interfaces, those of each kind
//! ```

mod interface;
mod interfaces;
mod pulling;

use std::sync::{Arc, Weak};
use std::time::Instant;

use parking_lot::Mutex;
use punctual_events::watch::Watched;

use crate::admin::SupplierAdmin;
use crate::client::{Client, Style};
use crate::cos_notification::EventType;
use crate::event::Event;
use crate::filter::Attached;
use crate::proxy::Proxy;
use crate::refusal::Refusal;
use crate::types::{BadTypes, Types};

pub(crate) use interface::refused;

/// Proxy of a supplier.
pub(crate) struct Inlet {
    pub(crate) base: Proxy,
    pub(crate) admin: Arc<SupplierAdmin>,
    pull: Mutex<pulling::Pull>,
    /// Types under which the channel's census has the inlet, while it is connected.
    counted: Mutex<Option<Types>>,
    own: Weak<Self>,
}

impl Inlet {
    pub(crate) fn new(base: Proxy, admin: Arc<SupplierAdmin>) -> Arc<Self> {
        let pull = pulling::Pull::new(&base.common.limits);
        Arc::new_cyclic(|own| Self {
            base,
            admin,
            pull: Mutex::new(pull),
            counted: Mutex::default(),
            own: own.clone(),
        })
    }

    /// Connects the supplier, and begins to pull from one that is pulled from.
    ///
    /// # Errors
    /// The proxy is connected, or has ended.
    fn connect(&self, client: Option<Client>) -> Result<(), Refusal> {
        self.base.connection.connect(client)?;
        self.retype();
        if self.base.style == Style::Pull {
            self.pull_soon();
        }
        Ok(())
    }

    /// Passes an event of the supplier on.
    ///
    /// # Errors
    /// The proxy is not connected; the event is too large; the channel is full.
    fn publish(&self, event: Event) -> Result<(), Refusal> {
        self.base.connection.used()?;
        self.publish_connected(event)
    }

    fn publish_connected(&self, event: Event) -> Result<(), Refusal> {
        let channel = &self.admin.base.channel;
        channel.check_room(&event)?;
        let metrics = &self.base.common.metrics;
        metrics.received.add(1);
        let verdict = |filters: &Attached| filters.verdict(&event);
        let of_admin = verdict(&self.admin.base.filters);
        if !self
            .admin
            .base
            .passes(of_admin, verdict(&self.base.filters))
        {
            metrics.filtered.add(1);
            return Ok(());
        }
        channel.publish(Arc::new(event));
        Ok(())
    }

    /// Changes the types that the supplier offers.
    ///
    /// # Errors
    /// They are wrong, or too many.
    fn offer(&self, added: &[EventType], removed: &[EventType]) -> Result<(), BadTypes> {
        self.base.change_types(added, removed)?;
        self.retype();
        Ok(())
    }

    /// Counts the types of the proxy, or else of its administrator.
    pub(crate) fn retype(&self) {
        let mut counted = self.counted.lock();
        let types = match self.base.types() {
            Types::All => self.admin.base.types(),
            only => only,
        };
        let types = Some(types).filter(|_| self.base.connection.is_connected());
        if *counted == types {
            return;
        }
        let old = std::mem::replace(&mut *counted, types.clone());
        self.admin.base.channel.offer(old.as_ref(), types.as_ref());
    }

    /// Ends the connection, and removes the proxy; returns whether this call did so.
    pub(crate) fn finish(&self, tells_supplier: bool) -> bool {
        let Some(client) = self.base.connection.end() else {
            return false;
        };
        self.retype();
        self.admin.remove(self);
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
