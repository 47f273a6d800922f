//! Events of IDL types.

use crate::support::{Served, header};
use parking_lot::Mutex;
use punctual_rtevent::{Filter, Publications, Pushed, Subscription, Supplier};
use punctual_rtevent_service::rtec_base::DependencyInfo;
use punctual_rtevent_service::{ServiceOptions, typed};
use std::sync::Arc;

struct Silent;

impl Supplier for Silent {}

#[test]
fn a_value_reaches_typed_consumers_and_untyped_ones() {
    let served = Served::new(ServiceOptions::default());
    let channel = served.service.channel();
    let untyped = served.consumer(&[header(0, 0)]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_by = seen.clone();
    let consumer = typed::consumer(move |header, value: &DependencyInfo| {
        seen_by.lock().push((header.source, value.clone()));
    });
    let kind = typed::kind::<DependencyInfo>();
    let _typed = channel
        .connect_consumer(Subscription::new(Filter::event(kind, 0)), consumer)
        .unwrap();
    let supplier = channel
        .connect_supplier(Publications::default(), Arc::new(Silent))
        .unwrap();
    let value = DependencyInfo {
        number_of_calls: 7,
        ..DependencyInfo::default()
    };
    supplier
        .push(&[
            typed::event(3, &value).unwrap(),
            typed::event(3, "text").unwrap(),
        ])
        .unwrap();
    let events = untyped.inbox.events(2);
    assert_eq!(events[0].header.r#type, kind);
    assert_eq!(
        events[0]
            .data
            .any_value
            .extract::<DependencyInfo>()
            .unwrap(),
        value
    );
    crate::support::eventually("the typed consumer has it", || !seen.lock().is_empty());
    assert_eq!(*seen.lock(), [(3, value)]);
}

#[test]
fn the_type_of_events_is_the_checksum_of_the_repository_id() {
    let id = b"IDL:RtecBase/Dependency_Info:1.0";
    // CRC-32 by its definition, bit by bit: the reflected polynomial of IEEE 802.3.
    let crc = !id.iter().fold(u32::MAX, |crc, octet| {
        (0..8).fold(crc ^ u32::from(*octet), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1))
        })
    });
    assert_eq!(typed::kind::<DependencyInfo>(), (crc & 0x7fff_ffff) as i32);
    assert_ne!(typed::kind::<u32>(), typed::kind::<i32>());
}

#[test]
fn an_event_with_another_value_is_a_push_that_fails() {
    let consumer = typed::consumer(|_, _: &DependencyInfo| panic!("there is no value"));
    let mut event = typed::event(1, &5_u32).unwrap();
    event.header.kind = typed::kind::<DependencyInfo>();
    assert!(matches!(consumer.push(&[event]), Pushed::Failed(_)));
}
