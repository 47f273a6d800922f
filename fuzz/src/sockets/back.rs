//! Calls in both directions of a connection: a server that calls its client by the connection that
//! the client opened, and a client that serves its server's requests on it.

use super::{Answer, Client, POOL, SHORT, check_outcome, check_sent, connect, read_to_end};
use crate::generated::all_types::Every;
use crate::server::{self, Ask, PLAIN};
use crate::{Seed, client};
use punctual::stub::{ServerCall, Unmarshal};
use punctual::{Interface, ObjectRef, Orb};
use punctual_cdr::{ByteOrder, Coding, Decoder, Encoder, GiopVersion, Limits, Marshal};
use punctual_giop::{
    CancelRequest, Examined, LocateRequestHeader, MessageKind, ReplyHeader, ReplyStatus,
    RequestHeader, ResponseFlags, ServiceContexts, Target, align_body, close_connection, examine,
    message_decoder, message_error, service_context, split,
};
use punctual_ior::{Ior, UiopProfile};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};

/// Listen point that a client announces and where there is no listener, so that it is called by its
/// own connection, or not at all.
const NOWHERE: &str = "/nowhere/punctual-fuzz";

/// Calls the object that a request refers to.
pub(super) fn calls_back(call: &mut ServerCall<'_>) {
    if let Ok(object) = ObjectRef::unmarshal(call.arguments()) {
        check_outcome(Every::from_object(object).with_timeout(SHORT).ping());
    }
}

/// Sleeps for a while.
pub(super) fn takes_its_time(_: &mut ServerCall<'_>) {
    std::thread::sleep(SHORT);
}

