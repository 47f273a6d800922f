//! Messages on subjects.

use std::time::Duration;

use punctual_durable::DurableError;
use punctual_jetstream::{Bridge, BridgeMessage};

use crate::nats::{LIMIT, Nats};

fn message(subject: &str, text: &str) -> BridgeMessage {
    BridgeMessage {
        subject: subject.to_owned(),
        bytes: text.as_bytes().to_vec().into(),
        ..BridgeMessage::default()
    }
}

#[test]
fn a_subscriber_of_a_wildcard_gets_messages_with_headers_in_order() {
    let Some(nats) = Nats::start() else { return };
    let (one, other) = (
        Bridge::open(&nats.options()).unwrap(),
        Bridge::of(&nats.store()),
    );
    let mut all = other.subscribe("plant.>", 100).unwrap();
    let mut alarms = other.subscribe("plant.*.alarm", 100).unwrap();
    let with_headers = BridgeMessage {
        headers: vec![("Kind".to_owned(), "alarm of line 3".to_owned())],
        ..message("plant.line3.alarm", "hot")
    };
    one.publish(with_headers.clone()).unwrap();
    one.publish(message("plant.line3.state", "up")).unwrap();
    one.publish(message("office.line3.alarm", "late")).unwrap();
    assert_eq!(all.next(LIMIT).unwrap(), Some(with_headers.clone()));
    assert_eq!(
        all.next(LIMIT).unwrap(),
        Some(message("plant.line3.state", "up"))
    );
    assert_eq!(alarms.next(LIMIT).unwrap(), Some(with_headers));
    assert_eq!(all.next(Duration::from_millis(50)).unwrap(), None);
    assert_eq!(alarms.next(Duration::ZERO).unwrap(), None);
}

#[test]
fn messages_beyond_the_capacity_are_lost_and_counted() {
    let Some(nats) = Nats::start() else { return };
    let bridge = Bridge::open(&nats.options()).unwrap();
    let mut few = bridge.subscribe("few", 3).unwrap();
    let mut all = bridge.subscribe("few", 100).unwrap();
    for number in 0..10 {
        bridge.publish(message("few", &number.to_string())).unwrap();
    }
    for number in 0..10 {
        assert_eq!(
            all.next(LIMIT).unwrap(),
            Some(message("few", &number.to_string()))
        );
    }
    crate::nats::eventually("seven are lost", || few.lost() == 7);
    for number in 0..3 {
        assert_eq!(
            few.next(LIMIT).unwrap(),
            Some(message("few", &number.to_string()))
        );
    }
    assert_eq!(few.next(Duration::ZERO).unwrap(), None);
}

#[test]
fn malformed_subjects_and_headers_are_refused_by_name() {
    let Some(nats) = Nats::start() else { return };
    let bridge = Bridge::open(&nats.options()).unwrap();
    let refused = bridge.publish(message("plant.*", "")).unwrap_err();
    assert!(matches!(refused, DurableError::Invalid(_)), "{refused}");
    assert!(refused.to_string().contains("plant.*"), "{refused}");
    let split = BridgeMessage {
        headers: vec![("Kind".to_owned(), "a\r\nOther: b".to_owned())],
        ..message("plant", "")
    };
    let refused = bridge.publish(split).unwrap_err();
    assert!(refused.to_string().contains("Kind"), "{refused}");
}
