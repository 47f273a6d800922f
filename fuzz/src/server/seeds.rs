//! Seeds: requests by each protocol, to each object, with each end.

use super::{PROTOCOLS, THROUGH_BRIDGE, server};
use crate::Seed;
use punctual::Interface;
use punctual_cdr::{Block, ByteOrder, Coding, Encoder, GiopVersion, Limits};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::{
    CancelRequest, LocateRequestHeader, MessageKind, RequestHeader, ResponseFlags, ServiceContexts,
    Target, align_body, begin_message, close_connection, finish_message, lite, message_error,
    sequenced, service_context, split,
};

/// Number of instructions that the servant [`super::raw`] knows.
const ENDS: u8 = 14;

/// Returns requests to the server of [`super::server`], and to a bridge before it.
pub(super) fn seeds() -> Vec<Seed> {
    let mut all = of_giop();
    all.extend(of_lite());
    all.extend(of_frames());
    let through: Vec<Seed> = all
        .iter()
        .filter(|(name, _)| !name.contains("piece"))
        .map(|(name, input)| {
            let mut input = input.clone();
            let protocol = PROTOCOLS.len();
            // A number that selects the same protocol, through the bridge.
            let wanted = usize::from(input[0]) % protocol;
            let number = (0..=15_u8).find(|number| {
                number & THROUGH_BRIDGE != 0 && usize::from(*number) % protocol == wanted
            });
            input[0] = number.expect("there is one of each");
            (format!("bridge-{name}"), input)
        })
        .collect();
    all.extend(through);
    all.extend(lent());
    all
}

/// Returns requests whose octets are lent, of each protocol; and runs that are lent where none may
/// be.
fn lent() -> Vec<Seed> {
    let raw = raw_key();
    let octets = [7; 64];
    let giop = |more| {
        let message = message(
            GiopVersion::V1_2,
            ByteOrder::NATIVE,
            MessageKind::Request,
            |out| {
                let header = RequestHeader {
                    request_id: 3,
                    response: ResponseFlags::SYNC_WITH_TARGET,
                    target: Target::ObjectKey(&raw),
                    operation: "do",
                    contexts: ServiceContexts::none(),
                };
                header.encode(out).expect("it can be written");
                align_body(out);
                out.put_u8(0);
                out.put_octets(&octets).expect("they can be written");
            },
        );
        let mut message = message;
        message[6] |= more;
        message
    };
    let coding = Coding::default();
    let frame = sequenced::FrameHeader {
        stream: 7,
        sequence: 1,
        sent_at: 1,
        object_key: &raw,
        operation: "do",
    };
    let mut out = sequenced::begin_message(Block::default(), ByteOrder::NATIVE, coding);
    frame.encode(&mut out).expect("it can be written");
    out.align(8);
    out.put_u8(0);
    out.put_octets(&octets).expect("they can be written");
    let mut frame = out.into_block();
    sequenced::finish_message(&mut frame).expect("it is short");
    let mut out = lite::begin_message(Block::default(), lite::Kind::Request, coding);
    let header = RequestHeader {
        request_id: 3,
        response: ResponseFlags::SYNC_WITH_TARGET,
        target: Target::ObjectKey(&raw),
        operation: "do",
        contexts: ServiceContexts::none(),
    };
    lite::encode_request(&header, &mut out).expect("it can be written");
    out.align(8);
    out.put_u8(0);
    out.put_octets(&octets).expect("they can be written");
    let mut small = out.into_block();
    lite::finish_message(&mut small).expect("it is short");
    let whole = giop(0);
    let at = whole.len() - octets.len();
    let twice = whole.repeat(2);
    let (lite_at, frame_at) = (small.len() - octets.len(), frame.len() - octets.len());
    let inputs = [
        ("giop", 0, at, octets.len(), whole.clone()),
        ("giop-first-of-two", 0, at, octets.len(), twice.clone()),
        (
            "giop-second-of-two",
            0,
            whole.len() + at,
            octets.len(),
            twice.clone(),
        ),
        ("giop-across", 0, at, octets.len() + 20, twice),
        ("giop-in-head", 0, 20, 8, whole.clone()),
        ("giop-in-header", 0, 4, 8, whole.clone()),
        ("giop-fragment", 0, at, octets.len(), giop(2)),
        ("giop-rest-missing", 0, at, 10, whole[..at + 10].to_vec()),
        ("lite", 1, lite_at, octets.len(), small.into_vec()),
        ("frame", 2, frame_at, octets.len(), frame.into_vec()),
    ];
    let number = |number: usize| u16::try_from(number).unwrap_or_default().to_be_bytes();
    let protocols = PROTOCOLS.len();
    let mut all = Vec::new();
    for (name, protocol, at, length, octets) in inputs {
        for (which, through) in [("", 0), ("bridge-", THROUGH_BRIDGE)] {
            let fits = |how: &u8| {
                usize::from(*how) % protocols == protocol && how & THROUGH_BRIDGE == through
            };
            let how = (super::LENDS..=255).find(fits);
            let how = how.expect("there is one of each");
            let input = [&[how][..], &number(at), &number(length), &octets].concat();
            all.push((format!("lent-{which}{name}"), input));
        }
    }
    all
}

