//! Seeds of [`super::more`], of the servant of [`super::dynamic`], and of calls within the process.

use super::full::{self, TELLS};
use super::more::{self, WAYS};
use super::seeds::{Ask, PLAIN, message, put_body, raw_key};
use super::{Every, FULL, PROTOCOLS, bridge, server};
use crate::{Seed, client};
use punctual::Interface;
use punctual_cdr::{ByteOrder, Coding, Decoder, Encoder, GiopVersion, Limits, Marshal};
use punctual_giop::{
    Examined, LocateReplyHeader, LocateRequestHeader, LocateStatus, MessageHeader, MessageKind,
    ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags, ServiceContexts, Target, align_body,
    examine, message_decoder, service_context,
};

const NEWEST: GiopVersion = GiopVersion::V1_2;
const VERSIONS: [GiopVersion; 3] = [GiopVersion::V1_0, GiopVersion::V1_1, NEWEST];
const ORDERS: [ByteOrder; 2] = [ByteOrder::Big, ByteOrder::Little];

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    let full = FULL + (3 - FULL % 3) % 3;
    for (name, octets) in dynamic().into_iter().chain(within()) {
        for (whose, how) in [("", 0), ("full-", full)] {
            all.push((format!("{whose}{name}"), [&[how], &*octets].concat()));
        }
    }
    for (name, octets) in obeyed() {
        for way in 0..WAYS / 2 {
            let how = more::how(way, 0);
            all.push((format!("more-{way}-{name}"), [&[how], &*octets].concat()));
        }
    }
    for (name, octets) in answered() {
        for way in WAYS / 2..WAYS {
            let how = more::how(way, 0);
            all.push((format!("more-{way}-{name}"), [&[how], &*octets].concat()));
        }
    }
    for (name, octets) in in_other_alignment() {
        let through = super::THROUGH_BRIDGE + 1;
        all.push((format!("bridge-{name}"), [&[through], &*octets].concat()));
        let how = more::how(2, 0);
        all.push((format!("more-2-{name}"), [&[how], &*octets].concat()));
    }
    all
}

/// Returns the key of another object of the adapter.
fn key_of(id: u8) -> Vec<u8> {
    let mut key = raw_key();
    if let Some(last) = key.last_mut() {
        *last = id;
    }
    key
}

/// Returns requests to the servant that knows its operations at run time.
fn dynamic() -> Vec<Seed> {
    let key = key_of(b'd');
    let tells = [1, 0];
    let contexts: [&[(u32, &[u8])]; 2] = [&[], &[(TELLS, &tells)]];
    let mut all = Vec::new();
    for operation in ["do", "told", "unread", "_is_a"] {
        for end in 0..4 {
            for (number, contexts) in contexts.into_iter().enumerate() {
                let ask = Ask {
                    operation,
                    end,
                    contexts,
                    ..PLAIN
                };
                let name = format!("dynamic-{operation}-{end}-{number}");
                all.push((name, ask.of(Target::ObjectKey(&key))));
            }
        }
        let ask = Ask { operation, ..PLAIN }.of(Target::ObjectKey(&key));
        all.push((format!("dynamic-{operation}-cut"), cut(&ask, 9)));
    }
    all
}

/// Returns the message without its last octets.
fn cut(message: &[u8], less: usize) -> Vec<u8> {
    let mut message = message[..message.len() - less].to_vec();
    put_length(&mut message);
    message
}

/// Corrects the length of a message, in this machine's byte order.
fn put_length(message: &mut [u8]) {
    let length = u32::try_from(message.len() - MessageHeader::LEN).expect("it is short");
    message[8..MessageHeader::LEN].copy_from_slice(&length.to_ne_bytes());
}

