//! Peers that never read what they are sent.

use crate::links::{Over, Rig, over_every_link};
use crate::log::is_logged;
use crate::peer::request;
use punctual_giop::MessageKind;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(100);

/// Replies of 1 MiB that may be made for a peer that reads none of them: what its link holds.
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
        rig.has_at_most(0);
        is_logged(&peer, &["reply could not be sent", "timed out"]);
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
        is_logged(&peer, &["reply could not be sent", "timed out"]);
        let served = *rig.servant.pings.lock().unwrap();
        assert!(served <= MOST, "{served} replies of 1 MiB were made");
    }

    fn a_peer_that_reads_no_reply_that_waited_keeps_nobody_from_being_accepted(over: Over) {
        let rig = Rig::with(over, |config| {
            config.max_connections = 4;
            config.timeouts.make_room = Some(SHORT);
            config.timeouts.reply = None;
        });
        let mut peer = rig.peer();
        let filled = request(&rig.key(), "filled", |out| out.put_u32(1500));
        let ping = request(&rig.key(), "ping", |_| {});
        // The reply waits for the one-way that has come with its request, and goes when no request is in progress.
        let both = [filled, ping].concat();
        let mut served = 0;
        while served == *rig.servant.pings.lock().unwrap() {
            peer.send(&both);
            served += 1;
            // Sooner or later one is not served: the thread has replies to send that are not read.
            let begun = Instant::now();
            while begun.elapsed() < 5 * SHORT && *rig.servant.pings.lock().unwrap() < served {
                std::thread::yield_now();
            }
        }
        let _quiet = [rig.peer(), rig.peer()].map(|mut peer| {
            peer.send(&request(&rig.key(), "long", |out| out.put_i32(1)));
            peer.receive();
            peer
        });
        for _ in 0..16 {
            rig.others_are_served();
            std::thread::sleep(SHORT / 2);
        }
        let mut next = rig.peer();
        next.send(&request(&rig.key(), "long", |out| out.put_i32(1)));
        assert_eq!(next.receive().0, MessageKind::Reply);
    }
}
