//! Faults that are pushed to consumers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use punctual::poa::servant_of;
use punctual::{Any, Interface, SystemException};
use punctual_groups_client::portable_group::Location;
use punctual_groups_service::cos_notification::{EventType, StructuredEvent};
use punctual_groups_service::cos_notify_comm::{
    NotifyPublishOfferChangeError, NotifyPublishServant, SequencePushConsumer,
    SequencePushConsumerPushStructuredEventsError, SequencePushConsumerServant,
    StructuredPushConsumer, StructuredPushConsumerPushStructuredEventError,
    StructuredPushConsumerServant,
};
use punctual_groups_service::ft::{
    FaultNotifier, FaultNotifierCreateSubscriptionFilterError, FaultNotifierServant,
};

use crate::support::{Counter, Served, at, until};

/// Consumer that keeps what is pushed.
#[derive(Default)]
struct Kept {
    events: Mutex<Vec<StructuredEvent>>,
    calls: AtomicU32,
}

impl NotifyPublishServant for Kept {
    fn offer_change(
        &self,
        _added: &[EventType],
        _removed: &[EventType],
    ) -> Result<(), NotifyPublishOfferChangeError> {
        Ok(())
    }
}

impl StructuredPushConsumerServant for Kept {
    fn push_structured_event(
        &self,
        notification: &StructuredEvent,
    ) -> Result<(), StructuredPushConsumerPushStructuredEventError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.events.lock().push(notification.clone());
        Ok(())
    }

    fn disconnect_structured_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

impl SequencePushConsumerServant for Kept {
    fn push_structured_events(
        &self,
        notifications: &[StructuredEvent],
    ) -> Result<(), SequencePushConsumerPushStructuredEventsError> {
        self.events.lock().extend_from_slice(notifications);
        Ok(())
    }

    fn disconnect_sequence_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[test]
fn the_end_of_a_lease_is_pushed_as_the_standards_event() {
    let served = Served::new();
    let notifier = served.replication.get_fault_notifier().unwrap().unwrap();
    let (one, many) = (Arc::new(Kept::default()), Arc::new(Kept::default()));
    let structured = served.activate(servant_of::<StructuredPushConsumer, _>(one.clone()));
    let structured = StructuredPushConsumer::from_object(structured);
    let sequence = served.activate(servant_of::<SequencePushConsumer, _>(many.clone()));
    let sequence = SequencePushConsumer::from_object(sequence);
    let number = notifier
        .connect_structured_fault_consumer(Some(&structured), None)
        .unwrap();
    notifier
        .connect_sequence_fault_consumer(Some(&sequence), None)
        .unwrap();
    let (group, id) = served.group("stateless", "");
    let servant = servant_of::<crate::idl::Register, _>(Counter::named("a"));
    let object = served.activate(servant);
    served
        .replication
        .join(Some(&group), &at("a"), Some(&object), 30)
        .unwrap();
    until(|| !one.events.lock().is_empty() && !many.events.lock().is_empty());
    let event = one.events.lock()[0].clone();
    assert_eq!(event, many.events.lock()[0]);
    let kind = &event.header.fixed_header.event_type;
    assert_eq!(
        (&*kind.domain_name, &*kind.type_name),
        ("FT_CORBA", "ObjectCrashFault")
    );
    let value = |name: &str| -> Any {
        let found = event
            .filterable_data
            .iter()
            .find(|property| property.name == name);
        found.unwrap().value.clone()
    };
    assert_eq!(value("ObjectGroupId").extract::<u64>().unwrap(), id);
    assert_eq!(value("Location").extract::<Location>().unwrap(), at("a"));
    assert_eq!(
        value("TypeId").extract::<String>().unwrap(),
        crate::support::TYPE
    );
    let domain = group.ior().group().unwrap().domain;
    assert_eq!(value("FTDomainId").extract::<String>().unwrap(), domain);

    notifier.disconnect_consumer(number).unwrap();
    assert!(notifier.disconnect_consumer(number).is_err());
    let calls = one.calls.load(Ordering::SeqCst);
    notifier.push_structured_fault(&event).unwrap();
    until(|| many.events.lock().len() == 2);
    notifier
        .push_sequence_fault(&[event.clone(), event])
        .unwrap();
    until(|| many.events.lock().len() == 4);
    assert_eq!(one.calls.load(Ordering::SeqCst), calls);
    let no_filters = notifier.create_subscription_filter("EXTENDED_TCL");
    assert!(matches!(
        no_filters,
        Err(FaultNotifierCreateSubscriptionFilterError::InvalidGrammar(
            _
        ))
    ));
}

#[test]
fn consumers_are_bounded_and_one_that_is_gone_is_disconnected() {
    let served = Served::with(|limits| limits.consumers = 1);
    let notifier = served.replication.get_fault_notifier().unwrap().unwrap();
    let gone = served
        .client
        .string_to_object("corbaloc::127.0.0.1:1/gone")
        .unwrap();
    let gone = StructuredPushConsumer::from_object(gone);
    notifier
        .connect_structured_fault_consumer(Some(&gone), None)
        .unwrap();
    assert!(
        notifier
            .connect_structured_fault_consumer(Some(&gone), None)
            .is_err()
    );
    assert!(
        notifier
            .connect_structured_fault_consumer(None, None)
            .is_err()
    );
    assert!(
        notifier
            .connect_sequence_fault_consumer(None, None)
            .is_err()
    );
    for _ in 0..5 {
        notifier
            .push_structured_fault(&StructuredEvent::default())
            .unwrap();
    }
    until(|| {
        notifier
            .connect_structured_fault_consumer(Some(&gone), None)
            .is_ok()
    });
}

/// Notifier that a system has of its own.
#[derive(Default)]
struct Other(AtomicU32);

impl FaultNotifierServant for Other {
    fn push_structured_fault(&self, _event: &StructuredEvent) -> Result<(), SystemException> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn push_sequence_fault(&self, _events: &[StructuredEvent]) -> Result<(), SystemException> {
        Ok(())
    }

