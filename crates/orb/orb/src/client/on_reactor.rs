//! Wait-on-reactor and wait-on-Leader/Followers: replies are read by whichever thread the reactor tells,
//! and their callers serve it meanwhile.
//!
//! The connection is registered with a reactor for as long as it lives. A caller leaves word who is to be
//! woken when its reply comes, and runs the reactor until then (`Reactor::run_until`): alone it reads its
//! own reply; beside a pool it sleeps, and takes part only when no thread of the pool is left to. What is
//! served meanwhile may be a call that its own is waiting for.

use super::delivered::{Broken, Delivered};
use super::mux::{ClientConnection, PendingReply};
use super::wait::NoReply;
use crate::messaging::{Inbox, InboxError, Message, Taken};
use crate::orb::Orb;
use crate::policy::Wait;
use crate::probe::{self, Point};
use parking_lot::Mutex;
use punctual_exec::leader_followers::{Waited, Wakeup};
use punctual_exec::reactor::{Handler, Readiness, ReadyEvent, Token};
use punctual_exec::{Deadline, Reactor};
use punctual_link::{Connection, Waitable};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, OnceLock, Weak};

/// Messages that are read in a turn before others have theirs.
const MESSAGES: usize = 64;

/// What a connection has whose callers serve a reactor.
#[derive(Debug)]
pub(crate) struct OnReactor {
    reactor: Arc<Reactor>,
    token: OnceLock<Token>,
    /// Who waits for which reply.
    waiting: Mutex<Vec<(u32, Wakeup)>>,
}

/// What the reactor has of a connection: the lane holds it, and lets it go.
struct Reader {
    connection: Weak<ClientConnection>,
    link: Arc<dyn Connection>,
}

impl Handler for Reader {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self.link.waitable() {
            Waitable::Descriptor(descriptor) => Some(descriptor),
            _ => None,
        }
    }

    fn ready(self: Arc<Self>, turn: &mut ReadyEvent<'_>) {
        match self.connection.upgrade() {
            Some(connection) => connection.read_ready(turn),
            None => turn.deregister(),
        }
    }
}

impl OnReactor {
    /// Makes callers of a connection that is not used yet wait in that way; a link that needs a thread for
    /// each connection knows one way only, which stays.
    pub(crate) fn attach(
        connection: &Arc<ClientConnection>,
        orb: &Orb,
        wait: Wait,
    ) -> io::Result<()> {
        if wait == Wait::Read || !connection.link.serves_without_blocking() {
            return Ok(());
        }
        let reactors = &orb.lane().listening.reactors;
        let reactor = reactors.for_callers(orb, wait == Wait::LeaderFollowers)?;
        let on = connection.on_reactor.get_or_init(|| {
            Box::new(Self {
                reactor: reactor.clone(),
                token: OnceLock::new(),
                waiting: Mutex::default(),
            })
        });
        let token = reactor.register(Arc::new(Reader {
            connection: Arc::downgrade(connection),
            link: connection.link.clone(),
        }))?;
        on.token.get_or_init(|| token);
        Ok(())
    }

    /// Has the connection read once more: somebody else held what is read into.
    pub(super) fn nudge(&self) {
        if let Some(&token) = self.token.get() {
            self.reactor.nudge(token);
        }
    }

    /// Wakes the caller that waits for that reply, or all.
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
        pending: &PendingReply<'_>,
        deadline: Deadline,
    ) -> Result<Message, NoReply> {
        let slot = pending.caller.place.slot;
        let broken = |reason: &str| Err(NoReply::Broken(Broken::off(reason)));
        let Ok(own) = Wakeup::own() else {
            return broken("no descriptor to be woken by while waiting for the reactor");
        };
        self.waiting.lock().push((pending.id(), own));
        probe::begins!(Point::ClientReceive);
        let waited = self.reactor.run_until(deadline, || slot.has_content());
        probe::begins!(Point::ClientTransportReceive);
        self.waiting.lock().retain(|(id, _)| *id != pending.id());
        match (slot.poll(), waited) {
            (Some(Delivered::Reply(message)), _) => Ok(message),
            (Some(Delivered::Broken(broken)), _) => Err(NoReply::Broken(broken)),
            (None, Ok(Waited::TimedOut)) => Err(NoReply::TimedOut),
            (None, Ok(_)) => broken("the ORB's reactor has ended"),
            (None, Err(error)) => broken(&format!("the reactor cannot be waited for: {error}")),
        }
    }
}

impl Drop for OnReactor {
    fn drop(&mut self) {
        if let Some(&token) = self.token.get() {
            self.reactor.deregister(token);
        }
    }
}

impl ClientConnection {
    /// Reads what is there, and passes it to whom it concerns.
    fn read_ready(&self, turn: &mut ReadyEvent<'_>) {
        // Whoever holds it has it read again.
        let Some(mut inbox) = self.callers.read() else {
            return;
        };
        let to_the_end = turn.readiness().has(Readiness::END);
        let mut emptied = false;
        for _ in 0..MESSAGES {
            match self.read_there(&mut inbox, to_the_end, &mut emptied) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    if error.is_protocol_error() {
                        self.refuse(&format!("the peer broke the protocol: {error}"));
                    } else {
                        self.break_off(&Broken::of(&error));
                    }
                    return turn.deregister();
                }
            }
            if !self.may_be_used() && self.link.pending() == punctual_link::Pending::End {
                return turn.deregister();
            }
        }
        drop(inbox);
        turn.hand_over(Readiness::READ);
    }

    /// Reads a message or some octets; false when there is no more.
    fn read_there(
        &self,
        inbox: &mut Inbox,
        to_the_end: bool,
        emptied: &mut bool,
    ) -> Result<bool, InboxError> {
        match inbox.take(&*self.link)? {
            Taken::Message(message) => {
                drop(self.route(message, None));
                Ok(true)
            }
            Taken::Need(_) if *emptied => {
                inbox.let_go();
                Ok(false)
            }
            Taken::Need(need) => match inbox.receive_now(&*self.link, need)? {
                Some(taken) => {
                    *emptied = taken.all && !to_the_end;
                    Ok(true)
                }
                None => {
                    inbox.let_go();
                    Ok(false)
                }
            },
        }
    }
}
