//! Fuzz target for messages: framing, reassembly of fragments, each kind of header read and written
//! again, the fast path compared with the general one, and the textual trace of messages; GIOPlite
//! and sequenced frames.

mod lite;
mod sequenced;

use punctual_cdr::{Block, CdrError, Coding, Decoder, Encoder, Limits, Marshal, Unmarshal};
use punctual_giop::code_sets::{self, CodeSetContext};
use punctual_giop::trace::{TraceOptions, describe};
use punctual_giop::{
    Accepted, AddressingDisposition, CancelRequest, Examined, LocateReplyHeader,
    LocateRequestHeader, MessageHeader, MessageKind, PlainRequests, Reassembly, ReplyHeader,
    RequestHeader, ServiceContexts, SystemExceptionBody, begin_message, close_connection, examine,
    finish_message, match_plain_reply, message_decoder, message_error, parse_plain_reply,
    service_context, split,
};

/// Returns limits small enough for inputs to reach them.
fn limits() -> Limits {
    Limits {
        message: 1 << 16,
        fragments_pending: 2,
        fragments_bytes: 2048,
        ..Limits::default()
    }
}

/// Prefix that marks the rest of an input as messages of GIOPlite, which have no magic number.
const LITE: &[u8] = b"LITE";

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    if let Some(messages) = input.strip_prefix(LITE) {
        return lite::run(messages);
    }
    if input.starts_with(b"PUNF") {
        return sequenced::run(input);
    }
    let limits = limits();
    let coding = Coding {
        limits: &limits,
        ..Coding::default()
    };
    let mut reassembly = Reassembly::new(&limits);
    let mut plain = PlainRequests::default();
    let mut rest = input;
    while let Ok(Examined::Complete(header)) = examine(rest, &limits) {
        let Some((message, behind)) = rest.split_at_checked(header.message_len()) else {
            break;
        };
        check_text(message);
        headers(&header, &message_decoder(&header, message, coding), coding);
        if header.kind == MessageKind::Reply {
            short_reply(&header, message, coding);
        }
        if let Some(request) = plain.read(message, &limits) {
            let mut general = message_decoder(&header, message, coding);
            let general = RequestHeader::decode(&mut general);
            assert!(general.is_ok_and(|general| general.operation == request.operation));
        }
        match reassembly.accept(&header, message) {
            Ok(Accepted::Whole) => in_fragments(&header, message),
            Ok(Accepted::Assembled(whole)) => {
                headers(&whole.header, &whole.decoder(coding), coding);
            }
            Ok(Accepted::Pending) => assert!(reassembly.pending() > 0 && reassembly.held() > 0),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                break;
            }
        }
        rest = behind;
    }
    if !rest.is_empty() {
        check_text(rest);
        let header = rest.first_chunk().map(MessageHeader::parse);
        if !matches!(header, Some(Ok(_))) {
            // Octets that are no message have no fragments, and are passed on unchanged.
            let pieces: Vec<&[u8]> = split(rest, 40).map(|piece| piece.body).collect();
            assert_eq!(pieces, [rest]);
        }
    }
    if let Ok(context) = CodeSetContext::decode(rest) {
        chosen(context);
    }
}

/// Checks that every message, valid or not, has a textual description; the message's length selects
/// the amount of detail.
fn check_text(message: &[u8]) {
    let (hex, payload) = [(false, false), (true, false), (true, true)][message.len() % 3];
    let shown = describe(message, TraceOptions { hex, payload }).to_string();
    assert!(!shown.is_empty());
}

