//! Replies onto a client's connection.
//!
//! Where several requests came with one receive, their short replies go out with one send: each waits
//! while there is another request to be served at once. None waits for a receive that may block, nor for
//! an upcall that is about to block in a call of its own. One that takes long is found by the watch
//! (`timeouts.hand_over`), which sends what waits for it; and after upcalls that were not short, replies go
//! by themselves for a while. Without a watch none waits at all.

use super::concurrency::{OnReactor, Strategy};
use super::conversation::Conversation;
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
pub(super) struct ReplySender {
    /// Replies that wait to be sent together. Locked while anything is sent.
    pending: Mutex<Block>,
    has_pending: AtomicBool,
    /// When the first of them was made.
    since: AtomicU64,
    /// How many replies are yet to go by themselves, as upcalls have taken long.
    apart: AtomicU32,
}

impl ReplySender {
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

impl ReplySender {
    /// Sends a reply, or lets it wait for others where it may.
    #[inline]
    pub(super) fn answer(
        &self,
        to: &Conversation,
        by: &Strategy,
        reply: &Block,
        more_have_come: bool,
    ) {
        if more_have_come && to.broker().config().timeouts.hand_over.is_some() {
            return self.send_soon(to, by, reply);
        }
        self.send(to, by, reply);
    }

    fn send_soon(&self, to: &Conversation, by: &Strategy, reply: &Block) {
        let is_plain = reply.lent().is_empty() && !to.broker().tracer().is_on();
        if !is_plain || reply.len() > SHORT || !self.may_wait() {
            return self.send(to, by, reply);
        }
        let mut pending = sync::lock(&self.pending);
        let mut is_late = false;
        if pending.is_empty() {
            if pending.capacity() == 0 {
                *pending = to.link().lend(0);
            }
            self.since.store(clock::nanos(), Ordering::Relaxed);
            self.has_pending.store(true, Ordering::Relaxed);
        } else {
            let since = self.since.load(Ordering::Relaxed);
            is_late = clock::nanos().saturating_sub(since) > LONG;
        }
        pending.extend_from_slice(reply);
        if is_late {
            self.apart.store(APART, Ordering::Relaxed);
        }
        if is_late || pending.len() > MANY {
            self.transmit_pending(to, by, &mut pending);
        }
    }

    /// Sends the replies that wait, if some do: to be called by whoever made them, before it waits, and by
    /// whoever takes the connection over.
    #[inline]
    pub(super) fn send_pending(&self, to: &Conversation, by: &Strategy) {
        if self.has_pending.load(Ordering::Relaxed) {
            self.transmit_pending(to, by, &mut sync::lock(&self.pending));
        }
    }

    /// Sends a reply, behind those that wait; a peer that does not take it in time is closed.
    pub(super) fn send(&self, to: &Conversation, by: &Strategy, message: &Block) {
        let mut pending = sync::lock(&self.pending);
        if !pending.is_empty() {
            self.transmit_pending(to, by, &mut pending);
        }
        transmit(to, by, message);
    }

    #[cold]
    fn transmit_pending(&self, to: &Conversation, by: &Strategy, pending: &mut Block) {
        self.has_pending.store(false, Ordering::Relaxed);
        if pending.is_empty() {
            return;
        }
        let parts = [IoSlice::new(pending)];
        let sent = match by {
            Strategy::Reactor(on) => on.send(to.link(), &parts),
            Strategy::PerConnection(_) => {
                let deadline = Deadline::after_maybe(to.broker().config().timeouts.reply);
                to.link().send(&parts, deadline).map(|()| false)
            }
        };
        *pending = Block::default();
        conclude(to, sent);
    }

    /// Tells the peer that it is over; what waits goes first.
    pub(super) fn send_control(&self, to: &Conversation, by: &Strategy, kind: MessageKind) {
        let mut pending = sync::lock(&self.pending);
        self.transmit_pending(to, by, &mut pending);
        let (link, session, version) = (to.link(), &*to.session, to.spoken());
        let tracer = to.broker().tracer();
        match by {
            Strategy::Reactor(on) => {
                if let Some(message) = messaging::control(link, session, kind, version) {
                    tracer.show(Direction::Sent, to.peer(), &message);
                    // The connection is closed next: a peer that is gone already hears nothing.
                    let _ = on.send(link, &[IoSlice::new(&message)]);
                }
            }
            Strategy::PerConnection(_) => {
                let soon = Deadline::after(GOODBYE);
                // The same.
                let _ = messaging::send_control(link, session, kind, version, tracer, soon);
            }
        }
    }

    /// A reply did not go out.
    #[cold]
    pub(super) fn has_not_sent(to: &Conversation, error: &SendError) {
        to.complain(&format!("a reply could not be sent: {error}; closed"));
        to.close();
    }
}

#[inline]
fn transmit(to: &Conversation, by: &Strategy, message: &Block) {
    if let Strategy::Reactor(on) = by {
        return transmit_by_reactor(to, on, message);
    }
    let (fragmenting, tracer) = (to.fragmenting, to.broker().tracer());
    let deadline = Deadline::after_maybe(to.broker().config().timeouts.reply);
    let is_plain = message.lent().is_empty() && !tracer.is_on();
    probe::begins!(Point::ServerSend);
    let sent = if is_plain && !fragmenting.applies_to(message) {
        to.link().send(&[IoSlice::new(message)], deadline)
    } else {
        messaging::send(to.link(), message, fragmenting, tracer, deadline)
    };
    probe::begins!(Point::ServerTransportSend);
    if let Err(error) = sent {
        ReplySender::has_not_sent(to, &error);
    }
}

/// Sends a reply, or as much of it as goes without waiting; the rest goes when there is room.
fn transmit_by_reactor(to: &Conversation, on: &OnReactor, message: &Block) {
    let tracer = to.broker().tracer();
    tracer.show(Direction::Sent, to.peer(), message);
    probe::begins!(Point::ServerSend);
    let sent = messaging::with_parts(message, to.fragmenting, |parts| on.send(to.link(), parts));
    probe::begins!(Point::ServerTransportSend);
    conclude(to, sent);
}

/// Closes the connection if that was to be done when all had gone, or if it has not.
fn conclude(to: &Conversation, sent: Result<bool, SendError>) {
    match sent {
        Ok(false) => {}
        Ok(true) => to.link().close(),
        Err(error) => ReplySender::has_not_sent(to, &error),
    }
}
