//! Calls that their callers have abandoned, and whose replies may still arrive.

use crate::lane::outgoing::calls::PendingReply;
use crate::lane::outgoing::connection::ClientConnection;
use crate::messaging::Head;
use punctual_cdr::{ByteOrder, Coding};
use punctual_giop::{CancelRequest, MessageKind};

/// Maximum number of outstanding replies to abandoned calls of one connection before it is retired.
const MOST_OWED: u32 = 1024;

impl ClientConnection {
    /// Abandons a call: sends a CancelRequest (CORBA 3.3 part 2, §9.4.4), which the server may
    /// ignore, unless `cancel_requests` is off. Withdraws the request if it is still buffered, and
    /// returns `true` if it was.
    #[cold]
    pub(crate) fn abandon(&self, pending: &PendingReply<'_>) -> bool {
        if self.withdraw(pending.id()) {
            return true;
        }
        pending.caller.abandon();
        if self.wire.cancels {
            self.cancel(pending.id());
        }
        if self.owed() >= MOST_OWED {
            self.retire();
        }
        false
    }

    fn cancel(&self, request_id: u32) {
        let coding = Coding::new(self.wire.version, &self.wire.limits);
        let session = &*self.wire.session;
        let kind = MessageKind::CancelRequest;
        let mut out = session.begin(self.lend(), kind, ByteOrder::NATIVE, coding);
        let head = Head::Cancel(CancelRequest { request_id });
        let put = session.put_head(&mut out, &head);
        let mut block = out.into_block();
        if put.is_ok() && session.finish(&mut block).is_ok() {
            self.send_at_leisure(&block);
        }
    }
}
