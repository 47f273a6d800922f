//! Readable form of messages: the output of `-ORBTrace giop`.
//!
//! The application's data is not shown unless requested: bodies and service context data appear as
//! lengths. `punctual trace` parses the text again, to add values: its tests fail when the two no
//! longer agree.

use std::fmt::{self, Write as _};

use punctual_cdr::{CdrError, Coding, Decoder, Unmarshal};
use punctual_ior::{Ior, Profile};

use crate::code_sets::CodeSetContext;
use crate::control::CancelRequest;
use crate::exception::SystemExceptionBody;
use crate::frame_error::FrameError;
use crate::header::{MessageHeader, MessageKind};
use crate::locate::{LocateReplyHeader, LocateRequestHeader, LocateStatus};
use crate::message::message_decoder;
use crate::reply::{ReplyHeader, ReplyStatus};
use crate::request::RequestHeader;
use crate::service_context::{self, ServiceContexts};
use crate::target::Target;

/// Options for the readable form of a GIOP message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceOptions {
    /// `true` if the bytes are shown, too, in hexadecimal. Default no.
    pub hex: bool,
    /// `true` if the application's data is shown, too: the bytes of bodies and context data, within
    /// the dump of the whole message if there is one (`hex`). Default no: they are replaced by
    /// their length.
    pub payload: bool,
}

/// Returns a readable form of a message, on several lines; also of malformed bytes. The text is
/// made when the result is displayed.
#[must_use]
pub fn describe(message: &[u8], options: TraceOptions) -> impl fmt::Display + '_ {
    Description { message, options }
}

struct Description<'m> {
    message: &'m [u8],
    options: TraceOptions,
}

impl fmt::Display for Description<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let public = match parse_header(self.message) {
            Ok(header) => {
                self.describe_message(&mut text, &header)?;
                self.payload_start(&header)
            }
            Err(error) => {
                write!(text, "no GIOP message: {error}")?;
                0
            }
        };
        if self.options.hex {
            let shown = if self.options.payload {
                self.message.len()
            } else {
                public
            };
            write_hex(&mut text, self.message, shown)?;
        }
        f.write_str(text.trim_end())
    }
}

fn parse_header(message: &[u8]) -> Result<MessageHeader, FrameError> {
    message
        .first_chunk()
        .ok_or(FrameError::BadMagic)
        .and_then(MessageHeader::parse)
}

impl<'m> Description<'m> {
    fn decoder(&self, header: &MessageHeader) -> Decoder<'m> {
        message_decoder(header, self.message, Coding::default())
    }

    fn describe_message(&self, text: &mut String, header: &MessageHeader) -> fmt::Result {
        write!(
            text,
            "GIOP {} {}, {:?}-endian, {} octets after the header",
            header.version, header.kind, header.order, header.size
        )?;
        if header.more_fragments {
            text.push_str(", more fragments follow");
        }
        let there = self.message.len().saturating_sub(MessageHeader::LEN);
        if there < header.size as usize {
            write!(text, "; only {there} are there")?;
        }
        text.push('\n');
        if let Err(error) = self.describe_content(text, header) {
            let reason = match header.more_fragments {
                true => "the rest comes in fragments",
                false => "malformed",
            };
            writeln!(text, "  {reason}: {error}")?;
        }
        Ok(())
    }

    fn describe_content(&self, text: &mut String, header: &MessageHeader) -> Result<(), CdrError> {
        let mut input = self.decoder(header);
        let input = &mut input;
        match header.kind {
            MessageKind::Request => describe_request(text, input, self.options)?,
            MessageKind::Reply => describe_reply(text, input, self.options)?,
            MessageKind::LocateRequest => {
                let request = LocateRequestHeader::decode(input)?;
                line(text, format_args!("locate request {}", request.request_id));
                describe_target(text, &request.target);
            }
            MessageKind::LocateReply => describe_locate_reply(text, input)?,
            MessageKind::CancelRequest => {
                let cancel = CancelRequest::decode(input)?;
                line(text, format_args!("cancels request {}", cancel.request_id));
            }
            MessageKind::Fragment => {
                if header.version == punctual_cdr::GiopVersion::V1_2 {
                    line(text, format_args!("continues request {}", input.get_u32()?));
                }
                body(text, "", input, self.options);
            }
            MessageKind::CloseConnection | MessageKind::MessageError => {}
        }
        Ok(())
    }

    /// Returns the number of bytes from the start that contain none of the application's data.
    fn payload_start(&self, header: &MessageHeader) -> usize {
        let mut input = self.decoder(header);
        let has_contexts = |contexts: &ServiceContexts<'_>| !contexts.is_empty();
        match header.kind {
            MessageKind::Request => match RequestHeader::decode(&mut input) {
                Ok(request) if !has_contexts(&request.contexts) => input.position(),
                _ => MessageHeader::LEN,
            },
            MessageKind::Reply => match ReplyHeader::decode(&mut input) {
                Ok(reply)
                    if matches!(
                        reply.status,
                        ReplyStatus::NoException | ReplyStatus::UserException
                    ) && !has_contexts(&reply.contexts) =>
                {
                    input.position()
                }
                Ok(reply) if !has_contexts(&reply.contexts) => self.message.len(),
                _ => MessageHeader::LEN,
            },
            MessageKind::Fragment => MessageHeader::LEN,
            _ => self.message.len(),
        }
    }
}

