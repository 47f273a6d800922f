//! Clients: consumers and suppliers behind proxies, and calls to them that wait for no reply.

use std::sync::Arc;
use std::time::Duration;

use punctual::stub::{Marshal, Operation};
use punctual::{
    Any, CompletionStatus, Interface, ObjectRef, SystemException, SystemExceptionKind as Kind,
};
use punctual_events::peer::{bounded, is_gone};

use crate::cos_event_comm;
use crate::cos_notification::{EventBatch, EventType, StructuredEvent};
use crate::cos_notify_comm::{
    self as comm, NotifyPublish, NotifySubscribe, SequencePullConsumer, SequencePullSupplier,
    SequencePushConsumer, SequencePushConsumerServant, SequencePushSupplier,
    StructuredPullConsumer, StructuredPullSupplier, StructuredPushConsumer,
    StructuredPushConsumerServant, StructuredPushSupplier,
};
use crate::event::Event;

/// Form in which a client has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Any,
    Structured,
    Sequence,
}

/// Direction of calls: those with which events go to their receiver, or those with which it takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Push,
    Pull,
}

/// Consumer or supplier of a form and a style.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    object: ObjectRef,
    form: Form,
    style: Style,
}

/// Failure of a call to a client.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It raised `Disconnected`.
    Disconnected,
    /// It does not exist any more.
    Gone,
    /// It has not received the call.
    NotReached(SystemException),
    /// It may have received the call, and has answered with an exception or not at all.
    Failed(SystemException),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Disconnected => f.write_str("it raised Disconnected"),
            Self::Gone => f.write_str("it does not exist"),
            Self::NotReached(exception) | Self::Failed(exception) => exception.fmt(f),
        }
    }
}

impl From<SystemException> for Failure {
    fn from(exception: SystemException) -> Self {
        if is_gone(&exception) {
            return Self::Gone;
        }
        match exception.completed() {
            CompletionStatus::No => Self::NotReached(exception),
            _ => Self::Failed(exception),
        }
    }
}

macro_rules! failures {
    ($($error:path;)*) => {
        $(
            impl From<$error> for Failure {
                fn from(error: $error) -> Self {
                    use $error as Error;
                    match error {
                        Error::Disconnected(_) => Self::Disconnected,
                        Error::System(exception) => exception.into(),
                    }
                }
            }
        )*
    };
}

failures! {
    cos_event_comm::PushConsumerPushError;
    comm::StructuredPushConsumerPushStructuredEventError;
    comm::SequencePushConsumerPushStructuredEventsError;
    cos_event_comm::PullSupplierTryPullError;
    comm::StructuredPullSupplierTryPullStructuredEventError;
    comm::SequencePullSupplierTryPullStructuredEventsError;
}

/// Returns a handler that ignores the outcome of a call that tells a client something.
fn ignored<E: std::fmt::Display>() -> impl FnOnce(Result<(), E>) + Send + 'static {
    |outcome| {
        if let Err(error) = outcome {
            tracing::debug!("a client could not be told of a change: {error}");
        }
    }
}

impl Client {
    pub(crate) fn new(client: &impl Interface, form: Form, style: Style) -> Self {
        Self {
            object: client.as_object().clone(),
            form,
            style,
        }
    }

    pub(crate) fn object(&self) -> &ObjectRef {
        &self.object
    }

    /// Returns the same client, whose calls take no longer than the time.
    pub(crate) fn bounded(&self, time: Duration) -> Self {
        Self {
            object: bounded(&self.object, time),
            ..*self
        }
    }

    fn of<I: Interface>(&self) -> I {
        I::from_object(self.object.clone())
    }

