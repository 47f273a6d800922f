use super::collection::{OVERHEAD, steps};
use super::*;
use crate::datagram::Tally;
use crate::miop::MiopCounts;
use std::time::Duration;

const AGE: Duration = Duration::from_secs(10);

struct Member {
    assembly: Assembly,
    now: Instant,
}

impl Member {
    fn new(change: impl FnOnce(&mut MiopOptions)) -> Self {
        let mut options = MiopOptions {
            age: AGE,
            ..MiopOptions::default()
        };
        change(&mut options);
        Self {
            assembly: Assembly::new(options, None, Arc::default()),
            now: Instant::now(),
        }
    }

    fn raw(&mut self, port: u16, datagram: &[u8]) -> Option<String> {
        let from = ([10, 0, 0, (port / 1000) as u8], port).into();
        let message = self.assembly.take(from, datagram, self.now);
        message.map(|message| String::from_utf8_lossy(&message).into_owned())
    }

    /// Receives a packet: message, number, count, text. The last of a known count is marked.
    fn packet(&mut self, port: u16, of: (&str, u32, u32), text: &str) -> Option<String> {
        let (id, number, count) = of;
        let packet = Packet {
            number,
            count: Some(count).filter(|count| *count != 0),
            is_last: count != 0 && number + 1 == count,
            id: id.as_bytes(),
            octets: &[],
        };
        let datagram = [&packet.header_of(text.len())[..], text.as_bytes()].concat();
        self.raw(port, &datagram)
    }

    fn later(&mut self, time: Duration) {
        self.now += time;
        self.assembly.look(self.now);
    }

    fn counts(&self) -> MiopCounts {
        self.assembly.counters.read(&Tally::default())
    }
}

#[test]
fn packets_make_a_message_in_any_order_and_by_sender() {
    let mut member = Member::new(|_| {});
    assert_eq!(member.packet(1, ("m", 0, 1), "alone"), Some("alone".into()));
    assert_eq!(member.packet(1, ("n", 2, 3), "c"), None);
    assert_eq!(member.packet(2, ("n", 0, 3), "x"), None);
    assert_eq!(member.packet(1, ("n", 0, 3), "a"), None);
    assert_eq!(member.packet(1, ("n", 1, 3), "b"), Some("abc".into()));
    assert_eq!(member.packet(2, ("n", 1, 3), "y"), None);
    assert_eq!(member.packet(2, ("n", 2, 3), "z"), Some("xyz".into()));
    assert_eq!(member.assembly.held(), (0, 0));
    assert_eq!(member.counts().messages, 3);
}

#[test]
fn the_last_packet_may_be_the_first_to_tell_their_number() {
    let mut member = Member::new(|_| {});
    assert_eq!(member.packet(1, ("m", 0, 0), "a"), None);
    assert_eq!(member.packet(1, ("m", 2, 3), "c"), None);
    assert_eq!(member.packet(1, ("m", 1, 0), "b"), Some("abc".into()));
}

#[test]
fn repeated_packets_are_counted_and_make_nothing_twice() {
    let mut member = Member::new(|_| {});
    member.packet(1, ("m", 0, 2), "a");
    assert_eq!(member.packet(1, ("m", 0, 2), "other"), None);
    assert_eq!(member.packet(1, ("m", 1, 2), "b"), Some("ab".into()));
    // Also after the end, whichever it is.
    for number in [0, 1, 1] {
        assert_eq!(member.packet(1, ("m", number, 2), "x"), None);
    }
    assert_eq!(member.packet(1, ("one", 0, 1), "1"), Some("1".into()));
    assert_eq!(member.packet(1, ("one", 0, 1), "1"), None);
    assert_eq!(member.counts().repeated, 5);
    assert_eq!(member.assembly.held(), (0, 0));
    // The ids come again some day.
    member.later(AGE);
    assert_eq!(member.packet(1, ("one", 0, 1), "2"), Some("2".into()));
}

#[test]
fn a_thousand_million_announced_packets_take_no_memory() {
    let mut member = Member::new(|_| {});
    assert_eq!(member.packet(1, ("m", 0, 1_000_000_000), "a"), None);
    assert_eq!(member.packet(1, ("n", 999_999_999, 0), "a"), None);
    assert_eq!(member.packet(1, ("m", 1, 1_000_000_000), "a"), None);
    assert_eq!(member.assembly.held(), (0, 0));
    let counts = member.counts();
    assert_eq!((counts.too_large, counts.repeated), (2, 1));
    // As many as the limit allows: memory grows with what arrives.
    assert_eq!(member.packet(1, ("o", 0, 16_384), "a"), None);
    assert_eq!(member.assembly.held(), (1, 1 + OVERHEAD));
}