pub(super) fn every_key() -> Vec<u8> {
    server().every.as_object().object_key().expect("it has one")
}

pub(crate) fn raw_key() -> Vec<u8> {
    server().raw.as_object().object_key().expect("it has one")
}

/// Contents of a request, besides its object.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) version: GiopVersion,
    pub(crate) order: ByteOrder,
    pub(crate) response: ResponseFlags,
    pub(crate) operation: &'a str,
    pub(crate) contexts: &'a [(u32, &'a [u8])],
    /// Number of the servant's action.
    pub(crate) end: u8,
}

pub(crate) const PLAIN: Ask<'_> = Ask {
    version: GiopVersion::V1_2,
    order: ByteOrder::NATIVE,
    response: ResponseFlags::SYNC_WITH_TARGET,
    operation: "do",
    contexts: &[],
    end: 0,
};

pub(super) fn put_body(out: &mut Encoder<'_>, end: u8) {
    out.put_u8(end);
    out.put_octets(b"octets").expect("they can be written");
}

impl Ask<'_> {
    pub(crate) fn of(&self, target: Target<'_>) -> Vec<u8> {
        message(self.version, self.order, MessageKind::Request, |out| {
            let header = RequestHeader {
                request_id: 3,
                response: self.response,
                target,
                operation: self.operation,
                contexts: ServiceContexts::new(self.contexts),
            };
            header.encode(out).expect("it can be written");
            align_body(out);
            put_body(out, self.end);
        })
    }
}

