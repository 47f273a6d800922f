//! The factory of notify logs: properties of their channels, and the events that logs send themselves.

use punctual::{Any, NotNil, OperationError, SystemExceptionKind as Kind};
use punctual_host::access::Rules;
use punctual_log::ds_log_admin::{
    AdministrativeState, HALT, InvalidLogFullAction, InvalidThreshold, LogIdAlreadyExists, WRAP,
};
use punctual_log::ds_log_notification::{
    AttributeValueChange, FILTER, ObjectCreation, ObjectDeletion, StateChange, ThresholdAlarm,
};
use punctual_log::ds_notify_log_admin::{
    NotifyLogFactoryCreateError, NotifyLogFactoryCreateWithIdError,
};
use punctual_notification::cos_notification::{
    EventType, MAX_CONSUMERS, MAX_EVENTS_PER_CONSUMER, MAXIMUM_BATCH_SIZE, ORDER_POLICY,
    PERSISTENT, QoSErrorCode,
};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, ConsumerAdminObtainNotificationPullSupplierError, EventChannel,
    InterFilterGroupOperator, ProxyType, StructuredProxyPullSupplier,
};
use punctual_notification::cos_notify_filter::Filter;

use crate::notify::{
    consumers, event, filter, narrowed, property, pull_supplier, pulled_events, pulls_from,
    pushes_to,
};
use crate::support::{Served, exists, number, write};

fn short(value: i16) -> Any {
    Any::new(&value).unwrap()
}

/// Returns the events of logs that a consumer of the factory can pull now.
fn told(proxy: &StructuredProxyPullSupplier) -> Vec<Any> {
    let events = pulled_events(proxy).into_iter();
    events.map(|event| event.remainder_of_body).collect()
}

#[test]
fn logs_are_created_with_thresholds_and_properties_of_their_channels() {
    let served = Served::new();
    let quality = [
        property(MAX_EVENTS_PER_CONSUMER, number(7)),
        property(ORDER_POLICY, short(1)),
    ];
    let administration = [property(MAX_CONSUMERS, number(1))];
    let created = served
        .notify
        .create(WRAP, 900, &[90, 50], &quality, &administration);
    let (log, id) = created.unwrap();
    let log = log.not_nil().unwrap();
    assert_eq!(log.get_capacity_alarm_thresholds().unwrap(), [50, 90]);
    assert_eq!((log.get_max_size().unwrap(), id), (900, 1));
    let set = log.get_qos().unwrap();
    for given in &quality {
        assert!(set.contains(given), "{set:?}");
    }
    assert!(log.get_admin().unwrap().contains(&administration[0]));
    pulls_from(&log);
    let refused = consumers(&log).obtain_notification_pull_supplier(ClientType::AnyEvent);
    assert!(matches!(
        refused.unwrap_err(),
        ConsumerAdminObtainNotificationPullSupplierError::AdminLimitExceeded(_)
    ));
    log.set_admin(&[property(MAX_CONSUMERS, number(2))])
        .unwrap();
    pulls_from(&log);
    let named = served.notify.create_with_id(5, HALT, 0, &[], &[], &[]);
    assert_eq!(named.unwrap().not_nil().unwrap().id().unwrap(), 5);
}

#[test]
fn what_a_log_cannot_have_is_refused_and_no_log_is_created() {
    let served = Served::new();
    served
        .notify
        .create_with_id(5, HALT, 0, &[], &[], &[])
        .unwrap();
    for ((id, action, threshold), expected) in [
        (
            (5, HALT, 1),
            NotifyLogFactoryCreateWithIdError::LogIdAlreadyExists(LogIdAlreadyExists),
        ),
        (
            (6, 2, 1),
            NotifyLogFactoryCreateWithIdError::InvalidLogFullAction(InvalidLogFullAction),
        ),
        (
            (6, HALT, 101),
            NotifyLogFactoryCreateWithIdError::InvalidThreshold(InvalidThreshold),
        ),
    ] {
        let refused = served
            .notify
            .create_with_id(id, action, 0, &[threshold], &[], &[]);
        assert_eq!(refused.unwrap_err(), expected);
    }
    // The records of the log are durable; the queues of its consumers are not.
    let persistent = property("EventReliability", short(PERSISTENT));
    let quality = [persistent, property("Colour", number(1))];
    let refused = served.notify.create(HALT, 0, &[], &quality, &[]);
    let NotifyLogFactoryCreateError::UnsupportedQoS(refused) = refused.unwrap_err() else {
        panic!("it is created, or refused for another reason");
    };
    let errors: Vec<_> = refused
        .qos_err
        .iter()
        .map(|error| (error.name.as_str(), error.code))
        .collect();
    assert_eq!(
        errors,
        [
            ("EventReliability", QoSErrorCode::UnsupportedValue),
            ("Colour", QoSErrorCode::BadProperty),
        ]
    );
    let refused = served
        .notify
        .create(HALT, 0, &[], &[], &[property("Colour", number(1))]);
    assert!(matches!(
        refused.unwrap_err(),
        NotifyLogFactoryCreateError::UnsupportedAdmin(_)
    ));
    assert_eq!(served.notify.list_logs_by_id().unwrap(), [5]);
}

