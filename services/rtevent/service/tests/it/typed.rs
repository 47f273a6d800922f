//! Events of IDL types.

use crate::support::{Served, eventually, header};
use parking_lot::Mutex;
use punctual_rtevent::{Pushed, Supplier};
use punctual_rtevent_service::{ServiceOptions, typed};
use std::sync::Arc;

#[allow(clippy::all, clippy::pedantic, dead_code)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/tracks.rs"));
}

use generated::tracks::{Alarm, Track};

struct Silent;

impl Supplier for Silent {}

#[test]
fn a_value_reaches_typed_consumers_and_untyped_ones() {
    let served = Served::new(ServiceOptions::default());
    let channel = served.service.channel();
    let untyped = served.consumer(&[header(0, 0)]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seen_by = seen.clone();
    let consumer = typed::consumer(move |header, track: &Track| {
        seen_by.lock().push((header.source, *track));
    });
    let _typed = channel
        .connect_consumer(typed::subscription::<Track>(), consumer)
        .unwrap();
    let supplier = channel
        .connect_supplier(typed::publications::<Track>(3), Arc::new(Silent))
        .unwrap();
    let track = Track {
        number: 7,
        bearing: 0.5,
    };
    let alarm = Alarm {
        text: "close".to_owned(),
    };
    let events = [
        typed::event(3, &track).unwrap(),
        typed::event(3, &alarm).unwrap(),
    ];
    supplier.push(&events).unwrap();
    let events = untyped.inbox.events(2);
    assert_eq!(events[0].header.r#type, Track::EVENT_TYPE);
    let value = events[0].data.any_value.extract::<Track>().unwrap();
    assert_eq!(value, track);
    eventually("the typed consumer has it", || !seen.lock().is_empty());
    assert_eq!(*seen.lock(), [(3, track)]);
}

#[test]
fn a_type_of_more_than_31_bits_reaches_its_consumers() {
    let served = Served::new(ServiceOptions::default());
    assert_eq!(Alarm::EVENT_TYPE, 4_000_000_000_u32.cast_signed());
    let ours = served.consumer(&[header(Alarm::EVENT_TYPE, 0)]);
    let supplier = served
        .service
        .channel()
        .connect_supplier(typed::publications::<Alarm>(3), Arc::new(Silent))
        .unwrap();
    let alarm = Alarm {
        text: "close".to_owned(),
    };
    supplier.push(&[typed::event(3, &alarm).unwrap()]).unwrap();
    assert_eq!(
        ours.inbox.events(1)[0]
            .data
            .any_value
            .extract::<Alarm>()
            .unwrap(),
        alarm
    );
}

#[test]
fn the_type_of_a_repository_id_is_that_which_the_compiler_computes() {
    assert_eq!(typed::type_of_id("IDL:tracks/Track:1.0"), Track::EVENT_TYPE);
}

#[test]
fn an_event_with_another_value_is_a_push_that_fails() {
    let consumer = typed::consumer(|_, _: &Track| panic!("there is no value"));
    let mut event = typed::event(1, &Alarm::default()).unwrap();
    event.header.kind = Track::EVENT_TYPE;
    assert!(matches!(consumer.push(&[event]), Pushed::Failed(_)));
}
