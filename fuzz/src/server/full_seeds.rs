//! Seeds: requests to the server of [`super::full`], and to the servant of [`super::later`].

use super::full::{self, DEEDS, POINTS, TELLS};
use super::seeds::{Ask, PLAIN, every_key, raw_key};
use super::{Every, FULL, PROTOCOLS, server};
use crate::{Seed, client};
use punctual::Interface;
use punctual_cdr::{Block, ByteOrder, Coding, Encoder, GiopVersion, Marshal};
use punctual_giop::{
    CancelRequest, MessageKind, RequestHeader, ResponseFlags, ServiceContexts, Target, align_body,
    close_connection, service_context,
};

use punctual_ior::Ior;

/// Number of instructions that the servant of [`super::later`] knows.
const TIMES: u8 = 18;

pub(super) fn seeds() -> Vec<Seed> {
    let mut all = Vec::new();
    for (name, octets) in told() {
        all.push((format!("full-{name}"), asks_full(0, &octets)));
    }
    for (name, input) in super::seeds::seeds() {
        let protocol = usize::from(input[0]) % PROTOCOLS.len();
        let is_plain = input[0] & (super::LENDS | super::THROUGH_BRIDGE | 0x30) == 0;
        if is_plain && !name.starts_with("code-sets") {
            all.push((format!("full-{name}"), asks_full(protocol, &input[1..])));
            let guarded = (0..=0x7f_u8).find(|how| {
                how & FULL != 0
                    && how & super::THROUGH_BRIDGE != 0
                    && usize::from(*how) % PROTOCOLS.len() == protocol
            });
            let guarded = guarded.expect("there is one of each");
            all.push((
                format!("guarded-{name}"),
                [&[guarded], &input[1..]].concat(),
            ));
        }
    }
    for one in client::conversations() {
        let name = format!("full-call-{}-{:02}", one.protocol, one.number);
        all.push((name, asks_full(one.protocol, &one.asked)));
    }
    for (name, octets) in with_priorities() {
        all.push((format!("full-{name}"), asks_full(0, &octets)));
    }
    for (number, (name, octets)) in later().into_iter().chain(with_priorities()).enumerate() {
        if number % 5 == 0 {
            let how = super::RECORDED + (3 - super::RECORDED % 3) % 3;
            all.push((format!("recorded-{name}"), [&[how], &*octets].concat()));
        }
    }
    for (name, octets) in referring() {
        let fits =
            |how: &u8| how & super::THROUGH_BRIDGE != 0 && usize::from(*how) % PROTOCOLS.len() == 0;
        let how = (0..FULL).find(fits).expect("there is one");
        all.push((format!("bridge-refers-{name}"), [&[how], &*octets].concat()));
    }
    for (name, octets) in later() {
        all.push((format!("full-later-{name}"), asks_full(0, &octets)));
        all.push((format!("later-{name}"), [&[0], &*octets].concat()));
    }
    all
}

/// Makes an input for the server of [`super::full`], by a protocol.
fn asks_full(protocol: usize, octets: &[u8]) -> Vec<u8> {
    let fits = |how: &u8| usize::from(*how) % PROTOCOLS.len() == protocol;
    let how = (FULL..FULL + 8).find(fits).expect("there is one of each");
    [&[how], octets].concat()
}

/// Returns requests that make an interceptor act at a point, and that end in each way.
fn told() -> Vec<Seed> {
    let raw = raw_key();
    let mut all = Vec::new();
    for point in 0..POINTS {
        for deed in 0..=DEEDS {
            let data = [point, deed];
            let contexts: &[(u32, &[u8])] = &[(TELLS, &data)];
            // The servant answers, forwards, panics, raises, and answers in fragments.
            for end in [0, 1, 3, 8, 9, 10] {
                for (name, response) in [
                    ("", ResponseFlags::SYNC_WITH_TARGET),
                    ("-one-way", ResponseFlags::NONE),
                    ("-early", ResponseFlags::SYNC_WITH_SERVER),
                ] {
                    let ask = Ask {
                        contexts,
                        end,
                        response,
                        ..PLAIN
                    };
                    let name = format!("{point}-{deed}-{end:02}{name}");
                    all.push((name, ask.of(Target::ObjectKey(&raw))));
                }
            }
        }
    }
    let data = [0, 3];
    let contexts: &[(u32, &[u8])] = &[(TELLS, &data)];
    for version in [GiopVersion::V1_0, GiopVersion::V1_1] {
        let ask = Ask {
            contexts,
            version,
            ..PLAIN
        };
        all.push((format!("told-{version}"), ask.of(Target::ObjectKey(&raw))));
    }
    for (name, key) in [("bound", &b"E"[..]), ("unknown", b"?")] {
        all.push((
            format!("told-{name}"),
            Ask { contexts, ..PLAIN }.of(Target::ObjectKey(key)),
        ));
    }
    for operation in ["_is_a", "_non_existent", "_interface", "none"] {
        let ask = Ask {
            operation,
            contexts,
            ..PLAIN
        };
        let every = every_key();
        all.push((
            format!("told-{operation}"),
            ask.of(Target::ObjectKey(&every)),
        ));
    }
    all
}