#[test]
fn peers_without_a_grant_change_nothing_and_supply_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs.redb");
    let permitted = Served::at(&path, ("127.0.0.1", 0));
    permitted.notify_log(&[]);
    drop(permitted);
    let served = Served::at_with(&path, |service| {
        service.set_writers(Rules::of(&["10.0.0.0/8".to_owned()]).unwrap());
    });
    let refused = served.notify.create(HALT, 0, &[], &[], &[]).unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::NoPermission);
    let log = served.find_notify(1);
    let suppliers = log.for_suppliers().unwrap().not_nil().unwrap();
    for refused in [
        log.set_filter(None).unwrap_err(),
        log.copy().unwrap_err(),
        log.destroy().unwrap_err(),
        suppliers.obtain_push_consumer().unwrap_err(),
    ] {
        assert_eq!(refused.kind(), Kind::NoPermission);
    }
    pulls_from(&log);
    assert_eq!(served.notify.list_logs_by_id().unwrap(), [1]);
}

#[test]
fn consumers_of_the_factory_hear_what_becomes_of_its_logs() {
    let served = Served::new();
    let watch = pull_supplier(&narrowed(&served.notify));
    watch.connect_structured_pull_consumer(None).unwrap();
    let log = served.notify_log(&[]);
    log.set_administrative_state(AdministrativeState::Locked)
        .unwrap();
    let small = filter(&log, "$number < 3");
    log.set_filter(Some(&small)).unwrap();
    log.set_filter(Some(&small)).unwrap();
    log.destroy().unwrap();
    let told = told(&watch);
    assert_eq!(told.len(), 4);
    assert_eq!(told[0].extract::<ObjectCreation>().unwrap().id, 1);
    assert_eq!(told[1].extract::<StateChange>().unwrap().r#type, 0);
    let change: AttributeValueChange = told[2].extract().unwrap();
    assert_eq!((change.id, change.r#type), (1, FILTER));
    assert!(
        change
            .old_value
            .extract::<Option<Filter>>()
            .unwrap()
            .is_none()
    );
    let new: Option<Filter> = change.new_value.extract().unwrap();
    let is_same = |one: &Filter, other: &Filter| {
        punctual::Interface::as_object(one).is_equivalent(punctual::Interface::as_object(other))
    };
    assert!(is_same(&new.unwrap(), &small));
    assert_eq!(told[3].extract::<ObjectDeletion>().unwrap().id, 1);
}

#[test]
fn alarms_of_logs_are_filtered_for_consumers_of_the_factory() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    write(&narrowed(&log), [0]);
    let size = log.get_current_size().unwrap();
    let critical = pull_supplier(&narrowed(&served.notify));
    critical
        .add_filter(Some(&filter(&log, "$.perceived_severity == 0")))
        .unwrap();
    critical.connect_structured_pull_consumer(None).unwrap();
    let plain = served.notify.obtain_pull_supplier().unwrap();
    let plain = plain.not_nil().unwrap();
    plain.connect_pull_consumer(None).unwrap();
    let created = served.notify.create(HALT, 4 * size, &[50, 100], &[], &[]);
    let log = created.unwrap().0.not_nil().unwrap();
    write(&narrowed(&log), [1, 2, 3, 4]);
    let alarms = told(&critical);
    let alarms = alarms.iter().map(|one| one.extract::<ThresholdAlarm>());
    let crossed: Vec<_> = alarms.map(|alarm| alarm.unwrap().crossed_value).collect();
    assert_eq!(crossed, [100]);
    // Consumers without a filter get all, those of the Event Service, too.
    assert_eq!(
        plain
            .try_pull()
            .unwrap()
            .0
            .extract::<ObjectCreation>()
            .unwrap()
            .id,
        2
    );
    for expected in [50, 100] {
        let (alarm, is_there) = plain.try_pull().unwrap();
        assert!(is_there);
        assert_eq!(
            alarm.extract::<ThresholdAlarm>().unwrap().crossed_value,
            expected
        );
    }
}

#[test]
fn filters_of_the_factory_hold_for_all_its_consumers() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let only_states = filter(&log, "exist $.new_value");
    let id = served.notify.add_filter(Some(&only_states)).unwrap();
    assert_eq!(served.notify.get_all_filters().unwrap(), [id]);
    let watch = pull_supplier(&narrowed(&served.notify));
    watch.connect_structured_pull_consumer(None).unwrap();
    assert_eq!(served.notify.pull_suppliers().unwrap().len(), 1);
    served.notify_log(&[]);
    log.set_max_record_life(9).unwrap();
    let told = told(&watch);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].extract::<AttributeValueChange>().unwrap().r#type, 7);
}

