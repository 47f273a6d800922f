//! Wait-on-reactor and wait-on-Leader/Followers: replies are read by a thread of a reactor, and
//! their callers serve the reactor meanwhile.
//!
//! The connection is registered with a reactor for as long as it lives. A caller records how it is
//! woken for its reply, and runs the reactor until then (`Reactor::run_until`). Without a thread
//! pool, it reads its own reply; with one, it sleeps, and joins the pool when all the pool's
//! threads are busy. So it may serve a request on which its own call depends.

use crate::lane::outgoing::calls::ReplyPlace;
use crate::lane::outgoing::calls::{Broken, Delivered, NoReply};
use crate::messaging::Message;
use crate::probe::{self, Point};
use parking_lot::Mutex;
use punctual_exec::leader_followers::{Waited, Wakeup};
use punctual_exec::reactor::{Handler, Token};
use punctual_exec::{Deadline, Reactor};
use std::io;
use std::sync::{Arc, OnceLock};

/// State of a connection whose callers serve a reactor.
#[derive(Debug)]
pub(crate) struct ServingReactor {
    reactor: Arc<Reactor>,
    token: OnceLock<Token>,
    /// Request ids of awaited replies, with the objects that wake their callers.
    waiting: Mutex<Vec<(u32, Wakeup)>>,
}

impl ServingReactor {
    /// Makes the state for callers that serve this reactor.
    pub(super) fn new(reactor: Arc<Reactor>) -> Self {
        Self {
            reactor,
            token: OnceLock::new(),
            waiting: Mutex::default(),
        }
    }

    #[cfg(test)]
    pub(super) fn reactor(&self) -> &Reactor {
        &self.reactor
    }

    /// Registers `reader` with the reactor, for the lifetime of this value.
    pub(super) fn register(&self, reader: Arc<dyn Handler>) -> io::Result<()> {
        let token = self.reactor.register(reader)?;
        self.token.get_or_init(|| token);
        Ok(())
    }

    /// Makes the reactor read the connection once more, as another thread held the inbox when the
    /// last event occurred.
    pub(super) fn nudge(&self) {
        if let Some(&token) = self.token.get() {
            self.reactor.nudge(token);
        }
    }

    /// Wakes the caller that waits for the reply to request `id`; all callers if `id` is `None`.
    pub(super) fn wake(&self, id: Option<u32>) {
        for (number, thread) in self.waiting.lock().iter() {
            if id.is_none_or(|id| id == *number) {
                thread.wake();
            }
        }
    }

    /// Waits for a reply, and serves the reactor meanwhile.
    pub(super) fn wait(
        &self,
        place: &ReplyPlace<'_, Delivered>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        let slot = place.slot;
        let broken = |reason: &str| Err(NoReply::Broken(Broken::off(reason)));
        let Ok(own) = Wakeup::own() else {
            return broken("no descriptor is left to wait for the reactor with");
        };
        self.waiting.lock().push((place.id, own));
        probe::begins!(Point::ClientReceive);
        let waited = self.reactor.run_until(deadline, || slot.has_content());
        probe::begins!(Point::ClientTransportReceive);
        self.waiting.lock().retain(|(id, _)| *id != place.id);
        match (slot.poll(), waited) {
            (Some(Delivered::Reply(message)), _) => Ok(message),
            (Some(Delivered::Broken(broken)), _) => Err(NoReply::Broken(broken)),
            (Some(Delivered::Late), _) => Err(NoReply::NotSent),
            (None, Ok(Waited::TimedOut)) => Err(NoReply::TimedOut),
            (None, Ok(_)) => broken("the ORB's reactor has ended"),
            (None, Err(error)) => broken(&format!("the reactor cannot be waited for: {error}")),
        }
    }
}

impl Drop for ServingReactor {
    fn drop(&mut self) {
        if let Some(&token) = self.token.get() {
            self.reactor.deregister(token);
        }
    }
}