/// Sends octets to a server whose ORB is shut down while it serves.
pub(super) fn ends(octets: &[u8]) {
    let (how, octets) = crate::choice(octets);
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = &format!("ends-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let builder = Orb::builder()
        .configure(|config| {
            config.limits.message = 1 << 16;
            config.timeouts.answer = Some(SHORT);
        })
        .initializer(server::watches());
    let server = match usize::from(how >> 1) % 3 {
        // Requests are queued for one thread.
        2 => super::more::with_pool(builder, name),
        number => {
            let concurrency = ["reactive", "thread_per_connection"][number];
            let builder = builder.listen(super::endpoint("uiop", concurrency, name));
            let orb = builder.build().expect("the configuration is sound");
            server::with_objects_and(orb, &[("s", takes_its_time)])
        }
    };
    let stream = UnixStream::connect(super::path(name));
    let mut stream = stream.expect("the server listens");
    let _ = stream.write_all(octets);
    let shut_down = server.orb.shutdown(how & 1 == 0);
    assert!(shut_down.is_ok() || shut_down.is_err_and(|error| !error.to_string().is_empty()));
    // More octets, to a server that no longer reads.
    let _ = stream.write_all(octets);
    let _ = stream.shutdown(Shutdown::Write);
    server::are_messages(&read_to_end(&mut stream));
}

/// Sends as many octets as the first two say, and the others once the server has answered, or been
/// silent for a while.
pub(super) fn in_turn(which: usize, octets: &[u8]) {
    let Some(([a, b], octets)) = octets.split_first_chunk() else {
        return;
    };
    let first = usize::from(u16::from_be_bytes([*a, *b])).min(octets.len());
    let which = which % (POOL + 1);
    let sent = two_parts(connect(which), octets, first);
    check_sent(which, &sent);
}

/// Sends `first` octets, and the others once an answer has come, or silence has lasted for a while;
/// returns the received octets.
pub(super) fn two_parts(mut stream: UnixStream, octets: &[u8], first: usize) -> Vec<u8> {
    let _ = stream.write_all(&octets[..first]);
    let _ = stream.set_read_timeout(Some(SHORT));
    let mut sent = vec![0; 4096];
    let count = stream.read(&mut sent).unwrap_or_default();
    sent.truncate(count);
    let _ = stream.write_all(&octets[first..]);
    let _ = stream.shutdown(Shutdown::Write);
    sent.extend(read_to_end(&mut stream));
    sent
}

/// Runs a client whose server calls it back before and after its answer.
pub(super) fn called_back(which: usize, octets: &[u8]) {
    let client = Client::get();
    let every = &client.called_back[which % client.called_back.len()];
    let _alone = client.has_peer(Answer {
        octets: octets.to_vec(),
        reads: 1,
        stays: true,
    });
    check_outcome(every.with_timeout(4 * SHORT).ping());
}

/// Runs a client that is called back by more requests than may wait: first all that the server has
/// sent, then the part behind its first message again and again.
pub(super) fn called_back_often(octets: &[u8]) {
    const OFTEN: usize = 1100;
    let first = match examine(octets, &Limits::default()) {
        Ok(Examined::Complete(header)) => header.message_len(),
        _ => 0,
    };
    let (first, again) = octets.split_at(first.min(octets.len()));
    // No more than fits into a socket's buffer.
    let again = again.repeat(OFTEN.min((1 << 17) / again.len().max(1)));
    called_back(0, &[first, &again].concat());
}

/// Returns the seeds.
pub(crate) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for (name, [first, then]) in turns() {
        for which in 0..4 {
            all.push((
                format!("back-{which}-{name}"),
                input_in_turn(which, &first, &then),
            ));
        }
    }
    let raw = server::raw_key();
    for (name, policies) in server::policies() {
        let contexts: &[(u32, &[u8])] = &[(service_context::INVOCATION_POLICIES, &policies)];
        let priority: &[u8] = &[1, 0, 7, 0];
        let with_priority = [contexts[0], (service_context::RT_CORBA_PRIORITY, priority)];
        let decided = server::decided().as_object().object_key();
        let decided = decided.expect("it has one");
        for (priority, contexts) in [("", contexts), ("-priority", &with_priority)] {
            let ask = Ask { contexts, ..PLAIN }.of(Target::ObjectKey(&decided));
            let input = input_in_turn(POOL, &ask, &ask.repeat(7));
            all.push((format!("pool-decided{priority}-{name}"), input));
        }
        let ask = Ask { contexts, ..PLAIN }.of(Target::ObjectKey(&raw));
        let plain = PLAIN.of(Target::ObjectKey(&raw));
        let several = [&*ask, &plain, &ask, &ask, &ask, &ask, &ask, &plain].concat();
        all.push((format!("pool-{name}"), input_in_turn(POOL, &ask, &several)));
    }
    let own = client::conversations();
    for number in 0..12 {
        let how = u8::try_from(number << 1 | 1).expect("it is one octet");
        for (name, call) in [("ping", 0), ("name", 4), ("any", 16), ("level", 2)] {
            all.push((
                format!("answered-{number:02}-{name}"),
                [&[how], &*own[call].answered].concat(),
            ));
        }
    }
    let ends = u8::try_from(super::ENDS << 1).expect("it is one octet");
    let later = key_of(b'l');
    let slow = Ask { end: 0, ..PLAIN }.of(Target::ObjectKey(&key_of(b's')));
    for how in 0..6 {
        for (name, octets) in [
            ("plain", PLAIN.of(Target::ObjectKey(&raw)).repeat(3)),
            (
                "kept",
                Ask { end: 2, ..PLAIN }
                    .of(Target::ObjectKey(&later))
                    .repeat(2),
            ),
            ("nothing", Vec::new()),
            (
                "slow",
                [&*slow, &PLAIN.of(Target::ObjectKey(&raw)).repeat(3)].concat(),
            ),
        ] {
            all.push((
                format!("ends-{how}-{name}"),
                [&[ends, how], &*octets].concat(),
            ));
        }
    }
    for (name, octets) in served() {
        for which in 0..3 {
            let how = u8::try_from((super::CALLED_BACK + which) << 1 | 1).expect("it is one octet");
            all.push((
                format!("called-{which}-{name}"),
                [&[how], &*octets].concat(),
            ));
        }
    }
    let how = u8::try_from(super::CALLED_BACK_OFTEN << 1 | 1).expect("it is one octet");
    let one_way = Ask {
        response: ResponseFlags::NONE,
        ..PLAIN
    };
    let often = [&*slow, &one_way.of(Target::ObjectKey(&raw))].concat();
    all.push(("called-often".to_owned(), [&[how], &*often].concat()));
    all
}

pub(super) fn input_in_turn(which: usize, first: &[u8], then: &[u8]) -> Vec<u8> {
    let how = u8::try_from((super::IN_TURN + which) << 1).expect("it is one octet");
    let length = u16::try_from(first.len()).expect("it is short");
    [&[how], &length.to_be_bytes()[..], first, then].concat()
}

/// Octets that a client sends first, and those that it sends then.
type Turn = (String, [Vec<u8>; 2]);

/// Returns the key of another object of the same adapter.
pub(super) fn key_of(id: u8) -> Vec<u8> {
    let mut key = server::raw_key();
    if let Some(last) = key.last_mut() {
        *last = id;
    }
    key
}

