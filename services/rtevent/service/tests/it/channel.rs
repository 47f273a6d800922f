//! The interface of the channel, operation by operation.

use crate::support::{Served, event, eventually, header, supplier_object, synchronous, wants};
use punctual::{Interface, SystemExceptionKind as Kind};
use punctual_rtevent::codes;
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::rtec_event_channel_admin::{
    ProxyPushConsumerConnectPushSupplierError as SupplierError,
    ProxyPushSupplierConnectPushConsumerError as ConsumerError, SupplierQos,
};
use std::sync::Arc;

fn served() -> Served {
    Served::new(ServiceOptions::default())
}

#[test]
fn repository_ids_are_those_of_tao() {
    let served = served();
    let proxy = served.proxy_supplier();
    for (object, id) in [
        (
            served.channel.as_object(),
            "IDL:RtecEventChannelAdmin/EventChannel:1.0",
        ),
        (
            proxy.as_object(),
            "IDL:RtecEventChannelAdmin/ProxyPushSupplier:1.0",
        ),
        (proxy.as_object(), "IDL:RtecEventComm/PushSupplier:1.0"),
        (
            served.proxy_consumer().as_object(),
            "IDL:RtecEventChannelAdmin/ProxyPushConsumer:1.0",
        ),
        (
            served.proxy_consumer().as_object(),
            "IDL:RtecEventComm/PushConsumer:1.0",
        ),
    ] {
        assert!(object.is_a(id).unwrap(), "{id}");
    }
}

#[test]
fn an_event_arrives_as_it_was_pushed() {
    let served = served();
    let consumer = served.consumer(&[header(0, 0)]);
    let mut sent = event(17, 5, b"an event");
    sent.header.ttl = 3;
    sent.header.creation_time = 0x0123_4567_89ab_cdef;
    sent.data.pad1 = -7;
    sent.data.any_value = punctual::Any::new("text").unwrap();
    served.supplier().push(&[sent.clone()]).unwrap();
    let mut received = consumer.inbox.pushes(1).remove(0);
    let received = received.remove(0);
    assert!(received.header.ec_recv_time > 0);
    assert!(received.header.ec_send_time >= received.header.ec_recv_time);
    sent.header.ec_recv_time = received.header.ec_recv_time;
    sent.header.ec_send_time = received.header.ec_send_time;
    assert_eq!(received, sent);
}

#[test]
fn consumers_receive_what_their_filters_accept() {
    let served = served();
    let by_type = served.consumer(&[header(16, 0)]);
    let by_source = served.consumer(&[header(0, 2)]);
    let group = [header(codes::DISJUNCTION, 2), header(16, 1), header(17, 2)];
    let by_group = served.consumer(&group);
    let supplier = served.supplier();
    for (kind, source) in [(16, 1), (16, 2), (17, 1), (17, 2), (18, 2)] {
        supplier.push(&[event(kind, source, b"")]).unwrap();
    }
    assert_eq!(by_type.inbox.kinds(2), [16, 16]);
    assert_eq!(by_source.inbox.kinds(3), [16, 17, 18]);
    assert_eq!(by_group.inbox.kinds(2), [16, 17]);
}

#[test]
fn a_group_in_tao_s_basic_form_is_understood() {
    let served = served();
    let group = [header(codes::CONJUNCTION, 0), header(16, 0), header(17, 0)];
    let consumer = served.consumer(&group);
    let supplier = served.supplier();
    supplier.push(&[event(16, 1, b"")]).unwrap();
    supplier.push(&[event(17, 1, b"")]).unwrap();
    let pushes = consumer.inbox.pushes(1);
    assert_eq!(pushes[0].len(), 2);
}

#[test]
fn a_timeout_is_pushed_without_a_supplier() {
    let served = served();
    let mut interval = header(codes::INTERVAL_TIMEOUT, 0);
    interval.creation_time = 20_000;
    let consumer = served.consumer(&[interval]);
    assert_eq!(consumer.inbox.kinds(3)[..3], [codes::INTERVAL_TIMEOUT; 3]);
}

#[test]
fn a_filter_that_is_none_raises_type_error() {
    let served = served();
    let consumer = served.unconnected();
    let group = [header(codes::DISJUNCTION, 2), header(codes::BITMASK, 1)];
    let refused = consumer
        .proxy
        .connect_push_consumer(Some(&consumer.reference), &wants(&group));
    assert!(
        matches!(refused, Err(ConsumerError::TypeError(_))),
        "{refused:?}"
    );
    // Another filter is accepted.
    let accepted = consumer
        .proxy
        .connect_push_consumer(Some(&consumer.reference), &wants(&[header(16, 0)]));
    accepted.unwrap();
}

