//! Reading of messages, and their delivery to callers.

use super::report::ReadReport;
use crate::lane::outgoing::calls::{Broken, Delivered};
use crate::lane::outgoing::connection::ClientConnection;
use crate::lane::outgoing::sending::LOW_PRIORITY_LIMIT;
use crate::messaging::{self, Inbox, InboxError, InboxStep, Message, Session};
use punctual_cdr::Coding;
use punctual_exec::Deadline;
use punctual_giop::MessageKind;
use punctual_link::{Cause, Pending};

/// State of a connection after a step of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lane::outgoing) enum Step {
    /// The connection is open, and there may be more data to read.
    On,
    /// The connection has ended.
    Over,
}

impl ClientConnection {
    /// Reads a message, or some bytes of one; returns at `until` at the latest.
    pub(in crate::lane::outgoing) fn read_step(
        &self,
        inbox: &mut Inbox,
        until: Deadline,
        report: &mut ReadReport,
    ) -> Step {
        match self.read_one(inbox, until, report) {
            Ok(()) => {}
            Err(InboxError::Link(error)) if matches!(error.cause, Cause::TimedOut) => {}
            Err(error) if error.is_protocol_error() => {
                self.refuse(&format!("the peer broke the protocol: {error}"), report);
            }
            Err(error) => self.break_off(&Broken::of(&error)),
        }
        match self.may_be_used() || !self.callers.is_idle() {
            true => Step::On,
            false => Step::Over,
        }
    }

    /// Reads the data that has arrived on an idle connection: late replies, or the peer's
    /// CloseConnection.
    pub(in crate::lane::outgoing) fn drain(&self, deadline: Deadline) {
        let Some(mut inbox) = self.callers.read() else {
            return;
        };
        let mut report = ReadReport::default();
        let until = deadline.earlier(Deadline::after_optional(self.usability.longest_look));
        while self.may_be_used() && self.link.pending() != Pending::Nothing {
            match self.read_one(&mut inbox, until.from_now(), &mut report) {
                Ok(()) if until.has_passed() => break,
                Ok(()) => {}
                // Data received so far stays in the inbox for the next reader.
                Err(InboxError::Link(error)) if matches!(error.cause, Cause::TimedOut) => break,
                Err(error) => self.break_off(&Broken::of(&error)),
            }
        }
        report.take_evicted(&mut inbox);
        // Callers that arrived in the meantime found the inbox taken, as did the reactor.
        self.let_another_read(inbox);
        self.waiting.nudge();
        report.log(self);
    }

    fn read_one(
        &self,
        inbox: &mut Inbox,
        deadline: Deadline,
        report: &mut ReadReport,
    ) -> Result<(), InboxError> {
        match inbox.take(&*self.link)? {
            InboxStep::Message(message) => drop(self.route(message, None, report)),
            InboxStep::Need(need) => inbox.receive(&*self.link, need, deadline)?,
        }
        Ok(())
    }

    /// Delivers a reply, read by the server side of the connection, to its caller.
    pub(crate) fn take_reply(&self, message: Message) {
        let mut report = ReadReport::default();
        drop(self.route(message, None, &mut report));
        report.log(self);
    }

    /// Passes a message to its receiver. Returns the reply instead if its request id is `own`, the
    /// one for which the reading caller waits.
    pub(in crate::lane::outgoing) fn route(
        &self,
        message: Message,
        own: Option<u32>,
        report: &mut ReadReport,
    ) -> Option<Message> {
        self.wire.tracer.received(&*self.link, &message);
        match message.header.kind {
            MessageKind::Reply | MessageKind::LocateReply => {
                return self.deliver(message, own, report);
            }
            MessageKind::CloseConnection => {
                self.break_off(&Broken {
                    orderly: true,
                    reason: "closed by the peer".into(),
                });
            }
            MessageKind::MessageError => {
                let reason = "the peer reports a malformed message (MessageError)";
                self.break_off(&Broken::off(reason));
            }
            kind => {
                let is_request = matches!(
                    kind,
                    MessageKind::Request | MessageKind::LocateRequest | MessageKind::CancelRequest
                );
                if is_request && let Some(requests) = self.callbacks.queue() {
                    if !requests.take(message) {
                        self.break_off(&Broken::off(
                            "the server sends more requests than are served",
                        ));
                    }
                } else {
                    let reason = format!("the peer sent a {kind}, which only clients may send");
                    self.refuse(&reason, report);
                }
            }
        }
        None
    }

    #[inline]
    fn deliver(
        &self,
        mut message: Message,
        own: Option<u32>,
        report: &mut ReadReport,
    ) -> Option<Message> {
        let glance = message
            .plain()
            .and_then(|octets| self.wire.session.parse_plain_reply(&message.header, octets));
        message.reply = glance;
        let id = match glance {
            Some(head) => head.request_id,
            None => match request_id(&message, &*self.wire.session) {
                Some(id) => id,
                None => {
                    let reason = "the peer sent a reply with an undecodable header";
                    self.refuse(reason, report);
                    return None;
                }
            },
        };
        if Some(id) == own {
            return Some(message);
        }
        if !self.callers.deliver(id, Delivered::Reply(message)) {
            report.count_unclaimed(id);
        } else {
            self.waiting.wake(Some(id));
        }
        None
    }

    /// Reports a protocol violation to the peer, and breaks the connection off.
    pub(in crate::lane::outgoing) fn refuse(&self, reason: &str, report: &mut ReadReport) {
        report.record_violation(reason);
        let (kind, soon) = (
            MessageKind::MessageError,
            Deadline::after(LOW_PRIORITY_LIMIT),
        );
        let (link, wire) = (&*self.link, &self.wire);
        // If the peer is gone already or another thread is sending, nothing is sent to the peer.
        let _ = self.try_with_sender(|_, _| {
            messaging::send_control(link, &*wire.session, kind, wire.version, wire.tracer, soon)
        });
        self.break_off(&Broken::off(reason));
    }
}

/// Returns the id of the request that a reply answers, if its header can be decoded that far.
fn request_id(message: &Message, session: &dyn Session) -> Option<u32> {
    let mut decoder = message.decoder(Coding::default());
    session.reply_id(&message.header, &mut decoder)
}
