//! Seeds: replies of each status, with contexts, in fragments, by another server; and messages that
//! are no replies.

use super::{FULL, IN_SEGMENT};
use crate::Seed;
use crate::server::{PROTOCOLS, server};
use crate::wire;
use punctual::Interface;
use punctual_cdr::{
    Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Limits, Marshal,
};
use punctual_giop::{
    AddressingDisposition, Examined, LocateReplyHeader, LocateStatus, MessageKind, ReplyHeader,
    ReplyStatus, RequestHeader, ServiceContexts, SystemExceptionBody, align_body, begin_message,
    close_connection, examine, finish_message, lite, message_decoder, message_error,
    service_context, split,
};
use punctual_ior::{
    AssociationOptions, Ior, Profile, SslSecTrans, TaggedComponent, TaggedProfile, tags,
};

/// Numbers of the call without arguments and results, and of one with text.
const CALLS: [u8; 2] = [0, 4];

/// Returns the seeds.
///
/// # Panics
/// A seed cannot be written.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let limits = Limits::default();
    let conversations = super::conversations();
    let asked = conversations.first().expect("there is one").asked.clone();
    let Ok(Examined::Complete(header)) = examine(&asked, &limits) else {
        panic!("a request is a message");
    };
    let mut input: Decoder<'_> = message_decoder(&header, &asked, Coding::default());
    let request = RequestHeader::decode(&mut input).expect("it is a request");
    let id = request.request_id;
    let mut all = Vec::new();
    let mut add = |name: &str, protocol: u8, octets: Vec<u8>| {
        for call in CALLS {
            let input = [&[protocol, call], &*octets].concat();
            all.push((format!("{name}-{call}"), input));
            if protocol == 0 {
                for (full, how) in [("full", FULL), ("segment", FULL | IN_SEGMENT)] {
                    let input = [&[how, call], &*octets].concat();
                    all.push((format!("{full}-{name}-{call}"), input));
                }
            }
        }
    };
    for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            for (name, octets) in of_giop(version, order, id) {
                add(&format!("{name}-{version}-{order:?}"), 0, octets);
            }
        }
    }
    for (name, octets) in of_lite(id) {
        add(&format!("lite-{name}"), 1, octets);
    }
    for one in conversations.iter().filter(|one| one.protocol == 0) {
        let number = u8::try_from(one.number).expect("there are few");
        let input = [&[FULL, number], &*one.answered].concat();
        all.push((format!("full-call-{number:02}"), input));
    }
    all.extend(own_replies());
    // Replies to four calls on one connection: the second and the fourth are answered, in another
    // order.
    let newest = GiopVersion::V1_2;
    let replies = (0..8).map(|number| {
        let id = (id + number) ^ 1;
        reply(
            newest,
            ByteOrder::NATIVE,
            id,
            ReplyStatus::NoException,
            &[],
            &|_| Ok(()),
        )
    });
    let replies: Vec<u8> = replies.flatten().collect();
    for way in super::SENDS..=255 {
        let good = reply(
            newest,
            ByteOrder::NATIVE,
            id,
            ReplyStatus::NoException,
            &[],
            &|_| Ok(()),
        );
        all.push((format!("way-{way}"), [&[0, way], &*good].concat()));
        all.push((format!("way-{way}-ends"), vec![0, way]));
    }
    for way in 0..super::later::WAYS {
        let how = super::LATER;
        for (name, octets) in of_giop(newest, ByteOrder::NATIVE, id) {
            all.push((
                format!("later-{way}-{name}"),
                [&[how, way], &*octets].concat(),
            ));
        }
        let several = [&[how, way], &*replies].concat();
        all.push((format!("later-{way}-several"), several));
        all.push((format!("later-{way}-ends"), vec![how, way]));
        all.push((
            format!("later-{way}-no-message"),
            [&[how, way], &[7; 40][..]].concat(),
        ));
    }
    all.push(("several-calls".to_owned(), [&[0xc0, 0], &*replies].concat()));
    all
}

