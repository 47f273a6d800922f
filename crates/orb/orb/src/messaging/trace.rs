//! `-ORBTrace giop`: prints each message, decoded, on standard error.

use super::inbox::Message;
use crate::config::Trace;
use punctual_cdr::Coding;
use punctual_exec::Quoted;
use punctual_giop::trace::{TraceOptions, describe, hex_dump};
use punctual_giop::{lite, sequenced};
use punctual_link::{Connection, Waitable};
use std::fmt::Write as _;
use std::io::Write;
use std::os::fd::AsRawFd;

/// Direction of a traced message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Sent,
    Received,
}

/// Tracer that prints the messages sent and received, if enabled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracer {
    trace: Trace,
}

impl Tracer {
    pub(crate) fn new(trace: Trace) -> Self {
        Self { trace }
    }

    /// Returns `true` if the tracing of messages is enabled.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        // First, so that a program without the feature has no code for it.
        cfg!(feature = "message-trace") && self.trace.giop
    }

    /// Prints a sent message. Costs one branch if tracing is off.
    #[inline]
    pub(crate) fn sent(&self, connection: &dyn Connection, message: &[u8]) {
        if self.is_on() {
            self.print(Direction::Sent, connection, message, &[]);
        }
    }

    /// Prints a received message. Costs one branch if tracing is off.
    #[inline]
    pub(crate) fn received(&self, connection: &dyn Connection, message: &Message) {
        if self.is_on() {
            self.print(
                Direction::Received,
                connection,
                &message.block,
                message.seams(),
            );
        }
    }

    /// Prints a line of text among the messages, if tracing is on.
    pub(crate) fn say(&self, what: std::fmt::Arguments<'_>) {
        if self.is_on() {
            let _ = std::io::stderr()
                .lock()
                .write_all(format!("giop: {what}\n").as_bytes());
        }
    }

    #[cold]
    fn print(
        &self,
        direction: Direction,
        connection: &dyn Connection,
        message: &[u8],
        seams: &[usize],
    ) {
        let options = TraceOptions {
            hex: self.trace.hex,
            payload: self.trace.payload,
        };
        let way = match direction {
            Direction::Sent => "-> to",
            Direction::Received => "<- from",
        };
        let text = format!(
            "giop {way} {}\n{}\n",
            head(connection, seams),
            readable(message, options)
        );
        // One write, so that the lines of two threads do not mix; a closed stderr is ignored.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

/// Returns the description of the peer. Addresses alone do not distinguish connections: a client
/// may have several to one server, with the same request ids, and clients on Unix sockets have no
/// names. `punctual trace` parses this.
fn head(connection: &dyn Connection, seams: &[usize]) -> String {
    let mut text = connection.peer().to_string();
    if let Waitable::Descriptor(descriptor) = connection.waitable() {
        // Writing to a string does not fail.
        let _ = write!(text, ", socket {}", descriptor.as_raw_fd());
    }
    for (index, seam) in seams.iter().enumerate() {
        let before = if index == 0 { ", joined at " } else { " " };
        let _ = write!(text, "{before}{seam}");
    }
    text
}

/// Returns a message in readable form; its first bytes determine the protocol.
pub(crate) fn readable(message: &[u8], options: TraceOptions) -> String {
    match message.first_chunk() {
        Some(b"GIOP") => describe(message, options).to_string(),
        Some(b"PUNF") => {
            frame(message).unwrap_or_else(|| octets(message)) + &dump(message, options)
        }
        _ => lite_message(message).unwrap_or_else(|| octets(message)) + &dump(message, options),
    }
}

/// Returns the hex dump of a message that cannot be decoded, if `payload` is enabled, as all of its
/// bytes may be application data; otherwise at most its length.
fn dump(message: &[u8], options: TraceOptions) -> String {
    match options {
        TraceOptions { payload: true, .. } => format!("\n{}", hex_dump(message)),
        TraceOptions { hex: true, .. } => format!("\n  {} octets not shown", message.len()),
        _ => String::new(),
    }
}

fn octets(message: &[u8]) -> String {
    format!("  {} octets of another protocol", message.len())
}

fn frame(message: &[u8]) -> Option<String> {
    let header = sequenced::MessageHeader::parse(message.first_chunk()?).ok()?;
    let mut decoder = sequenced::message_decoder(&header, message, Coding::default());
    let head = sequenced::FrameHeader::decode(&header, &mut decoder).ok()?;
    Some(format!(
        "  frame{} {} of stream {:#010x}, operation {}, {} octets",
        if header.batch { "s from" } else { "" },
        head.sequence,
        head.stream,
        Quoted(head.operation),
        message.len()
    ))
}

fn lite_message(message: &[u8]) -> Option<String> {
    let header = lite::MessageHeader::parse(message.first_chunk()?).ok()?;
    if header.message_len() < message.len() {
        return None;
    }
    let mut decoder = lite::message_decoder(message, Coding::default());
    let says = match header.kind {
        lite::Kind::Request => {
            let request = lite::decode_request(&mut decoder).ok()?;
            let operation = Quoted(request.operation);
            format!(" {}, operation {operation}", request.request_id)
        }
        lite::Kind::Reply => {
            let reply = lite::decode_reply(&mut decoder).ok()?;
            format!(" to {}, {:?}", reply.request_id, reply.status)
        }
        _ => String::new(),
    };
    Some(format!(
        "  GIOPlite {:?}{says}, {} octets",
        header.kind,
        header.message_len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messaging::{Frames, GiopLite, Head, Messaging};
    use punctual_cdr::{Block, ByteOrder};
    use punctual_giop::{MessageKind, RequestHeader, ResponseFlags, ServiceContexts, Target};

    fn request(messaging: &dyn Messaging) -> Block {
        let session = messaging.session();
        let kind = MessageKind::Request;
        let coding = Coding::default();
        let mut out = session.begin(Block::default(), kind, ByteOrder::NATIVE, coding);
        let header = RequestHeader {
            request_id: 6,
            response: ResponseFlags::NONE,
            target: Target::ObjectKey(b"key"),
            operation: "push",
            contexts: ServiceContexts::none(),
        };
        session
            .put_head(&mut out, &Head::Request(header, None))
            .unwrap();
        let mut block = out.into_block();
        session.finish(&mut block).unwrap();
        block
    }

    #[test]
    fn messages_of_other_protocols_are_named_and_their_bodies_are_not_shown() {
        let show = |message: &[u8]| readable(message, TraceOptions::default());
        let lite = show(&request(&GiopLite));
        assert!(
            lite.contains("GIOPlite Request 6, operation push"),
            "{lite}"
        );
        let frame = show(&request(&Frames));
        assert!(frame.contains("frame 0 of stream"), "{frame}");
        assert!(frame.contains("operation push"), "{frame}");
        assert_eq!(show(b"whatever it is"), "  14 octets of another protocol");
    }

    #[test]
    fn messages_of_other_protocols_are_dumped_when_their_payload_is_wanted() {
        let show = |hex, payload| {
            let options = TraceOptions { hex, payload };
            readable(&request(&GiopLite), options)
        };
        assert!(show(false, true).contains("  00000000  "));
        assert!(show(true, true).contains("  00000000  "));
        let hidden = show(true, false);
        assert!(hidden.contains("octets not shown"), "{hidden}");
        assert!(!hidden.contains("  00000000  "), "{hidden}");
    }
}