/// Returns requests whose servants call objects of their own ORB, and of another.
fn within() -> Vec<Seed> {
    let full = full::get();
    let key = key_of(b'b');
    let objects: [(&str, &Every); 6] = [
        ("every", &full.server.every),
        ("raw", &full.server.raw),
        ("later", &full.server.later),
        ("decided", full::decided()),
        ("declared", &full.declared),
        ("other", &server().every),
    ];
    let tells = [1, 1];
    let segment = segment(true, 0, 7, [0; 3]);
    let contexts: [&[(u32, &[u8])]; 3] = [
        &[],
        &[(TELLS, &tells)],
        &[
            (service_context::SCHEDULING_SEGMENT, &segment),
            (service_context::RT_CORBA_PRIORITY, &[1, 0, 7, 0]),
        ],
    ];
    let mut all = Vec::new();
    for (name, object) in objects {
        for (number, contexts) in contexts.into_iter().enumerate() {
            let octets = message(NEWEST, ByteOrder::NATIVE, MessageKind::Request, |out| {
                let header = RequestHeader {
                    request_id: 3,
                    response: ResponseFlags::SYNC_WITH_TARGET,
                    target: Target::ObjectKey(&key),
                    operation: "do",
                    contexts: ServiceContexts::new(contexts),
                };
                header.encode(out).expect("it can be written");
                align_body(out);
                let ior = object.as_object().ior();
                ior.marshal(out).expect("it can be written");
            });
            all.push((format!("within-{name}-{number}"), octets));
        }
    }
    all
}

/// Returns the data of a segment's context.
pub(crate) fn segment(is_little: bool, discipline: u8, priority: i16, times: [u64; 3]) -> Vec<u8> {
    let (priority, times) = match is_little {
        true => (priority.to_le_bytes(), times.map(u64::to_le_bytes)),
        false => (priority.to_be_bytes(), times.map(u64::to_be_bytes)),
    };
    let head = [u8::from(is_little), discipline, priority[0], priority[1]];
    [&head[..], &[7; 16], &[0; 4], &times.concat()].concat()
}

/// Service contexts by their ids.
type Contexts<'d> = Vec<(u32, &'d [u8])>;

