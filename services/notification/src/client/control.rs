//! Calls that tell clients of the end of their connections, and of changes of types.

use punctual::{SystemException, SystemExceptionKind as Kind};

use super::{Client, Form, Style};
use crate::census::Changes;
use crate::cos_event_comm;
use crate::cos_notify_comm::{
    self as comm, NotifyPublish, NotifySubscribe, SequencePullConsumer, SequencePullSupplier,
    SequencePushConsumer, SequencePushSupplier, StructuredPullConsumer, StructuredPullSupplier,
    StructuredPushConsumer, StructuredPushSupplier,
};

/// Handler of a call that tells of changes of types; false is a client that lacks the operation.
pub(crate) type Heard = Box<dyn FnOnce(bool) + Send>;

impl Client {
    /// Tells a consumer that its connection has ended; does not wait for its reply.
    pub(crate) fn say_consumer_disconnected(&self) {
        use cos_event_comm::{PullConsumer, PushConsumer};
        let done = ignored;
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
        let done = ignored;
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

    /// Tells a consumer of types that suppliers offer now, and of those that they do not any more.
    pub(crate) fn offer_change(&self, changes: &Changes, heard: Heard) {
        let done = move |outcome: Result<(), comm::NotifyPublishOfferChangeError>| {
            heard(!matches!(
                outcome,
                Err(comm::NotifyPublishOfferChangeError::System(exception))
                    if has_no_operation(&exception)
            ));
        };
        self.of::<NotifyPublish>()
            .sendc_offer_change(done, &changes.added, &changes.removed);
    }

    /// Tells a supplier of types that consumers subscribe to now, and of those that they do not any more.
    pub(crate) fn subscription_change(&self, changes: &Changes, heard: Heard) {
        let done = move |outcome: Result<(), comm::NotifySubscribeSubscriptionChangeError>| {
            heard(!matches!(
                outcome,
                Err(comm::NotifySubscribeSubscriptionChangeError::System(exception))
                    if has_no_operation(&exception)
            ));
        };
        self.of::<NotifySubscribe>().sendc_subscription_change(
            done,
            &changes.added,
            &changes.removed,
        );
    }
}

/// Returns a handler that ignores the outcome of a call that tells a client of the end.
fn ignored() -> impl FnOnce(Result<(), SystemException>) + Send + 'static {
    |outcome| {
        if let Err(error) = outcome {
            tracing::debug!("a client could not be told of the end of its connection: {error}");
        }
    }
}

/// Returns whether an exception says that an object lacks an operation, as those of the Event Service lack changes of
/// types.
fn has_no_operation(exception: &SystemException) -> bool {
    matches!(exception.kind(), Kind::BadOperation | Kind::NoImplement)
}