/// Returns replies to two calls on one connection, the second of which receives only its own reply.
fn own_replies() -> Vec<Seed> {
    // Number of octets that arrive at once, and are one reply.
    const PIECE: usize = 40;
    const TWICE: u8 = 0x40 | 3 << 1;
    let [first, second] = ids_of_two_calls();
    let text = |octets: usize| "x".repeat(octets);
    let mut all = Vec::new();
    let statuses = [
        ReplyStatus::NoException,
        ReplyStatus::UserException,
        ReplyStatus::SystemException,
        ReplyStatus::LocationForward,
    ];
    for status in statuses {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            for contexts in [&[][..], &[(9, &b"1234"[..])]] {
                let of = |id, status| {
                    // The header, the context if there is one, and text that fills the rest.
                    let left = PIECE - 24 - 16 * contexts.len();
                    let body: Write<'_> = &|out| match left.checked_sub(5) {
                        Some(letters) => out.put_string(&text(letters)),
                        None => Ok(()),
                    };
                    let version = GiopVersion::V1_2;
                    reply(version, order, id, status, contexts, body)
                };
                let octets = [of(first, ReplyStatus::NoException), of(second, status)].concat();
                let name = format!("own-{status:?}-{order:?}-{}", contexts.len());
                all.push((name, [&[TWICE, 4], &*octets].concat()));
            }
        }
    }
    all
}

/// Returns the id of the second request on a connection.
pub(crate) fn second_id() -> u32 {
    ids_of_two_calls()[1]
}

/// Returns the ids of two requests on one connection.
fn ids_of_two_calls() -> [u32; 2] {
    let every = super::reference(PROTOCOLS[0]);
    wire::opens_answered(|asked| crate::server::served(PROTOCOLS[0], asked, 0));
    for call in &super::CALLS[4..6] {
        let _ = call(&every);
    }
    let asked = wire::close_opened().concat();
    wire::opens([], 0);
    let mut left = &*asked;
    [(); 2].map(|()| {
        let Ok(Examined::Complete(header)) = examine(left, &Limits::default()) else {
            panic!("a request is a message");
        };
        let mut input: Decoder<'_> = message_decoder(&header, left, Coding::default());
        let request = RequestHeader::decode(&mut input).expect("it is a request");
        left = &left[header.message_len()..];
        request.request_id
    })
}

