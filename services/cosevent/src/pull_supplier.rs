//! `ProxyPullSupplier`: a consumer pulls events out of the channel.
//!
//! A call of `pull` that finds no event waits without a thread, and is answered by the thread that brings the event.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual::asynchronous::AnswerError;
use punctual::{Any, Response, SystemException};
use punctual_rtevent::{Consumer, ConsumerHandle, Event, Pushed};

use crate::channel::Channel;
use crate::cos_event_channel_admin::{
    AlreadyConnected, ProxyPullSupplierAmhServant, ProxyPullSupplierConnectPullConsumerError,
};
use crate::cos_event_comm::{
    Disconnected, PullConsumer, PullSupplierAmhServant, PullSupplierPullError,
    PullSupplierTryPullError,
};
use crate::event::EventData;
use crate::kept::ProxyKind as Kind;
use crate::proxy::{Base, Core, Proxy};
use crate::pull_queue::{Offered, PullQueue, Taken};
use crate::refusal::Refusal;

/// Call of `pull` that waits.
type Call = Response<Any, PullSupplierPullError>;

/// Proxy for a consumer that pulls. Its consumer may be nil: it is then not told of the end.
pub(crate) struct PullSupplierProxy {
    base: Base<PullConsumer>,
    channel: Arc<Channel>,
    queue: Mutex<PullQueue<Call>>,
    /// Place in the channel, while connected.
    subscribed: Mutex<Option<ConsumerHandle<EventData>>>,
    own: Weak<Self>,
}

impl PullSupplierProxy {
    pub(crate) fn new(channel: Arc<Channel>, number: u64) -> Arc<Self> {
        let base = Base::new(channel.common.clone(), channel.clone(), number);
        let queue = Mutex::new(PullQueue::new(channel.limits()));
        Arc::new_cyclic(|own| Self {
            base,
            channel,
            queue,
            subscribed: Mutex::default(),
            own: own.clone(),
        })
    }

    /// Connects the consumer, whose connection is kept already: events are held for it from now on.
    ///
    /// # Errors
    /// The proxy is connected, or has ended; the channel has no room for it.
    pub(crate) fn resume(&self, consumer: Option<PullConsumer>) -> Result<(), Refusal> {
        self.base.connection.connect(consumer)?;
        let subscribed = self
            .channel
            .subscribe_pull(Arc::new(PullSubscriber(self.own.clone())));
        match subscribed {
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

    fn connect(&self, consumer: Option<PullConsumer>) -> Result<(), Refusal> {
        self.resume(consumer)?;
        self.base.keep(Kind::PullSupplier, None).inspect_err(|_| {
            let _ = self.finish(false);
        })
    }

    /// Takes an event for the consumer.
    fn deliver(&self, event: EventData) {
        let offered = self.queue.lock().offer(event);
        self.settle(offered);
    }

    /// Counts what became of an event; answers the call that waits for it. If the client has given up,
    /// the event is for the next call.
    fn settle(&self, mut offered: Offered<Call>) {
        let metrics = &self.base.common.metrics;
        loop {
            match offered {
                Offered::Kept(discarded) => return metrics.discarded.add(discarded),
                Offered::Discarded => return metrics.discarded.add(1),
                Offered::Closed => return metrics.undelivered.add(1),
                Offered::Awaited(call, event) => {
                    let is_awaited = call.is_awaited();
                    if is_awaited && is_taken(&call.reply(event.any().clone())) {
                        return metrics.pulled.add(1);
                    }
                    offered = self.queue.lock().put_back(event);
                }
            }
        }
    }

    /// Ends the connection; returns whether this call did so.
    fn finish(&self, tells_peer: bool) -> bool {
        let has_ended = self.base.end(tells_peer);
        if has_ended {
            self.unsubscribe();
            let (calls, events) = self.queue.lock().close();
            self.base.common.metrics.undelivered.add(events);
            for call in calls {
                let _ = call.raise(Disconnected);
            }
        }
        has_ended
    }

    fn unsubscribe(&self) {
        if let Some(handle) = self.subscribed.lock().take() {
            handle.disconnect();
        }
    }

    fn take_or_wait(&self, call: Call) {
        let taken = self.queue.lock().take_or_wait(call, Response::is_awaited);
        match taken {
            Taken::Event(call, event) => self.settle(Offered::Awaited(call, event)),
            Taken::Waits => {
                if self.base.common.is_ending() {
                    self.release_calls();
                }
            }
            Taken::Refused(call) => {
                let _ = call.fail(Refusal::TooManyPulls(self.channel.limits().waiting_pulls));
            }
            Taken::Closed(call) => {
                let _ = call.raise(Disconnected);
            }
        }
    }
}

/// Returns whether an answer has reached the client, or another in its place.
fn is_taken(answered: &Result<(), AnswerError>) -> bool {
    !matches!(
        answered,
        Err(AnswerError::NobodyWaits | AnswerError::TimedOut)
    )
}

impl Proxy for PullSupplierProxy {
    fn end(&self) {
        self.finish(true);
    }

    fn release_calls(&self) {
        let calls = self.queue.lock().take_calls();
        for call in calls {
            let _ = call.fail(Refusal::Ending);
        }
    }

    fn core(&self) -> &dyn Core {
        &self.base
    }
}

impl PullSupplierAmhServant for PullSupplierProxy {
    fn pull(&self, response: Call) {
        match self.base.connection.used() {
            Ok(()) => self.take_or_wait(response),
            Err(_) => {
                let _ = response.raise(Disconnected);
            }
        }
    }

    fn try_pull(&self, response: Response<(Any, bool), PullSupplierTryPullError>) {
        if self.base.connection.used().is_err() {
            let _ = response.raise(Disconnected);
            return;
        }
        let Some(event) = self.queue.lock().take() else {
            let _ = response.reply((Any::default(), false));
            return;
        };
        match is_taken(&response.reply((event.any().clone(), true))) {
            true => self.base.common.metrics.pulled.add(1),
            false => {
                let offered = self.queue.lock().put_back(event);
                self.settle(offered);
            }
        }
    }

    fn disconnect_pull_supplier(&self, response: Response<()>) {
        let ended = self.base.ended_by_peer(self.finish(true));
        let _ = response.answer(ended.map_err(SystemException::from));
    }
}

impl ProxyPullSupplierAmhServant for PullSupplierProxy {
    fn connect_pull_consumer(
        &self,
        response: Response<(), ProxyPullSupplierConnectPullConsumerError>,
        pull_consumer: Option<&PullConsumer>,
    ) {
        let _ = match self.connect(pull_consumer.cloned()) {
            Ok(()) => response.reply(()),
            Err(Refusal::AlreadyConnected) => response.raise(AlreadyConnected),
            Err(other) => response.fail(other),
        };
    }
}

/// Place of a pulling consumer in the channel.
struct PullSubscriber(Weak<PullSupplierProxy>);

impl Consumer<EventData> for PullSubscriber {
    fn push(&self, events: &[Event<EventData>]) -> Pushed {
        let Some(proxy) = self.0.upgrade() else {
            return Pushed::Gone("its proxy has been removed".to_owned());
        };
        for event in events {
            proxy.deliver(event.data.clone());
        }
        Pushed::Done
    }
}
