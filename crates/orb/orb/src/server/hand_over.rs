//! Interfaces of a connection for other threads: for those that manage the lane's connections, and
//! for upcalls that are about to block.

use super::concurrency::ConcurrencyStrategy;
use super::connection::ServerConnection;
use crate::budget::Hold;
use crate::lane::Accepted;
use crate::upcall::{RequestPeer, RequestSource};
use std::sync::Arc;
use std::time::Duration;

impl Accepted for ServerConnection {
    fn endpoint(&self) -> u64 {
        self.endpoint
    }

    fn say_goodbye(&self) {
        self.begin_graceful_close();
    }

    fn idle_at(&self) -> Option<u64> {
        self.is_idle().then(|| self.reader.number_received())
    }

    fn messages(&self) -> u64 {
        self.reader.number_received()
    }

    fn napi_id(&self) -> Option<u32> {
        self.conversation.link().napi_id()
    }

    fn has_unread(&self) -> bool {
        self.reader.has_more(&self.conversation)
    }

    fn make_room(&self) -> bool {
        ServerConnection::make_room(self)
    }

    fn stalled_at(&self) -> Option<u64> {
        let is_sending = self.replies.is_sending();
        self.strategy.stalled_at(&self.reader, is_sending)
    }

    fn hand_over_if_needed(self: Arc<Self>, stands_at: u64) {
        // Replies delayed behind the upcall are sent now. If sending may block, the thread that
        // receives next does it, as the watching thread must not wait for a peer.
        if self.strategy.sends_without_waiting() {
            self.send_pending();
        }
        if self.replies.has_pending() || self.reader.has_more(&self.conversation) {
            self.lane().counters.count_handed_over();
            self.strategy.hand_over(&self, stands_at);
        }
    }
}

impl RequestSource for ServerConnection {
    fn hand_over(self: Arc<Self>, in_hand: u64) {
        self.send_pending();
        self.lane().counters.count_handed_over();
        self.strategy.hand_over(&self, in_hand);
    }

    fn has_received_more(&self) -> bool {
        self.reader.has_received_more()
    }

    fn longest_block(&self) -> Option<Duration> {
        let timeouts = &self.conversation.broker().config().timeouts;
        self.strategy.longest_block(timeouts)
    }

    fn is_served_alone(&self) -> bool {
        self.strategy.is_served_alone()
    }

    fn peer(&self) -> RequestPeer {
        self.conversation.request_peer()
    }

    fn charge_results(&self) -> Hold {
        self.charge_results()
    }
}