/// Returns the service context of a client's listen points.
fn listen_points(points: &[(&str, u16)]) -> Vec<u8> {
    let data = Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
        out.put_length(points.len())?;
        for (host, port) in points {
            out.put_string(host)?;
            out.put_u16(*port);
        }
        Ok(())
    });
    data.expect("it can be written")
}

/// Returns a request that makes the server call its client.
fn asks(told: &[u8]) -> Vec<u8> {
    asks_with(&[(service_context::BI_DIR_IIOP, told)])
}

fn asks_with(contexts: &[(u32, &[u8])]) -> Vec<u8> {
    let profile = UiopProfile {
        version: GiopVersion::V1_2.into(),
        path: NOWHERE.to_owned(),
        object_key: b"key".to_vec(),
        components: Vec::new(),
    };
    let profile = profile
        .to_tagged(ByteOrder::NATIVE)
        .expect("it can be written");
    let object = Ior {
        type_id: "IDL:all_types/Every:1.0".to_owned(),
        profiles: vec![profile],
    };
    let key = key_of(b'b');
    server::message(
        GiopVersion::V1_2,
        ByteOrder::NATIVE,
        MessageKind::Request,
        |out| {
            let header = RequestHeader {
                request_id: 3,
                response: ResponseFlags::SYNC_WITH_TARGET,
                target: Target::ObjectKey(&key),
                operation: "do",
                contexts: ServiceContexts::new(contexts),
            };
            header.encode(out).expect("it can be written");
            align_body(out);
            object.marshal(out).expect("it can be written");
        },
    )
}

/// Returns the request id of a message.
fn request_id(message: &[u8]) -> Option<u32> {
    let Ok(Examined::Complete(header)) = examine(message, &Limits::default()) else {
        return None;
    };
    let mut input: Decoder<'_> = message_decoder(&header, message, Coding::default());
    Some(RequestHeader::decode(&mut input).ok()?.request_id)
}

/// Returns the id of the call that a server makes for such a request.
fn id_of_call(asks: &[u8]) -> u32 {
    let mut stream = connect(0);
    let _ = stream.write_all(asks);
    let _ = stream.set_read_timeout(Some(SHORT));
    let mut sent = vec![0; 4096];
    let count = stream.read(&mut sent).unwrap_or_default();
    sent.truncate(count);
    let _ = stream.shutdown(Shutdown::Write);
    read_to_end(&mut stream);
    request_id(&sent).expect("the server calls its client")
}

