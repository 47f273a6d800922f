//! Types with `@event`: their constants, and the trait that channels use.

use punctual::stub::EventValue;

#[allow(clippy::all, clippy::pedantic, dead_code)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/events.rs"));
}

use generated::events::{Alarm, Order, Track};

/// Returns the CRC-32 of a text by its definition: the reflected polynomial of IEEE 802.3.
fn crc(text: &str) -> u32 {
    !text.bytes().fold(u32::MAX, |crc, octet| {
        (0..8).fold(crc ^ u32::from(octet), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1))
        })
    })
}

fn type_of<T: EventValue>(_: &T) -> i32 {
    T::EVENT_TYPE
}

#[test]
fn the_repository_id_makes_the_type_of_events_without_a_number() {
    let checksum = crc("IDL:events/Track:1.0") & 0x7fff_ffff;
    assert_eq!(Track::EVENT_TYPE.cast_unsigned(), checksum);
    assert_eq!(type_of(&Track::default()), Track::EVENT_TYPE);
}

#[test]
fn a_stated_number_is_the_type_of_events() {
    assert_eq!(Order::EVENT_TYPE, 1234);
    assert_eq!(type_of(&Order::Go("now".to_owned())), 1234);
    assert_eq!(Alarm::EVENT_TYPE, -1);
}
