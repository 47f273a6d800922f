//! Answers to LocateRequests.

use super::Dispatcher;
use crate::adapter::Location;
use crate::messaging::{Head, Message};
use crate::server::adapter::ObjectAdapter;
use crate::server::pending_location::{LocateAnswer, LocateRequest, locate_reply};
use punctual_cdr::CdrError;
use punctual_giop::MessageKind;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl Dispatcher<'_> {
    /// Answers a LocateRequest (CORBA 3.3 part 2, §9.4.6).
    pub(super) fn locate_request(&self, message: &Message) -> Result<(), CdrError> {
        let version = message.header.version;
        let mut decoder = self.decoder(message);
        let head = self
            .conversation()
            .session
            .get_head(MessageKind::LocateRequest, &mut decoder)?;
        let Head::LocateRequest(header) = head else {
            return Err(CdrError::Invalid("the header is not a locate request's"));
        };
        let Some(_in_progress) = self.connection.begin() else {
            return Ok(());
        };
        let location = match (
            self.object_key(&header.target),
            self.connection.adapter.get(),
        ) {
            (Ok(key), Some(adapter)) if self.may_be_called(&key) => {
                let request = LocateRequest {
                    connection: self.connection,
                    request_id: header.request_id,
                    version,
                    key: key.len(),
                    is_deferred: Cell::new(false),
                };
                self.locate(&**adapter, &key, &request)
            }
            _ => Some(Location::Unknown),
        };
        // Without one, it is answered later.
        let Some(location) = location else {
            return Ok(());
        };
        self.connection.send(&locate_reply(
            self.conversation(),
            header.request_id,
            version,
            &LocateAnswer::Location(&location),
        )?);
        Ok(())
    }

    /// Returns the location of an object. The adapter may call application code for it; if that
    /// panics, the object counts as unknown.
    fn locate(
        &self,
        adapter: &dyn ObjectAdapter,
        key: &[u8],
        request: &LocateRequest<'_>,
    ) -> Option<Location> {
        let located = catch_unwind(AssertUnwindSafe(|| adapter.locate_or_later(key, request)));
        let location = located.unwrap_or_else(|_| {
            tracing::error!(peer = %self.conversation().peer(), "the application panicked while locating an object");
            Some(Location::Unknown)
        });
        // One that was deferred is answered once, whatever the adapter returns.
        location.filter(|_| !request.is_deferred.get())
    }
}
