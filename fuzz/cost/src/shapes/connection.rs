//! Whole connections: a server that receives, dispatches and answers requests, and a client that
//! calls and receives the answers.

use crate::{Outcome, Refusal, Shape};
use punctual_cdr::{Coding, Limits};
use punctual_fuzz::client::{self, Conversation};
use punctual_fuzz::server;
use punctual_giop::{
    Examined, MessageHeader, MessageKind, ReplyHeader, ReplyStatus, examine, message_decoder,
};
use std::sync::OnceLock;

pub(super) const SHAPES: &[Shape] = &[
    shape("short calls", |octets| calls(GIOP, PING, octets)),
    Shape {
        read: |octets| serve(octets, 1),
        ..shape("short calls, octet by octet", |octets| {
            calls(GIOP, PING, octets)
        })
    },
    shape("calls with Anys", |octets| calls(GIOP, ANY, octets)),
    shape("calls with values", |octets| calls(GIOP, VALUES, octets)),
    shape("calls in fragments of one octet", |octets| {
        asked_in_fragments(PING, octets)
    }),
    Shape::new(
        "server, GIOPlite",
        "short calls",
        |octets| calls(LITE, PING, octets),
        serve_lite,
    ),
    Shape::new("client", "replies to nobody", to_nobody, |octets| {
        call(octets, 0)
    }),
    Shape::new(
        "client",
        "replies to nobody, octet by octet",
        to_nobody,
        |octets| call(octets, 1),
    ),
    Shape::new(
        "client",
        "replies in fragments of one octet",
        answered_in_fragments,
        |octets| call(octets, 0),
    ),
];

const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new("server", name, make, |octets| serve(octets, 0))
}

const GIOP: usize = 0;
const LITE: usize = 1;
/// Index of the `ping` call among the recorded calls of the fuzz targets.
const PING: usize = 0;
const ANY: usize = 17;
const VALUES: usize = 19;

fn conversation(protocol: usize, number: usize) -> &'static Conversation {
    static ALL: OnceLock<Vec<Conversation>> = OnceLock::new();
    let all = ALL.get_or_init(client::conversations);
    let found = all
        .iter()
        .find(|one| (one.protocol, one.number) == (protocol, number));
    // The first call is always there.
    found.unwrap_or(&all[0])
}

/// Writes the request of one call repeatedly, up to the given length.
fn calls(protocol: usize, number: usize, octets: usize) -> Vec<u8> {
    let one = &conversation(protocol, number).asked;
    one.repeat(octets / one.len() + 1)
}

/// Serves the requests; each must be answered without an exception.
fn serve(octets: &[u8], piece: usize) -> Outcome {
    let sent = server::served("slice", octets, piece);
    let asked = messages(octets)?;
    let asked = asked.iter().filter(|one| !one.0.more_fragments).count();
    let answered = messages(&sent)?;
    for (number, (header, message)) in answered.iter().enumerate() {
        let mut input = message_decoder(header, message, Coding::default());
        let reply = ReplyHeader::decode(&mut input);
        let is_good = reply.is_ok_and(|reply| reply.status == ReplyStatus::NoException);
        if header.kind != MessageKind::Reply || !is_good {
            return Err(Refusal::new(number, "an answer is no result"));
        }
    }
    all_answered(asked, answered.len())
}

fn serve_lite(octets: &[u8]) -> Outcome {
    let sent = server::served("giop_lite+slice", octets, 0);
    let one = conversation(LITE, PING);
    // Replies to one call have the same length.
    all_answered(
        octets.len() / one.asked.len(),
        sent.len() / one.answered.len(),
    )
}

fn all_answered(asked: usize, answered: usize) -> Outcome {
    match answered == asked {
        true => Ok(()),
        false => Err(Refusal::new(answered, format!("{asked} calls were made"))),
    }
}

type Message<'m> = (MessageHeader, &'m [u8]);

fn messages(octets: &[u8]) -> Result<Vec<Message<'_>>, Refusal> {
    let mut all = Vec::new();
    let mut rest = octets;
    while !rest.is_empty() {
        let Ok(Examined::Complete(header)) = examine(rest, &Limits::default()) else {
            return Err(Refusal::new(
                octets.len() - rest.len(),
                "this is no message",
            ));
        };
        let (message, behind) = rest.split_at(header.message_len());
        all.push((header, message));
        rest = behind;
    }
    Ok(all)
}

/// Makes a call; its reply is at the end of the given octets.
fn call(octets: &[u8], piece: usize) -> Outcome {
    let called = client::called(conversation(GIOP, PING), octets.to_vec(), piece);
    called.map_err(|error| Refusal::new(0, error))
}

fn to_nobody(octets: usize) -> Vec<u8> {
    let answer = &conversation(GIOP, PING).answered;
    let mut other = answer.clone();
    // The id of another request.
    if let Some(id) = other.get_mut(12..16) {
        id.fill(0x77);
    }
    let mut all = other.repeat(octets / other.len() + 1);
    all.extend(answer);
    all
}

fn asked_in_fragments(number: usize, octets: usize) -> Vec<u8> {
    let one = in_fragments(&conversation(GIOP, number).asked);
    one.repeat(octets / one.len() + 1)
}

fn answered_in_fragments(octets: usize) -> Vec<u8> {
    in_fragments(&to_nobody(octets / 17))
}

/// Splits messages of GIOP 1.2 into fragments with one octet of payload each.
fn in_fragments(all: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (header, message) in messages(all).unwrap_or_default() {
        let (head, body) = message.split_at(MessageHeader::LEN);
        let (id, body) = body.split_at(4);
        let mut put = |kind: Option<MessageKind>, more: bool, octets: &[u8]| {
            let at = out.len();
            out.extend_from_slice(head);
            let length = octets.len() as u32;
            let length = match header.order {
                punctual_cdr::ByteOrder::Big => length.to_be_bytes(),
                punctual_cdr::ByteOrder::Little => length.to_le_bytes(),
            };
            out[at + 6] |= if more { 2 } else { 0 };
            if let Some(kind) = kind {
                out[at + 7] = kind.number();
            }
            out[at + 8..].copy_from_slice(&length);
            out.extend_from_slice(octets);
        };
        put(None, true, id);
        for (number, octet) in body.iter().enumerate() {
            let more = number + 1 < body.len();
            let fragment = [id, &[*octet]].concat();
            put(Some(MessageKind::Fragment), more, &fragment);
        }
    }
    out
}