/// Checks that the code sets that a client has chosen are accepted, or rejected with an error text;
/// accepted ones must be written unchanged.
fn chosen(context: CodeSetContext) {
    match code_sets::from_context(context) {
        Ok(sets) => {
            let written = CodeSetContext::from(sets).encode();
            let again = CodeSetContext::decode(&written).expect("what was written is read");
            assert_eq!(code_sets::from_context(again), Ok(sets));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Checks that a message is unchanged after it was written, in its own version and byte order, and
/// read.
macro_rules! same {
    ($header:expr, $coding:expr, $input:expr, $($read:ident)::+, $write:expr) => {
        if let Ok(value) = $($read)::+(&mut $input.clone()) {
            let message = written($header, $coding, |out| $write(&value, out));
            let mut again = message_decoder($header, &message, $coding);
            assert_eq!($($read)::+(&mut again).as_ref(), Ok(&value));
        }
    };
}

/// Reads the message as each kind of header in turn, whatever its actual kind.
fn headers(header: &MessageHeader, input: &Decoder<'_>, coding: Coding<'_>) {
    let whole = MessageHeader {
        size: u32::MAX,
        ..*header
    };
    let cancel = |it: &CancelRequest, out: &mut Encoder<'_>| {
        it.encode(out);
        Ok(())
    };
    same!(
        &whole,
        coding,
        input,
        RequestHeader::decode,
        RequestHeader::encode
    );
    same!(
        &whole,
        coding,
        input,
        ReplyHeader::decode,
        ReplyHeader::encode
    );
    same!(
        &whole,
        coding,
        input,
        LocateRequestHeader::decode,
        LocateRequestHeader::encode
    );
    same!(
        &whole,
        coding,
        input,
        LocateReplyHeader::decode,
        LocateReplyHeader::encode
    );
    same!(&whole, coding, input, CancelRequest::decode, cancel);
    same!(
        &whole,
        coding,
        input,
        SystemExceptionBody::decode,
        SystemExceptionBody::encode
    );
    same!(
        &whole,
        coding,
        input,
        AddressingDisposition::unmarshal,
        Marshal::marshal
    );
    let contexts = match header.kind {
        MessageKind::Reply => ReplyHeader::decode(&mut input.clone()).map(|it| it.contexts),
        _ => RequestHeader::decode(&mut input.clone()).map(|it| it.contexts),
    };
    if let Ok(contexts) = contexts {
        look_at(&contexts);
    }
    let (version, order) = (header.version, header.order);
    for (bare, kind) in [
        (
            close_connection(version, order),
            MessageKind::CloseConnection,
        ),
        (message_error(version, order), MessageKind::MessageError),
    ] {
        let again = MessageHeader::parse(&bare).expect("what was written is read");
        assert_eq!(
            (again.kind, again.version, again.order),
            (kind, version, order)
        );
    }
}

fn written(
    header: &MessageHeader,
    coding: Coding<'_>,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Block {
    let coding = Coding {
        version: header.version,
        ..coding
    };
    let mut out = Encoder::new(Block::default(), header.order, coding);
    begin_message(&mut out, header.kind);
    write(&mut out).expect("what was read is written");
    let mut block = out.into_block();
    finish_message(&mut block).expect("it is short");
    block
}

fn look_at(contexts: &ServiceContexts<'_>) {
    assert_eq!(contexts.iter().count(), contexts.len());
    let shown = format!("{contexts:?}");
    for (id, data) in contexts.iter() {
        assert!(shown.contains(&id.to_string()));
        let _ = service_context::name(id);
        assert!(contexts.find(id).is_some());
        if id == service_context::CODE_SETS
            && let Ok(context) = CodeSetContext::decode(data)
        {
            chosen(context);
        }
    }
}

/// Checks that the fast path for replies agrees with the general one.
fn short_reply(header: &MessageHeader, message: &[u8], coding: Coding<'_>) {
    let mut input = message_decoder(header, message, coding);
    let Ok(general) = ReplyHeader::decode(&mut input) else {
        return;
    };
    if let Some((order, status, body)) = match_plain_reply(message, general.request_id) {
        assert_eq!(
            (order, status, body),
            (header.order, general.status, input.position())
        );
    }
    assert_eq!(
        match_plain_reply(message, general.request_id.wrapping_add(1)),
        None
    );
    if let Some((id, status, body)) = parse_plain_reply(header, message) {
        assert_eq!(
            (id, status, body),
            (general.request_id, general.status, input.position())
        );
    }
}

/// Checks that a fragmented message is reassembled to the original; its length selects the size of
/// the fragments.
fn in_fragments(header: &MessageHeader, message: &[u8]) {
    if !header.kind.may_be_fragmented(header.version) {
        return;
    }
    let most = [0, 40, 200][message.len() % 3];
    let mut reassembly = Reassembly::new(&Limits::default());
    for piece in split(message, most) {
        let octets = [&*piece.header, piece.body].concat();
        let Ok(Examined::Complete(header)) = examine(&octets, &limits()) else {
            panic!("a fragment is no message: {octets:?}");
        };
        match reassembly.accept(&header, &octets) {
            Ok(Accepted::Pending) => {}
            // Flags without a meaning are not written again.
            Ok(Accepted::Whole) => {
                assert_eq!(
                    octets.get(MessageHeader::LEN..),
                    message.get(MessageHeader::LEN..)
                );
            }
            Ok(Accepted::Assembled(whole)) => {
                assert_eq!(
                    whole.bytes.get(MessageHeader::LEN..),
                    message.get(MessageHeader::LEN..)
                );
                assert_eq!(reassembly.pending(), 0);
            }
            // The message exceeds the number of fragments allowed, or has no id.
            Err(error) => {
                assert!(!error.to_string().is_empty());
                break;
            }
        }
    }
}