type Write<'w> = &'w dyn Fn(&mut Encoder<'_>) -> Result<(), CdrError>;

fn message(version: GiopVersion, order: ByteOrder, kind: MessageKind, write: Write<'_>) -> Vec<u8> {
    let limits = Limits::default();
    let mut out = Encoder::new(Block::default(), order, Coding::new(version, &limits));
    begin_message(&mut out, kind);
    write(&mut out).expect("it can be written");
    let mut block = out.into_block();
    finish_message(&mut block).expect("it is short");
    block.into_vec()
}

fn reply(
    version: GiopVersion,
    order: ByteOrder,
    request_id: u32,
    status: ReplyStatus,
    contexts: &[(u32, &[u8])],
    body: Write<'_>,
) -> Vec<u8> {
    message(version, order, MessageKind::Reply, &|out| {
        let contexts = ServiceContexts::new(contexts);
        ReplyHeader {
            request_id,
            status,
            contexts,
        }
        .encode(out)?;
        align_body(out);
        body(out)
    })
}

/// Exceptions that the ORB knows, handles specially or does not know.
const EXCEPTIONS: [(&str, u32); 9] = [
    ("IDL:omg.org/CORBA/UNKNOWN:1.0", 0),
    ("IDL:omg.org/CORBA/TRANSIENT:1.0", 1),
    ("IDL:omg.org/CORBA/COMM_FAILURE:1.0", 1),
    ("IDL:omg.org/CORBA/OBJECT_NOT_EXIST:1.0", 1),
    ("IDL:omg.org/CORBA/MARSHAL:1.0", 2),
    ("IDL:omg.org/CORBA/NO_PERMISSION:1.0", 7),
    ("IDL:omg.org/CORBA/NEWER_THAN_THIS:1.0", 1),
    ("IDL:elsewhere:1.0", 2),
    ("", 0),
];

fn exception(
    out: &mut Encoder<'_>,
    (repository_id, completed): (&str, u32),
) -> Result<(), CdrError> {
    let minor = 0x4f4d_0002;
    SystemExceptionBody {
        repository_id,
        minor,
        completed,
    }
    .encode(out)
}

/// Returns targets of forwards: the server, an address without a server, and profiles that the
/// client does not speak.
fn forwards() -> Vec<(&'static str, Ior)> {
    let every = server().every.as_object().ior();
    let profile = |tag| TaggedProfile {
        tag,
        data: vec![0, 1],
    };
    let with = |profiles| Ior {
        type_id: every.type_id.clone(),
        profiles,
    };
    let written = every.profiles.first().expect("it has one");
    let secured = |component: &TaggedComponent| {
        let Ok(Profile::Pair(mut pair)) = written.decode() else {
            panic!("its link has no profile of its own");
        };
        pair.components.push(component.clone());
        with(vec![
            pair.to_tagged(ByteOrder::NATIVE).expect("it is short"),
        ])
    };
    let demands = |target_requires| {
        TaggedComponent::ssl_sec_trans(&SslSecTrans {
            target_supports: AssociationOptions(0xffff),
            target_requires,
            port: 0,
        })
    };
    let none = |tag| TaggedComponent { tag, data: vec![9] };
    let mut several = vec![profile(0x4242), profile(0)];
    several.extend(every.profiles.iter().cloned());
    vec![
        ("there", every.clone()),
        ("nowhere", Ior::nil()),
        ("unknown", with(vec![profile(0x4242)])),
        ("malformed", with(vec![profile(0)])),
        ("several", with(several)),
        ("secured", secured(&demands(AssociationOptions::INTEGRITY))),
        ("unsecured", secured(&demands(AssociationOptions(1)))),
        ("mechanisms", secured(&crate::ior::mechanisms())),
        ("bad-ssl", secured(&none(tags::component::SSL_SEC_TRANS))),
        (
            "bad-csi",
            secured(&none(tags::component::CSI_SEC_MECH_LIST)),
        ),
    ]
}

pub(crate) fn of_giop(version: GiopVersion, order: ByteOrder, id: u32) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    let say = |status, contexts: &[(u32, &[u8])], body: Write<'_>| {
        reply(version, order, id, status, contexts, body)
    };
    let text: Write<'_> = &|out| out.put_string("text");
    let good = say(ReplyStatus::NoException, &[], text);
    all.push(("good".to_owned(), good.clone()));
    let detail: &[(u32, &[u8])] = &[(
        service_context::EXCEPTION_DETAIL_MESSAGE,
        b"\0\0\0\0\0\0\0\x04why\0",
    )];
    let long = [1; 40];
    let contexts: [&[(u32, &[u8])]; 6] = [
        &[(0x4655_5a01, b"\0")],
        &[(service_context::RT_CORBA_PRIORITY, &[1, 0, 7, 0])],
        &[(9, b"")],
        &[(9, b"data"), (7, b"")],
        detail,
        &[(9, &long)],
    ];
    for (number, contexts) in contexts.into_iter().enumerate() {
        all.push((
            format!("contexts-{number}"),
            say(ReplyStatus::NoException, contexts, text),
        ));
        let body: Write<'_> = &|out| exception(out, EXCEPTIONS[0]);
        all.push((
            format!("contexts-{number}-exception"),
            say(ReplyStatus::SystemException, contexts, body),
        ));
    }
    for (number, which) in EXCEPTIONS.into_iter().enumerate() {
        let body: Write<'_> = &|out| exception(out, which);
        all.push((
            format!("exception-{number}"),
            say(ReplyStatus::SystemException, &[], body),
        ));
    }
    all.push((
        "exception-cut".to_owned(),
        say(ReplyStatus::SystemException, &[], &|_| Ok(())),
    ));
    for id in [
        "IDL:all_types/Bad:1.0",
        "IDL:all_types/Empty:1.0",
        "IDL:other:1.0",
    ] {
        let body: Write<'_> = &|out| out.put_string(id);
        all.push((
            format!("user-exception-{}", id.len()),
            say(ReplyStatus::UserException, &[], body),
        ));
    }
    for (name, ior) in forwards() {
        let body: Write<'_> = &|out| ior.marshal(out);
        // Each target receives the same octets.
        all.push((
            format!("forward-{name}"),
            say(ReplyStatus::LocationForward, &[], body),
        ));
        if version == GiopVersion::V1_2 {
            all.push((
                format!("forward-{name}-for-good"),
                say(ReplyStatus::LocationForwardPerm, &[], body),
            ));
        }
    }
    if version == GiopVersion::V1_2 {
        for mode in [
            AddressingDisposition::Key,
            AddressingDisposition::Profile,
            AddressingDisposition::Reference,
        ] {
            let body: Write<'_> = &|out| mode.marshal(out);
            let asks = say(ReplyStatus::NeedsAddressingMode, &[], body);
            all.push((format!("addressing-{mode:?}"), [&*asks, &good].concat()));
        }
    }
    let other = reply(version, order, id + 40, ReplyStatus::NoException, &[], text);
    all.push(("other-first".to_owned(), [&*other, &good].concat()));
    all.push(("twice".to_owned(), good.repeat(2)));
    all.push((
        "close".to_owned(),
        close_connection(version, order).to_vec(),
    ));
    all.push(("error".to_owned(), message_error(version, order).to_vec()));
    all.push((
        "good-and-close".to_owned(),
        [&*good, &close_connection(version, order)].concat(),
    ));
    all.push(("cut".to_owned(), good[..good.len() - 1].to_vec()));
    let long: Write<'_> = &|out| out.put_string(&"text ".repeat(40));
    let long = say(ReplyStatus::NoException, &[], long);
    let pieces = split(&long, 40).flat_map(|piece| [&*piece.header, piece.body].concat());
    let pieces: Vec<u8> = pieces.collect();
    all.push(("fragments-cut".to_owned(), pieces[..50].to_vec()));
    all.push((
        "fragments-other".to_owned(),
        [&pieces[..40], &good].concat(),
    ));
    all.push(("fragments".to_owned(), pieces));
    let located = LocateReplyHeader {
        request_id: id,
        status: LocateStatus::ObjectHere,
    };
    all.push((
        "located".to_owned(),
        message(version, order, MessageKind::LocateReply, &|out| {
            located.encode(out)
        }),
    ));
    for kind in [
        MessageKind::Request,
        MessageKind::CancelRequest,
        MessageKind::LocateRequest,
        MessageKind::Reply,
    ] {
        let body: Write<'_> = &|out| {
            out.put_u32(id);
            Ok(())
        };
        all.push((format!("only-{kind}"), message(version, order, kind, body)));
    }
    all
}

