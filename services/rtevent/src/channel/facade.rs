//! Channel: what users of the library see of it.

use super::core::Core;
use super::handles::{ConsumerHandle, SupplierHandle};
use super::observers::ObserverId;
use super::snapshot::snapshot;
use crate::error::ConnectError;
use crate::event::Payload;
use crate::options::{ChannelOptions, OptionsError};
use crate::peer::{Consumer, Observer, Supplier};
use crate::statistics::ChannelStatistics;
use crate::subscription::{Publications, Subscription};
use std::fmt;
use std::sync::Arc;

/// Real-time event channel. Clones are handles of one channel, which is destroyed when the last of them is dropped.
pub struct Channel<P: Payload> {
    owned: Arc<Owned<P>>,
}

/// Core whose channel is destroyed when its last user drops it.
struct Owned<P: Payload>(Arc<Core<P>>);

impl<P: Payload> Channel<P> {
    /// Makes a channel.
    ///
    /// # Errors
    /// Options that are out of range.
    pub fn new(options: ChannelOptions) -> Result<Self, OptionsError> {
        Ok(Self {
            owned: Arc::new(Owned(Core::new(options)?)),
        })
    }

    /// Connects a consumer. One that is connected twice receives twice.
    ///
    /// # Errors
    /// A filter or a queue that is refused, a channel that is full or destroyed, a thread that could not be
    /// started.
    pub fn connect_consumer(
        &self,
        subscription: Subscription,
        consumer: Arc<dyn Consumer<P>>,
    ) -> Result<ConsumerHandle<P>, ConnectError> {
        let (id, connection) = self.core().connect_consumer(subscription, consumer)?;
        Ok(ConsumerHandle::new(self.core().clone(), id, connection))
    }

    /// Connects a supplier. Its publications inform observers; it may push any event.
    ///
    /// # Errors
    /// A channel that is full or destroyed; too many publications.
    pub fn connect_supplier(
        &self,
        publications: Publications,
        supplier: Arc<dyn Supplier>,
    ) -> Result<SupplierHandle<P>, ConnectError> {
        let core = self.core();
        core.start_control()?;
        let link = core
            .suppliers
            .connect(publications, supplier, &core.observers)?;
        Ok(SupplierHandle::new(core.clone(), link))
    }

    /// Adds an observer, which is called at once with the present state, and then after changes.
    pub fn append_observer(&self, observer: Arc<dyn Observer>) -> ObserverId {
        self.core().observers.append(observer)
    }

    /// Removes an observer; returns `false` if it is not there.
    pub fn remove_observer(&self, observer: ObserverId) -> bool {
        self.core().observers.remove(observer)
    }

    /// Passes time up to `now`, with [`Clock::Manual`](crate::Clock::Manual): timers expire on this thread, each at its
    /// time. Returns the time at which the next one may be due. Times are in nanoseconds; one before that of an earlier
    /// call changes nothing. With another clock it does nothing and returns `None`.
    pub fn advance(&self, now: u64) -> Option<u64> {
        self.core().advance(now)
    }

    /// Returns the counts of the channel and its consumers.
    #[must_use]
    pub fn statistics(&self) -> ChannelStatistics {
        snapshot(self.core())
    }

    /// Destroys the channel: disconnects all suppliers and consumers, and calls them. Events in queues are dropped.
    pub fn destroy(&self) {
        self.core().destroy();
    }

    fn core(&self) -> &Arc<Core<P>> {
        &self.owned.0
    }
}

impl<P: Payload> Clone for Channel<P> {
    fn clone(&self) -> Self {
        Self {
            owned: self.owned.clone(),
        }
    }
}

impl<P: Payload> Drop for Owned<P> {
    fn drop(&mut self) {
        self.0.destroy();
    }
}

impl<P: Payload> fmt::Debug for Channel<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("options", &self.core().options)
            .finish_non_exhaustive()
    }
}
