//! Peers that never read what they receive.

use crate::hostile::links::{Over, Rig, over_every_link, over_links};
use crate::hostile::log::assert_logged;
use crate::hostile::peer::{Peer, request};
use punctual_giop::MessageKind;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(100);

/// Upper bound of the 1 MiB replies that may be made for a peer that reads none of them: as many as
/// its link's buffers hold.
const MOST: u32 = 40;

over_every_link! {
    fn a_peer_that_never_reads_its_replies_is_closed(over: Over) {
        let short = Some(Duration::from_millis(100));
        let rig = Rig::with(over, |config| config.timeouts.reply = short);
        let mut peer = rig.peer();
        let large = request(&rig.key(), "octets", |out| {
            out.put_octets(&vec![7; 1 << 20]).unwrap();
        });
        // The server may close while the last of them is being written.
        for _ in 0..32 {
            if peer.try_send(&large).is_err() {
                break;
            }
        }
        rig.wait_until_at_most(0);
        assert_logged(&peer, &["reply could not be sent", "timed out"]);
        rig.others_are_served();
    }

    fn no_more_replies_are_made_for_a_peer_that_never_reads_than_its_link_holds(over: Over) {
        let rig = Rig::with(over, |config| {
            config.timeouts.reply = Some(Duration::from_secs(1));
            config.timeouts.hand_over = Some(Duration::from_millis(1));
        });
        let mut peer = rig.peer();
        let filled = request(&rig.key(), "filled", |out| out.put_u32(1 << 20));
        let ping = request(&rig.key(), "ping", |_| {});
        let both = [filled, ping].concat();
        // The server may close while the last of them are being written.
        for _ in 0..300 {
            if peer.try_send(&both).is_err() {
                break;
            }
        }
        // Meanwhile others are served.
        while rig.server.client_connections() > 1 {
            rig.others_are_served();
        }
        assert_logged(&peer, &["reply could not be sent", "timed out"]);
        let served = *rig.servant.pings.lock().unwrap();
        assert!(served <= MOST, "{served} replies of 1 MiB were made");
    }
}

over_links! {
    [(over_iiop, Iiop), (over_uiop, Uiop), (over_ssliop, Ssliop)]

    fn a_peer_that_never_reads_has_few_threads_though_its_calls_block(over: Over) {
        let rig = Rig::with(over, |config| config.timeouts.reply = Some(Duration::from_secs(2)));
        let mut peer = rig.peer();
        let one = request(&rig.key(), "filled_after_blocking", |out| out.put_u32(1 << 20));
        // The server may close while the last of them are being written.
        for _ in 0..200 {
            if peer.try_send(&one).is_err() {
                break;
            }
        }
        while rig.server.client_connections() > 1 {
            rig.others_are_served();
        }
        assert_logged(&peer, &["reply could not be sent", "timed out"]);
        // Each of them had a thread that waited to send.
        let served = *rig.servant.pings.lock().unwrap();
        assert!(served <= MOST, "{served} replies of 1 MiB were made");
    }
}

/// Makes calls of a peer until the thread that serves it waits for room for a reply, and returns
/// their number. The reply waited for the one-way that came with its request, and is sent when no
/// request is in progress.
fn call_until_blocked(rig: &Rig, peer: &mut Peer, most: usize) -> usize {
    let filled = request(&rig.key(), "filled", |out| out.put_u32(1500));
    let mut ping = request(&rig.key(), "ping", |_| {});
    // Its response flags: no answer.
    ping[16] = 0;
    let both = [filled, ping].concat();
    let pings = || usize::try_from(*rig.servant.pings.lock().unwrap()).unwrap();
    let before = pings();
    for called in 0..most {
        peer.send(&both);
        let begun = Instant::now();
        while pings() == before + called {
            if begun.elapsed() > 5 * SHORT {
                return called;
            }
            crate::support::pause();
        }
    }
    most
}

