//! `ProxyPullSupplier`: a consumer pulls events out of the channel, as Anys or by the operations of an interface.
//!
//! A call of `pull` that finds no event waits without a thread, and is answered by the thread that brings the event.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual::asynchronous::AnswerError;
use punctual::dynamic::InvokeError;
use punctual::{Any, Response, SystemException};
use punctual_rtevent::{Consumer, ConsumerHandle, Event, Filter, Pushed};

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
use crate::typed::Interface;

/// Call that waits for an event.
enum Call {
    /// Call of `pull`.
    Any(Response<Any, PullSupplierPullError>),
    /// Call of an operation of a typed proxy's object, whose results are the parameters of the event.
    Typed(TypedResponse),
}

/// Response to a request by the dynamic skeleton interface.
pub(crate) type TypedResponse = Response<Vec<Any>, InvokeError>;

/// Proxy for a consumer that pulls. Its consumer may be nil: it is then not told of the end.
pub(crate) struct PullSupplierProxy {
    base: Base<PullConsumer>,
    channel: Arc<Channel>,
    /// Interface of a typed proxy, and the filter of its events. Each of its operations is a lane of the queue.
    typed: Option<(Arc<Interface>, Filter)>,
    queue: Mutex<PullQueue<Call>>,
    /// Place in the channel, while connected.
    subscribed: Mutex<Option<ConsumerHandle<EventData>>>,
    own: Weak<Self>,
}

impl PullSupplierProxy {
    pub(crate) fn new(
        channel: Arc<Channel>,
        number: u64,
        typed: Option<(Arc<Interface>, Filter)>,
    ) -> Arc<Self> {
        let base = Base::new(channel.common.clone(), channel.clone(), number);
        let lanes = typed.as_ref();
        let lanes = lanes.map_or(1, |(interface, _)| interface.operations().len());
        let queue = Mutex::new(PullQueue::new(channel.limits(), lanes));
        Arc::new_cyclic(|own| Self {
            base,
            channel,
            typed,
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
        let filter = self.typed.as_ref();
        let filter = filter.map_or_else(Filter::null, |(_, filter)| filter.clone());
        let subscriber = Arc::new(PullSubscriber(self.own.clone()));
        match self.channel.subscribe_pull(filter, subscriber) {
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
        let interface = self.typed.as_ref();
        let interface = interface.map(|(interface, _)| interface.record());
        let kept = self.base.keep(Kind::PullSupplier, interface);
        kept.inspect_err(|_| {
            let _ = self.finish(false);
        })
    }

    /// Answers a call of a typed proxy's object with the oldest event of an operation, or has it wait for one.
    pub(crate) fn pull_typed(&self, operation: usize, response: TypedResponse) {
        let call = Call::Typed(response);
        match self.used() {
            Ok(()) => self.take_or_wait(Some(operation), call),
            Err(refusal) => call.fail(refusal),
        }
    }

    /// Answers a call of a typed proxy's object with `true` and the oldest event of an operation, or with `false` and
    /// `nothing`.
    pub(crate) fn try_pull_typed(&self, operation: usize, nothing: Any, response: TypedResponse) {
        if let Err(refusal) = self.used() {
            let _ = response.fail(refusal);
            return;
        }
        self.try_take(Some(operation), |event| match Any::new(&event.is_some()) {
            Ok(has_event) => response.reply(vec![has_event, event.cloned().unwrap_or(nothing)]),
            Err(error) => response.fail(SystemException::from(error)),
        });
    }

    /// Notes that the consumer calls.
    ///
    /// # Errors
    /// It is not connected yet, or not any more.
    fn used(&self) -> Result<(), Refusal> {
        let connection = &self.base.connection;
        connection
            .used()
            .map_err(|error| match connection.check_unconnected() {
                Ok(()) => Refusal::NotConnected,
                Err(_) => error.into(),
            })
    }

    /// Takes an event for the consumer.
    fn deliver(&self, event: EventData) {
        let lane = match &self.typed {
            None => 0,
            Some((interface, _)) => match interface.place_of(event.any().type_code()) {
                Some(operation) => operation,
                // The channel filters such events.
                None => return,
            },
        };
        let offered = self.queue.lock().offer(lane, event);
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
                Offered::Awaited(call, queued) => {
                    if call.is_awaited() && call.give(queued.event.any()) {
                        return metrics.pulled.add(1);
                    }
                    offered = self.queue.lock().put_back(queued);
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
                call.fail(Refusal::Disconnected);
            }
        }
        has_ended
    }

    fn unsubscribe(&self) {
        if let Some(handle) = self.subscribed.lock().take() {
            handle.disconnect();
        }
    }

    /// Takes the oldest event of an operation, or of all, for a call, or has it wait.
    fn take_or_wait(&self, operation: Option<usize>, call: Call) {
        let taken = self
            .queue
            .lock()
            .take_or_wait(operation, call, Call::is_awaited);
        match taken {
            Taken::Event(call, queued) => self.settle(Offered::Awaited(call, queued)),
            Taken::Waits => {
                if self.base.common.is_ending() {
                    self.release_calls();
                }
            }
            Taken::Refused(call) => {
                call.fail(Refusal::TooManyPulls(self.channel.limits().waiting_pulls));
            }
            Taken::Closed(call) => call.fail(Refusal::Disconnected),
        }
    }

    /// Answers a call that does not wait with the oldest event of an operation, or of all, if there is one.
    fn try_take(
        &self,
        operation: Option<usize>,
        answer: impl FnOnce(Option<&Any>) -> Result<(), AnswerError>,
    ) {
        let taken = self.queue.lock().take(operation);
        let Some(queued) = taken else {
            let _ = answer(None);
            return;
        };
        match is_taken(&answer(Some(queued.event.any()))) {
            true => self.base.common.metrics.pulled.add(1),
            false => {
                let offered = self.queue.lock().put_back(queued);
                self.settle(offered);
            }
        }
    }
}

impl Call {
    fn is_awaited(&self) -> bool {
        match self {
            Self::Any(response) => response.is_awaited(),
            Self::Typed(response) => response.is_awaited(),
        }
    }

    /// Answers with an event; returns whether the client has got the answer.
    fn give(self, event: &Any) -> bool {
        is_taken(&match self {
            Self::Any(response) => response.reply(event.clone()),
            // One result that is encoded as all of them.
            Self::Typed(response) => response.reply(vec![event.clone()]),
        })
    }

    /// Answers with the exception of a refusal.
    fn fail(self, refusal: Refusal) {
        let _ = match (self, refusal) {
            (Self::Any(response), Refusal::Disconnected) => response.raise(Disconnected),
            (Self::Any(response), other) => response.fail(other),
            // Its operation declares no exceptions.
            (Self::Typed(response), refusal) => response.fail(refusal),
        };
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
            call.fail(Refusal::Ending);
        }
    }

    fn core(&self) -> &dyn Core {
        &self.base
    }
}

impl PullSupplierAmhServant for PullSupplierProxy {
    fn pull(&self, response: Response<Any, PullSupplierPullError>) {
        let call = Call::Any(response);
        match self.base.connection.used() {
            Ok(()) => self.take_or_wait(None, call),
            Err(_) => call.fail(Refusal::Disconnected),
        }
    }

    fn try_pull(&self, response: Response<(Any, bool), PullSupplierTryPullError>) {
        if self.base.connection.used().is_err() {
            let _ = response.raise(Disconnected);
            return;
        }
        self.try_take(None, |event| {
            response.reply((event.cloned().unwrap_or_default(), event.is_some()))
        });
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
