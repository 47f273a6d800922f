//! A turn at a connection that a reactor tells of: receive what is there, serve it, wait for nobody.

use super::reactor::{Late, OnReactor, Wanted};
use super::turn::{Turn, Wait};
use crate::messaging::{Inbox, InboxError};
use crate::probe::{self, Point};
use crate::server::connection::ServerConnection;
use crate::server::reader::Reader;
use crate::server::refusal::Refusal;
use crate::server::serve::serve;
use crate::sync;
use crate::upcall::Serving;
use punctual_cdr::Block;
use punctual_exec::reactor::{Handler, Readiness, ReadyEvent, Role, depth};
use punctual_link::{LinkError, Phase, SendError, Taken, Waitable};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Messages that one connection has served in a turn, before it goes behind others.
const MESSAGES: usize = 64;

impl Handler for ServerConnection {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self.conversation.link().waitable() {
            Waitable::Descriptor(descriptor) => Some(descriptor),
            _ => None,
        }
    }

    fn ready(self: Arc<Self>, turn: &mut ReadyEvent<'_>) {
        let Some(on) = self.strategy.reactor() else {
            return;
        };
        probe::begins!(Point::ServerTransportReceive);
        on.token.get_or_init(|| turn.token());
        match on.flush(self.conversation.link()) {
            Ok(false) => {}
            Ok(true) => self.conversation.link().close(),
            Err(error) => {
                self.has_not_sent(&error);
                return turn.deregister();
            }
        }
        if turn.readiness().has(Readiness::DEADLINE) && self.is_given_up(on) {
            return turn.deregister();
        }
        let max_nesting = self.conversation.broker().config().max_nesting;
        let refusal = match turn.role() {
            Role::Reserve => Some(Refusal::AllBusy),
            Role::Worker if depth() > max_nesting.saturating_add(1) => Some(Refusal::TooDeep),
            Role::Worker => None,
        };
        let serving = self.enter();
        let mut ready = Ready {
            connection: &self,
            on,
            turn,
            serving: &serving,
            left: MESSAGES,
            emptied: false,
        };
        serve(&self, &serving, refusal, &mut ready);
    }
}

/// A thread's time: until all that is there has been served.
struct Ready<'t, 'r> {
    connection: &'t ServerConnection,
    on: &'t OnReactor,
    turn: &'t mut ReadyEvent<'r>,
    serving: &'t Serving,
    /// Messages that may be served yet.
    left: usize,
    /// Whether the socket is known to be empty. Behind the last octets may be the end.
    emptied: bool,
}

impl Ready<'_, '_> {
    /// Notes whether a receive has emptied the socket; not where the end was told of, which comes behind.
    fn has_taken(&mut self, taken: Taken) -> Wait {
        self.emptied = taken.all && !self.turn.readiness().has(Readiness::END);
        Wait::Received
    }

    /// The reactor waits for what comes next.
    #[inline]
    fn rest(&self, wanted: Wanted) -> Wait {
        probe::begins!(Point::ServerReceive);
        self.on.rest(wanted);
        Wait::Later
    }
}

impl Turn for Ready<'_, '_> {
    fn goes_on(&mut self) -> bool {
        // Room for replies brings the next turn.
        if self.on.is_congested() {
            return false;
        }
        if self.left == 0 {
            self.turn.hand_over(Readiness::READ);
            return false;
        }
        self.left -= 1;
        true
    }

    #[inline]
    fn may_receive(&self) -> bool {
        !self.emptied
    }

    #[inline]
    fn receive(&mut self, block: &mut Block, least: usize) -> Result<Wait, LinkError> {
        probe::begins!(Point::ServerReceive);
        let received = self
            .connection
            .conversation
            .link()
            .receive_now(block, least);
        probe::begins!(Point::ServerMessagingReceive);
        Ok(match received? {
            None => self.rest(Wanted::Anything),
            Some(taken) => self.has_taken(taken),
        })
    }

    fn receive_more(&mut self, inbox: &mut Inbox, need: usize) -> Result<Wait, InboxError> {
        let taken = match self.emptied {
            true => None,
            false => inbox.receive_now(self.connection.conversation.link(), need)?,
        };
        if let Some(taken) = taken {
            return Ok(self.has_taken(taken));
        }
        let reader = &self.connection.reader;
        let wanted = match (inbox.is_mid_message(), reader.is_heard()) {
            (true, _) => Wanted::Rest(reader.number_received()),
            (false, true) => Wanted::Anything,
            (false, false) => Wanted::First,
        };
        inbox.let_go();
        Ok(self.rest(wanted))
    }

    #[inline]
    fn begins_receiving(&self, _: &Reader) {}

    #[inline]
    fn ends_receiving(&self, _: &Reader) {}

    #[inline]
    fn serve(&mut self, request: impl FnOnce()) -> bool {
        let number = self.connection.reader.number_received();
        let mark = self.on.take_in_hand(number);
        self.serving.has_in_hand(mark);
        request();
        let is_owner = self.on.put_down(mark);
        if !is_owner {
            self.turn.disown();
        }
        is_owner
    }

    fn is_over(&mut self) {
        self.turn.deregister();
    }
}

impl ServerConnection {
    /// Ends the connection if the peer has taken too long; whether it has.
    fn is_given_up(&self, on: &OnReactor) -> bool {
        match on.late() {
            None => return false,
            Some(Late::Writing) => {
                let error = SendError {
                    error: LinkError::timed_out(Phase::Send),
                    sent: 0,
                };
                self.has_not_sent(&error);
            }
            Some(Late::Reading) => {
                let error = LinkError::timed_out(Phase::Receive);
                let inbox = sync::try_lock(&self.reader.inbox);
                let mid_message = inbox.is_some_and(|inbox| inbox.is_mid_message());
                self.end(&error.into(), mid_message);
            }
        }
        true
    }
}
