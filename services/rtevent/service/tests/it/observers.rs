//! Observers of subscriptions and publications.

use crate::support::{Served, eventually, header, wants};
use parking_lot::Mutex;
use punctual::SystemException;
use punctual_rtevent::codes;
use punctual_rtevent_service::ServiceOptions;
use punctual_rtevent_service::rtec_event_channel_admin::{
    ConsumerQos, EventChannelRemoveObserverError as RemoveError, Observer, ObserverServant,
    Publication, SupplierQos,
};
use punctual_rtevent_service::rtec_event_comm::Event;
use std::sync::Arc;

#[derive(Default)]
struct Seen {
    consumers: Mutex<Option<ConsumerQos>>,
    suppliers: Mutex<Option<SupplierQos>>,
}

impl ObserverServant for Seen {
    fn update_consumer(&self, sub: &ConsumerQos) -> Result<(), SystemException> {
        *self.consumers.lock() = Some(sub.clone());
        Ok(())
    }

    fn update_supplier(&self, r#pub: &SupplierQos) -> Result<(), SystemException> {
        *self.suppliers.lock() = Some(r#pub.clone());
        Ok(())
    }
}

impl Seen {
    /// Types that are subscribed to, behind the designator of a group with their number.
    fn subscribed(&self) -> Option<Vec<i32>> {
        let seen = self.consumers.lock();
        let (group, entries) = seen.as_ref()?.dependencies.split_first()?;
        assert_eq!(group.event.header.r#type, codes::DISJUNCTION);
        assert_eq!(group.event.header.source as usize, entries.len());
        Some(
            entries
                .iter()
                .map(|entry| entry.event.header.r#type)
                .collect(),
        )
    }

    fn published(&self) -> Option<Vec<i32>> {
        let seen = self.suppliers.lock();
        let publications = seen.as_ref()?.publications.iter();
        Some(publications.map(|it| it.event.header.r#type).collect())
    }
}

fn observed() -> (Served, Arc<Seen>, u32) {
    let served = Served::new(ServiceOptions::default());
    let seen = Arc::new(Seen::default());
    let observer: Observer = served.peers().activate(seen.clone()).unwrap();
    let handle = served.channel.append_observer(Some(&observer)).unwrap();
    (served, seen, handle)
}

#[test]
fn an_observer_hears_of_subscriptions_and_publications() {
    let (served, seen, _) = observed();
    let consumer = served.consumer(&[header(codes::DISJUNCTION, 2), header(16, 0), header(17, 0)]);
    eventually("the subscription is seen", || {
        seen.subscribed() == Some(vec![16, 17])
    });
    let publication = Publication {
        event: Event {
            header: header(18, 1),
            ..Event::default()
        },
        ..Publication::default()
    };
    let qos = SupplierQos {
        publications: vec![publication],
        is_gateway: false,
    };
    served
        .proxy_consumer()
        .connect_push_supplier(None, &qos)
        .unwrap();
    eventually("the publication is seen", || {
        seen.published() == Some(vec![18])
    });
    consumer.proxy.disconnect_push_supplier().unwrap();
    eventually("the end is seen", || seen.subscribed() == Some(Vec::new()));
}

#[test]
fn observers_do_not_hear_of_gateways() {
    let (served, seen, _) = observed();
    let gateway = served.unconnected();
    let qos = ConsumerQos {
        is_gateway: true,
        ..wants(&[header(99, 0)])
    };
    gateway
        .proxy
        .connect_push_consumer(Some(&gateway.reference), &qos)
        .unwrap();
    let _consumer = served.consumer(&[header(16, 0)]);
    eventually("the subscription is seen", || {
        seen.subscribed() == Some(vec![16])
    });
}

#[test]
fn a_removed_observer_hears_no_more_and_cannot_be_removed_again() {
    let (served, _, handle) = observed();
    served.channel.remove_observer(handle).unwrap();
    let again = served.channel.remove_observer(handle);
    assert!(
        matches!(again, Err(RemoveError::CantRemoveObserver(_))),
        "{again:?}"
    );
}

#[test]
fn an_observer_that_is_gone_is_forgotten() {
    let served = Served::new(ServiceOptions {
        most_observers: 1,
        ..ServiceOptions::default()
    });
    let append = || {
        let observer: Observer = served.peers().activate(Arc::new(Seen::default())).unwrap();
        let appended = served.channel.append_observer(Some(&observer));
        (observer, appended)
    };
    let (gone, appended) = append();
    appended.unwrap();
    assert!(append().1.is_err());
    served.peers().deactivate(&gone).unwrap();
    eventually("another observer has room", || {
        // Each change is a call that fails.
        let consumer = served.consumer(&[header(16, 0)]);
        consumer.proxy.disconnect_push_supplier().unwrap();
        append().1.is_ok()
    });
}
