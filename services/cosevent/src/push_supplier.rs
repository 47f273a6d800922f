//! `ProxyPushSupplier`: the channel pushes events to a consumer, as Anys or as calls of an interface.
//!
//! Its queue, the thread that pushes and the count of failures are those of `punctual-rtevent`.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual::SystemException;
use punctual_events::peer::{bounded, is_gone};
use punctual_rtevent::{Consumer, ConsumerHandle, Event, Filter, Pushed, Reason};

use crate::channel::Channel;
use crate::common::Common;
use crate::cos_event_channel_admin::{
    AlreadyConnected, ProxyPushSupplierConnectPushConsumerError, ProxyPushSupplierServant,
};
use crate::cos_event_comm::{PushConsumer, PushConsumerPushError, PushSupplierServant};
use crate::event::EventData;
use crate::kept::ProxyKind as Kind;
use crate::proxy::{Base, Core, Proxy};
use crate::refusal::Refusal;
use crate::typed::{Interface, Target};

/// Proxy for a consumer that is pushed to.
pub(crate) struct PushSupplierProxy {
    base: Base<PushConsumer>,
    channel: Arc<Channel>,
    /// Interface of a typed proxy, and the filter of its events.
    typed: Option<(Arc<Interface>, Filter)>,
    /// Place in the channel, while connected.
    subscribed: Mutex<Option<ConsumerHandle<EventData>>>,
    own: Weak<Self>,
}

impl PushSupplierProxy {
    pub(crate) fn new(
        channel: Arc<Channel>,
        number: u64,
        typed: Option<(Arc<Interface>, Filter)>,
    ) -> Arc<Self> {
        let base = Base::new(channel.common.clone(), channel.clone(), number);
        Arc::new_cyclic(|own| Self {
            base,
            channel,
            typed,
            subscribed: Mutex::default(),
            own: own.clone(),
        })
    }

    /// Connects the consumer, whose connection is kept already: events are pushed to it from now on. A typed proxy asks the
    /// consumer for its object with the first event.
    ///
    /// # Errors
    /// The proxy is connected, or has ended; the channel has no room for it.
    pub(crate) fn resume(&self, consumer: PushConsumer) -> Result<(), Refusal> {
        let timeout = self.base.common.limits.call_timeout;
        let target = self.typed.as_ref();
        let target = target.map(|(interface, _)| Target::new(interface.clone(), timeout));
        self.begin(consumer, target)
    }

    /// Checks that the proxy can be connected.
    ///
    /// # Errors
    /// The proxy is connected, or has ended.
    pub(crate) fn check_unconnected(&self) -> Result<(), Refusal> {
        Ok(self.base.connection.check_unconnected()?)
    }

    pub(crate) fn common(&self) -> &Arc<Common> {
        &self.base.common
    }

    fn begin(&self, consumer: PushConsumer, target: Option<Target>) -> Result<(), Refusal> {
        self.base.connection.connect(Some(consumer.clone()))?;
        let subscriber = PushSubscriber {
            consumer: bounded(&consumer, self.base.common.limits.call_timeout),
            proxy: self.own.clone(),
            target,
        };
        let filter = self.typed.as_ref();
        let filter = filter.map_or_else(Filter::null, |(_, filter)| filter.clone());
        match self.channel.subscribe_push(filter, Arc::new(subscriber)) {
            Ok(handle) => *self.subscribed.lock() = Some(handle),
            Err(refusal) => {
                self.finish(false);
                return Err(refusal);
            }
        }
        if !self.base.connection.is_connected() {
            // It was ended meanwhile.
            self.unsubscribe();
        }
        Ok(())
    }

    /// Connects the consumer; `target` is the object that a typed proxy calls.
    ///
    /// # Errors
    /// As of [`resume`](Self::resume); the connection cannot be kept.
    pub(crate) fn connect(
        &self,
        consumer: PushConsumer,
        target: Option<Target>,
    ) -> Result<(), Refusal> {
        self.begin(consumer, target)?;
        let interface = self.typed.as_ref();
        let interface = interface.map(|(interface, _)| interface.record());
        let kept = self.base.keep(Kind::PushSupplier, interface);
        kept.inspect_err(|_| {
            let _ = self.finish(false);
        })
    }

    /// Ends the connection at the consumer's request.
    ///
    /// # Errors
    /// It had ended.
    pub(crate) fn disconnect(&self) -> Result<(), Refusal> {
        let has_ended = self.finish(true);
        self.base.ended_by_peer(has_ended)
    }

    /// Ends the connection; returns whether this call did so.
    fn finish(&self, tells_peer: bool) -> bool {
        let has_ended = self.base.end(tells_peer);
        if has_ended {
            self.unsubscribe();
        }
        has_ended
    }

    fn unsubscribe(&self) {
        if let Some(handle) = self.subscribed.lock().take() {
            handle.disconnect();
        }
    }
}

impl Proxy for PushSupplierProxy {
    fn end(&self) {
        self.finish(true);
    }

    fn core(&self) -> &dyn Core {
        &self.base
    }
}

impl PushSupplierServant for PushSupplierProxy {
    fn disconnect_push_supplier(&self) -> Result<(), SystemException> {
        Ok(self.disconnect()?)
    }
}

impl ProxyPushSupplierServant for PushSupplierProxy {
    fn connect_push_consumer(
        &self,
        push_consumer: Option<&PushConsumer>,
    ) -> Result<(), ProxyPushSupplierConnectPushConsumerError> {
        let consumer = push_consumer.cloned().ok_or(Refusal::Nil("consumer"));
        let connected = consumer.and_then(|consumer| self.connect(consumer, None));
        connected.map_err(|refusal| match refusal {
            Refusal::AlreadyConnected => AlreadyConnected.into(),
            other => SystemException::from(other).into(),
        })
    }
}

/// Connected consumer of a proxy, to which the channel pushes.
struct PushSubscriber {
    consumer: PushConsumer,
    proxy: Weak<PushSupplierProxy>,
    /// Object that a typed proxy calls.
    target: Option<Target>,
}

impl PushSubscriber {
    fn push_one(&self, event: &EventData) -> Pushed {
        let Some(proxy) = self.proxy.upgrade() else {
            return Pushed::Gone("its proxy has been removed".to_owned());
        };
        let pushed = match &self.target {
            None => self.consumer.push(event.any()),
            Some(target) => target.push(&self.consumer, event.any()).map_err(Into::into),
        };
        match pushed {
            Ok(()) => {
                proxy.base.common.metrics.pushed.add(1);
                Pushed::Done
            }
            Err(PushConsumerPushError::Disconnected(_)) => {
                Pushed::Gone("it raised Disconnected".to_owned())
            }
            Err(PushConsumerPushError::System(exception)) => match is_gone(&exception) {
                true => Pushed::Gone(exception.to_string()),
                false => Pushed::Failed(exception.to_string()),
            },
        }
    }
}

impl Consumer<EventData> for PushSubscriber {
    fn push(&self, events: &[Event<EventData>]) -> Pushed {
        for event in events {
            match self.push_one(&event.data) {
                Pushed::Done => {}
                other => return other,
            }
        }
        Pushed::Done
    }

    fn disconnected(&self, reason: &Reason) {
        let Some(proxy) = self.proxy.upgrade() else {
            return;
        };
        if proxy.base.common.is_ending() {
            // Its connection stays for the next start.
            return;
        }
        tracing::info!("a consumer is disconnected: {reason}");
        let is_there = !matches!(reason, Reason::Gone(_));
        if proxy.finish(is_there) {
            proxy.base.common.metrics.lost_peers.add(1);
        }
    }
}