/// Returns requests with contexts that are obeyed, alone and together, and with those that are not.
fn obeyed() -> Vec<Seed> {
    let keys = [
        ("client", key(full::decided())),
        ("server", key(&full::get().declared)),
        ("raw", raw_key()),
    ];
    let second = 1_000_000_000;
    let segments = [
        segment(true, 0, 7, [0; 3]),
        segment(true, 1, 0, [second / 10, second / 2, second]),
        segment(false, 1, 0, [second / 10, second / 2, second]),
    ];
    let priorities: [&[u8]; 3] = [&[1, 0, 7, 0], &[0, 0, 0, 7], &[1, 0, 99, 0]];
    let mut contexts: Vec<(String, Contexts<'_>)> = Vec::new();
    for (number, data) in priorities.into_iter().enumerate() {
        let priority = (service_context::RT_CORBA_PRIORITY, data);
        contexts.push((format!("priority-{number}"), vec![priority]));
        let other = vec![priority, (77, &b"more"[..])];
        contexts.push((format!("priority-{number}-more"), other));
    }
    for (number, data) in segments.iter().enumerate() {
        let segment = (service_context::SCHEDULING_SEGMENT, &data[..]);
        contexts.push((format!("segment-{number}"), vec![segment]));
    }
    let mut all = Vec::new();
    for (name, contexts) in &contexts {
        for (whose, key) in &keys {
            let ask = Ask {
                contexts,
                end: 200,
                ..PLAIN
            };
            let ask = ask.of(Target::ObjectKey(key));
            all.push((format!("{name}-{whose}"), ask.repeat(4)));
        }
    }
    let later = Ask { end: 2, ..PLAIN }.of(Target::ObjectKey(&key_of(b'l')));
    all.push(("later-many".to_owned(), later.repeat(5)));
    all
}

fn key(of: &Every) -> Vec<u8> {
    of.as_object().object_key().expect("it has one")
}

/// Returns requests to a bridge, with the answers of its target.
fn answered() -> Vec<Seed> {
    let raw = raw_key();
    let mut all = Vec::new();
    for version in VERSIONS {
        let ask = Ask { version, ..PLAIN }.of(Target::ObjectKey(&raw));
        let asked = bridge::asked(PROTOCOLS[0], &ask);
        let id = id_of(&asked).expect("the target is asked");
        for order in ORDERS {
            for (name, answer) in client::replies(version, order, id) {
                let octets = [&*ask, &answer].concat();
                all.push((format!("answered-{version}-{order:?}-{name}"), octets));
            }
        }
        all.push((format!("answered-{version}-not"), ask.clone()));
        let broken = [&*ask, &in_two(&long_reply(version, id), 45)].concat();
        all.push((format!("answered-{version}-broken"), broken));
        for length in [0, 4, 6] {
            let contexts = [(service_context::CODE_SETS, &[0; 8][..length])];
            let reply = reply(version, id, &contexts);
            let octets = [&*ask, &reply].concat();
            all.push((format!("answered-{version}-moved-{length}"), octets));
        }
    }
    let locate = message(
        NEWEST,
        ByteOrder::NATIVE,
        MessageKind::LocateRequest,
        |out| {
            let header = LocateRequestHeader {
                request_id: 4,
                target: Target::ObjectKey(&raw),
            };
            header.encode(out).expect("it can be written");
        },
    );
    let asked = bridge::asked(PROTOCOLS[0], &locate);
    let id = id_of(&asked).expect("the target is asked");
    all.push(("located-not".to_owned(), locate.clone()));
    for (name, status) in [
        ("here", LocateStatus::ObjectHere),
        ("unknown", LocateStatus::UnknownObject),
        ("exception", LocateStatus::SystemException),
        ("addressing", LocateStatus::NeedsAddressingMode),
    ] {
        for exception in ["OBJECT_NOT_EXIST", "NO_PERMISSION"] {
            let reply = message(NEWEST, ByteOrder::NATIVE, MessageKind::LocateReply, |out| {
                let header = LocateReplyHeader {
                    request_id: id,
                    status,
                };
                header.encode(out).expect("it can be written");
                if status == LocateStatus::SystemException {
                    let id = format!("IDL:omg.org/CORBA/{exception}:1.0");
                    out.put_string(&id).expect("it can be written");
                    out.put_u32(0);
                    out.put_u32(1);
                }
            });
            let name = format!("located-{name}-{exception}");
            all.push((name, [&*locate, &reply].concat()));
        }
    }
    all
}

/// Returns the request id of a message.
fn id_of(message: &[u8]) -> Option<u32> {
    let Ok(Examined::Complete(header)) = examine(message, &Limits::default()) else {
        return None;
    };
    let mut input: Decoder<'_> = message_decoder(&header, message, Coding::default());
    match header.kind {
        MessageKind::Request => Some(RequestHeader::decode(&mut input).ok()?.request_id),
        _ => Some(LocateRequestHeader::decode(&mut input).ok()?.request_id),
    }
}

fn reply(version: GiopVersion, request_id: u32, contexts: &[(u32, &[u8])]) -> Vec<u8> {
    message(version, ByteOrder::NATIVE, MessageKind::Reply, |out| {
        let header = ReplyHeader {
            request_id,
            status: ReplyStatus::NoException,
            contexts: ServiceContexts::new(contexts),
        };
        header.encode(out).expect("it can be written");
        align_body(out);
        out.put_octets(&[7; 60]).expect("they can be written");
    })
}

fn long_reply(version: GiopVersion, id: u32) -> Vec<u8> {
    reply(version, id, &[])
}

/// Splits a message into two fragments, the first with `at` octets: alignment in the second differs
/// in GIOP 1.1.
fn in_two(whole: &[u8], at: usize) -> Vec<u8> {
    let (first, rest) = whole.split_at(at);
    let mut first = first.to_vec();
    first[6] |= 2;
    put_length(&mut first);
    let mut second = whole[..MessageHeader::LEN].to_vec();
    second[7] = MessageKind::Fragment as u8;
    second.extend_from_slice(rest);
    put_length(&mut second);
    [first, second].concat()
}

/// Returns requests whose bodies have another alignment than behind the bridge's header.
fn in_other_alignment() -> Vec<Seed> {
    let raw = raw_key();
    let mut all = Vec::new();
    for version in [GiopVersion::V1_0, GiopVersion::V1_1] {
        for principal in [0, 1, 4, 7] {
            let octets = message(version, ByteOrder::NATIVE, MessageKind::Request, |out| {
                out.put_u32(0);
                out.put_u32(3);
                out.put_u8(1);
                put_octets(out, &raw);
                out.put_string("do").expect("it can be written");
                put_octets(out, &[7; 8][..principal]);
                put_body(out, 0);
            });
            all.push((format!("principal-{version}-{principal}"), octets));
        }
    }
    let ask = Ask {
        version: GiopVersion::V1_1,
        ..PLAIN
    }
    .of(Target::ObjectKey(&raw));
    for at in [ask.len() - 3, ask.len() - 5] {
        all.push((format!("broken-{at}"), in_two(&ask, at)));
    }
    all
}

fn put_octets(out: &mut Encoder<'_>, octets: &[u8]) {
    out.put_octets(octets).expect("they can be written");
}