#[test]
fn the_channel_of_the_factory_takes_no_events_of_clients_and_stays() {
    let served = Served::new();
    let channel = served.notify.my_channel().unwrap().not_nil().unwrap();
    let channel: EventChannel = narrowed(&channel);
    let refused = pushes_to(&channel).push_structured_event(&event(1));
    let refused = refused.unwrap_err();
    assert_eq!(refused.system().unwrap().kind(), Kind::NoPermission);
    for refused in [
        channel.destroy().unwrap_err(),
        served.notify.destroy().unwrap_err(),
    ] {
        assert_eq!(refused.kind(), Kind::BadInvOrder);
    }
    assert!(exists(&channel));
    assert!(channel.my_factory().unwrap().is_none());
}

#[test]
fn the_factory_is_the_default_administrator_of_its_consumers() {
    let served = Served::new();
    let factory = &served.notify;
    assert_eq!(factory.my_id().unwrap(), 0);
    assert_eq!(
        factory.my_operator().unwrap(),
        InterFilterGroupOperator::AndOp
    );
    let channel = factory.my_channel().unwrap().not_nil().unwrap();
    assert_eq!(channel.get_all_consumeradmins().unwrap(), [0]);
    let pushed = factory
        .obtain_notification_push_supplier(ClientType::StructuredEvent)
        .unwrap();
    let pulled = factory
        .obtain_notification_pull_supplier(ClientType::SequenceEvent)
        .unwrap();
    assert_eq!(factory.push_suppliers().unwrap(), [pushed.1]);
    assert_eq!(factory.pull_suppliers().unwrap(), [pulled.1]);
    let found = factory.get_proxy_supplier(pulled.1).unwrap();
    assert_eq!(found.unwrap().my_type().unwrap(), ProxyType::PullSequence);
    assert!(factory.get_proxy_supplier(pulled.1 + 1).is_err());
    assert!(factory.obtain_push_supplier().unwrap().is_some());
    let batch = [property(MAXIMUM_BATCH_SIZE, number(9))];
    factory.validate_qos(&batch).unwrap();
    factory.set_qos(&batch).unwrap();
    assert!(factory.get_qos().unwrap().contains(&batch[0]));
    let types = channel.default_filter_factory().unwrap().not_nil().unwrap();
    let mapping = types.create_mapping_filter("TCL", &short(3)).unwrap();
    factory.set_priority_filter(mapping.as_ref()).unwrap();
    assert!(factory.priority_filter().unwrap().is_some());
    factory.set_lifetime_filter(None).unwrap();
    assert!(factory.lifetime_filter().unwrap().is_none());
}

#[test]
fn types_and_filters_of_the_factory_are_changed_and_removed() {
    let served = Served::new();
    let log = served.notify_log(&[]);
    let watch = pull_supplier(&narrowed(&served.notify));
    watch.connect_structured_pull_consumer(None).unwrap();
    let alarms = EventType {
        domain_name: "Telecom".to_owned(),
        type_name: "Alarm".to_owned(),
    };
    served
        .notify
        .subscription_change(std::slice::from_ref(&alarms), &[])
        .unwrap();
    log.set_max_record_life(1).unwrap();
    assert!(told(&watch).is_empty());
    let all = EventType {
        domain_name: "*".to_owned(),
        type_name: "%ALL".to_owned(),
    };
    served
        .notify
        .subscription_change(&[all], &[alarms])
        .unwrap();
    let none = filter(&log, "FALSE");
    let id = served.notify.add_filter(Some(&none)).unwrap();
    assert!(served.notify.get_filter(id).unwrap().is_some());
    log.set_max_record_life(2).unwrap();
    assert!(told(&watch).is_empty());
    served.notify.remove_filter(id).unwrap();
    assert!(served.notify.remove_filter(id).is_err());
    served.notify.add_filter(Some(&none)).unwrap();
    served.notify.remove_all_filters().unwrap();
    log.set_max_record_life(3).unwrap();
    assert_eq!(told(&watch).len(), 1);
}