#[test]
fn packets_that_contradict_earlier_ones_change_nothing() {
    let mut member = Member::new(|_| {});
    member.packet(1, ("m", 0, 3), "a");
    member.packet(1, ("m", 2, 3), "c");
    for of in [("m", 1, 4), ("m", 5, 0), ("m", 1, 2), ("m", 0, 1)] {
        assert_eq!(member.packet(1, of, "x"), None, "{of:?}");
    }
    assert_eq!(member.packet(1, ("m", 1, 3), "b"), Some("abc".into()));
    assert_eq!(member.counts().malformed, 4);
    for octets in [&b""[..], b"MIOP", b"GIOP\x01\x02\0\0\0\0\0\0", &[0; 100]] {
        assert_eq!(member.raw(1, octets), None);
    }
    assert_eq!(member.counts().malformed, 8);
}

#[test]
fn lost_packets_are_counted_when_their_message_is_given_up() {
    let mut member = Member::new(|_| {});
    member.packet(1, ("m", 0, 5), "a");
    member.packet(1, ("m", 3, 5), "d");
    member.packet(1, ("unknown", 2, 0), "c");
    member.later(AGE / 2);
    assert_eq!(member.assembly.held().0, 2);
    member.packet(1, ("late", 0, 2), "a");
    member.later(AGE / 2);
    assert_eq!(member.assembly.held().0, 1);
    let counts = member.counts();
    // Of the other message two packets before the one that came are missing, and at least one after it.
    assert_eq!((counts.incomplete, counts.lost_packets), (2, 3 + 3));
}

#[test]
fn the_oldest_messages_make_room_for_a_host_and_for_all() {
    let mut member = Member::new(|options| {
        options.messages = 3;
        options.messages_of_source = 2;
    });
    // Ports from 1000 on are of another host.
    member.packet(1000, ("other", 0, 2), "a");
    for id in ["a", "b", "c"] {
        member.packet(1, (id, 0, 2), id);
    }
    assert_eq!(member.assembly.held().0, 3);
    assert_eq!(member.packet(2, ("a", 1, 2), "2"), None);
    // The host's oldest made room for that, and the message of another host is still there.
    assert_eq!(member.packet(1000, ("other", 1, 2), "b"), Some("ab".into()));
    assert_eq!(member.packet(1, ("c", 1, 2), "2"), Some("c2".into()));
    for port in [2000, 3000, 4000, 5000] {
        member.packet(port, ("m", 0, 2), "a");
    }
    assert_eq!(member.assembly.held().0, 3);
    assert_eq!(member.packet(5000, ("m", 1, 2), "b"), Some("ab".into()));
    let counts = member.counts();
    // Each lacked its second packet: "a" and "b", that of port 2, and the first of the other hosts.
    assert_eq!((counts.displaced, counts.lost_packets), (4, 4));
    assert_eq!((counts.incomplete, counts.under_way), (0, 2));
}

#[test]
fn messages_that_gave_way_do_not_begin_again_and_take_the_room_of_others() {
    let mut member = Member::new(|options| options.messages_of_source = 16);
    let ids: Vec<String> = (0..17).map(|number| format!("m{number}")).collect();
    let mut arrived = Vec::new();
    // Their packets come in turns: one message more than there is room for.
    for number in 0..3 {
        for id in &ids {
            arrived.extend(member.packet(1, (id, number, 3), "x").map(|_| id.clone()));
        }
    }
    assert_eq!(arrived, ids[1..]);
    let counts = member.counts();
    assert_eq!((counts.displaced, counts.messages), (1, 16));
    assert_eq!((counts.lost_packets, counts.repeated), (2, 2));
    // Nor does one that was too old.
    assert_eq!(member.packet(1, ("late", 0, 2), "a"), None);
    member.later(AGE);
    assert_eq!(member.packet(1, ("late", 1, 2), "b"), None);
    assert_eq!(member.counts().under_way, 0);
}

#[test]
fn memory_is_bounded_for_one_message_and_for_all() {
    let part = "x".repeat(100);
    let mut member = Member::new(|options| {
        options.largest = 250;
        options.memory = 500;
    });
    member.packet(1, ("long", 0, 9), &part);
    member.packet(1, ("long", 1, 9), &part);
    assert_eq!(member.packet(1, ("long", 2, 9), &part), None);
    assert_eq!(member.assembly.held(), (0, 0));
    // What else arrives of it is dropped.
    member.packet(1, ("long", 3, 9), &part);
    assert_eq!(member.assembly.held(), (0, 0));
    assert_eq!(member.packet(1, ("alone", 0, 1), &"x".repeat(251)), None);
    let counts = member.counts();
    assert_eq!((counts.too_large, counts.repeated), (2, 1));
    for id in ["a", "b", "c", "d", "e"] {
        member.packet(1, (id, 0, 2), &part);
        assert!(member.assembly.held().1 <= 500);
    }
    assert_eq!(member.assembly.held().0, 3);
    let mut small = Member::new(|options| options.memory = 100);
    assert_eq!(small.packet(1, ("m", 0, 2), &part), None);
    assert_eq!(small.assembly.held(), (0, 0));
}

