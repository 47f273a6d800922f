//! Handles: the connections of consumers and suppliers, as their users hold them.

use super::core::Core;
use super::snapshot::counts;
use super::suppliers::SupplierLink;
use crate::error::{ConnectError, PushError};
use crate::event::{Event, Payload};
use crate::peer::{ConsumerId, Reason, SupplierId};
use crate::route::Connection;
use crate::statistics::{ConnectionState, ConsumerStatistics};
use crate::subscription::{Publications, Subscription};
use std::fmt;
use std::sync::Arc;

/// Connection of a consumer. Clones are handles of one connection; dropping them does not end it.
pub struct ConsumerHandle<P: Payload> {
    core: Arc<Core<P>>,
    id: ConsumerId,
    connection: Arc<Connection<P>>,
}

impl<P: Payload> ConsumerHandle<P> {
    pub(super) fn new(core: Arc<Core<P>>, id: ConsumerId, connection: Arc<Connection<P>>) -> Self {
        Self {
            core,
            id,
            connection,
        }
    }

    /// Returns the identity of the connection.
    #[must_use]
    pub fn id(&self) -> ConsumerId {
        self.id
    }

    /// Suspends the connection: events are dropped for this consumer, and counted, until it is resumed. Its timers go
    /// on.
    ///
    /// # Errors
    /// [`ConnectError::Disconnected`].
    pub fn suspend(&self) -> Result<(), ConnectError> {
        self.set_suspended(true)
    }

    /// Resumes the connection.
    ///
    /// # Errors
    /// [`ConnectError::Disconnected`].
    pub fn resume(&self) -> Result<(), ConnectError> {
        self.set_suspended(false)
    }

    /// Replaces the subscription. Each event meets the old one or the new one. Conjunctions begin empty, and timers
    /// anew; events in queues stay there.
    ///
    /// # Errors
    /// Those of connecting; the old subscription then stays.
    pub fn change(&self, subscription: Subscription) -> Result<(), ConnectError> {
        self.core.change_consumer(self.id, subscription)
    }

    /// Ends the connection. Pushes that are in progress end later. Does nothing if it has ended.
    pub fn disconnect(&self) {
        self.core.end_consumer(self.id, &Reason::Asked);
    }

    /// Returns the state of the connection.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        self.connection.link.state()
    }

    /// Returns the counts of the consumer, also after the end of its connection.
    #[must_use]
    pub fn status(&self) -> ConsumerStatistics {
        counts(&self.connection, self.core.table.get(self.id).as_ref())
    }

    fn set_suspended(&self, is_suspended: bool) -> Result<(), ConnectError> {
        match self.connection.link.set_suspended(is_suspended) {
            true => Ok(()),
            false => Err(ConnectError::Disconnected),
        }
    }
}

impl<P: Payload> Clone for ConsumerHandle<P> {
    fn clone(&self) -> Self {
        Self::new(self.core.clone(), self.id, self.connection.clone())
    }
}

impl<P: Payload> fmt::Debug for ConsumerHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsumerHandle")
            .field("id", &self.id)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

/// Connection of a supplier. Clones are handles of one connection; dropping them does not end it.
pub struct SupplierHandle<P: Payload> {
    core: Arc<Core<P>>,
    link: Arc<SupplierLink>,
}

impl<P: Payload> SupplierHandle<P> {
    pub(super) fn new(core: Arc<Core<P>>, link: Arc<SupplierLink>) -> Self {
        Self { core, link }
    }

    /// Returns the identity of the connection.
    #[must_use]
    pub fn id(&self) -> SupplierId {
        self.link.id
    }

    /// Pushes events. Under reactive dispatching it returns when all consumers have; otherwise when the
    /// events are in the queues, which blocks only if a full one says so ([`Overflow::Block`](crate::Overflow::Block)).
    /// Warm events allocate nothing.
    ///
    /// # Errors
    /// The supplier is not connected, or an event is too large; then none is delivered.
    pub fn push(&self, events: &[Event<P>]) -> Result<(), PushError> {
        self.core.push(&self.link, events)
    }

    /// Pushes events as [`SupplierHandle::push`] does, and drops them.
    ///
    /// # Errors
    /// Those of [`SupplierHandle::push`].
    pub fn push_owned(&self, events: Vec<Event<P>>) -> Result<(), PushError> {
        self.push(&events)
    }

    /// Replaces the publications.
    ///
    /// # Errors
    /// [`ConnectError::Disconnected`], [`ConnectError::Full`].
    pub fn change(&self, publications: Publications) -> Result<(), ConnectError> {
        let core = &self.core;
        core.suppliers
            .change(&self.link, publications, &core.observers)
    }

    /// Ends the connection. Does nothing if it has ended.
    pub fn disconnect(&self) {
        self.core.end_supplier(self.link.id, &Reason::Asked);
    }

    /// Returns whether the supplier is connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.link.is_connected()
    }
}

impl<P: Payload> Clone for SupplierHandle<P> {
    fn clone(&self) -> Self {
        Self::new(self.core.clone(), self.link.clone())
    }
}

impl<P: Payload> fmt::Debug for SupplierHandle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupplierHandle")
            .field("id", &self.id())
            .field("is_connected", &self.is_connected())
            .finish_non_exhaustive()
    }
}