fn of_lite(id: u32) -> Vec<(String, Vec<u8>)> {
    let say = |request_id, status, body: Write<'_>| {
        let mut out = lite::begin_message(Block::default(), lite::Kind::Reply, Coding::default());
        let header = ReplyHeader {
            request_id,
            status,
            contexts: ServiceContexts::none(),
        };
        lite::encode_reply(&header, &mut out).expect("it can be written");
        out.align(8);
        body(&mut out).expect("it can be written");
        let mut block = out.into_block();
        lite::finish_message(&mut block).expect("it is short");
        block.into_vec()
    };
    let text: Write<'_> = &|out| out.put_string("text");
    let good = say(id, ReplyStatus::NoException, text);
    let mut all = vec![
        ("good".to_owned(), good.clone()),
        (
            "other-first".to_owned(),
            [&*say(id + 40, ReplyStatus::NoException, text), &good].concat(),
        ),
        ("close".to_owned(), lite::close_connection().to_vec()),
        ("error".to_owned(), lite::message_error().to_vec()),
        (
            "user-exception".to_owned(),
            say(id, ReplyStatus::UserException, text),
        ),
    ];
    for (number, which) in EXCEPTIONS.into_iter().enumerate() {
        let body: Write<'_> = &|out| exception(out, which);
        all.push((
            format!("exception-{number}"),
            say(id, ReplyStatus::SystemException, body),
        ));
    }
    for (name, ior) in forwards() {
        let body: Write<'_> = &|out| ior.marshal(out);
        all.push((
            format!("forward-{name}"),
            say(id, ReplyStatus::LocationForward, body),
        ));
    }
    for kind in 0..=8 {
        let bare = [
            4_u32.to_ne_bytes().to_vec(),
            vec![kind],
            id.to_ne_bytes().to_vec(),
        ]
        .concat();
        all.push((format!("only-{kind}"), bare));
    }
    all
}
