//! `ProxyPullConsumer`: the channel pulls events from a supplier.
//!
//! It calls `try_pull` or `pull`, at most one call at a time and without a thread that waits for the reply. After an event
//! it calls again at once, else after the channel's interval.

use std::sync::{Arc, Weak};
use std::time::Duration;

use punctual::{Any, SystemException};
use punctual_events::peer::{Existence, bounded, is_gone};

use crate::channel::Channel;
use crate::cos_event_channel_admin::{
    AlreadyConnected, ProxyPullConsumerConnectPullSupplierError, ProxyPullConsumerServant,
};
use crate::cos_event_comm::{
    PullConsumerServant, PullSupplier, PullSupplierPullError, PullSupplierTryPullError,
};
use crate::kept::ProxyKind as Kind;
use crate::limits::Pulling;
use crate::proxy::{Base, Core, Proxy};
use crate::refusal::Refusal;

/// Proxy for a supplier that is pulled from.
pub(crate) struct PullConsumerProxy {
    base: Base<PullSupplier>,
    channel: Arc<Channel>,
    own: Weak<Self>,
}

/// Outcome of a call of `try_pull`; one of `pull` has an event.
type TryPulled = Result<(Any, bool), PullSupplierTryPullError>;

impl PullConsumerProxy {
    pub(crate) fn new(channel: Arc<Channel>, number: u64) -> Arc<Self> {
        let base = Base::new(channel.common.clone(), channel.clone(), number);
        Arc::new_cyclic(|own| Self {
            base,
            channel,
            own: own.clone(),
        })
    }

    /// Connects the supplier, whose connection is kept already, and begins to pull.
    ///
    /// # Errors
    /// The proxy is connected, or has ended.
    pub(crate) fn resume(&self, supplier: PullSupplier) -> Result<(), Refusal> {
        self.base.connection.connect(Some(supplier))?;
        self.pull_soon();
        Ok(())
    }

    fn connect(&self, supplier: PullSupplier) -> Result<(), Refusal> {
        self.resume(supplier)?;
        self.base.keep(Kind::PullConsumer, None).inspect_err(|_| {
            let _ = self.base.end(false);
        })
    }

    /// Hands the call of the supplier to another thread: it may have to wait for a connection.
    fn pull_soon(&self) {
        let own = self.own.clone();
        let pull = move || {
            if let Some(own) = own.upgrade() {
                own.pull();
            }
        };
        self.base.common.workers.run(pull);
    }

    fn pull_after(&self, time: Duration) {
        let own = self.own.clone();
        let pull = move || {
            if let Some(own) = own.upgrade() {
                own.pull_soon();
            }
        };
        self.base.common.timetable.after(time, pull);
    }

    fn pull(&self) {
        let Some(supplier) = self.base.connection.peer() else {
            return;
        };
        let own = self.own.clone();
        let limits = &self.base.common.limits;
        match limits.pulling {
            Pulling::Try => {
                let supplier = bounded(&supplier, limits.call_timeout);
                supplier.sendc_try_pull(move |pulled: TryPulled| {
                    if let Some(own) = own.upgrade() {
                        own.pulled(pulled);
                    }
                });
            }
            Pulling::Wait => {
                supplier.sendc_pull(move |pulled: Result<Any, PullSupplierPullError>| {
                    if let Some(own) = own.upgrade() {
                        own.pulled(of_pull(pulled));
                    }
                })
            }
        }
    }

    /// Passes an event on, and decides when to call again. Called by the thread that reads replies; does not block.
    fn pulled(&self, pulled: TryPulled) {
        if !self.base.connection.is_connected() {
            return;
        }
        match pulled {
            Ok((event, true)) => {
                self.base.called(Existence::Exists);
                self.take(event);
            }
            Ok((_, false)) => {
                self.base.called(Existence::Exists);
                self.pull_after(self.channel.pull_interval());
            }
            Err(PullSupplierTryPullError::Disconnected(_)) => {
                self.base.end(false);
            }
            Err(PullSupplierTryPullError::System(exception)) => self.failed(&exception),
        }
    }

    /// Passes an event on, and pulls the next one: on another thread if the channel has a gate, which may block.
    fn take(&self, event: Any) {
        match self.own.upgrade().filter(|_| self.channel.has_gate()) {
            Some(own) => self.base.common.workers.run(move || {
                own.publish(&event);
                own.pull();
            }),
            None => {
                self.publish(&event);
                self.pull_soon();
            }
        }
    }

    fn publish(&self, event: &Any) {
        if let Err(refusal) = self.channel.publish(event) {
            tracing::warn!("an event that was pulled is not passed on: {refusal}");
        }
    }

    fn failed(&self, exception: &SystemException) {
        let existence = match is_gone(exception) {
            true => Existence::Gone,
            false => Existence::Unknown,
        };
        if !self.base.called(existence) {
            return self.pull_after(self.channel.pull_interval());
        }
        tracing::info!("a supplier is disconnected, as pulling from it has failed: {exception}");
        if self.base.end(existence != Existence::Gone) {
            self.base.common.metrics.lost_peers.add(1);
        }
    }
}

/// Returns the outcome of `pull` as one of `try_pull`.
fn of_pull(pulled: Result<Any, PullSupplierPullError>) -> TryPulled {
    match pulled {
        Ok(event) => Ok((event, true)),
        Err(PullSupplierPullError::Disconnected(exception)) => Err(exception.into()),
        Err(PullSupplierPullError::System(exception)) => Err(exception.into()),
    }
}

impl Proxy for PullConsumerProxy {
    fn end(&self) {
        self.base.end(true);
    }

    fn core(&self) -> &dyn Core {
        &self.base
    }
}

impl PullConsumerServant for PullConsumerProxy {
    fn disconnect_pull_consumer(&self) -> Result<(), SystemException> {
        let has_ended = self.base.end(true);
        Ok(self.base.ended_by_peer(has_ended)?)
    }
}

impl ProxyPullConsumerServant for PullConsumerProxy {
    fn connect_pull_supplier(
        &self,
        pull_supplier: Option<&PullSupplier>,
    ) -> Result<(), ProxyPullConsumerConnectPullSupplierError> {
        let supplier = pull_supplier.cloned().ok_or(Refusal::Nil("supplier"));
        let connected = supplier.and_then(|supplier| self.connect(supplier));
        connected.map_err(|refusal| match refusal {
            Refusal::AlreadyConnected => AlreadyConnected.into(),
            other => SystemException::from(other).into(),
        })
    }
}