#[test]
fn one_host_may_take_a_part_of_the_memory_only() {
    let part = "x".repeat(100);
    let mut member = Member::new(|options| {
        options.memory = 10_000;
        options.memory_of_source = 3 * (100 + OVERHEAD);
    });
    member.packet(1000, ("other", 0, 2), "a");
    for id in 0..30 {
        let port = id % 7;
        member.packet(port, (&id.to_string(), 0, 2), &part);
        assert!(member.assembly.held().0 <= 1 + 3);
    }
    assert_eq!(member.packet(1000, ("other", 1, 2), "b"), Some("ab".into()));
    assert_eq!(
        member.packet(28 % 7, ("28", 1, 2), "."),
        Some(format!("{part}."))
    );
    assert_eq!(member.counts().displaced, 27);
    // One that alone takes more than a host may.
    for number in 0..3 {
        member.packet(2000, ("long", number, 9), &part);
    }
    assert_eq!(member.assembly.held().0, 2 + 1);
    member.packet(2000, ("long", 3, 9), &part);
    assert_eq!(
        (member.assembly.held().0, member.counts().too_large),
        (2, 1)
    );
}

#[test]
fn counts_of_what_is_under_way_are_those_of_all_acceptors() {
    let mut member = Member::new(|_| {});
    let counters = member.assembly.counters.clone();
    let counts = || counters.read(&Tally::default());
    member.packet(1, ("m", 0, 3), "four");
    member.packet(1, ("m", 1, 3), "four");
    member.packet(2, ("n", 0, 3), "four");
    let expected = 3 * (4 + OVERHEAD) as u64;
    assert_eq!(
        (counts().under_way, counts().under_way_octets),
        (2, expected)
    );
    member.packet(1, ("m", 2, 3), "four");
    assert_eq!(counts().under_way, 1);
    drop(member);
    assert_eq!((counts().under_way, counts().under_way_octets), (0, 0));
}

#[test]
fn a_forger_of_messages_does_not_make_those_of_another_host_be_taken_twice() {
    let mut member = Member::new(|_| {});
    assert_eq!(
        member.packet(1000, ("own", 0, 1), "once"),
        Some("once".into())
    );
    for id in 0..5000 {
        member.packet(2000, (&id.to_string(), 0, 1), "forged");
    }
    assert_eq!(member.packet(1000, ("own", 0, 1), "twice"), None);
    assert_eq!(member.counts().repeated, 1);
}

#[test]
fn packets_that_arrived_are_not_looked_at_again_for_each_one_that_follows() {
    // Steps a packet, of a message of this many packets, in ascending and descending order.
    let steps_of = |count: u32, descending: bool| {
        let mut member = Member::new(|_| {});
        steps::take();
        for at in 0..count {
            let number = if descending { count - 1 - at } else { at };
            let message = member.packet(1, ("m", number, count), "x");
            assert_eq!(message.is_some(), at + 1 == count);
            // The same once more.
            member.packet(1, ("m", number, count), "x");
        }
        steps::take() / u64::from(count)
    };
    for descending in [false, true] {
        for count in [16, 256, 16_384] {
            let steps = steps_of(count, descending);
            // Three searches in a tree whose nodes have up to eleven numbers, and a copy.
            let height = u64::from(count.ilog(6)) + 1;
            assert!(steps <= 3 * 11 * height + 1, "{count}: {steps}");
        }
    }
}

#[test]
fn sources_and_messages_are_chosen() {
    let mut member = Member::new(|options| options.sources = vec![[10, 0, 0, 1].into()]);
    member.assembly.filter = Some(Arc::new(|message| message == b"yes"));
    assert_eq!(member.packet(1, ("m", 0, 1), "yes"), None);
    assert_eq!(member.packet(1001, ("m", 0, 1), "yes"), Some("yes".into()));
    assert_eq!(member.packet(1001, ("n", 0, 1), "no"), None);
    assert_eq!(member.packet(1001, ("o", 0, 2), "n"), None);
    assert_eq!(member.packet(1001, ("o", 1, 2), "o"), None);
    let counts = member.counts();
    assert_eq!((counts.unwanted, counts.refused), (1, 2));
}
