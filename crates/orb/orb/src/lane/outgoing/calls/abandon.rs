//! Replies that nobody waits for any more.

use crate::lane::outgoing::calls::PendingReply;
use crate::lane::outgoing::connection::ClientConnection;
use crate::messaging::Head;
use punctual_cdr::{ByteOrder, Coding};
use punctual_giop::{CancelRequest, MessageKind};

/// Replies that one connection may owe, to callers who have given up, before it is let go.
const MOST_OWED: u32 = 1024;

impl ClientConnection {
    /// Tells the server that nobody waits any more (CORBA 3.3 part 2, §9.4.4), which may well ignore that, unless it is not to be
    /// told (`cancel_requests`). A request that is buffered does not leave any more; whether it was.
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