    fn create_subscription_filter(
        &self,
        _constraint_grammar: &str,
    ) -> Result<
        Option<punctual_groups_service::cos_notify_filter::Filter>,
        FaultNotifierCreateSubscriptionFilterError,
    > {
        Ok(None)
    }

    fn connect_structured_fault_consumer(
        &self,
        _push_consumer: Option<&StructuredPushConsumer>,
        _filter: Option<&punctual_groups_service::cos_notify_filter::Filter>,
    ) -> Result<u64, SystemException> {
        Ok(0)
    }

    fn connect_sequence_fault_consumer(
        &self,
        _push_consumer: Option<&SequencePushConsumer>,
        _filter: Option<&punctual_groups_service::cos_notify_filter::Filter>,
    ) -> Result<u64, SystemException> {
        Ok(0)
    }

    fn disconnect_consumer(
        &self,
        _connection: u64,
    ) -> Result<(), punctual_groups_service::ft::FaultNotifierDisconnectConsumerError> {
        Ok(())
    }
}

#[test]
fn a_notifier_that_is_registered_is_returned_and_gets_faults() {
    let served = Served::new();
    let other = Arc::new(Other::default());
    let object = served.activate(servant_of::<FaultNotifier, _>(other.clone()));
    let notifier = FaultNotifier::from_object(object);
    let own = served.replication.get_fault_notifier().unwrap().unwrap();
    served
        .replication
        .register_fault_notifier(Some(&notifier))
        .unwrap();
    let found = served.replication.get_fault_notifier().unwrap().unwrap();
    assert!(found.as_object().is_equivalent(notifier.as_object()));
    own.push_structured_fault(&StructuredEvent::default())
        .unwrap();
    until(|| other.0.load(Ordering::SeqCst) == 1);
    assert!(served.replication.register_fault_notifier(None).is_err());
}

#[test]
fn the_numbers_of_consumers_cannot_be_guessed() {
    let served = Served::new();
    let notifier = served.replication.get_fault_notifier().unwrap().unwrap();
    let consumer = served.activate(servant_of::<StructuredPushConsumer, _>(Arc::new(
        Kept::default(),
    )));
    let consumer = StructuredPushConsumer::from_object(consumer);
    let connect = || {
        let connected = notifier.connect_structured_fault_consumer(Some(&consumer), None);
        connected.unwrap()
    };
    let (one, other) = (connect(), connect());
    for guessed in [
        0,
        1,
        2,
        one.wrapping_add(1),
        one.wrapping_sub(1),
        other.wrapping_add(1),
    ] {
        let refused = notifier.disconnect_consumer(guessed);
        assert!(refused.is_err() || guessed == other, "{guessed}");
    }
    assert!(one.abs_diff(other) > 1_000);
    notifier.disconnect_consumer(one).unwrap();
}