pub(crate) fn message(
    version: GiopVersion,
    order: ByteOrder,
    kind: MessageKind,
    write: impl FnOnce(&mut Encoder<'_>),
) -> Vec<u8> {
    let limits = Limits::default();
    let mut out = Encoder::new(Block::default(), order, Coding::new(version, &limits));
    begin_message(&mut out, kind);
    write(&mut out);
    let mut block = out.into_block();
    finish_message(&mut block).expect("it is short");
    block.into_vec()
}

/// Returns the caller's policies with the request's end time, in tenths of a microsecond since
/// 1582.
fn until(end: u64) -> Vec<u8> {
    const REQUEST_END_TIME: u32 = 28;
    let native = u8::from(ByteOrder::NATIVE == ByteOrder::Little);
    let numbers = [1, REQUEST_END_TIME, 24].map(u32::to_ne_bytes).concat();
    let head = [&[native, 0, 0, 0], &numbers[..]].concat();
    let opened = [native, 0, 0, 0, 0, 0, 0, 0];
    [&head[..], &opened, &end.to_ne_bytes(), &[0; 8]].concat()
}

fn of_giop() -> Vec<Seed> {
    let (raw, every) = (raw_key(), every_key());
    let to_raw = || Target::ObjectKey(&raw);
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    for end in 0..ENDS {
        let ask = Ask { end, ..PLAIN };
        all.push((format!("raw-{end:02}"), ask.of(to_raw())));
        let old = Ask {
            version: GiopVersion::V1_1,
            order: ByteOrder::Big,
            ..ask
        };
        all.push((format!("raw-{end:02}-1.1"), old.of(to_raw())));
        let old = Ask {
            version: GiopVersion::V1_0,
            ..ask
        };
        all.push((format!("raw-{end:02}-1.0"), old.of(to_raw())));
        let one_way = Ask {
            response: ResponseFlags::NONE,
            ..ask
        };
        all.push((format!("raw-{end:02}-one-way"), one_way.of(to_raw())));
        let early = Ask {
            response: ResponseFlags::SYNC_WITH_SERVER,
            ..ask
        };
        all.push((format!("raw-{end:02}-early"), early.of(to_raw())));
        let contexts: &[(u32, &[u8])] = &[(77, b"short")];
        all.push((
            format!("raw-{end:02}-context"),
            Ask { contexts, ..ask }.of(to_raw()),
        ));
    }
    let long = [7; 40];
    let contexts: [&[(u32, &[u8])]; 4] = [
        &[(77, b"sixteen octets!!")],
        &[(77, b"one"), (78, b"other")],
        &[(77, &long), (77, b"again")],
        &[(77, b"one"), (77, b"again")],
    ];
    for (number, contexts) in contexts.into_iter().enumerate() {
        all.push((
            format!("contexts-{number}"),
            Ask { contexts, ..PLAIN }.of(to_raw()),
        ));
    }
    for (name, narrow, wide) in [
        ("utf-8", 0x0501_0001, 0x0001_0109),
        ("latin-2", 0x0001_0002, 0x0001_0100),
        ("unknown", 7, 0),
        ("unknown-wide", 0x0501_0001, 7),
    ] {
        let chosen = CodeSetContext {
            char_data: narrow,
            wchar_data: wide,
        }
        .encode();
        let contexts: &[(u32, &[u8])] = &[(service_context::CODE_SETS, &chosen)];
        let ask = Ask { contexts, ..PLAIN };
        let again = [ask.of(to_raw()), PLAIN.of(to_raw())].concat();
        all.push((format!("code-sets-{name}"), again));
        let old = Ask {
            version: GiopVersion::V1_1,
            ..ask
        };
        all.push((format!("code-sets-{name}-1.1"), old.of(to_raw())));
    }
    let contexts: &[(u32, &[u8])] = &[(service_context::CODE_SETS, b"\0")];
    all.push((
        "code-sets-cut".to_owned(),
        Ask { contexts, ..PLAIN }.of(to_raw()),
    ));
    for (name, end) in [("late", 0), ("in-time", u64::MAX)] {
        let policies = until(end);
        for (cut, length) in [("", policies.len()), ("-cut", 30)] {
            let told = policies.get(..length).unwrap_or(&policies);
            let contexts: &[(u32, &[u8])] = &[(service_context::INVOCATION_POLICIES, told)];
            all.push((
                format!("{name}{cut}"),
                Ask { contexts, ..PLAIN }.of(to_raw()),
            ));
        }
    }
    for (name, target) in targets(&raw, &every) {
        all.push((format!("target-{name}"), PLAIN.of(target.clone())));
        let early = Ask {
            response: ResponseFlags::SYNC_WITH_SERVER,
            ..PLAIN
        };
        all.push((format!("target-{name}-early"), early.of(target.clone())));
        let locate = message(
            GiopVersion::V1_2,
            ByteOrder::NATIVE,
            MessageKind::LocateRequest,
            |out| {
                let header = LocateRequestHeader {
                    request_id: 4,
                    target: target.clone(),
                };
                header.encode(out).expect("it can be written");
            },
        );
        all.push((format!("locate-{name}"), locate));
    }
    for key in [&raw[..], b"E", b"?"] {
        let locate = message(
            GiopVersion::V1_0,
            ByteOrder::Big,
            MessageKind::LocateRequest,
            |out| {
                let header = LocateRequestHeader {
                    request_id: 4,
                    target: Target::ObjectKey(key),
                };
                header.encode(out).expect("it can be written");
            },
        );
        all.push((format!("locate-1.0-{}", key.len()), locate));
    }
    for operation in [
        "_is_a",
        "_non_existent",
        "_interface",
        "_component",
        "_get_level",
        "_repository_id",
        "none",
    ] {
        let ask = Ask { operation, ..PLAIN };
        all.push((
            format!("operation-{operation}"),
            ask.of(Target::ObjectKey(&every)),
        ));
    }
    let request = PLAIN.of(to_raw());
    let (newest, order) = (GiopVersion::V1_2, ByteOrder::NATIVE);
    for (name, kind) in [
        ("reply", MessageKind::Reply),
        ("locate-reply", MessageKind::LocateReply),
        ("fragment", MessageKind::Fragment),
        ("request-cut", MessageKind::Request),
        ("locate-cut", MessageKind::LocateRequest),
    ] {
        all.push((
            format!("only-{name}"),
            message(newest, order, kind, |out| out.put_u32(3)),
        ));
    }
    let cancel = |id| {
        message(newest, order, MessageKind::CancelRequest, |out| {
            CancelRequest { request_id: id }.encode(out)
        })
    };
    all.push(("cancel".to_owned(), [cancel(3), request.clone()].concat()));
    all.push((
        "close".to_owned(),
        [&*request, &close_connection(newest, order)].concat(),
    ));
    all.push((
        "error".to_owned(),
        [&*request, &message_error(newest, order)].concat(),
    ));
    all.push(("cut".to_owned(), request[..request.len() - 3].to_vec()));
    all.push(("many".to_owned(), request.repeat(12)));
    all.push(("no-message".to_owned(), b"HTTP/1.1 200 OK\r\n".to_vec()));
    for version in [GiopVersion::V1_1, newest] {
        let whole = Ask {
            version,
            end: 0,
            ..PLAIN
        }
        .of(to_raw());
        let pieces: Vec<u8> = split(&whole, 40)
            .flat_map(|piece| [&*piece.header, piece.body].concat())
            .collect();
        all.push((format!("fragments-{version}"), pieces.clone()));
        all.push((format!("fragments-cut-{version}"), pieces[..60].to_vec()));
        let mut cancelled = pieces[..40].to_vec();
        cancelled.extend(cancel(3));
        cancelled.extend(&request);
        all.push((format!("fragments-cancelled-{version}"), cancelled));
    }
    let mut inputs: Vec<Seed> = all
        .iter()
        .map(|(name, octets)| (name.clone(), [&[0], &**octets].concat()))
        .collect();
    // In pieces of 1, 7 and 40 octets.
    for (number, how) in [(0x15, "one"), (0x2a, "seven"), (0x33, "forty")]
        .into_iter()
        .filter(|(how, _)| how & THROUGH_BRIDGE == 0)
    {
        let octets = request.repeat(3);
        inputs.push((format!("piece-{how}"), [&[number], &*octets].concat()));
    }
    inputs
}

fn targets<'k>(raw: &'k [u8], every: &'k [u8]) -> Vec<(&'static str, Target<'k>)> {
    let ior = server().raw.as_object().ior();
    let profile = ior.profiles.first().expect("it has one");
    let reference = |selected| Target::Reference {
        selected,
        ior: Box::new(ior.clone()),
    };
    vec![
        ("raw", Target::ObjectKey(raw)),
        ("every", Target::ObjectKey(every)),
        ("bound", Target::ObjectKey(b"E")),
        ("unknown", Target::ObjectKey(b"?")),
        (
            "profile",
            Target::Profile {
                tag: profile.tag,
                data: &profile.data,
            },
        ),
        (
            "profile-unknown",
            Target::Profile {
                tag: 0x4242,
                data: &profile.data,
            },
        ),
        (
            "profile-bad",
            Target::Profile {
                tag: profile.tag,
                data: b"\x07",
            },
        ),
        ("reference", reference(0)),
        ("reference-beyond", reference(99)),
    ]
}

