//! Clients of notify logs, for tests.

use punctual::{Any, Interface, NotNil};
use punctual_log::ds_log_admin::Log;
use punctual_log::ds_notify_log_admin::NotifyLog;
use punctual_notification::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, ConsumerAdmin, EventChannel, ProxyConsumer, ProxyPushConsumer, ProxySupplier,
    SequenceProxyPushConsumer, StructuredProxyPullSupplier, StructuredProxyPushConsumer,
    SupplierAdmin,
};
use punctual_notification::cos_notify_filter::{ConstraintExp, Filter};

pub(crate) fn property(name: &str, value: Any) -> Property {
    Property {
        name: name.to_owned(),
        value,
    }
}

/// Returns a structured event with a number.
pub(crate) fn event(number: i32) -> StructuredEvent {
    StructuredEvent {
        header: EventHeader {
            fixed_header: FixedEventHeader {
                event_type: EventType {
                    domain_name: "Telecom".to_owned(),
                    type_name: "Alarm".to_owned(),
                },
                event_name: format!("event {number}"),
            },
            variable_header: Vec::new(),
        },
        filterable_data: vec![property("number", Any::new(&number).unwrap())],
        remainder_of_body: Any::new(&number).unwrap(),
    }
}

pub(crate) fn number_in(event: &StructuredEvent) -> i32 {
    event.remainder_of_body.extract().unwrap()
}

/// Returns the numbers in the records of a log that meet a constraint, whether they are structured events or Anys.
pub(crate) fn recorded_if(log: &Log, constraint: &str) -> Vec<i32> {
    let (records, rest) = log.query("EXTENDED_TCL", constraint).unwrap();
    assert!(rest.is_none());
    let numbers = records.iter().map(|record| {
        let structured = record.info.extract::<StructuredEvent>();
        structured.map_or_else(|_| record.info.extract().unwrap(), |one| number_in(&one))
    });
    numbers.collect()
}

pub(crate) fn recorded(log: &NotifyLog) -> Vec<i32> {
    recorded_if(log, "")
}

/// Returns a log, or another object that is a channel, as one.
fn channel(object: &impl Interface) -> EventChannel {
    EventChannel::from_object(object.as_object().clone())
}

pub(crate) fn consumers(log: &impl Interface) -> ConsumerAdmin {
    channel(log)
        .default_consumer_admin()
        .unwrap()
        .not_nil()
        .unwrap()
}

pub(crate) fn suppliers(log: &impl Interface) -> SupplierAdmin {
    channel(log)
        .default_supplier_admin()
        .unwrap()
        .not_nil()
        .unwrap()
}

pub(crate) fn narrowed<I: Interface>(object: &impl Interface) -> I {
    I::narrow(object.as_object().clone()).unwrap()
}

fn push_consumer<I: Interface>(log: &impl Interface, client: ClientType) -> I {
    let obtained = suppliers(log).obtain_notification_push_consumer(client);
    let proxy: ProxyConsumer = obtained.unwrap().0.not_nil().unwrap();
    narrowed(&proxy)
}

/// Connects a supplier of structured events.
pub(crate) fn pushes_to(log: &impl Interface) -> StructuredProxyPushConsumer {
    let proxy: StructuredProxyPushConsumer = push_consumer(log, ClientType::StructuredEvent);
    proxy.connect_structured_push_supplier(None).unwrap();
    proxy
}

/// Connects a supplier of sequences.
pub(crate) fn pushes_sequences_to(log: &impl Interface) -> SequenceProxyPushConsumer {
    let proxy: SequenceProxyPushConsumer = push_consumer(log, ClientType::SequenceEvent);
    proxy.connect_sequence_push_supplier(None).unwrap();
    proxy
}

/// Connects a supplier of Anys.
pub(crate) fn pushes_anys_to(log: &impl Interface) -> ProxyPushConsumer {
    let proxy: ProxyPushConsumer = push_consumer(log, ClientType::AnyEvent);
    proxy.connect_any_push_supplier(None).unwrap();
    proxy
}

/// Obtains a proxy of a consumer that pulls structured events.
pub(crate) fn pull_supplier(admin: &ConsumerAdmin) -> StructuredProxyPullSupplier {
    let obtained = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
    let proxy: ProxySupplier = obtained.unwrap().0.not_nil().unwrap();
    narrowed(&proxy)
}

/// Connects a consumer that pulls structured events.
pub(crate) fn pulls_from(log: &impl Interface) -> StructuredProxyPullSupplier {
    let proxy = pull_supplier(&consumers(log));
    proxy.connect_structured_pull_consumer(None).unwrap();
    proxy
}

/// Returns the events that a consumer can pull now.
pub(crate) fn pulled_events(proxy: &StructuredProxyPullSupplier) -> Vec<StructuredEvent> {
    let events = std::iter::from_fn(|| match proxy.try_pull_structured_event().unwrap() {
        (event, true) => Some(event),
        (_, false) => None,
    });
    events.collect()
}

pub(crate) fn pulled(proxy: &StructuredProxyPullSupplier) -> Vec<i32> {
    pulled_events(proxy).iter().map(number_in).collect()
}

/// Makes a filter of a channel's service, with a constraint.
pub(crate) fn filter(log: &impl Interface, constraint: &str) -> Filter {
    let factory = channel(log).default_filter_factory();
    let factory = factory.unwrap().not_nil().unwrap();
    let filter = factory.create_filter("EXTENDED_TCL").unwrap();
    let filter = filter.not_nil().unwrap();
    let constraint = ConstraintExp {
        event_types: Vec::new(),
        constraint_expr: constraint.to_owned(),
    };
    filter.add_constraints(&[constraint]).unwrap();
    filter
}
