//! Seeds of messages.

use super::LITE;
use crate::{Seed, seed};
use punctual_cdr::{Block, ByteOrder, Coding, Encoder, GiopVersion, Limits, Marshal};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::{
    AddressingDisposition, CancelRequest, LocateReplyHeader, LocateRequestHeader, LocateStatus,
    MessageKind, ReplyHeader, ReplyStatus, RequestHeader, ResponseFlags, ServiceContexts,
    SystemExceptionBody, Target, align_body, begin_message, finish_message, lite, sequenced,
    service_context, split,
};
use punctual_ior::{Ior, TaggedProfile};

/// Returns a message of each kind, version and order; fragments of one; GIOPlite and sequenced
/// frames, alone and in batches.
///
/// # Panics
/// A seed cannot be written.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let name = |what: &str| format!("{what}-{version}-{order:?}");
            for (what, kind, messages) in of_giop(version) {
                let octets = messages
                    .iter()
                    .map(|write| message(version, order, kind, write))
                    .collect::<Vec<_>>();
                all.push((name(what), octets.concat()));
            }
            let request = message(version, order, MessageKind::Request, &|out| {
                request(out, &[7; 90])
            });
            let pieces =
                split(&request, 48).flat_map(|piece| [&*piece.header, piece.body].concat());
            all.push((name("fragments"), pieces.collect()));
        }
    }
    let mut cut = message(
        GiopVersion::V1_2,
        ByteOrder::Big,
        MessageKind::Request,
        &|out| request(out, &[]),
    );
    cut[6] |= 2;
    let id = [0, 0, 0, 5];
    let mut cancelled = cut.clone();
    cancelled.extend(message(
        GiopVersion::V1_2,
        ByteOrder::Big,
        MessageKind::CancelRequest,
        &|out| out.put_bytes(&id),
    ));
    all.push(("fragments-cancelled".to_owned(), cancelled));
    let twice = [&*cut, &*cut].concat();
    all.push(("fragments-twice".to_owned(), twice));
    let mut other = cut.clone();
    let mut rest = message(
        GiopVersion::V1_2,
        ByteOrder::Little,
        MessageKind::Fragment,
        &|out| out.put_bytes(&[5, 0, 0, 0]),
    );
    other.append(&mut rest);
    all.push(("fragments-of-two-orders".to_owned(), other));
    // Fragments of different requests, more than may wait.
    let several = (0..3_u8).flat_map(|id| {
        let mut other = cut.clone();
        other[15] = id;
        other
    });
    all.push(("fragments-of-three".to_owned(), several.collect()));
    let mut long = message(
        GiopVersion::V1_2,
        ByteOrder::Big,
        MessageKind::Request,
        &|out| request(out, &[7; 2100]),
    );
    long[6] |= 2;
    all.push(("fragments-too-long".to_owned(), long));
    let lone = message(
        GiopVersion::V1_2,
        ByteOrder::Big,
        MessageKind::Fragment,
        &|out| out.put_bytes(&id),
    );
    all.push(("fragment-alone".to_owned(), lone));
    for number in [0x0501_0001_u32, 0x0001_0020, 7] {
        for wide in [0_u32, 0x0001_0109, 0x0001_0100, 9] {
            let chosen = CodeSetContext {
                char_data: number,
                wchar_data: wide,
            };
            all.push(seed(
                &format!("code-sets-{number:x}-{wide:x}"),
                [&chosen.encode()[..]],
            ));
        }
    }
    all.extend(of_lite());
    all.extend(of_frames());
    all
}