fn line(text: &mut String, arguments: fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "  {arguments}");
}

/// Shows the length of the rest and, where the application's data is requested and no dump follows,
/// its bytes.
fn body(text: &mut String, what: &str, input: &Decoder<'_>, options: TraceOptions) {
    line(text, format_args!("{what}{} octets", input.remaining()));
    payload(text, input.rest(), options);
}

/// Shows bytes of the application, if they are requested and no dump of the message has them.
fn payload(text: &mut String, octets: &[u8], options: TraceOptions) {
    if options.payload && !options.hex {
        // Writing to a string does not fail.
        let _ = write_hex(text, octets, octets.len());
    }
}

/// Formats bytes as lines of hexadecimal digits and text, as dumps of messages show them.
#[must_use]
pub fn hex_dump(octets: &[u8]) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_hex(&mut text, octets, octets.len());
    text.truncate(text.trim_end().len());
    text
}

/// Appends a description of a request's header and body to the text.
fn describe_request(
    text: &mut String,
    input: &mut Decoder<'_>,
    options: TraceOptions,
) -> Result<(), CdrError> {
    let request = RequestHeader::decode(input)?;
    line(
        text,
        format_args!(
            "request {}, operation {:?}, {} (flags {:#04x})",
            request.request_id,
            request.operation,
            match request.response.response_expected() {
                true => "a reply is expected",
                false => "no reply",
            },
            request.response.0
        ),
    );
    describe_target(text, &request.target);
    describe_contexts(text, &request.contexts, options);
    body(text, "body: ", input, options);
    Ok(())
}

/// Describes a reply's head, its body, and the content that replaces results.
fn describe_reply(
    text: &mut String,
    input: &mut Decoder<'_>,
    options: TraceOptions,
) -> Result<(), CdrError> {
    let reply = ReplyHeader::decode(input)?;
    line(
        text,
        format_args!("reply to request {}: {:?}", reply.request_id, reply.status),
    );
    describe_contexts(text, &reply.contexts, options);
    body(text, "body: ", input, options);
    match reply.status {
        ReplyStatus::NoException => {}
        ReplyStatus::UserException => {
            let id = String::from_utf8_lossy(input.get_string_octets()?);
            line(text, format_args!("user exception {id}"));
        }
        ReplyStatus::SystemException => describe_exception(text, input)?,
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
            describe_reference(text, &Ior::unmarshal(input)?);
        }
        ReplyStatus::NeedsAddressingMode => describe_addressing(text, input)?,
    }
    Ok(())
}

/// Appends a description of a LocateReply to the text.
fn describe_locate_reply(text: &mut String, input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let reply = LocateReplyHeader::decode(input)?;
    line(
        text,
        format_args!(
            "reply to locate request {}: {:?}",
            reply.request_id, reply.status
        ),
    );
    match reply.status {
        LocateStatus::UnknownObject | LocateStatus::ObjectHere => {}
        LocateStatus::ObjectForward | LocateStatus::ObjectForwardPerm => {
            describe_reference(text, &Ior::unmarshal(input)?);
        }
        LocateStatus::SystemException => describe_exception(text, input)?,
        LocateStatus::NeedsAddressingMode => describe_addressing(text, input)?,
    }
    Ok(())
}