    /// Pushes events to a consumer: all of them if it takes sequences, else the first one.
    pub(crate) fn push(
        &self,
        events: &[Arc<Event>],
        done: impl FnOnce(Result<(), Failure>) + Send + 'static,
    ) {
        let Some(first) = events.first() else {
            return done(Ok(()));
        };
        match self.form {
            Form::Any => self.of::<cos_event_comm::PushConsumer>().sendc_push(
                |outcome: Result<(), cos_event_comm::PushConsumerPushError>| {
                    done(outcome.map_err(Failure::from));
                },
                first.any(),
            ),
            Form::Structured => self.push_structured(first.clone(), done),
            Form::Sequence => self.push_sequence(events.into(), done),
        }
    }

    // The stubs for these two operations copy events; these calls encode those that all consumers share.

    fn push_structured(
        &self,
        event: Arc<Event>,
        done: impl FnOnce(Result<(), Failure>) + Send + 'static,
    ) {
        const OPERATION: Operation =
            Operation::two_way("push_structured_event").of::<StructuredPushConsumer>();
        let handler =
            move |outcome: Result<(), comm::StructuredPushConsumerPushStructuredEventError>| {
                done(outcome.map_err(Failure::from));
            };
        let here = event.clone();
        self.object.begin_handled(
            OPERATION,
            handler.into(),
            |servant: &dyn StructuredPushConsumerServant| {
                servant.push_structured_event(here.structured())
            },
            move |out| event.structured().marshal(out),
            |_| Ok(()),
        );
    }

    fn push_sequence(
        &self,
        events: Box<[Arc<Event>]>,
        done: impl FnOnce(Result<(), Failure>) + Send + 'static,
    ) {
        const OPERATION: Operation =
            Operation::two_way("push_structured_events").of::<SequencePushConsumer>();
        let handler =
            move |outcome: Result<(), comm::SequencePushConsumerPushStructuredEventsError>| {
                done(outcome.map_err(Failure::from));
            };
        let here = events.clone();
        self.object.begin_handled(
            OPERATION,
            handler.into(),
            move |servant: &dyn SequencePushConsumerServant| {
                let batch: EventBatch = here
                    .iter()
                    .map(|event| event.structured().clone())
                    .collect();
                servant.push_structured_events(&batch)
            },
            move |out| {
                u32::try_from(events.len())
                    .unwrap_or(u32::MAX)
                    .marshal(out)?;
                events
                    .iter()
                    .try_for_each(|event| event.structured().marshal(out))
            },
            |_| Ok(()),
        );
    }

    /// Asks a supplier for up to so many events; it answers at once.
    pub(crate) fn try_pull(
        &self,
        most: i32,
        done: impl FnOnce(Result<Vec<Event>, Failure>) + Send + 'static,
    ) {
        match self.form {
            Form::Any => self.of::<cos_event_comm::PullSupplier>().sendc_try_pull(
                |pulled: Result<(Any, bool), cos_event_comm::PullSupplierTryPullError>| {
                    done(one(pulled, |any| Event::of_any(&any)));
                },
            ),
            Form::Structured => {
                self.of::<StructuredPullSupplier>()
                    .sendc_try_pull_structured_event(
                        |pulled: Result<
                            (StructuredEvent, bool),
                            comm::StructuredPullSupplierTryPullStructuredEventError,
                        >| done(one(pulled, Event::of_structured)),
                    );
            }
            Form::Sequence => {
                self.of::<SequencePullSupplier>()
                    .sendc_try_pull_structured_events(
                        |pulled: Result<
                            (EventBatch, bool),
                            comm::SequencePullSupplierTryPullStructuredEventsError,
                        >| done(many(pulled)),
                        most,
                    );
            }
        }
    }