fn of_lite() -> Vec<Seed> {
    let coding = Coding::default();
    let (raw, every) = (raw_key(), every_key());
    let mut all = Vec::new();
    let mut add = |name: String, octets: Vec<u8>| {
        all.push((format!("lite-{name}"), [&[1], &*octets].concat()))
    };
    let request = |end, response| {
        let mut out = lite::begin_message(Block::default(), lite::Kind::Request, coding);
        let header = RequestHeader {
            request_id: 3,
            response,
            target: Target::ObjectKey(&raw),
            operation: "do",
            contexts: ServiceContexts::none(),
        };
        lite::encode_request(&header, &mut out).expect("it can be written");
        out.align(8);
        put_body(&mut out, end);
        let mut block = out.into_block();
        lite::finish_message(&mut block).expect("it is short");
        block.into_vec()
    };
    for end in 0..ENDS {
        add(
            format!("raw-{end:02}"),
            request(end, ResponseFlags::SYNC_WITH_TARGET),
        );
        add(
            format!("raw-{end:02}-early"),
            request(end, ResponseFlags::SYNC_WITH_SERVER),
        );
    }
    for (name, key) in [("raw", &raw[..]), ("bound", b"E"), ("unknown", b"?")] {
        let mut out = lite::begin_message(Block::default(), lite::Kind::LocateRequest, coding);
        let header = LocateRequestHeader {
            request_id: 4,
            target: Target::ObjectKey(key),
        };
        lite::encode_locate_request(&header, &mut out).expect("it can be written");
        let mut block = out.into_block();
        lite::finish_message(&mut block).expect("it is short");
        add(format!("locate-{name}"), block.into_vec());
    }
    for (name, key, operation) in [("ping", &every, "ping"), ("raw", &raw, "do")] {
        let mut batch = lite::BatchWriter::begin(Block::default(), key, operation, coding)
            .expect("it can be written");
        for end in [0, 9, 200] {
            let pushed = batch.push(|out| {
                put_body(out, end);
                Ok(())
            });
            pushed.expect("it can be written");
        }
        let batch = batch.finish().expect("it is short").into_vec();
        add(format!("batch-{name}"), batch.clone());
        add(
            format!("batch-{name}-cut"),
            [&batch[..batch.len() - 9], &[0; 9]].concat(),
        );
    }
    for kind in 0..=8 {
        let bare = [4_u32.to_ne_bytes().to_vec(), vec![kind], vec![3, 0, 0, 0]].concat();
        add(format!("only-{kind}"), bare);
    }
    add(
        "close".to_owned(),
        [
            request(0, ResponseFlags::NONE),
            lite::close_connection().to_vec(),
        ]
        .concat(),
    );
    add(
        "error".to_owned(),
        [
            request(0, ResponseFlags::NONE),
            lite::message_error().to_vec(),
        ]
        .concat(),
    );
    all
}

