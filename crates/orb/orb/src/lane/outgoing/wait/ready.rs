//! Reading of a connection by a thread of its reactor.

use crate::lane::outgoing::calls::Broken;
use crate::lane::outgoing::connection::ClientConnection;
use crate::lane::outgoing::receiving::{ReadReport, ReadinessHandler};
use crate::messaging::{Inbox, InboxError, InboxStep};
use punctual_exec::reactor::{Readiness, ReadyEvent};
use std::io;
use std::sync::Arc;

/// Maximum number of messages of one connection that are read before other connections are served.
const MESSAGES: usize = 64;

impl ClientConnection {
    /// Registers the connection with its reactor, if it has one.
    pub(crate) fn attach(self: &Arc<Self>) -> io::Result<()> {
        self.waiting.register(|| {
            let handler = ReadinessHandler::new(self, Self::read_ready);
            Arc::new(handler)
        })
    }

    /// Reads the data that has arrived, and delivers it.
    fn read_ready(&self, event: &mut ReadyEvent<'_>) {
        // The thread that holds the inbox requests another read.
        let Some(mut inbox) = self.callers.read() else {
            return;
        };
        let mut report = ReadReport::default();
        let is_more = self.read_some(&mut inbox, event, &mut report);
        report.take_evicted(&mut inbox);
        drop(inbox);
        if is_more {
            event.hand_over(Readiness::READ);
        }
        report.log(self);
    }

    /// Reads up to [`MESSAGES`] messages, and returns `true` if there may be more.
    pub(in crate::lane::outgoing) fn read_some(
        &self,
        inbox: &mut Inbox,
        event: &mut ReadyEvent<'_>,
        report: &mut ReadReport,
    ) -> bool {
        let to_the_end = event.readiness().has(Readiness::END);
        let mut emptied = false;
        for _ in 0..MESSAGES {
            match self.read_there(inbox, (to_the_end, &mut emptied), report) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    if error.is_protocol_error() {
                        let reason = format!("the peer broke the protocol: {error}");
                        self.refuse(&reason, report);
                    } else {
                        self.break_off(&Broken::of(&error));
                    }
                    event.deregister();
                    return false;
                }
            }
            if !self.may_be_used() && self.link.pending() == punctual_link::Pending::End {
                event.deregister();
                return false;
            }
        }
        true
    }

    /// Reads a message or a part of one without blocking; returns `false` when there is no more
    /// data.
    fn read_there(
        &self,
        inbox: &mut Inbox,
        (to_the_end, emptied): (bool, &mut bool),
        report: &mut ReadReport,
    ) -> Result<bool, InboxError> {
        match inbox.take(&*self.link)? {
            InboxStep::Message(message) => {
                drop(self.route(message, None, report));
                Ok(true)
            }
            InboxStep::Need(_) if *emptied => {
                inbox.let_go();
                Ok(false)
            }
            InboxStep::Need(need) => match inbox.receive_now(&*self.link, need)? {
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