#[test]
fn a_nil_consumer_is_refused_and_a_nil_supplier_is_not() {
    let served = served();
    let refused = served
        .proxy_supplier()
        .connect_push_consumer(None, &wants(&[header(16, 0)]));
    let Err(ConsumerError::System(exception)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(exception.kind(), Kind::BadParam);
    served
        .proxy_consumer()
        .connect_push_supplier(None, &SupplierQos::default())
        .unwrap();
}

#[test]
fn connecting_again_changes_the_filter_and_the_consumer() {
    let served = served();
    let (first, second) = (served.consumer(&[header(16, 0)]), served.unconnected());
    let supplier = served.supplier();
    supplier.push(&[event(16, 0, b"")]).unwrap();
    assert_eq!(first.inbox.kinds(1), [16]);
    first
        .proxy
        .connect_push_consumer(Some(&second.reference), &wants(&[header(17, 0)]))
        .unwrap();
    supplier.push(&[event(16, 0, b"")]).unwrap();
    supplier.push(&[event(17, 0, b"")]).unwrap();
    assert_eq!(second.inbox.kinds(1), [17]);
    assert_eq!(first.inbox.kinds(1), [16]);
}

#[test]
fn connecting_again_raises_already_connected_if_the_options_say_so() {
    let served = Served::new(ServiceOptions {
        can_reconnect: false,
        ..ServiceOptions::default()
    });
    let consumer = served.consumer(&[header(16, 0)]);
    let again = consumer
        .proxy
        .connect_push_consumer(Some(&consumer.reference), &wants(&[header(17, 0)]));
    assert!(
        matches!(again, Err(ConsumerError::AlreadyConnected(_))),
        "{again:?}"
    );
    let again = served
        .supplier()
        .connect_push_supplier(None, &SupplierQos::default());
    assert!(
        matches!(again, Err(SupplierError::AlreadyConnected(_))),
        "{again:?}"
    );
}

#[test]
fn a_suspended_consumer_receives_again_once_it_is_resumed() {
    let served = served();
    let consumer = served.consumer(&[header(0, 0)]);
    let supplier = served.supplier();
    consumer.proxy.suspend_connection().unwrap();
    supplier.push(&[event(16, 0, b"")]).unwrap();
    consumer.proxy.resume_connection().unwrap();
    supplier.push(&[event(17, 0, b"")]).unwrap();
    assert_eq!(consumer.inbox.kinds(1), [17]);
    let statistics = served.service.channel().statistics();
    assert_eq!(statistics.consumers[0].suspended, 1);
}

#[test]
fn a_disconnected_consumer_receives_no_more_and_its_proxy_is_gone() {
    let served = served();
    let (gone, stays) = (
        served.consumer(&[header(0, 0)]),
        served.consumer(&[header(0, 0)]),
    );
    gone.proxy.disconnect_push_supplier().unwrap();
    served.supplier().push(&[event(16, 0, b"")]).unwrap();
    assert_eq!(stays.inbox.kinds(1), [16]);
    assert!(gone.proxy.as_object().non_existent().unwrap());
    assert!(!gone.inbox.is_disconnected());
    assert_eq!(served.service.channel().statistics().consumers.len(), 1);
}

#[test]
fn a_disconnected_supplier_pushes_no_more() {
    let served = served();
    let supplier = served.supplier();
    supplier.disconnect_push_consumer().unwrap();
    let refused = supplier.push(&[event(16, 0, b"")]).unwrap_err();
    assert_eq!(refused.kind(), Kind::ObjectNotExist);
    assert_eq!(served.service.channel().statistics().suppliers, 0);
}

#[test]
fn an_event_of_a_supplier_that_is_not_connected_is_refused() {
    let served = served();
    let proxy = synchronous(&served.proxy_consumer());
    let refused = proxy.push(&[event(16, 0, b"")]).unwrap_err();
    assert_eq!(refused.kind(), Kind::BadInvOrder);
}

#[test]
fn destroying_the_channel_disconnects_its_peers() {
    let served = Served::new(ServiceOptions {
        can_destroy: true,
        ..ServiceOptions::default()
    });
    let consumer = served.consumer(&[header(0, 0)]);
    let (supplier, told) = supplier_object(served.peers());
    let proxy = served.proxy_consumer();
    proxy
        .connect_push_supplier(Some(&supplier), &SupplierQos::default())
        .unwrap();
    served.channel.destroy().unwrap();
    consumer.inbox.disconnection();
    told.disconnection();
    let gone = || consumer.proxy.as_object().non_existent().unwrap();
    eventually("the proxies of a destroyed channel are gone", gone);
}

#[test]
fn without_permission_the_channel_is_not_destroyed() {
    let served = served();
    let refused = served.channel.destroy().unwrap_err();
    assert_eq!(refused.kind(), Kind::NoPermission);
}

#[test]
fn a_consumer_of_the_process_may_end_the_supplier_s_connection_inside_a_push() {
    use punctual_rtevent::{Consumer, Filter, Pushed, Subscription};
    use punctual_rtevent_service::rtec_event_channel_admin::ProxyPushConsumer;
    use punctual_rtevent_service::{Data, Event};
    struct Ends(ProxyPushConsumer);
    impl Consumer<Data> for Ends {
        fn push(&self, _: &[Event]) -> Pushed {
            let ended = self.0.disconnect_push_consumer();
            ended.map_or_else(|it| Pushed::Failed(it.to_string()), |()| Pushed::Done)
        }
    }
    let mut options = ServiceOptions::default();
    options.channel.dispatching = punctual_rtevent::Dispatching::Reactive;
    let served = Served::new(options);
    let supplier = served.supplier();
    let channel = served.service.channel();
    let subscription = Subscription::new(Filter::null());
    let consumer = Arc::new(Ends(supplier.clone()));
    let _consumer = channel.connect_consumer(subscription, consumer).unwrap();
    supplier.push(&[event(16, 0, b"")]).unwrap();
    assert_eq!(channel.statistics().suppliers, 0);
}

#[test]
fn a_program_without_an_orb_shares_the_channel_with_those_elsewhere() {
    use punctual_rtevent::{Event, Header, Publications, Supplier};
    struct Nothing;
    impl Supplier for Nothing {}
    let served = served();
    let consumer = served.consumer(&[header(16, 0)]);
    let channel = served.service.channel();
    let supplier = channel
        .connect_supplier(Publications::default(), Arc::new(Nothing))
        .unwrap();
    supplier
        .push(&[Event::new(Header::new(16, 1), Arc::default())])
        .unwrap();
    assert_eq!(consumer.inbox.kinds(1), [16]);
}
