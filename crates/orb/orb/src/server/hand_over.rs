//! What a connection does for those who serve elsewhere: for the lane, and for upcalls of its requests.

use super::concurrency::{OnReactor, Strategy};
use super::connection::ServerConnection;
use crate::lane::Accepted;
use crate::upcall::RequestSource;
use std::sync::Arc;
use std::time::Duration;

impl Accepted for ServerConnection {
    fn endpoint(&self) -> u64 {
        self.endpoint
    }

    fn say_goodbye(&self) {
        self.begin_goodbye();
    }

    /// While a peer does not take its replies, no other thread is given its connection.
    fn stands_still_at(&self) -> Option<u64> {
        if let Some(on) = self.strategy.reactor() {
            return Some(on.in_hand()).filter(|&mark| mark != 0);
        }
        let is_still = !self.reader.is_receiving() && !self.replies.is_sending();
        is_still.then(|| self.reader.number_received().into())
    }

    fn hand_over_if_needed(self: Arc<Self>, stands_at: u64) {
        // Replies that have waited for the upcall's own wait no longer.
        self.send_pending();
        if self.reader.has_more(&self.conversation) {
            self.hand_over(stands_at);
        }
    }
}

impl RequestSource for ServerConnection {
    /// A client that has so many calls in upcalls at once waits for one of them to end.
    fn hand_over(self: Arc<Self>, in_hand: u64) {
        self.send_pending();
        match &self.strategy {
            Strategy::Reactor(on) => on.give_way(in_hand),
            Strategy::PerConnection(own) if own.begin_follower() => self.follow(),
            Strategy::PerConnection(_) => {
                let what = "the peer has too many calls in progress; more wait for them";
                self.conversation.complain(what);
            }
        }
    }

    fn has_received_more(&self) -> bool {
        self.reader.has_received_more()
    }

    fn longest_block(&self) -> Option<Duration> {
        let bound = self.conversation.broker().config().timeouts.nested_call;
        bound.filter(|_| self.strategy.reactor().is_some())
    }

    fn is_served_alone(&self) -> bool {
        self.strategy
            .reactor()
            .is_some_and(OnReactor::is_served_alone)
    }
}
