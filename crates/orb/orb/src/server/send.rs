//! Replies onto a client's connection.
//!
//! Where several requests came with one receive, their short replies go out with one send: each waits
//! while there is another request to be served at once. None waits for a receive that may block, nor for
//! an upcall that is about to block in a call of its own. One that takes long is found by the watch
//! (`timeouts.hand_over`), which sends what waits for it; and after upcalls that were not short, replies go
//! by themselves for a while. Without a watch none waits at all.

use super::concurrency::OnReactor;
use super::receive::ServerConnection;
use crate::messaging::{self, Direction};
use crate::probe::{self, Point};
use crate::sync::{self, Mutex};
use punctual_cdr::Block;
use punctual_exec::Deadline;
use punctual_giop::MessageKind;
use punctual_link::SendError;
use punctual_sys::clock;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// A reply longer than this waits for no other.
const SHORT: usize = 2048;
/// No more octets than these wait.
const MANY: usize = 16 * 1024;
/// Replies have waited too long when they have waited for so many nanoseconds,
const LONG: u64 = 50_000;
/// and then so many replies wait for none.
const APART: u32 = 256;
/// How long a peer may take for its goodbye.
const GOODBYE: Duration = Duration::from_millis(100);

/// What is sent on a connection, one message at a time.
#[derive(Debug)]
pub(super) struct Sender {
    /// Replies that wait to be sent together. Locked while anything is sent.
    pending: Mutex<Block>,
    has_pending: AtomicBool,
    /// When the first of them was made.
    since: AtomicU64,
    /// How many replies are yet to go by themselves, as upcalls have taken long.
    apart: AtomicU32,
}

impl Sender {
    pub(super) fn new() -> Self {
        Self {
            pending: Mutex::new(Block::default()),
            has_pending: AtomicBool::new(false),
            since: AtomicU64::new(0),
            apart: AtomicU32::new(0),
        }
    }

    /// Whether somebody sends.
    pub(super) fn is_sending(&self) -> bool {
        sync::try_lock(&self.pending).is_none()
    }

    /// Whether a reply may wait for the next. Relaxed: rough counts, and nothing is read by them.
    fn may_wait(&self) -> bool {
        let apart = self.apart.load(Ordering::Relaxed);
        if apart > 0 {
            self.apart.store(apart - 1, Ordering::Relaxed);
        }
        apart == 0
    }
}

impl ServerConnection {
    /// Sends a reply, or lets it wait for those of requests that have come already.
    #[inline]
    pub(super) fn answer_with(&self, reply: &Block) {
        if self.has_received_more() && self.orb.config().timeouts.hand_over.is_some() {
            return self.send_soon(reply);
        }
        self.send(reply);
    }

    fn send_soon(&self, reply: &Block) {
        let is_plain = reply.lent().is_empty() && !self.orb.tracer().is_on();
        if !is_plain || reply.len() > SHORT || !self.sender.may_wait() {
            return self.send(reply);
        }
        let mut pending = sync::lock(&self.sender.pending);
        let mut is_late = false;
        if pending.is_empty() {
            if pending.capacity() == 0 {
                *pending = self.link().lend(0);
            }
            self.sender.since.store(clock::nanos(), Ordering::Relaxed);
            self.sender.has_pending.store(true, Ordering::Relaxed);
        } else {
            let since = self.sender.since.load(Ordering::Relaxed);
            is_late = clock::nanos().saturating_sub(since) > LONG;
        }
        pending.extend_from_slice(reply);
        if is_late {
            self.sender.apart.store(APART, Ordering::Relaxed);
        }
        if is_late || pending.len() > MANY {
            self.transmit_pending(&mut pending);
        }
    }

    /// Sends the replies that wait, if some do: to be called by whoever made them, before it waits, and by
    /// whoever takes the connection over.
    #[inline]
    pub(super) fn send_pending(&self) {
        if self.sender.has_pending.load(Ordering::Relaxed) {
            self.transmit_pending(&mut sync::lock(&self.sender.pending));
        }
    }

    /// Sends a reply, behind those that wait; a peer that does not take it in time is closed.
    pub(super) fn send(&self, message: &Block) {
        let mut pending = sync::lock(&self.sender.pending);
        if !pending.is_empty() {
            self.transmit_pending(&mut pending);
        }
        self.transmit(message);
    }

    #[cold]
    fn transmit_pending(&self, pending: &mut Block) {
        self.sender.has_pending.store(false, Ordering::Relaxed);
        if pending.is_empty() {
            return;
        }
        let parts = [IoSlice::new(pending)];
        let sent = match self.on_reactor() {
            Some(on) => on.send(self, &parts),
            None => {
                let deadline = Deadline::after_maybe(self.orb.config().timeouts.reply);
                self.link().send(&parts, deadline).map(|()| false)
            }
        };
        *pending = Block::default();
        self.conclude_sending(sent);
    }

    #[inline]
    fn transmit(&self, message: &Block) {
        if let Some(on) = self.on_reactor() {
            return self.transmit_by_reactor(on, message);
        }
        let (fragmenting, tracer) = (self.fragmenting, self.orb.tracer());
        let deadline = Deadline::after_maybe(self.orb.config().timeouts.reply);
        let is_plain = message.lent().is_empty() && !tracer.is_on();
        probe::begins!(Point::ServerSend);
        let sent = if is_plain && !fragmenting.applies_to(message) {
            self.link().send(&[IoSlice::new(message)], deadline)
        } else {
            messaging::send(self.link(), message, fragmenting, tracer, deadline)
        };
        probe::begins!(Point::ServerTransportSend);
        if let Err(error) = sent {
            self.has_not_sent(&error);
        }
    }

    /// Sends a reply, or as much of it as goes without waiting; the rest goes when there is room.
    fn transmit_by_reactor(&self, on: &OnReactor, message: &Block) {
        self.orb
            .tracer()
            .show(Direction::Sent, self.peer(), message);
        probe::begins!(Point::ServerSend);
        let sent = messaging::with_parts(message, self.fragmenting, |parts| on.send(self, parts));
        probe::begins!(Point::ServerTransportSend);
        self.conclude_sending(sent);
    }

    /// Closes the connection if that was to be done when all had gone, or if it has not.
    fn conclude_sending(&self, sent: Result<bool, SendError>) {
        match sent {
            Ok(false) => {}
            Ok(true) => self.link().close(),
            Err(error) => self.has_not_sent(&error),
        }
    }

    /// A reply did not go out.
    #[cold]
    pub(super) fn has_not_sent(&self, error: &SendError) {
        self.complain(&format!("a reply could not be sent: {error}; closed"));
        self.close();
    }

    /// Tells the peer that it is over; what waits goes first.
    pub(super) fn send_control(&self, kind: MessageKind) {
        let mut pending = sync::lock(&self.sender.pending);
        self.transmit_pending(&mut pending);
        let (link, session, version) = (self.link(), &*self.session, self.spoken());
        if let Some(on) = self.on_reactor() {
            if let Some(message) = messaging::control(link, session, kind, version) {
                self.orb
                    .tracer()
                    .show(Direction::Sent, self.peer(), &message);
                // The connection is closed next: a peer that is gone already hears nothing.
                let _ = on.send(self, &[IoSlice::new(&message)]);
            }
            return;
        }
        let (soon, tracer) = (Deadline::after(GOODBYE), self.orb.tracer());
        // The same.
        let _ = messaging::send_control(link, session, kind, version, tracer, soon);
    }
}
