//! Writes the inputs of `datagrams` that have names: each kind of fragment, and of mistake.
#![allow(clippy::unwrap_used)]

use punctual_cdr::{Block, ByteOrder, Coding, Encoder, Marshal};
use punctual_rtevent_service::RtecEventData;
use punctual_rtevent_service::federation::datagram::{FragmentHeader, split};
use punctual_rtevent_service::rtec_event_comm::{Event, EventHeader};
use std::path::Path;

/// Checksums are computed and checked.
const CHECKED: u8 = 1;

fn main() {
    let event = events(ByteOrder::Little, 300);
    let whole = fragments(1, ByteOrder::Little, &event, 2_000, false);
    let parts = fragments(1, ByteOrder::Little, &event, 100, false);
    let checked = fragments(1, ByteOrder::Big, &events(ByteOrder::Big, 40), 100, true);
    let backwards: Vec<_> = parts.iter().rev().cloned().collect();
    let mut wrong = checked.clone();
    wrong[0][40] ^= 1;
    let late: Vec<_> = (0..80).chain([3]).map(single).collect();
    let flood: Vec<_> = (0..60).map(|number| quarter(number, 0, 25)).collect();
    let overlapping = vec![quarter(1, 0, 50), with_offset(quarter(1, 1, 50), 0)];
    save("seed-one-datagram", 0, &[(1, whole)]);
    save("seed-fragments", 0, &[(1, parts.clone())]);
    save("seed-fragments-backwards", 0, &[(1, backwards)]);
    save(
        "seed-repeated",
        0,
        &[(1, parts.clone()), (1, parts.clone())],
    );
    save("seed-two-sources", 0, &[(1, parts.clone()), (2, parts)]);
    save("seed-checksum", CHECKED, &[(1, checked)]);
    save("seed-checksum-wrong", CHECKED, &[(1, wrong)]);
    save("seed-late", 0, &[(1, late)]);
    save(
        "seed-counts-anew",
        0,
        &[
            (1, vec![single(1_000_000)]),
            (1, (0..20).map(single).collect()),
        ],
    );
    save(
        "seed-far-ahead",
        0,
        &[(1, vec![single(0), single(1 << 30)])],
    );
    save("seed-no-room", 0, &[(1, flood.clone())]);
    save(
        "seed-gives-way",
        0,
        &[(1, flood), (2, vec![quarter(1, 0, 25)])],
    );
    save("seed-overlapping", 0, &[(1, overlapping)]);
    let sources = (0..5)
        .map(|source| (source, vec![single(1)]))
        .collect::<Vec<_>>();
    save("seed-many-sources", 0, &sources);
}

/// Returns a message with an event whose payload has so many octets.
fn events(order: ByteOrder, payload: usize) -> Vec<u8> {
    let header = EventHeader {
        r#type: 16,
        source: 3,
        ttl: 1,
        ..EventHeader::default()
    };
    let data = RtecEventData {
        payload: vec![7; payload],
        any_value: punctual::Any::new("text").unwrap(),
        ..RtecEventData::default()
    };
    let mut out = Encoder::new(Block::default(), order, Coding::default());
    vec![Event { header, data }].marshal(&mut out).unwrap();
    out.into_block().as_slice().to_vec()
}

fn fragments(
    number: u32,
    order: ByteOrder,
    message: &[u8],
    datagram: usize,
    has_checksum: bool,
) -> Vec<Vec<u8>> {
    let all = split(number, order, message, datagram, has_checksum).unwrap();
    all.map(|(head, part)| [&head, part].concat()).collect()
}

/// Returns a message of one fragment.
fn single(number: u32) -> Vec<u8> {
    fragments(number, ByteOrder::Big, b"event", 64, false).remove(0)
}

/// Returns a fragment of a message of four such fragments, or of two of 50 octets.
fn quarter(message: u32, number: u32, size: u32) -> Vec<u8> {
    let header = FragmentHeader {
        order: ByteOrder::Big,
        message,
        message_size: 100,
        size,
        offset: size * number,
        number,
        count: 100 / size,
    };
    let part = vec![0; size as usize];
    [&header.encode(&part, false)[..], &part].concat()
}

fn with_offset(mut datagram: Vec<u8>, offset: u32) -> Vec<u8> {
    datagram[16..20].copy_from_slice(&offset.to_be_bytes());
    datagram
}

fn save(name: &str, how: u8, sent: &[(u8, Vec<Vec<u8>>)]) {
    let mut input = vec![how];
    for (source, datagrams) in sent {
        for datagram in datagrams {
            input.push(*source);
            input.extend(u16::try_from(datagram.len()).unwrap().to_be_bytes());
            input.extend(datagram);
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/datagrams");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), input).unwrap();
}
