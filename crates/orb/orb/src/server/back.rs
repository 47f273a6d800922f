//! Requests that arrive over a connection that this side has opened (bidirectional GIOP; CORBA 3.3
//! part 2, §9.8).
//!
//! The thread that reads the connection puts them into a queue of at most [`MOST`]; a thread of the
//! lane serves them in order. When its upcall is about to block in a call of its own, another
//! thread continues with the queue.

use super::connection::ServerConnection;
use super::dispatch::Dispatcher;
use super::host::Host;
use super::refusal::Refusal;
use super::shared_link::{PartSender, SharedLink};
use crate::budget::Hold;
use crate::lane::{ClientConnection, Lane, ServesRequests};
use crate::messaging::Message;
use crate::policy;
use crate::upcall::{RequestPeer, RequestSource, Serving};
use parking_lot::Mutex;
use punctual_exec::Deadline;
use punctual_link::SendError;
use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Maximum number of requests queued for one connection. A server that sends more loses its
/// connection.
const MOST: usize = 1024;

/// Server of the requests that arrive over one outgoing connection.
#[derive(Debug)]
struct BackServer {
    connection: Arc<ServerConnection>,
    /// Outgoing connection over which the server's requests arrive.
    by: Weak<ClientConnection>,
    lane: Weak<Lane>,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Message>,
    /// Number that distinguishes the thread that serves the queue from earlier ones.
    turn: u64,
    /// True if a thread currently serves the queue of requests.
    is_served: bool,
    /// Number of threads that are executing upcalls for the connection.
    threads: u32,
}

/// Returns the server of the requests that arrive over an outgoing connection.
pub(crate) fn serve_back(
    lane: &Arc<Lane>,
    host: &Host,
    connection: &Arc<ClientConnection>,
) -> Arc<dyn ServesRequests> {
    let by: Weak<ClientConnection> = Arc::downgrade(connection);
    let link = Arc::new(SharedLink::new(by.clone(), connection.shared_link()));
    let pair = &connection.wire.pair;
    Arc::new(BackServer {
        connection: ServerConnection::of_client((lane, host), link, pair),
        by,
        lane: Arc::downgrade(lane),
        queue: Mutex::default(),
    })
}

impl ServesRequests for BackServer {
    fn take(self: Arc<Self>, message: Message) -> bool {
        let mut queue = self.queue.lock();
        if queue.waiting.len() >= MOST {
            return false;
        }
        if let Some(by) = self.by.upgrade() {
            by.begin_serving();
        }
        queue.waiting.push_back(message);
        // Threads that are in upcalls continue with the queue afterwards.
        self.serve_more(&mut queue) || queue.threads > 0
    }

    fn connection_ended(&self) {
        let waiting = std::mem::take(&mut self.queue.lock().waiting);
        drop(waiting);
        self.connection.close_ended();
    }
}

impl BackServer {
    /// Starts a thread to serve the queue, if none does; returns `false` if no thread can be
    /// started.
    fn serve_more(self: &Arc<Self>, queue: &mut Queue) -> bool {
        let budgets = self.connection.conversation.broker().config().budgets;
        if queue.is_served
            || queue.waiting.is_empty()
            || queue.threads >= budgets.requests_per_connection
        {
            return true;
        }
        let Some(lane) = self.lane.upgrade() else {
            return false;
        };
        queue.turn += 1;
        let (this, turn) = (self.clone(), queue.turn);
        let served = lane.incoming.followers().and_then(|threads| {
            threads.run(move || {
                this.serve_queue(turn);
                // The thread is reused, and serves another connection next.
                policy::forget_own();
            })
        });
        queue.is_served = served.is_ok();
        queue.threads += u32::from(served.is_ok());
        served.is_ok()
    }

    fn serve_queue(self: &Arc<Self>, turn: u64) {
        let broker = self.connection.conversation.broker();
        let serving = Serving::enter(broker.number(), self.clone());
        while let Some(message) = self.next(turn) {
            let dispatcher = Dispatcher {
                connection: &self.connection,
                serving: &serving,
                refuses: (!broker.life.serves()).then_some(Refusal::ShutDown),
                has_begun: false,
                seen: None,
            };
            dispatcher.handle(message);
            if let Some(by) = self.by.upgrade() {
                by.end_serving();
            }
        }
        let mut queue = self.queue.lock();
        queue.threads -= 1;
        // There may be room for another thread now.
        let _ = self.serve_more(&mut queue);
    }

    /// Returns the next request for the thread that serves the queue with number `turn`; `None` if
    /// there is none or another thread has taken over.
    fn next(&self, turn: u64) -> Option<Message> {
        let mut queue = self.queue.lock();
        if queue.turn != turn || !queue.is_served {
            return None;
        }
        let next = queue.waiting.pop_front();
        queue.is_served = next.is_some();
        next
    }
}

impl RequestSource for BackServer {
    fn hand_over(self: Arc<Self>, _: u64) {
        let mut queue = self.queue.lock();
        queue.is_served = false;
        queue.turn += 1;
        let _ = self.serve_more(&mut queue);
    }

    fn has_received_more(&self) -> bool {
        !self.queue.lock().waiting.is_empty()
    }

    fn longest_block(&self) -> Option<Duration> {
        None
    }

    fn is_served_alone(&self) -> bool {
        false
    }

    fn peer(&self) -> RequestPeer {
        self.connection.conversation.request_peer()
    }

    fn charge_results(&self) -> Hold {
        self.connection.charge_results()
    }
}

impl PartSender for ClientConnection {
    fn send_parts(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        ClientConnection::send_parts(self, parts, deadline)
    }
}