    /// Tells a consumer that its connection has ended; does not wait for its reply.
    pub(crate) fn say_consumer_disconnected(&self) {
        use cos_event_comm::{PullConsumer, PushConsumer};
        let done = ignored::<SystemException>;
        match (self.form, self.style) {
            (Form::Any, Style::Push) => {
                self.of::<PushConsumer>()
                    .sendc_disconnect_push_consumer(done());
            }
            (Form::Any, Style::Pull) => {
                self.of::<PullConsumer>()
                    .sendc_disconnect_pull_consumer(done());
            }
            (Form::Structured, Style::Push) => self
                .of::<StructuredPushConsumer>()
                .sendc_disconnect_structured_push_consumer(done()),
            (Form::Structured, Style::Pull) => self
                .of::<StructuredPullConsumer>()
                .sendc_disconnect_structured_pull_consumer(done()),
            (Form::Sequence, Style::Push) => self
                .of::<SequencePushConsumer>()
                .sendc_disconnect_sequence_push_consumer(done()),
            (Form::Sequence, Style::Pull) => self
                .of::<SequencePullConsumer>()
                .sendc_disconnect_sequence_pull_consumer(done()),
        }
    }

    /// Tells a supplier that its connection has ended; does not wait for its reply.
    pub(crate) fn say_supplier_disconnected(&self) {
        use cos_event_comm::{PullSupplier, PushSupplier};
        let done = ignored::<SystemException>;
        match (self.form, self.style) {
            (Form::Any, Style::Push) => {
                self.of::<PushSupplier>()
                    .sendc_disconnect_push_supplier(done());
            }
            (Form::Any, Style::Pull) => {
                self.of::<PullSupplier>()
                    .sendc_disconnect_pull_supplier(done());
            }
            (Form::Structured, Style::Push) => self
                .of::<StructuredPushSupplier>()
                .sendc_disconnect_structured_push_supplier(done()),
            (Form::Structured, Style::Pull) => self
                .of::<StructuredPullSupplier>()
                .sendc_disconnect_structured_pull_supplier(done()),
            (Form::Sequence, Style::Push) => self
                .of::<SequencePushSupplier>()
                .sendc_disconnect_sequence_push_supplier(done()),
            (Form::Sequence, Style::Pull) => self
                .of::<SequencePullSupplier>()
                .sendc_disconnect_sequence_pull_supplier(done()),
        }
    }

    /// Tells a consumer of types that suppliers offer now, and of those that they do not any more. `unheard` is called if
    /// it has no such operation.
    pub(crate) fn offer_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
        unheard: impl FnOnce() + Send + 'static,
    ) {
        let done = move |outcome: Result<(), comm::NotifyPublishOfferChangeError>| {
            if let Err(comm::NotifyPublishOfferChangeError::System(exception)) = outcome
                && has_no_operation(&exception)
            {
                unheard();
            }
        };
        self.of::<NotifyPublish>()
            .sendc_offer_change(done, added, removed);
    }

    /// Tells a supplier of types that consumers subscribe to now, and of those that they do not any more. `unheard` is
    /// called if it has no such operation.
    pub(crate) fn subscription_change(
        &self,
        added: &[EventType],
        removed: &[EventType],
        unheard: impl FnOnce() + Send + 'static,
    ) {
        let done = move |outcome: Result<(), comm::NotifySubscribeSubscriptionChangeError>| {
            if let Err(comm::NotifySubscribeSubscriptionChangeError::System(exception)) = outcome
                && has_no_operation(&exception)
            {
                unheard();
            }
        };
        self.of::<NotifySubscribe>()
            .sendc_subscription_change(done, added, removed);
    }
}

/// Returns whether an exception says that an object lacks an operation, as those of the Event Service lack changes of
/// types.
fn has_no_operation(exception: &SystemException) -> bool {
    matches!(exception.kind(), Kind::BadOperation | Kind::NoImplement)
}

fn one<T, E: Into<Failure>>(
    pulled: Result<(T, bool), E>,
    event: impl FnOnce(T) -> Event,
) -> Result<Vec<Event>, Failure> {
    match pulled {
        Ok((one, true)) => Ok(vec![event(one)]),
        Ok((_, false)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

fn many<E: Into<Failure>>(pulled: Result<(EventBatch, bool), E>) -> Result<Vec<Event>, Failure> {
    match pulled {
        Ok((batch, true)) => Ok(batch.into_iter().map(Event::of_structured).collect()),
        Ok((_, false)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