/// Returns requests with priorities, bands and segments, valid and invalid.
fn with_priorities() -> Vec<Seed> {
    let raw = raw_key();
    let (decided, declared) = (key(full::decided()), key(&full::get().declared));
    let mut all = Vec::new();
    let mut add = |name: String, operation, contexts: &[(u32, &[u8])]| {
        let ask = Ask {
            operation,
            contexts,
            ..PLAIN
        };
        for (whose, key) in [("client", &decided), ("server", &declared)] {
            let twice = ask.of(Target::ObjectKey(key)).repeat(2);
            all.push((format!("{name}-{whose}"), twice));
        }
        all.push((format!("{name}-other"), ask.of(Target::ObjectKey(&raw))));
    };
    add("priority-none".to_owned(), "do", &[]);
    let priorities: [&[u8]; 8] = [
        &[1, 0, 7, 0],
        &[0, 0, 0, 7],
        &[1, 0, 7, 0, 0, 0],
        &[0xff, 0, 0, 7],
        &[1, 0, 0xff, 0xff],
        &[1, 0, 0xff, 0x7f],
        &[1, 0],
        &[],
    ];
    for (number, data) in priorities.into_iter().enumerate() {
        let contexts = [(service_context::RT_CORBA_PRIORITY, data)];
        add(format!("priority-{number}"), "do", &contexts);
        let deed = [2, 3];
        let contexts = [contexts[0], (TELLS, &deed[..])];
        add(format!("priority-{number}-told"), "do", &contexts);
    }
    let bands: [&[u8]; 5] = [
        &[1, 0, 1, 0, 9, 0],
        &[0, 0, 0, 1, 0, 9],
        &[1, 0, 9, 0, 1, 0],
        &[1, 0, 1, 0, 0xff, 0x7f],
        &[1, 0, 1],
    ];
    for (number, data) in bands.into_iter().enumerate() {
        let contexts = [(service_context::RT_CORBA_PRIORITY_RANGE, data)];
        add(format!("band-{number}"), "_bind_priority_band", &contexts);
    }
    add("band-none".to_owned(), "_bind_priority_band", &[]);
    let segment = |discipline: u8, priority: i16, times: [u64; 3]| {
        let times = times.map(u64::to_be_bytes).concat();
        [
            &[0, discipline][..],
            &priority.to_be_bytes(),
            &[7; 16],
            &[0; 4],
            &times,
        ]
        .concat()
    };
    let second = 1_000_000_000;
    let segments = [
        segment(0, 7, [0; 3]),
        segment(0, 200, [0; 3]),
        segment(0, -1, [0; 3]),
        segment(1, 0, [second / 10, second / 2, second]),
        segment(1, 0, [0; 3]),
        segment(2, 0, [0; 3]),
        vec![1; 48],
        vec![0; 7],
    ];
    for (number, data) in segments.iter().enumerate() {
        let contexts = [(service_context::SCHEDULING_SEGMENT, &data[..])];
        add(format!("segment-{number}"), "do", &contexts);
    }
    for (name, data) in policies() {
        let contexts = [(service_context::INVOCATION_POLICIES, &data[..])];
        add(format!("policies-{name}"), "do", &contexts);
    }
    all
}

/// Returns requests with references to a bridge, to objects behind it, and to others.
fn referring() -> Vec<Seed> {
    let through = super::bridge::through(&server().every);
    let behind = server().every.as_object().ior().clone();
    let mut both = behind.clone();
    both.profiles.extend(through.profiles.iter().cloned());
    let mut other = behind.clone();
    for profile in &mut other.profiles {
        profile.data.truncate(9);
    }
    let all = [
        ("through", through.clone()),
        ("behind", behind),
        ("both", both),
        ("other", other),
        ("nil", Ior::nil()),
    ];
    let (raw, every) = (raw_key(), every_key());
    let mut asked = Vec::new();
    for (name, ior) in all {
        for version in [GiopVersion::V1_0, GiopVersion::V1_1, GiopVersion::V1_2] {
            for order in [ByteOrder::Big, ByteOrder::Little] {
                for (key, operation) in [(&every, "same_object"), (&raw, "do")] {
                    let write = |out: &mut Encoder<'_>| {
                        let header = RequestHeader {
                            request_id: 3,
                            response: ResponseFlags::SYNC_WITH_TARGET,
                            target: Target::ObjectKey(key),
                            operation,
                            contexts: ServiceContexts::none(),
                        };
                        header.encode(out).expect("it can be written");
                        align_body(out);
                        if operation == "do" {
                            // Echoed, with its contents.
                            out.put_u8(0);
                            let mut within =
                                Encoder::new(Block::default(), order, Coding::default());
                            ior.marshal(&mut within).expect("it can be written");
                            out.put_octets(&within.into_block()).expect("it is short");
                        } else {
                            ior.marshal(out).expect("it can be written");
                            ior.marshal(out).expect("it can be written");
                        }
                    };
                    let octets = super::seeds::message(version, order, MessageKind::Request, write);
                    asked.push((format!("{name}-{operation}-{version}-{order:?}"), octets));
                }
            }
        }
    }
    asked
}

