//! GIOP: message headers with their service contexts, fragments, consecutive messages.

use super::number;
use crate::outcome::read_whole;
use crate::{Outcome, Refusal, Shape};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Limits};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::service_context::{CODE_SETS, ServiceContext};
use punctual_giop::{
    Accepted, Examined, LocateRequestHeader, MessageHeader, MessageKind, Reassembly, RequestHeader,
    ResponseFlags, ServiceContexts, Target, align_body, begin_message, examine, finish_message,
    message_decoder,
};
use std::fmt::Display;

pub(super) const SHAPES: &[Shape] = &[
    shape("short messages", short),
    shape("fragments of one octet, GIOP 1.1", |octets| {
        fragments(GiopVersion::V1_1, octets)
    }),
    shape("fragments of one octet, GIOP 1.2", |octets| {
        fragments(GiopVersion::V1_2, octets)
    }),
    Shape::new("service contexts", "without data", without_data, read),
    Shape::new("code sets", "many contexts of a request", code_sets, read),
];

const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new("GIOP", name, make, read)
}

fn read(octets: &[u8]) -> Outcome {
    let limits = Limits::default();
    let mut reassembly = Reassembly::new(&limits);
    let mut rest = octets;
    while !rest.is_empty() {
        let at = octets.len() - rest.len();
        let refused = |why: &dyn Display| Refusal::new(at, why);
        let examined = examine(rest, &limits).map_err(|error| refused(&error))?;
        let Examined::Complete(header) = examined else {
            return Err(refused(&"the last message is not whole"));
        };
        let (message, behind) = rest.split_at(header.message_len());
        let accepted = reassembly.accept(&header, message);
        match accepted.map_err(|error| refused(&error))? {
            Accepted::Assembled(whole) => one(&header, whole.decoder(Coding::default()))?,
            Accepted::Whole => one(
                &header,
                message_decoder(&header, message, Coding::default()),
            )?,
            Accepted::Pending => {}
        }
        rest = behind;
    }
    Ok(())
}

/// Reads a message: its header and, if there is one, a body that is a sequence of octets.
fn one(header: &MessageHeader, mut input: Decoder<'_>) -> Outcome {
    let read = match header.kind {
        MessageKind::LocateRequest => LocateRequestHeader::decode(&mut input).map(drop),
        _ => head(&mut input),
    };
    let read = read.and_then(|()| match input.remaining() {
        0 => Ok(()),
        _ => input.get_octets().map(drop),
    });
    read.map_err(|error| Refusal::new(input.position(), error))?;
    read_whole(&input)
}

/// Reads the part of a request that a server decodes before it knows the target.
fn head(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let header = RequestHeader::decode(input)?;
    // Each relevant context is searched for by itself.
    for id in [CODE_SETS, 5, 17] {
        let found = header.contexts.find(id);
        if id == CODE_SETS {
            found.map(CodeSetContext::decode).transpose()?;
        }
    }
    let all = header.contexts.iter().count();
    match all == header.contexts.len() {
        true => Ok(()),
        false => Err(CdrError::Invalid("contexts are missing")),
    }
}

/// Writes a request with the given service contexts, and a body written by `body`.
fn request(
    version: GiopVersion,
    contexts: &[ServiceContext<'_>],
    body: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    message(version, MessageKind::Request, |out| {
        let header = RequestHeader {
            request_id: 7,
            response: ResponseFlags::SYNC_WITH_TARGET,
            target: Target::ObjectKey(b"key"),
            operation: "op",
            contexts: ServiceContexts::new(contexts),
        };
        header.encode(out)?;
        body(out)
    })
}

fn message(
    version: GiopVersion,
    kind: MessageKind,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Vec<u8> {
    let coding = Coding {
        version,
        ..Coding::default()
    };
    let mut out = Encoder::new(Block::default(), ByteOrder::Big, coding);
    begin_message(&mut out, kind);
    let written = write(&mut out);
    let mut block = out.into_block();
    let finished = written.and_then(|()| finish_message(&mut block));
    debug_assert!(finished.is_ok(), "{finished:?}");
    block.into_vec()
}

fn without_data(octets: usize) -> Vec<u8> {
    request(GiopVersion::V1_2, &vec![(2, &[][..]); octets / 8], |_| {
        Ok(())
    })
}

/// Writes many code set contexts; only the first is used by the receiver.
fn code_sets(octets: usize) -> Vec<u8> {
    let chosen = CodeSetContext {
        char_data: 0x0501_0001,
        wchar_data: 0x0001_0109,
    };
    let data = chosen.encode();
    let contexts = vec![(CODE_SETS, &data[..]); octets / 20 + 1];
    request(GiopVersion::V1_2, &contexts, |_| Ok(()))
}

/// Writes a request whose body comes in fragments with one octet of payload each.
fn fragments(version: GiopVersion, octets: usize) -> Vec<u8> {
    let id: &[u8] = match version {
        GiopVersion::V1_2 => &[0, 0, 0, 7],
        _ => &[],
    };
    let fragment = message(version, MessageKind::Fragment, |out| {
        out.put_bytes(id);
        out.put_u8(0);
        Ok(())
    });
    let count = octets / fragment.len() + 1;
    let mut all = request(version, &[], |out| {
        align_body(out);
        out.put_u32(number(count));
        Ok(())
    });
    followed(&mut all);
    let last = fragment.clone();
    let mut fragment = fragment;
    followed(&mut fragment);
    all.extend(fragment.repeat(count - 1));
    all.extend(last);
    all
}

/// Sets the flag in a message's header that announces further fragments.
fn followed(message: &mut [u8]) {
    if let Some(flags) = message.get_mut(6) {
        *flags |= 2;
    }
}

fn short(octets: usize) -> Vec<u8> {
    let one = message(GiopVersion::V1_2, MessageKind::LocateRequest, |out| {
        let target = Target::ObjectKey(b"");
        let header = LocateRequestHeader {
            request_id: 7,
            target,
        };
        header.encode(out)
    });
    one.repeat(octets / one.len() + 1)
}
