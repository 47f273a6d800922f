//! Peers that never read what they are sent.

use crate::links::{Over, Rig, over_every_link};
use crate::log::is_logged;
use crate::peer::request;
use std::time::Duration;

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
}
