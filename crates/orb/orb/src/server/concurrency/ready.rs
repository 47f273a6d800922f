//! Thread of a reactor that serves one of its connections: it receives the available data, serves
//! it, and never blocks for the peer.

use super::reactor::{AwaitedData, Late, OnReactor};
use super::serving_thread::{ReceiveOutcome, ServingThread};
use crate::messaging::{Inbox, InboxError, Message};
use crate::probe::{self, Point};
use crate::server::connection::ServerConnection;
use crate::server::kept::keep;
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

/// Maximum number of messages of one connection that a thread serves before other connections are
/// served.
const MESSAGES: usize = 64;

/// Connection served by a reactor.
pub(super) struct ReadyConnection {
    connection: Arc<ServerConnection>,
    on: Arc<OnReactor>,
}

impl Handler for ReadyConnection {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self.connection.conversation.link().waitable() {
            Waitable::Descriptor(descriptor) => Some(descriptor),
            _ => None,
        }
    }

    fn ready(self: Arc<Self>, event: &mut ReadyEvent<'_>) {
        let (connection, on) = (&self.connection, &*self.on);
        let conversation = &connection.conversation;
        probe::begins!(Point::ServerTransportReceive);
        on.token.get_or_init(|| event.token());
        match on.flush(conversation.link()) {
            Ok(false) => {}
            Ok(true) => conversation.link().close(),
            Err(error) => {
                conversation.reply_failed(&error);
                connection.close_ended();
                return event.deregister();
            }
        }
        if event.readiness().has(Readiness::DEADLINE) && self.end_if_late() {
            connection.close_ended();
            return event.deregister();
        }
        let max_nesting = conversation.broker().config().max_nesting;
        let refusal = match event.role() {
            // Requests are buffered.
            _ if on.buffer().is_some() => None,
            Role::Reserve => Some(Refusal::AllBusy),
            Role::Worker if depth() > max_nesting.saturating_add(1) => Some(Refusal::TooDeep),
            Role::Worker => None,
        };
        let serving = connection.enter();
        let mut thread = ReactorThread {
            connection,
            on,
            event,
            serving: &serving,
            left: MESSAGES,
            emptied: false,
            stays: false,
        };
        serve(connection, &serving, refusal, &mut thread);
        if thread.stays {
            on.watch();
        }
    }
}

impl ReadyConnection {
    pub(super) fn new(connection: Arc<ServerConnection>, on: Arc<OnReactor>) -> Self {
        Self { connection, on }
    }

    /// Ends the connection if the peer has missed a deadline; returns `true` if so.
    fn end_if_late(&self) -> bool {
        let connection = &self.connection;
        match self.on.late() {
            Ok(None) => return false,
            Ok(Some(Late::Writing)) => {
                let error = SendError {
                    error: LinkError::timed_out(Phase::Send),
                    sent: 0,
                };
                connection.conversation.reply_failed(&error);
            }
            Ok(Some(Late::Reading)) => {
                let error = LinkError::timed_out(Phase::Receive);
                let inbox = sync::try_lock(&connection.reader.inbox);
                let mid_message = inbox.is_some_and(|inbox| inbox.is_mid_message());
                connection.end(&error.into(), mid_message);
            }
            Err(error) => connection.conversation.lock_failed(error),
        }
        true
    }
}

/// Thread of a reactor while it serves the available data of one connection.
struct ReactorThread<'t, 'r> {
    connection: &'t Arc<ServerConnection>,
    on: &'t OnReactor,
    event: &'t mut ReadyEvent<'r>,
    serving: &'t Serving,
    /// Number of messages that may still be served before other connections.
    left: usize,
    /// True if the socket is known to be empty; only the end of the stream may still follow.
    emptied: bool,
    /// True if the thread stays with the connection: the peer's last request followed soon.
    stays: bool,
}

