//! From the lines of a log to messages: what `-ORBTrace` printed, read again.
//!
//! ```text
//! giop <- from iiop://127.0.0.1:40112, socket 9         whom it came from; also where GIOP 1.1 fragments were joined
//! GIOP 1.2 Request, Little-endian, 76 octets after the header
//!   request 5, operation "find", a reply is expected (flags 0x03)
//!   object key of 12 octets: "..."
//!   context 1 (CodeSets): 0x5010001 (UTF-8), 0x10109 (UTF-16)
//!   body: 9 octets
//!   00000000  05 00 00 00 4b 69 6b 69  00                  ....Kiki.
//! ```
//!
//! With `hex`, the rows are those of the whole message, and stand at its end. Where the body begins, on which alignment
//! depends, is what the message's length leaves before it. Any line may be anything: nothing here is believed that
//! costs more than the line itself, and octets that do not add up are no body.

mod lines;
mod message;
mod open;

pub(in crate::trace) use message::{Body, Event, Head, MOST_OCTETS, Message, NoBody, Peer};
use open::Open;

/// Reads a log.
#[derive(Debug, Default)]
pub(in crate::trace) struct Log {
    open: Option<Open>,
    /// Whether the last dump was one of a whole message.
    dumps_whole: bool,
    has_messages: bool,
}

impl Log {
    /// What is complete, as this line is none of its own. To be called before [`Log::take`].
    pub(in crate::trace) fn ends_before(&mut self, line: &str) -> Option<Event> {
        let open = self.open.as_ref()?;
        match open.goes_on_with(line) {
            true => None,
            false => self.end(),
        }
    }

    /// What is complete with this line.
    pub(in crate::trace) fn take(&mut self, line: &str) -> Option<Event> {
        if self.open.is_none() {
            self.open = Open::begin(line);
            self.has_messages |= self.open.is_some();
            return None;
        }
        let open = self.open.as_mut()?;
        open.take(line);
        if let Some(dump) = &open.dump {
            self.dumps_whole = dump.is_whole;
        }
        match open.is_complete(self.dumps_whole) {
            true => self.end(),
            false => None,
        }
    }

    /// Whether any message has begun.
    pub(in crate::trace) fn has_messages(&self) -> bool {
        self.has_messages
    }

    /// What is complete as far as it ever will be, at the end of the log or where something else stands in it.
    pub(in crate::trace) fn end(&mut self) -> Option<Event> {
        self.open.take()?.finish()
    }
}