over_links! {
    [(over_iiop, Iiop), (over_uiop, Uiop)]

    fn a_peer_that_reads_no_reply_that_waited_keeps_nobody_from_being_accepted(over: Over) {
        let rig = Rig::with(over, |config| {
            config.max_connections = 4;
            config.timeouts.make_room = Some(SHORT);
            config.timeouts.reply = None;
        });
        let calls = call_until_blocked(&rig, &mut rig.peer(), usize::MAX);
        // The same again, without the last call, so that nothing more is there to be received.
        let mut peer = rig.peer();
        call_until_blocked(&rig, &mut peer, calls);
        let call = request(&rig.key(), "long", |out| out.put_i32(1));
        let _quiet = [rig.peer(), rig.peer()].map(|mut peer| {
            peer.send(&call).receive();
            peer
        });
        for _ in 0..16 {
            rig.others_are_served();
            std::thread::sleep(SHORT / 2);
        }
        let mut next = rig.peer();
        next.send(&call);
        assert_eq!(next.receive().0, MessageKind::Reply);
    }
}

/// Returns whether the condition becomes true within a short time.
fn comes_soon(is_there: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !is_there() && begun.elapsed() < 5 * SHORT {
        crate::support::pause();
    }
    is_there()
}

/// Sends a one-way with a peer, followed by the bytes `behind` in one piece, and returns whether
/// the server receives it within a short time: it does so once earlier replies have been sent.
fn is_received(rig: &Rig, peer: &mut Peer, behind: &[u8]) -> bool {
    let pings = || *rig.servant.pings.lock().unwrap();
    let before = pings();
    let mut ping = request(&rig.key(), "ping", |_| {});
    // Its response flags: no answer.
    ping[16] = 0;
    peer.send(&[&*ping, behind].concat());
    comes_soon(|| pings() > before)
}

/// Makes calls with a peer, at most `most`, until a reply cannot be sent at once; returns the
/// number of replies that could.
fn calls_with_room(rig: &Rig, peer: &mut Peer, most: usize) -> usize {
    let filled = request(&rig.key(), "filled", |out| out.put_u32(1500));
    let mut called = 0;
    while called < most && is_received(rig, peer, &filled) {
        called += 1;
    }
    match called < most {
        // The one before must not be received, as the last reply has no room.
        true => called.saturating_sub(1),
        false => called,
    }
}

/// Makes a peer that reads nothing and has a call in progress; an earlier reply to it does not fit
/// into the link's buffers and waits.
fn whose_reply_waits(rig: &Rig) -> Option<Peer> {
    let most = calls_with_room(rig, &mut rig.peer(), usize::MAX);
    let mut peer = rig.peer();
    if calls_with_room(rig, &mut peer, most) < most || !is_received(rig, &mut peer, &[]) {
        return None;
    }
    // It does not wait while its thread is in the upcall that came with it.
    let filled = request(&rig.key(), "filled", |out| out.put_u32(1500));
    peer.send(&[filled, request(&rig.key(), "wait", |_| {})].concat());
    // The thread that receives next sends that reply before.
    (!is_received(rig, &mut peer, &[])).then_some(peer)
}

over_links! {
    [(over_uiop, Uiop)]

    /// The thread that watches all connections for long upcalls has another thread send the waiting
    /// reply: otherwise it would block, and no other connection would be handed over.
    fn a_peer_that_never_reads_and_whose_long_call_is_handed_over_keeps_nobody_elses_from_that(over: Over) {
        const OTHERS: usize = 4;
        /// Far more time than the two checks of the watching thread that the hand-over takes.
        const SOON: Duration = Duration::from_secs(10);
        let rig = Rig::with(over, |config| {
            config.timeouts.hand_over = Some(SHORT);
            config.timeouts.reply = None;
        });
        // On a busy machine replies may be sent together now and then, and then take less room.
        let peer = (0..8).find_map(|_| whose_reply_waits(&rig));
        assert!(peer.is_some(), "replies have room");
        // Neither of the calls before and behind the long one would be answered before that.
        let long = |value| request(&rig.key(), "long", |out| out.put_i32(value));
        let all = [long(1), request(&rig.key(), "wait", |_| {}), long(2)].concat();
        let mut others: Vec<Peer> = (0..OTHERS).map(|_| rig.peer()).collect();
        for peer in &mut others {
            peer.send(&all);
        }
        for peer in &mut others {
            for answer in ["before", "behind"] {
                assert!(peer.hears_within(SOON), "the call {answer} the long one waits for it");
                assert_eq!(peer.receive().0, MessageKind::Reply);
            }
        }
        rig.servant.gate.open();
        for peer in &mut others {
            assert_eq!(peer.receive().0, MessageKind::Reply);
        }
    }
}