type Write = Box<dyn Fn(&mut Encoder<'_>)>;

fn message(
    version: GiopVersion,
    order: ByteOrder,
    kind: MessageKind,
    write: &dyn Fn(&mut Encoder<'_>),
) -> Vec<u8> {
    let limits = Limits::default();
    let mut out = Encoder::new(Block::default(), order, Coding::new(version, &limits));
    begin_message(&mut out, kind);
    write(&mut out);
    let mut block = out.into_block();
    finish_message(&mut block).expect("it is short");
    block.into_vec()
}

/// Returns the messages of a version: a name, a kind, and a writer of what is behind the header.
fn of_giop(version: GiopVersion) -> Vec<(&'static str, MessageKind, Vec<Write>)> {
    let newest = version == GiopVersion::V1_2;
    let requests: Vec<Write> = targets(newest)
        .into_iter()
        .map(|target| -> Write {
            Box::new(move |out| {
                let header = RequestHeader {
                    request_id: 5,
                    response: ResponseFlags::SYNC_WITH_TARGET,
                    target: target.clone(),
                    operation: "ping",
                    contexts: ServiceContexts::none(),
                };
                header.encode(out).expect("it can be written");
            })
        })
        .collect();
    let locates = targets(newest)
        .into_iter()
        .map(|target| -> Write {
            Box::new(move |out| {
                let header = LocateRequestHeader {
                    request_id: 5,
                    target: target.clone(),
                };
                header.encode(out).expect("it can be written");
            })
        })
        .collect();
    let replies = (0..=5).filter_map(|number| ReplyStatus::from_number(number, version));
    let replies = replies
        .map(|status| -> Write { Box::new(move |out| reply(out, status)) })
        .collect();
    let located = (0..=5).filter_map(|number| LocateStatus::from_number(number, version));
    let located = located
        .map(|status| -> Write { Box::new(move |out| locate_reply(out, status)) })
        .collect();
    vec![
        ("requests", MessageKind::Request, requests),
        (
            "request-contexts",
            MessageKind::Request,
            vec![Box::new(|out| request(out, b"body"))],
        ),
        ("replies", MessageKind::Reply, replies),
        (
            "reply-short",
            MessageKind::Reply,
            (0..3)
                .map(|contexts| -> Write { Box::new(move |out| short_reply(out, contexts)) })
                .collect(),
        ),
        ("locate-requests", MessageKind::LocateRequest, locates),
        ("locate-replies", MessageKind::LocateReply, located),
        (
            "cancel",
            MessageKind::CancelRequest,
            vec![Box::new(|out| CancelRequest { request_id: 5 }.encode(out))],
        ),
        (
            "close",
            MessageKind::CloseConnection,
            vec![Box::new(|_| ())],
        ),
        ("error", MessageKind::MessageError, vec![Box::new(|_| ())]),
    ]
}

fn targets(newest: bool) -> Vec<Target<'static>> {
    let mut all = vec![Target::ObjectKey(
        b"a key of \xff octets that is longer than what is shown of keys in a trace",
    )];
    if newest {
        all.push(Target::Profile {
            tag: 0,
            data: &[0, 1, 2, 0],
        });
        all.push(Target::Reference {
            selected: 0,
            ior: Box::new(reference()),
        });
    }
    all
}

/// Returns a reference with a profile of each kind that the trace distinguishes.
fn reference() -> Ior {
    let text = "corbaloc:iiop:1.2@h:1,diop:1.2@h:2/K";
    let corbaloc: punctual_ior::Corbaloc = text.parse().expect("it is a reference");
    let ior = corbaloc.to_ior().expect("it can be written");
    let mut ior = ior.expect("it is no initial one");
    ior.profiles.push(TaggedProfile {
        tag: 0,
        data: vec![9],
    });
    ior.profiles.push(TaggedProfile {
        tag: 0x4242,
        data: Vec::new(),
    });
    ior
}

fn request(out: &mut Encoder<'_>, body: &[u8]) {
    let chosen = CodeSetContext {
        char_data: 0x0501_0001,
        wchar_data: 0x0001_0109,
    }
    .encode();
    let mut contexts = vec![(service_context::CODE_SETS, &chosen[..])];
    contexts.extend((0..18).map(|id| (id, &b"data"[..])));
    let header = RequestHeader {
        request_id: 5,
        response: ResponseFlags::SYNC_WITH_SERVER,
        target: Target::ObjectKey(b"key"),
        operation: "ping",
        contexts: ServiceContexts::new(&contexts),
    };
    header.encode(out).expect("it can be written");
    if !body.is_empty() {
        align_body(out);
        out.put_bytes(body);
    }
}

fn reply(out: &mut Encoder<'_>, status: ReplyStatus) {
    let contexts = [
        (service_context::EXCEPTION_DETAIL_MESSAGE, &b"why"[..]),
        (5, &[1, 0]),
    ];
    let header = ReplyHeader {
        request_id: 5,
        status,
        contexts: ServiceContexts::new(&contexts),
    };
    header.encode(out).expect("it can be written");
    align_body(out);
    match status {
        ReplyStatus::SystemException => exception(out, 1),
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
            reference().marshal(out).expect("it can be written");
        }
        ReplyStatus::NeedsAddressingMode => {
            AddressingDisposition::Reference
                .marshal(out)
                .expect("it can be written");
        }
        _ => out.put_bytes(b"body"),
    }
}

/// Writes a reply that the fast path accepts: with no context, or a short one.
fn short_reply(out: &mut Encoder<'_>, contexts: u32) {
    let data = [1, 0, 0, 0];
    let contexts: Vec<_> = (0..contexts).map(|id| (id, &data[..])).collect();
    let status = ReplyStatus::NoException;
    let header = ReplyHeader {
        request_id: 5,
        status,
        contexts: ServiceContexts::new(&contexts),
    };
    header.encode(out).expect("it can be written");
    align_body(out);
    out.put_u64(9);
}

fn exception(out: &mut Encoder<'_>, completed: u32) {
    let body = SystemExceptionBody {
        repository_id: "IDL:omg.org/CORBA/UNKNOWN:1.0",
        minor: 1,
        completed,
    };
    body.encode(out).expect("it can be written");
}

fn locate_reply(out: &mut Encoder<'_>, status: LocateStatus) {
    let header = LocateReplyHeader {
        request_id: 5,
        status,
    };
    header.encode(out).expect("it can be written");
    match status {
        LocateStatus::ObjectForward => reference().marshal(out).expect("it can be written"),
        LocateStatus::ObjectForwardPerm => Ior::nil().marshal(out).expect("it can be written"),
        LocateStatus::SystemException => exception(out, 2),
        LocateStatus::NeedsAddressingMode => AddressingDisposition::Profile
            .marshal(out)
            .expect("it can be written"),
        _ => {}
    }
}

