//! Channels, administrators and proxies: their ids, their references, and their ends.

use punctual::{Interface, NotNil, SystemExceptionKind as Kind};
use punctual_notification::Limits;
use punctual_notification::cos_event_channel_admin as event_admin;
use punctual_notification::cos_notification::{MAX_CONSUMERS, MAX_SUPPLIERS};
use punctual_notification::cos_notify_channel_admin::{
    ClientType, ConsumerAdminGetProxySupplierError,
    ConsumerAdminObtainNotificationPushSupplierError, EventChannelFactoryGetEventChannelError,
    EventChannelGetConsumeradminError, InterFilterGroupOperator as Operator, ProxyType,
    SupplierAdminObtainNotificationPushConsumerError,
};

use crate::support::{
    Program, Served, consumers, exists, kind_of, limits, property, push_supplier, suppliers, until,
};

#[test]
fn channels_have_ids_by_which_the_factory_finds_them_until_they_are_destroyed() {
    let (served, program) = (Served::new(), Program::new());
    let factory = program.see(&served.factory);
    let (first, first_id) = factory.create_channel(&[], &[]).unwrap();
    let (second, second_id) = factory.create_channel(&[], &[]).unwrap();
    assert_eq!(factory.get_all_channels().unwrap(), [first_id, second_id]);
    let (first, second) = (first.not_nil().unwrap(), second.not_nil().unwrap());
    let found = factory
        .get_event_channel(second_id)
        .unwrap()
        .not_nil()
        .unwrap();
    assert_eq!(found, second);
    assert_eq!(first.my_factory().unwrap().not_nil().unwrap(), factory);
    first.destroy().unwrap();
    assert!(!exists(&first) && exists(&second));
    assert_eq!(factory.get_all_channels().unwrap(), [second_id]);
    let error = factory.get_event_channel(first_id).unwrap_err();
    assert!(matches!(
        error,
        EventChannelFactoryGetEventChannelError::ChannelNotFound(_)
    ));
}

#[test]
fn administrators_have_ids_operators_and_their_channel() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    assert_eq!(channel.get_all_consumeradmins().unwrap(), [0]);
    assert_eq!(channel.get_all_supplieradmins().unwrap(), [0]);
    let (admin, id) = channel.new_for_consumers(Operator::OrOp).unwrap();
    let admin = admin.not_nil().unwrap();
    assert_eq!(admin.my_id().unwrap(), id);
    assert_eq!(admin.my_operator().unwrap(), Operator::OrOp);
    assert_eq!(admin.my_channel().unwrap().not_nil().unwrap(), channel);
    let found = channel.get_consumeradmin(id).unwrap().not_nil().unwrap();
    assert_eq!(found, admin);
    let (other, other_id) = channel.new_for_suppliers(Operator::AndOp).unwrap();
    let other = other.not_nil().unwrap();
    assert_eq!(other.my_id().unwrap(), other_id);
    assert_eq!(other.my_operator().unwrap(), Operator::AndOp);
    assert_eq!(other.my_channel().unwrap().not_nil().unwrap(), channel);
    assert_eq!(
        channel
            .get_supplieradmin(other_id)
            .unwrap()
            .not_nil()
            .unwrap(),
        other
    );
    assert_eq!(channel.get_all_supplieradmins().unwrap(), [0, other_id]);
    admin.destroy().unwrap();
    other.destroy().unwrap();
    assert!(!exists(&admin) && !exists(&other));
    let error = channel.get_consumeradmin(id).unwrap_err();
    assert!(matches!(
        error,
        EventChannelGetConsumeradminError::AdminNotFound(_)
    ));
    let error = consumers(&channel).destroy().unwrap_err();
    assert_eq!(error.kind(), Kind::BadInvOrder);
    assert_eq!(
        suppliers(&channel).destroy().unwrap_err().kind(),
        Kind::BadInvOrder
    );
}

#[test]
fn the_administrators_of_the_event_service_are_the_default_ones() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let plain: &event_admin::EventChannel = &channel.clone().into();
    let of_events = plain.for_consumers().unwrap().not_nil().unwrap();
    assert_eq!(of_events.as_object(), consumers(&channel).as_object());
    let of_events = plain.for_suppliers().unwrap().not_nil().unwrap();
    assert_eq!(of_events.as_object(), suppliers(&channel).as_object());
    // Their proxies have no place among those of the Notification Service.
    let admin: event_admin::ConsumerAdmin = consumers(&channel).into();
    let pulls = admin.obtain_pull_supplier().unwrap().not_nil().unwrap();
    pulls.connect_pull_consumer(None).unwrap();
    let admin: event_admin::SupplierAdmin = suppliers(&channel).into();
    let source = crate::clients::Peer::default();
    let pulled = admin.obtain_pull_consumer().unwrap().not_nil().unwrap();
    pulled
        .connect_pull_supplier(Some(&program.object(source.clone())))
        .unwrap();
    assert!(consumers(&channel).pull_suppliers().unwrap().is_empty());
    source.supply(crate::clients::Received::Any(
        punctual::Any::new(&3).unwrap(),
    ));
    assert_eq!(pulls.pull().unwrap().extract::<i32>().unwrap(), 3);
}