fn of_frames() -> Vec<Seed> {
    let coding = Coding::default();
    let raw = raw_key();
    let header = |sequence| sequenced::FrameHeader {
        stream: 7,
        sequence,
        sent_at: sequence,
        object_key: &raw,
        operation: "do",
    };
    let mut all = Vec::new();
    for order in [ByteOrder::Big, ByteOrder::Little] {
        let frame = |sequence, end| {
            let mut out = sequenced::begin_message(Block::default(), order, coding);
            header(sequence)
                .encode(&mut out)
                .expect("it can be written");
            out.align(8);
            put_body(&mut out, end);
            let mut block = out.into_block();
            sequenced::finish_message(&mut block).expect("it is short");
            block.into_vec()
        };
        let mut batch = sequenced::BatchWriter::begin(Block::default(), order, &header(20), coding)
            .expect("it can be written");
        for end in [0, 3, 200] {
            let pushed = batch.push(9, |out| {
                put_body(out, end);
                Ok(())
            });
            pushed.expect("it can be written");
        }
        let batch = batch.finish().expect("it is short");
        let ends: Vec<u8> = (0..ENDS)
            .flat_map(|end| frame(u64::from(end), end))
            .collect();
        // Lost, late, twice, and stray.
        let stream = [1, 4, 3, 3, 9_000_000, 2]
            .map(|sequence| frame(sequence, 200))
            .concat();
        let mut inputs = vec![
            ("ends", ends),
            ("stream", stream),
            ("batch", batch.into_vec()),
        ];
        let mut bad = frame(1, 0);
        bad[4] = 9;
        inputs.push(("bad", bad));
        inputs.push(("cut", frame(1, 0)[..30].to_vec()));
        for (name, octets) in inputs {
            all.push((
                format!("frames-{name}-{order:?}"),
                [&[2], &*octets].concat(),
            ));
        }
    }
    all
}