fn of_lite() -> Vec<Seed> {
    let coding = Coding::default();
    let header = |response| RequestHeader {
        request_id: 5,
        response,
        target: Target::ObjectKey(b"key"),
        operation: "ping",
        contexts: ServiceContexts::none(),
    };
    let message = |kind, write: &dyn Fn(&mut Encoder<'_>) -> Result<(), punctual_cdr::CdrError>| {
        let mut out = lite::begin_message(Block::default(), kind, coding);
        write(&mut out).expect("it can be written");
        let mut block = out.into_block();
        lite::finish_message(&mut block).expect("it is short");
        block.into_vec()
    };
    let requests = [
        ResponseFlags::NONE,
        ResponseFlags::SYNC_WITH_SERVER,
        ResponseFlags::SYNC_WITH_TARGET,
    ];
    let requests = requests.map(|response| {
        message(lite::Kind::Request, &|out| {
            lite::encode_request(&header(response), out)
        })
    });
    let reply = ReplyHeader {
        request_id: 5,
        status: ReplyStatus::NoException,
        contexts: ServiceContexts::none(),
    };
    let located = LocateReplyHeader {
        request_id: 5,
        status: LocateStatus::ObjectHere,
    };
    let locate = LocateRequestHeader {
        request_id: 5,
        target: Target::ObjectKey(b"key"),
    };
    let messages = [
        requests.concat(),
        message(lite::Kind::Reply, &|out| lite::encode_reply(&reply, out)),
        message(lite::Kind::LocateRequest, &|out| {
            lite::encode_locate_request(&locate, out)
        }),
        message(lite::Kind::LocateReply, &|out| {
            lite::encode_locate_reply(&located, out)
        }),
        message(lite::Kind::CancelRequest, &|out| {
            out.put_u32(5);
            Ok(())
        }),
        lite::close_connection().to_vec(),
        lite::message_error().to_vec(),
    ];
    let mut batch = lite::BatchWriter::begin(Block::default(), b"key", "ping", coding)
        .expect("it can be written");
    for body in [&b"one"[..], b"", b"three"] {
        batch.push_body(body).expect("it can be written");
    }
    let batch = batch.finish().expect("it is short");
    let mut behind = batch.to_vec();
    behind.push(0);
    behind[0] += 1;
    vec![
        seed("lite-all", [LITE, &messages.concat(), &batch]),
        seed("lite-batch", [LITE, &batch]),
        seed("lite-batch-and-more", [LITE, &behind]),
        seed("lite-unknown-kind", [LITE, &[0, 0, 0, 0, 99]]),
        seed("lite-oversized", [LITE, &[255, 255, 255, 255]]),
        seed("lite-cut", [LITE, &batch[..9]]),
    ]
}

fn of_frames() -> Vec<Seed> {
    let coding = Coding::default();
    let header = |sequence| sequenced::FrameHeader {
        stream: 7,
        sequence,
        sent_at: sequence * 1000,
        object_key: b"key",
        operation: "note",
    };
    let frame = |order, sequence| {
        let mut out = sequenced::begin_message(Block::default(), order, coding);
        header(sequence)
            .encode(&mut out)
            .expect("it can be written");
        out.align(8);
        out.put_u64(1);
        let mut block = out.into_block();
        sequenced::finish_message(&mut block).expect("it is short");
        block.into_vec()
    };
    let batch = |order| {
        let writer = sequenced::BatchWriter::begin(Block::default(), order, &header(3), coding);
        let mut writer = writer.expect("it can be written");
        for body in [&b"one"[..], b"", b"three"] {
            let put = |out: &mut Encoder<'_>| {
                out.put_bytes(body);
                Ok(())
            };
            writer.push(9, put).expect("it can be written");
        }
        writer.finish().expect("it is short").into_vec()
    };
    let mut all = Vec::new();
    for order in [ByteOrder::Big, ByteOrder::Little] {
        // In order, lost, late, twice, far off, and restarted.
        let numbers = [
            1, 2, 5, 4, 4, 5, 6000, 9000, 4_000_000, 4_000_001, 4_000_005, 2,
        ];
        let stream = numbers.map(|number| frame(order, number)).concat();
        all.push(seed(
            &format!("frames-{order:?}"),
            [&*stream, &batch(order)],
        ));
        let mut behind = batch(order);
        behind.push(0);
        behind[if order == ByteOrder::Big { 11 } else { 8 }] += 1;
        all.push(seed(
            &format!("frames-batch-and-more-{order:?}"),
            [&*behind],
        ));
    }
    let whole = frame(ByteOrder::Big, 1);
    for (name, place, octet) in [("version", 4, 9), ("flags", 5, 0x80), ("oversized", 8, 255)] {
        let mut bad = whole.clone();
        bad[place] = octet;
        all.push(seed(&format!("frames-bad-{name}"), [&*bad]));
    }
    all.push(seed("frames-cut", [&whole[..7]]));
    all.push(seed("frames-cut-behind-header", [&whole[..20]]));
    all
}