fn describe_target(text: &mut String, target: &Target<'_>) {
    match target {
        Target::ObjectKey(key) => line(text, format_args!("object key {}", Key(key))),
        Target::Profile { tag, data } => line(
            text,
            format_args!("profile with tag {tag:#x}, {} octets", data.len()),
        ),
        Target::Reference { selected, ior } => {
            line(text, format_args!("profile {selected} of a reference"));
            describe_reference(text, ior);
        }
    }
}

fn describe_contexts(text: &mut String, contexts: &ServiceContexts<'_>, options: TraceOptions) {
    for (id, data) in contexts.iter() {
        let name = service_context::name(id).unwrap_or("unknown");
        match (id, CodeSetContext::decode(data)) {
            (service_context::CODE_SETS, Ok(sets)) => {
                let name_of = |id| punctual_ior::tags::code_set_name(id).unwrap_or("unknown");
                line(
                    text,
                    format_args!(
                        "context 1 (CodeSets): {:#x} ({}), {:#x} ({})",
                        sets.char_data,
                        name_of(sets.char_data),
                        sets.wchar_data,
                        name_of(sets.wchar_data),
                    ),
                );
            }
            _ => {
                let length = data.len();
                line(
                    text,
                    format_args!("context {id:#x} ({name}): {length} octets"),
                );
                payload(text, data, options);
            }
        }
    }
}

fn describe_exception(text: &mut String, input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let body = SystemExceptionBody::decode(input)?;
    let completed = match body.completed {
        0 => "completed",
        1 => "not completed",
        2 => "perhaps completed",
        _ => "with an unknown completion status",
    };
    line(
        text,
        format_args!(
            "system exception {}, minor code {:#x}, {completed}",
            body.repository_id, body.minor
        ),
    );
    Ok(())
}

fn describe_addressing(text: &mut String, input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let mode = crate::target::AddressingDisposition::unmarshal(input)?;
    line(text, format_args!("wants to be addressed by {mode:?}"));
    Ok(())
}

fn describe_reference(text: &mut String, reference: &Ior) {
    if reference.is_nil() {
        return line(text, format_args!("a nil reference"));
    }
    line(text, format_args!("a reference to {:?}", reference.type_id));
    for profile in &reference.profiles {
        match profile.decode() {
            Ok(Profile::Iiop(iiop)) => {
                for endpoint in iiop.endpoints() {
                    let version = iiop.version;
                    line(text, format_args!("  IIOP {version} at {endpoint}"));
                }
            }
            Ok(_) => {
                let name = punctual_ior::tags::profile_name(profile.tag).unwrap_or("unknown");
                line(text, format_args!("  profile {:#x} ({name})", profile.tag));
            }
            Err(error) => line(
                text,
                format_args!("  profile {:#x}, malformed: {error}", profile.tag),
            ),
        }
    }
}

/// Object key: length, and text where it is text.
struct Key<'k>(&'k [u8]);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 64;
        write!(f, "of {} octets: \"", self.0.len())?;
        for octet in self.0.iter().take(SHOWN) {
            write!(f, "{}", octet.escape_ascii())?;
        }
        f.write_str(if self.0.len() > SHOWN { "\"…" } else { "\"" })
    }
}

/// Writes lines of 16 bytes; only the first `shown` bytes, and the number of the others.
fn write_hex(text: &mut String, octets: &[u8], shown: usize) -> fmt::Result {
    let (visible, hidden) = octets
        .split_at_checked(shown)
        .unwrap_or((octets, Default::default()));
    for (row, chunk) in visible.chunks(16).enumerate() {
        let mut hex = String::new();
        for (column, octet) in chunk.iter().enumerate() {
            let gap = if column == 8 { "  " } else { " " };
            write!(hex, "{gap}{octet:02x}")?;
        }
        let printable = |octet: &u8| match octet {
            b' '..=b'~' => char::from(*octet),
            _ => '.',
        };
        let ascii: String = chunk.iter().map(printable).collect();
        writeln!(text, "  {:08x} {hex:<49}  {ascii}", row * 16)?;
    }
    if !hidden.is_empty() {
        writeln!(text, "  {} octets not shown", hidden.len())?;
    }
    Ok(())
}
