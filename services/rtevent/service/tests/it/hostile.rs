//! Peers that do harm: floods, filters that lie, consumers that never return.

use crate::support::{Served, event, eventually, header, wants};
use parking_lot::{Condvar, Mutex};
use punctual::{Interface, SystemException, SystemExceptionKind as Kind};
use punctual_rtevent::codes;
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::rtec_event_channel_admin::ProxyPushSupplierConnectPushConsumerError as ConsumerError;
use punctual_rtevent_service::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn filters_that_are_too_wide_or_too_deep_are_refused_and_others_served() {
    let served = Served::new(ServiceOptions::default());
    let wide: Vec<_> = std::iter::once(header(codes::DISJUNCTION, i32::MAX))
        .chain((0..20_000).map(|kind| header(kind, 0)))
        .collect();
    let deep = vec![header(codes::NEGATION, 0); 20_000];
    for filter in [wide, deep] {
        let consumer = served.unconnected();
        let refused = consumer
            .proxy
            .connect_push_consumer(Some(&consumer.reference), &wants(&filter));
        assert!(
            matches!(refused, Err(ConsumerError::TypeError(_))),
            "{refused:?}"
        );
    }
    let consumer = served.consumer(&[header(16, 0)]);
    served.supplier().push(&[event(16, 0, b"")]).unwrap();
    assert_eq!(consumer.inbox.kinds(1), [16]);
}

#[test]
fn an_event_above_the_limit_is_refused_and_others_served() {
    let mut options = ServiceOptions::default();
    options.channel.largest_event = 1_100;
    let served = Served::new(options);
    let consumer = served.consumer(&[header(16, 0)]);
    let supplier = served.supplier();
    let refused = supplier.push(&[event(16, 0, &[0; 2_000])]).unwrap_err();
    assert_eq!(refused.kind(), Kind::ImpLimit);
    supplier.push(&[event(16, 0, &[0; 1_000])]).unwrap();
    assert_eq!(consumer.inbox.pushes(1)[0][0].data.payload.len(), 1_000);
}

#[test]
fn proxies_to_which_nothing_is_connected_are_given_up() {
    let served = Served::new(ServiceOptions {
        unconnected: Duration::ZERO,
        ..ServiceOptions::default()
    });
    let first = served.proxy_supplier();
    let _second = served.proxy_supplier();
    assert!(first.as_object().non_existent().unwrap());
}

#[test]
fn proxies_that_wait_are_limited() {
    let served = Served::new(ServiceOptions::default());
    let admin = served.channel.for_suppliers().unwrap().unwrap();
    let refused = (0..5_000).find_map(|_| admin.obtain_push_consumer().err());
    let refused = refused.unwrap();
    assert_eq!(refused.kind(), Kind::NoResources);
}

#[test]
fn observers_are_limited() {
    let served = Served::new(ServiceOptions {
        most_observers: 0,
        ..ServiceOptions::default()
    });
    assert!(served.channel.append_observer(None).is_err());
}

/// Consumer whose pushes return only when it is released.
#[derive(Default)]
struct Stuck {
    is_released: Mutex<bool>,
    released: Condvar,
}

impl PushConsumerServant for Stuck {
    fn push(&self, _: &[Event]) -> Result<(), SystemException> {
        let mut is_released = self.is_released.lock();
        while !*is_released {
            self.released.wait(&mut is_released);
        }
        Ok(())
    }

    fn disconnect_push_consumer(&self) -> Result<(), SystemException> {
        Ok(())
    }
}

#[test]
fn a_consumer_that_never_returns_delays_no_other() {
    let served = Served::new(ServiceOptions::default());
    let stuck = Arc::new(Stuck::default());
    let reference: PushConsumer = served.peers().activate(stuck.clone()).unwrap();
    let proxy = served.proxy_supplier();
    proxy
        .connect_push_consumer(Some(&reference), &wants(&[header(0, 0)]))
        .unwrap();
    // An ORB of its own, as the stuck one may hold the connection that both would share.
    let (orb, poa) = crate::support::orb();
    let inbox = Arc::new(crate::support::Inbox::default());
    let other: PushConsumer = poa.activate(inbox.clone()).unwrap();
    let proxy = served.proxy_supplier();
    let channel = served.channel.as_object().orb();
    let other = channel
        .string_to_object(&orb.object_to_string(other.as_object()).unwrap())
        .unwrap();
    let other = PushConsumer::from_object(other);
    proxy
        .connect_push_consumer(Some(&other), &wants(&[header(0, 0)]))
        .unwrap();
    let supplier = served.supplier();
    for kind in 16..116 {
        supplier.push(&[event(kind, 0, &[0; 1_000])]).unwrap();
    }
    assert_eq!(inbox.kinds(100), (16..116).collect::<Vec<_>>());
    *stuck.is_released.lock() = true;
    stuck.released.notify_all();
    orb.shutdown(true).unwrap();
}

#[test]
fn a_consumer_that_is_gone_is_disconnected() {
    let mut options = ServiceOptions::default();
    options.channel.liveness = Some(punctual_rtevent::Liveness {
        interval: Duration::from_millis(20),
        most_unanswered: 3,
    });
    let served = Served::new(options);
    let consumer = served.consumer(&[header(16, 0)]);
    served.peers().deactivate(&consumer.reference).unwrap();
    eventually("the consumer is disconnected", || {
        served.service.channel().statistics().consumers.is_empty()
    });
}
