//! A connection whose replies are read by whichever thread its reactor tells.

use crate::lane::outgoing::calls::Broken;
use crate::lane::outgoing::connection::ClientConnection;
use crate::lane::outgoing::remarks::Remarks;
use crate::messaging::{Inbox, InboxError, Taken};
use punctual_exec::reactor::{Handler, Readiness, ReadyEvent};
use punctual_link::{Connection, Waitable};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Weak};

/// Messages of one connection that are read before others have theirs read.
const MESSAGES: usize = 64;

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

    fn ready(self: Arc<Self>, event: &mut ReadyEvent<'_>) {
        match self.connection.upgrade() {
            Some(connection) => connection.read_ready(event),
            None => event.deregister(),
        }
    }
}

impl ClientConnection {
    /// Has its reactor, if it has one, tell of what comes.
    pub(crate) fn attach(self: &Arc<Self>) -> io::Result<()> {
        self.waiting.register(|| {
            Arc::new(Reader {
                connection: Arc::downgrade(self),
                link: self.link.clone(),
            })
        })
    }

    /// Reads what is there, and passes it to whom it concerns.
    fn read_ready(&self, event: &mut ReadyEvent<'_>) {
        let mut remarks = Remarks::of(self);
        // Whoever holds it has it read again.
        let Some(mut inbox) = self.callers.read() else {
            return;
        };
        let is_more = self.read_some(&mut inbox, event, &mut remarks);
        remarks.take_from(&mut inbox);
        drop(inbox);
        if is_more {
            event.hand_over(Readiness::READ);
        }
    }

    /// Reads up to [`MESSAGES`]; whether there may be more.
    pub(in crate::lane::outgoing) fn read_some(
        &self,
        inbox: &mut Inbox,
        event: &mut ReadyEvent<'_>,
        remarks: &mut Remarks<'_>,
    ) -> bool {
        let to_the_end = event.readiness().has(Readiness::END);
        let mut emptied = false;
        for _ in 0..MESSAGES {
            match self.read_there(inbox, (to_the_end, &mut emptied), remarks) {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    if error.is_protocol_error() {
                        let reason = format!("the peer broke the protocol: {error}");
                        self.refuse(&reason, remarks);
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

    /// Reads a message or some octets; false when there is no more.
    fn read_there(
        &self,
        inbox: &mut Inbox,
        (to_the_end, emptied): (bool, &mut bool),
        remarks: &mut Remarks<'_>,
    ) -> Result<bool, InboxError> {
        match inbox.take(&*self.link)? {
            Taken::Message(message) => {
                drop(self.route(message, None, remarks));
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