/// Returns policies of callers: the queue order of their requests, and the end time.
pub(crate) fn policies() -> Vec<Seed> {
    const REQUEST_PRIORITY: u32 = 25;
    const REQUEST_END: u32 = 28;
    const REPLY_END: u32 = 30;
    const QUEUE_ORDER: u32 = 35;
    let encapsulated = |put: &dyn Fn(&mut Encoder<'_>)| {
        let data = Encoder::encapsulated(ByteOrder::NATIVE, Coding::default(), |out| {
            put(out);
            Ok(())
        });
        data.expect("it can be written")
    };
    let of = |values: &[(u32, Vec<u8>)]| {
        encapsulated(&|out| {
            out.put_length(values.len()).expect("there are few");
            for (kind, data) in values {
                out.put_u32(*kind);
                out.put_octets(data).expect("it is short");
            }
        })
    };
    let order = |bits: u16| (QUEUE_ORDER, encapsulated(&|out| out.put_u16(bits)));
    let range = |kind: u32, most: i16| {
        let data = encapsulated(&|out| {
            out.put_i16(0);
            out.put_i16(most);
        });
        (kind, data)
    };
    let time = |kind: u32, time: u64| {
        let data = encapsulated(&|out| {
            out.put_u64(time);
            out.put_u64(0);
        });
        (kind, data)
    };
    let long = u64::MAX / 2;
    let all = [
        ("empty", of(&[])),
        ("temporal", of(&[order(2)])),
        ("any", of(&[order(1)])),
        ("priority", of(&[order(4), range(REQUEST_PRIORITY, 9)])),
        ("priority-none", of(&[order(4)])),
        ("priority-cut", of(&[order(4), (REQUEST_PRIORITY, vec![1])])),
        ("deadline", of(&[order(8), time(REQUEST_END, long)])),
        ("deadline-reply", of(&[order(8), time(REPLY_END, long)])),
        ("deadline-none", of(&[order(8)])),
        ("deadline-late", of(&[order(8), time(REQUEST_END, 7)])),
        ("deadline-cut", of(&[order(8), (REPLY_END, vec![1])])),
        ("order-cut", of(&[(QUEUE_ORDER, vec![1])])),
        ("cut", vec![1, 0, 0]),
    ];
    all.map(|(name, data)| (name.to_owned(), data)).into()
}

fn key(of: &Every) -> Vec<u8> {
    of.as_object().object_key().expect("it has one")
}

/// Returns requests that are answered later, in each way, and messages that come before the
/// answers.
fn later() -> Vec<Seed> {
    let key = key(&server().later);
    let to = || Target::ObjectKey(&key);
    let ask = |end| Ask { end, ..PLAIN };
    let mut all = Vec::new();
    for end in 0..TIMES {
        all.push((format!("{end:02}"), ask(end).of(to())));
        for (name, response) in [
            ("one-way", ResponseFlags::NONE),
            ("early", ResponseFlags::SYNC_WITH_SERVER),
        ] {
            let ask = Ask {
                response,
                ..ask(end)
            };
            all.push((format!("{end:02}-{name}"), ask.of(to())));
        }
        for version in [GiopVersion::V1_0, GiopVersion::V1_1] {
            let ask = Ask {
                version,
                order: ByteOrder::Big,
                ..ask(end)
            };
            all.push((format!("{end:02}-{version}"), ask.of(to())));
        }
        for point in [2, 3, 4] {
            let data = [point, end % (DEEDS + 1)];
            let contexts: &[(u32, &[u8])] = &[(TELLS, &data), (77, b"more")];
            let ask = Ask {
                contexts,
                ..ask(end)
            };
            all.push((format!("{end:02}-told-{point}"), ask.of(to())));
        }
    }
    let (newest, order) = (GiopVersion::V1_2, ByteOrder::NATIVE);
    let cancel = super::seeds::message(newest, order, MessageKind::CancelRequest, |out| {
        CancelRequest { request_id: 3 }.encode(out);
    });
    let (kept, watched, settles) = (ask(2).of(to()), ask(11).of(to()), ask(3).of(to()));
    all.push(("kept-many".to_owned(), kept.repeat(12)));
    all.push((
        "kept-settled".to_owned(),
        [&*kept, &watched, &settles].concat(),
    ));
    for (name, kept) in [("kept", &kept), ("watched", &watched)] {
        all.push((
            format!("{name}-cancelled"),
            [&**kept, &cancel, &settles].concat(),
        ));
        all.push((
            format!("{name}-closed"),
            [&**kept, &close_connection(newest, order)].concat(),
        ));
        all.push((format!("{name}-cut"), [&**kept, &kept[..20]].concat()));
    }
    all
}