impl ReactorThread<'_, '_> {
    /// Records whether a receive has emptied the socket. It has not if the end of the stream was
    /// reported, which still has to be read.
    fn after_receiving(&mut self, taken: Taken) -> ReceiveOutcome {
        self.emptied = taken.all && !self.event.readiness().has(Readiness::END);
        ReceiveOutcome::Received
    }

    /// Polls for the peer's next request, which is expected soon.
    fn receive_soon(
        &mut self,
        block: &mut Block,
        least: usize,
    ) -> Result<ReceiveOutcome, LinkError> {
        self.connection.send_pending();
        let link = self.connection.conversation.link();
        let Some(taken) = link.receive_soon(block, least)? else {
            return Ok(self.rest(AwaitedData::Anything));
        };
        if !std::mem::replace(&mut self.stays, true) {
            self.on.stay();
        }
        Ok(self.after_receiving(taken))
    }

    /// Makes the reactor wait for the next data on the connection.
    #[inline]
    fn rest(&self, wanted: AwaitedData) -> ReceiveOutcome {
        probe::begins!(Point::ServerReceive);
        if let Err(error) = self.on.rest(wanted) {
            // The reactor reports the end next.
            self.connection.conversation.lock_failed(error);
        }
        ReceiveOutcome::WouldBlock
    }
}

impl ServingThread for ReactorThread<'_, '_> {
    fn goes_on(&mut self) -> bool {
        // The reactor reports when there is room for replies.
        if self.on.is_congested() {
            return false;
        }
        if self.left == 0 {
            if !(self.stays && self.event.may_stay()) {
                self.on.watch();
                self.event.hand_over(Readiness::READ);
                return false;
            }
            // The other connections have threads that wait for them.
            self.left = MESSAGES;
        }
        self.left -= 1;
        true
    }

    #[inline]
    fn may_receive(&self) -> bool {
        !self.emptied || self.event.may_stay()
    }

    #[inline]
    fn receive(&mut self, block: &mut Block, least: usize) -> Result<ReceiveOutcome, LinkError> {
        probe::begins!(Point::ServerReceive);
        if self.emptied {
            return self.receive_soon(block, least);
        }
        let received = self
            .connection
            .conversation
            .link()
            .receive_now(block, least);
        probe::begins!(Point::ServerMessagingReceive);
        Ok(match received? {
            None => self.rest(AwaitedData::Anything),
            Some(taken) => self.after_receiving(taken),
        })
    }

    fn receive_more(
        &mut self,
        inbox: &mut Inbox,
        need: usize,
    ) -> Result<ReceiveOutcome, InboxError> {
        let taken = match self.emptied {
            true => None,
            false => inbox.receive_now(self.connection.conversation.link(), need)?,
        };
        if let Some(taken) = taken {
            return Ok(self.after_receiving(taken));
        }
        let reader = &self.connection.reader;
        let wanted = match (inbox.is_mid_message(), reader.is_heard()) {
            (true, _) => AwaitedData::Rest(reader.number_received()),
            (false, true) => AwaitedData::Anything,
            (false, false) => AwaitedData::First,
        };
        inbox.let_go();
        Ok(self.rest(wanted))
    }

    #[inline]
    fn begin_receiving(&self, _: &Reader) {}

    #[inline]
    fn ends_receiving(&self, _: &Reader) {}

    #[inline]
    fn keeps_requests(&self) -> bool {
        self.on.buffer().is_some()
    }

    fn keep(&mut self, message: Message) -> Option<Message> {
        match self.on.buffer() {
            Some(buffer) => keep(self.connection, buffer, message),
            None => Some(message),
        }
    }

    #[inline]
    fn serve(&mut self, request: impl FnOnce()) -> bool {
        let number = self.connection.reader.number_received();
        let mark = self.on.begin_current(number);
        self.serving.set_in_hand(mark);
        request();
        let is_owner = self.on.finish_current(mark);
        if !is_owner {
            self.event.disown();
        }
        is_owner
    }

    fn end_connection(&mut self) {
        self.event.deregister();
    }
}