#[test]
fn proxies_have_ids_types_and_their_administrator() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let admin = consumers(&channel);
    let types = [
        (ClientType::AnyEvent, ProxyType::PushAny, ProxyType::PullAny),
        (
            ClientType::StructuredEvent,
            ProxyType::PushStructured,
            ProxyType::PullStructured,
        ),
        (
            ClientType::SequenceEvent,
            ProxyType::PushSequence,
            ProxyType::PullSequence,
        ),
    ];
    let (mut push, mut pull) = (Vec::new(), Vec::new());
    for (client, of_push, of_pull) in types {
        let (proxy, id) = admin.obtain_notification_push_supplier(client).unwrap();
        let proxy = proxy.not_nil().unwrap();
        assert_eq!(proxy.my_type().unwrap(), of_push);
        assert_eq!(proxy.my_admin().unwrap().not_nil().unwrap(), admin);
        assert_eq!(
            admin.get_proxy_supplier(id).unwrap().not_nil().unwrap(),
            proxy
        );
        push.push(id);
        let (proxy, id) = admin.obtain_notification_pull_supplier(client).unwrap();
        assert_eq!(proxy.not_nil().unwrap().my_type().unwrap(), of_pull);
        pull.push(id);
    }
    assert_eq!(admin.push_suppliers().unwrap(), push);
    assert_eq!(admin.pull_suppliers().unwrap(), pull);
    let error = admin.get_proxy_supplier(99).unwrap_err();
    assert!(matches!(
        error,
        ConsumerAdminGetProxySupplierError::ProxyNotFound(_)
    ));
    let admin = suppliers(&channel);
    let (mut push, mut pull) = (Vec::new(), Vec::new());
    for (client, of_push, of_pull) in types {
        let (proxy, id) = admin.obtain_notification_push_consumer(client).unwrap();
        let proxy = proxy.not_nil().unwrap();
        assert_eq!(proxy.my_type().unwrap(), of_push);
        assert_eq!(proxy.my_admin().unwrap().not_nil().unwrap(), admin);
        assert_eq!(
            admin.get_proxy_consumer(id).unwrap().not_nil().unwrap(),
            proxy
        );
        push.push(id);
        let (proxy, id) = admin.obtain_notification_pull_consumer(client).unwrap();
        assert_eq!(proxy.not_nil().unwrap().my_type().unwrap(), of_pull);
        pull.push(id);
    }
    assert_eq!(admin.push_consumers().unwrap(), push);
    assert_eq!(admin.pull_consumers().unwrap(), pull);
    assert!(admin.get_proxy_consumer(99).is_err());
}

#[test]
fn destroying_a_channel_ends_all_that_is_in_it_and_tells_its_clients() {
    let (served, program) = (Served::new(), Program::new());
    let channel = program.see(&served.channel(&[], &[]));
    let (proxy, sink) = program.sink(&channel);
    let (pulled, source) = program.is_pulled_by(&channel);
    let admin = consumers(&channel);
    channel.destroy().unwrap();
    until(|| sink.disconnects() == 1 && source.disconnects() == 1);
    assert!(!exists(&proxy) && !exists(&pulled) && !exists(&admin) && !exists(&channel));
    assert_eq!(served.service.size(), (0, 0, 0));
}

#[test]
fn clients_beyond_the_channels_properties_are_refused_until_others_leave() {
    let (served, program) = (Served::new(), Program::new());
    let administration = [property(MAX_CONSUMERS, 1), property(MAX_SUPPLIERS, 1)];
    let channel = program.see(&served.channel(&[], &administration));
    let (proxy, _) = program.sink(&channel);
    let admin = consumers(&channel);
    let again = admin.obtain_notification_push_supplier(ClientType::AnyEvent);
    let Err(ConsumerAdminObtainNotificationPushSupplierError::AdminLimitExceeded(exceeded)) = again
    else {
        panic!("{again:?}");
    };
    assert_eq!(exceeded.admin_property_err.name, MAX_CONSUMERS);
    assert_eq!(
        exceeded.admin_property_err.value.extract::<i32>().unwrap(),
        1
    );
    proxy.disconnect_structured_push_supplier().unwrap();
    push_supplier(&admin, ClientType::AnyEvent);
    program.pushes_to(&channel);
    let again = suppliers(&channel).obtain_notification_push_consumer(ClientType::AnyEvent);
    assert!(matches!(
        again,
        Err(SupplierAdminObtainNotificationPushConsumerError::AdminLimitExceeded(_))
    ));
}

#[test]
fn channels_administrators_and_proxies_beyond_the_services_limits_are_refused() {
    let served = Served::with(Limits {
        channels: 1,
        admins: 1,
        proxies: 1,
        ..limits()
    });
    let program = Program::new();
    let channel = program.see(&served.channel(&[], &[]));
    let factory = program.see(&served.factory);
    assert_eq!(kind_of(factory.create_channel(&[], &[])), Kind::ImpLimit);
    channel.new_for_consumers(Operator::AndOp).unwrap();
    let error = channel.new_for_consumers(Operator::AndOp).unwrap_err();
    assert_eq!(error.kind(), Kind::ImpLimit);
    program.pushes_to(&channel);
    let admin = suppliers(&channel);
    let again = admin.obtain_notification_pull_consumer(ClientType::AnyEvent);
    assert_eq!(kind_of(again), Kind::ImpLimit);
}