fn reply(id: u32, status: ReplyStatus, body: &dyn Fn(&mut Encoder<'_>)) -> Vec<u8> {
    server::message(
        GiopVersion::V1_2,
        ByteOrder::NATIVE,
        MessageKind::Reply,
        |out| {
            let header = ReplyHeader {
                request_id: id,
                status,
                contexts: ServiceContexts::none(),
            };
            header.encode(out).expect("it can be written");
            align_body(out);
            body(out);
        },
    )
}

/// Returns conversations of a client that makes the server call it, and answers.
fn turns() -> Vec<Turn> {
    let (newest, order) = (GiopVersion::V1_2, ByteOrder::NATIVE);
    let asks_well = asks(&listen_points(&[("other", 1), (NOWHERE, 0)]));
    let id = id_of_call(&asks_well);
    let good = reply(id, ReplyStatus::NoException, &|_| {});
    let pieces: Vec<u8> = split(
        &reply(id, ReplyStatus::NoException, &|out| {
            out.put_octets(&[7; 60]).expect("they can be written");
        }),
        40,
    )
    .flat_map(|piece| [&*piece.header, piece.body].concat())
    .collect();
    let unknown = reply(id, ReplyStatus::SystemException, &|out| {
        out.put_string("IDL:omg.org/CORBA/UNKNOWN:1.0")
            .expect("it can be written");
        out.put_u32(0);
        out.put_u32(2);
    });
    let forward = reply(id, ReplyStatus::LocationForward, &|out| {
        Ior::nil().marshal(out).expect("it can be written");
    });
    let plain = PLAIN.of(Target::ObjectKey(&server::raw_key()));
    let answers = [
        ("good", good.clone()),
        ("good-and-more", [&*plain, &good, &plain].concat()),
        (
            "other-first",
            [&*reply(id + 40, ReplyStatus::NoException, &|_| {}), &good].concat(),
        ),
        ("twice", good.repeat(2)),
        ("fragments", pieces),
        ("exception", unknown),
        ("forward", forward),
        ("nested", [&*asks_well, &good].concat()),
        ("nothing", Vec::new()),
        ("close", close_connection(newest, order).to_vec()),
        ("error", message_error(newest, order).to_vec()),
        ("cut", good[..good.len() - 2].to_vec()),
    ];
    let mut all: Vec<Turn> = answers
        .into_iter()
        .map(|(name, then)| (name.to_owned(), [asks_well.clone(), then]))
        .collect();
    // In the segment of the waiting upcall, and in none, on its thread.
    let points = listen_points(&[(NOWHERE, 0)]);
    let segment = server::segment(false, 0, 7, [0; 3]);
    let in_segment = (service_context::SCHEDULING_SEGMENT, &*segment);
    let asks_within = asks_with(&[(service_context::BI_DIR_IIOP, &points), in_segment]);
    let same = Ask {
        contexts: &[in_segment],
        ..PLAIN
    };
    let same = same.of(Target::ObjectKey(&server::raw_key()));
    all.push((
        "segment".to_owned(),
        [asks_within, [&*same, &plain, &good].concat()],
    ));
    let long = "h".repeat(300);
    let many = vec![(NOWHERE, 0); 80];
    for (name, told) in [
        ("told-other", listen_points(&[("other", 1)])),
        ("told-none", listen_points(&[])),
        ("told-many", listen_points(&many)),
        ("told-long", listen_points(&[(&long, 1)])),
        ("told-cut", vec![1, 0]),
    ] {
        all.push((name.to_owned(), [asks(&told), good.clone()]));
    }
    all
}

/// Returns the requests that a server sends to a client that serves it.
fn served() -> Vec<Seed> {
    let (newest, order) = (GiopVersion::V1_2, ByteOrder::NATIVE);
    let own = client::conversations().swap_remove(0);
    let id = request_id(&own.asked).expect("it is a request");
    let good = reply(id, ReplyStatus::NoException, &|_| {});
    let raw = server::raw_key();
    let ask = |key: &[u8], end| Ask { end, ..PLAIN }.of(Target::ObjectKey(key));
    let plain = ask(&raw, 0);
    let locate = |key: &[u8]| {
        server::message(newest, order, MessageKind::LocateRequest, |out| {
            let header = LocateRequestHeader {
                request_id: 4,
                target: Target::ObjectKey(key),
            };
            header.encode(out).expect("it can be written");
        })
    };
    let cancel = server::message(newest, order, MessageKind::CancelRequest, |out| {
        CancelRequest { request_id: 3 }.encode(out);
    });
    let pieces: Vec<u8> = split(&plain, 40)
        .flat_map(|piece| [&*piece.header, piece.body].concat())
        .collect();
    let later = key_of(b'l');
    let mut all = vec![
        (
            "calls".to_owned(),
            [&*ask(&key_of(b'c'), 0), &plain, &good].concat(),
        ),
        ("before".to_owned(), [&*plain, &good].concat()),
        ("behind".to_owned(), [&*good, &plain].concat()),
        ("many".to_owned(), [&*plain.repeat(20), &good].concat()),
        ("fragments".to_owned(), [&*pieces, &good].concat()),
        ("cut".to_owned(), [&*good, &plain[..40]].concat()),
        (
            "locate".to_owned(),
            [&*locate(&raw), &locate(b"E"), &locate(b"?"), &good].concat(),
        ),
        ("bound".to_owned(), [&*ask(b"E", 0), &good].concat()),
        ("unknown".to_owned(), [&*ask(b"?", 0), &good].concat()),
        (
            "cancel".to_owned(),
            [&*ask(&later, 2), &cancel, &good].concat(),
        ),
        (
            "later".to_owned(),
            [&*ask(&later, 2), &ask(&later, 3), &good].concat(),
        ),
        (
            "later-close".to_owned(),
            [&*ask(&later, 2), &close_connection(newest, order)].concat(),
        ),
        (
            "close".to_owned(),
            [&*plain, &close_connection(newest, order)].concat(),
        ),
        (
            "error".to_owned(),
            [&*plain, &message_error(newest, order)].concat(),
        ),
    ];
    for end in [1, 3, 7, 8, 9, 10] {
        all.push((format!("end-{end:02}"), [&*ask(&raw, end), &good].concat()));
    }
    for response in [ResponseFlags::NONE, ResponseFlags::SYNC_WITH_SERVER] {
        let ask = Ask { response, ..PLAIN }.of(Target::ObjectKey(&raw));
        all.push((format!("response-{response:?}"), [&*ask, &good].concat()));
    }
    all
}
