//! Replies that peers do not read: they count in `limits.received` until they are sent.

use crate::hostile::links::{Over, Rig, over_links};
use crate::hostile::log::{assert_logged, assert_logged_of_one, is_logged};
use crate::hostile::peer::{Peer, request};
use punctual::SystemExceptionKind as Kind;
use punctual_giop::{MessageHeader, MessageKind};

const MIB: u32 = 1 << 20;

/// Makes a server whose peers may use 30 MiB, as they all are on one host.
fn rig(over: Over) -> Rig {
    Rig::with(over, |config| {
        config.budgets.received = 40 << 20;
        config.timeouts.reply = None;
        config.fragment_size = 0;
    })
}

/// Makes a peer ask for a reply of so many bytes, more than its link holds.
fn ask(rig: &Rig, peer: &mut Peer, octets: u32) {
    peer.send(&request(&rig.key(), "filled", |out| out.put_u32(octets)));
}

/// Makes a peer whose reply is being sent, and which has read no more than its header.
fn half_read(rig: &Rig, octets: u32) -> Peer {
    let mut peer = rig.peer();
    ask(rig, &mut peer, octets);
    peer.octets(MessageHeader::LEN);
    peer
}

over_links! {
    [
        (over_iiop, Iiop), (over_uiop, Uiop), (over_ssliop, Ssliop), (by_a_reactor, Reactive),
        (by_a_pool, Pooled), (over_ssliop_by_a_pool, PooledSsliop)
    ]

    fn a_long_reply_makes_room_at_the_expense_of_the_largest_that_is_not_read(over: Over) {
        let rig = rig(over);
        let mut silent = half_read(&rig, 24 * MIB);
        let mut other = rig.peer();
        ask(&rig, &mut other, 12 * MIB);
        let (kind, octets) = other.receive();
        assert_eq!(kind, MessageKind::Reply);
        assert!(octets.len() > 12 << 20, "{} octets", octets.len());
        assert!(silent.count_until_cut_off() < 24 << 20);
        assert_logged(&silent, &["limits.received", "closed"]);
        rig.others_are_served();
    }

    fn the_largest_reply_is_an_exception_instead_while_others_are_not_read(over: Over) {
        let rig = rig(over);
        let mut silent = half_read(&rig, 12 * MIB);
        let mut greedy = rig.peer();
        ask(&rig, &mut greedy, 24 * MIB);
        assert_eq!(greedy.exception(), Kind::NoResources);
        // Its connection goes on, and so does the other's.
        ask(&rig, &mut greedy, 100);
        assert_eq!(greedy.receive().0, MessageKind::Reply);
        assert!(silent.octets(12 << 20).len() == 12 << 20);
        ask(&rig, &mut greedy, 24 * MIB);
        assert!(greedy.receive().1.len() > 24 << 20);
        rig.others_are_served();
    }
}

over_links! {
    [(by_a_reactor, Reactive), (by_a_pool, Pooled)]

    fn short_replies_that_wait_to_be_sent_count_once_they_are_many(over: Over) {
        let rig = Rig::with(over, |config| {
            config.budgets.received = 1 << 20;
            config.timeouts.reply = None;
        });
        let one = request(&rig.key(), "filled", |out| out.put_u32(10_000));
        // Replies of 30 MB, more than the kernel holds for a connection.
        let many = one.repeat(3000);
        let mut crowd: Vec<_> = (0..8).map(|_| rig.peer()).collect();
        for peer in &mut crowd {
            // It may be the one that is closed.
            let _ = peer.try_send(&many);
        }
        // A quarter of 1 MiB waits for each, of which they may have three quarters.
        rig.wait_until_at_most(2);
        assert_logged_of_one(&crowd, &["limits.received", "closed"]);
        rig.others_are_served();
    }

    fn a_peer_that_is_not_read_any_more_is_closed_to_make_room(over: Over) {
        let rig = Rig::with(over, |config| {
            // Peers of one host may use 300 KiB.
            config.budgets.received = 400 << 10;
            config.timeouts.reply = None;
        });
        let mut silent = rig.peer();
        let one = request(&rig.key(), "filled", |out| out.put_u32(10_000));
        // No more of its requests are read once 256 KiB wait to be sent.
        silent.try_send(&one.repeat(3000)).unwrap();
        // Until that many wait, the other client's connection may be the one that is closed.
        while !is_logged(&silent, &["limits.received", "closed"]) {
            let _ = rig.echo.filled(200 << 10);
        }
        rig.others_are_served();
        rig.wait_until_at_most(1);
    }
}
