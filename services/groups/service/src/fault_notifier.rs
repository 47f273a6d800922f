//! The FaultNotifier's interface.

use punctual::SystemException;
use punctual_events::cos_event_comm::Disconnected;

use crate::access::Access;
use crate::cos_notification::StructuredEvent;
use crate::cos_notify_comm::{SequencePushConsumer, StructuredPushConsumer};
use crate::cos_notify_filter::{Filter, InvalidGrammar};
use crate::engine::Engine;
use crate::faults::Sink;
use crate::ft::{self, FaultNotifierServant};
use crate::servant::nil;

/// Servant of the service's own FaultNotifier.
pub(crate) struct Notifier {
    pub(crate) engine: Engine,
    pub(crate) access: Access,
}

impl Notifier {
    fn connect(&self, sink: Sink, filter: Option<&Filter>) -> Result<u64, SystemException> {
        let most = self.engine.with(|state| state.limits.consumers);
        Ok(self.engine.notifier().connect(sink, filter, most)?)
    }
}

impl FaultNotifierServant for Notifier {
    fn push_structured_fault(&self, event: &StructuredEvent) -> Result<(), SystemException> {
        self.access.check_administrator()?;
        self.engine.notifier().push(event.clone());
        Ok(())
    }

    fn push_sequence_fault(&self, events: &[StructuredEvent]) -> Result<(), SystemException> {
        self.access.check_administrator()?;
        events
            .iter()
            .for_each(|event| self.engine.notifier().push(event.clone()));
        Ok(())
    }

    fn create_subscription_filter(
        &self,
        _constraint_grammar: &str,
    ) -> Result<Option<Filter>, ft::FaultNotifierCreateSubscriptionFilterError> {
        // Filters are objects of a Notification Service.
        Err(InvalidGrammar.into())
    }

    fn connect_structured_fault_consumer(
        &self,
        push_consumer: Option<&StructuredPushConsumer>,
        filter: Option<&Filter>,
    ) -> Result<u64, SystemException> {
        let consumer = push_consumer.ok_or_else(|| nil("consumer"))?;
        self.connect(Sink::Structured(consumer.clone()), filter)
    }

    fn connect_sequence_fault_consumer(
        &self,
        push_consumer: Option<&SequencePushConsumer>,
        filter: Option<&Filter>,
    ) -> Result<u64, SystemException> {
        let consumer = push_consumer.ok_or_else(|| nil("consumer"))?;
        self.connect(Sink::Sequence(consumer.clone()), filter)
    }

    fn disconnect_consumer(
        &self,
        connection: u64,
    ) -> Result<(), ft::FaultNotifierDisconnectConsumerError> {
        match self.engine.notifier().disconnect(connection) {
            true => Ok(()),
            false => Err(Disconnected.into()),
        }
    }
}
