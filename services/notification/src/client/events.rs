//! Calls that push events to consumers, or pull them from suppliers.

use std::sync::Arc;

use punctual::Any;
use punctual::stub::{Marshal, Operation};

use super::{Client, Failure, Form};
use crate::cos_event_comm;
use crate::cos_notification::{EventBatch, StructuredEvent};
use crate::cos_notify_comm::{
    self as comm, SequencePullSupplier, SequencePushConsumer, SequencePushConsumerServant,
    StructuredPullSupplier, StructuredPushConsumer, StructuredPushConsumerServant,
};
use crate::event::Event;

impl Client {
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
            move |out| event.marshal_structured(out),
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
                let batch: EventBatch = here.iter().map(|event| event.to_structured()).collect();
                servant.push_structured_events(&batch)
            },
            move |out| {
                u32::try_from(events.len())
                    .unwrap_or(u32::MAX)
                    .marshal(out)?;
                events
                    .iter()
                    .try_for_each(|event| event.marshal_structured(out))
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
