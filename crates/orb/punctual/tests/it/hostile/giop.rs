//! Malformed GIOP, over every link.

use crate::hostile::links::{Over, Rig, over_every_link};
use crate::hostile::log::assert_logged;
use crate::hostile::peer::request;
use crate::support::Random;
use punctual::SystemExceptionKind as Kind;
use punctual_giop::MessageKind;

over_every_link! {
    fn wrong_magic_is_a_message_error(over: Over) {
        let rig = Rig::new(over);
        let mut peer = rig.peer();
        peer.send(b"GET / HTTP/1.1\r\n\r\n").assert_refused();
        assert_logged(&peer, &["GIOP", "MessageError"]);
        rig.others_are_served();
    }

    fn a_wrong_version_is_a_message_error(over: Over) {
        let rig = Rig::new(over);
        for version in [[1, 9], [3, 0], [0, 0]] {
            let mut peer = rig.peer();
            let header = [b"GIOP", &version[..], &[0; 6]].concat();
            peer.send(&header).assert_refused();
            assert_logged(&peer, &["not supported"]);
        }
        rig.others_are_served();
    }

    fn an_unknown_kind_of_message_is_a_message_error(over: Over) {
        let rig = Rig::new(over);
        let mut peer = rig.peer();
        peer.send(b"GIOP\x01\x02\x00\x2a\x00\x00\x00\x00")
            .assert_refused();
        assert_logged(&peer, &["MessageError"]);
        rig.others_are_served();
    }

    fn a_size_of_4_gib_is_refused_before_anything_is_allocated(over: Over) {
        let rig = Rig::new(over);
        let mut peer = rig.peer();
        peer.send(b"GIOP\x01\x02\x00\x00\xff\xff\xff\xff")
            .assert_refused();
        assert_logged(&peer, &["limit"]);
        rig.others_are_served();
    }

    fn a_fragment_without_a_start_is_a_message_error(over: Over) {
        let rig = Rig::new(over);
        for version in [1, 2] {
            let mut peer = rig.peer();
            let fragment = [
                b"GIOP\x01",
                &[version][..],
                b"\x00\x07\x00\x00\x00\x08\0\0\0\x02abcd",
            ];
            peer.send(&fragment.concat()).assert_refused();
            assert_logged(&peer, &["ragment"]);
        }
        rig.others_are_served();
    }

    fn a_servers_own_messages_are_refused_from_a_client(over: Over) {
        let rig = Rig::new(over);
        for kind in [1, 4] {
            let mut peer = rig.peer();
            let header = [b"GIOP\x01\x02\x00", &[kind][..], b"\x00\x00\x00\x0c"];
            peer.send(&[&header.concat()[..], &[0; 12]].concat())
                .assert_refused();
            assert_logged(&peer, &["only servers may send"]);
        }
        rig.others_are_served();
    }

    fn a_truncated_message_ends_its_own_connection_only(over: Over) {
        let rig = Rig::new(over);
        let whole = request(&rig.key(), "long", |out| out.put_i32(1));
        for length in 1..whole.len() {
            let mut peer = rig.peer();
            peer.send(&whole[..length]).close();
            assert_logged(&peer, &["in the middle of a message"]);
        }
        rig.others_are_served();
    }

    fn a_header_that_does_not_decode_is_a_message_error(over: Over) {
        let rig = Rig::new(over);
        let whole = request(&rig.key(), "long", |out| out.put_i32(1));
        // The length of the object key, far beyond the message.
        let mut wild = whole.clone();
        wild[24..28].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff]);
        // An unknown disposition.
        let mut addressed = whole.clone();
        addressed[20..22].copy_from_slice(&[0, 9]);
        // No data behind the message's header.
        let empty = b"GIOP\x01\x02\x00\x00\x00\x00\x00\x00".to_vec();
        for message in [wild, addressed, empty] {
            let mut peer = rig.peer();
            peer.send(&message).assert_refused();
            assert_logged(&peer, &["header of a Request"]);
        }
        rig.others_are_served();
    }

    fn a_huge_or_negative_sequence_length_is_a_marshal_error(over: Over) {
        let rig = Rig::new(over);
        for length in [0xffff_ffff, 0x8000_0000, 0x0400_0000, 1000] {
            let mut peer = rig.peer();
            peer.send(&request(&rig.key(), "octets", |out| out.put_u32(length)));
            assert_eq!(peer.exception(), Kind::Marshal);
            // The connection goes on.
            peer.send(&request(&rig.key(), "long", |out| out.put_i32(1)));
            assert_eq!(peer.receive().0, MessageKind::Reply);
            assert_logged(&peer, &["octets", "MARSHAL"]);
        }
        rig.others_are_served();
    }

    fn wide_text_for_which_no_code_set_was_agreed_on_is_a_bad_parameter(over: Over) {
        let rig = Rig::new(over);
        let mut peer = rig.peer();
        peer.send(&request(&rig.key(), "wide", |out| out.put_bytes(&[2, 0, b'x'])));
        assert_eq!(peer.exception(), Kind::BadParam);
        rig.others_are_served();
    }

    fn the_name_of_an_operation_is_logged_in_one_line_and_not_whole(over: Over) {
        let rig = Rig::new(over);
        let mut peer = rig.peer();
        let name = format!("to\u{1b}[2Jo\n2026 INFO all is well{}", "x".repeat(100_000));
        peer.send(&request(&rig.key(), &name, |_| {}));
        assert_eq!(peer.exception(), Kind::BadOperation);
        let escaped = r"`to\u{1b}[2Jo\n2026 INFO all is well";
        assert_logged(&peer, &[escaped, "… (100029 bytes)"]);
        rig.others_are_served();
    }

    fn an_unknown_operation_is_a_bad_operation(over: Over) {
        let rig = Rig::new(over);
        let mut peer = rig.peer();
        peer.send(&request(&rig.key(), "no_such_operation", |_| {}));
        assert_eq!(peer.exception(), Kind::BadOperation);
        assert_logged(&peer, &["no_such_operation", "BAD_OPERATION"]);
    }

    fn an_unknown_object_key_does_not_exist(over: Over) {
        let rig = Rig::new(over);
        let mut forged = rig.key();
        *forged.last_mut().unwrap() ^= 1;
        for key in [&b""[..], b"NameService", &[0xff; 300], &forged] {
            let mut peer = rig.peer();
            peer.send(&request(key, "long", |out| out.put_i32(1)));
            assert_eq!(peer.exception(), Kind::ObjectNotExist);
            assert_logged(&peer, &["OBJECT_NOT_EXIST"]);
        }
    }

    fn one_connection_too_many_is_told_to_go(over: Over) {
        let rig = Rig::with(over, |config| config.max_connections = 2);
        // The client's own is one.
        rig.others_are_served();
        let mut second = rig.peer();
        second.send(&request(&rig.key(), "long", |out| out.put_i32(1)));
        assert_eq!(second.receive().0, MessageKind::Reply);
        let mut third = rig.peer();
        assert_eq!(third.receive().0, MessageKind::CloseConnection);
        assert_logged(&third, &["max_connections"]);
        rig.others_are_served();
    }

    fn a_cancelled_fragmented_request_leaves_nothing_behind(over: Over) {
        let rig = Rig::new(over);
        let mut peer = rig.peer();
        let mut start = request(&rig.key(), "octets", |out| {
            out.put_u32(100);
            out.put_u32(0);
        });
        // More fragments follow.
        start[6] |= 2;
        let cancel = b"GIOP\x01\x02\x00\x02\x00\x00\x00\x04\x00\x00\x00\x02";
        peer.send(&start).send(cancel);
        peer.send(&request(&rig.key(), "long", |out| out.put_i32(1)));
        assert_eq!(peer.receive().0, MessageKind::Reply);
        rig.others_are_served();
    }

    fn too_many_unfinished_messages_are_refused(over: Over) {
        let rig = Rig::with(over, |config| config.limits.fragments_pending = 4);
        let mut peer = rig.peer();
        let mut start = request(&rig.key(), "octets", |out| out.put_u32(100));
        start[6] |= 2;
        for id in 0..5u8 {
            start[15] = id * 2;
            // The server may have closed before the last of them.
            let _ = peer.try_send(&start);
        }
        peer.assert_refused();
        assert_logged(&peer, &["MessageError"]);
        rig.others_are_served();
    }

    fn what_comes_behind_a_message_that_ends_the_connection_is_not_served(over: Over) {
        let rig = Rig::new(over);
        let ping = request(&rig.key(), "ping", |_| {});
        let endings: [&[u8]; 4] = [
            b"GIOP\x01\x02\x00\x00\x00\x00\x00\x00",
            b"GIOP\x01\x02\x00\x04\x00\x00\x00\x00",
            b"GIOP\x01\x02\x00\x05\x00\x00\x00\x00",
            b"GIOP\x01\x02\x00\x06\x00\x00\x00\x00",
        ];
        for ending in endings {
            let mut peer = rig.peer();
            peer.send(&[ending, &ping, &ping].concat());
            peer.rest();
            rig.wait_until_at_most(0);
        }
        assert_eq!(*rig.servant.pings.lock().unwrap(), 0);
        rig.others_are_served();
    }

    fn octets_at_random_never_reach_a_servant_nor_stop_the_server(over: Over) {
        let rig = Rig::new(over);
        let mut random = Random(0x5eed);
        for _ in 0..200 {
            let mut peer = rig.peer();
            let length = 1 + random.below(400);
            let octets: Vec<u8> = (0..length).map(|_| random.octet()).collect();
            // The server may close before it has read all of it.
            let _ = peer.try_send(&octets);
            peer.close();
        }
        rig.others_are_served();
        assert_eq!(rig.echo.pings().unwrap(), 0);
        rig.wait_until_at_most(1);
    }
}
