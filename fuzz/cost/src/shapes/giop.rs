//! Messages: heads with their contexts, fragments, batches.

use super::{decoder, number, written};
use crate::Shape;
use punctual_cdr::{Coding, Decoder, Limits};
use punctual_giop::code_sets::CodeSetContext;
use punctual_giop::{
    Accepted, Examined, Reassembly, RequestHeader, examine, lite, message_decoder, sequenced,
};

pub(super) const SHAPES: &[Shape] = &[
    shape("service contexts without data", contexts),
    shape("fragments of one octet, GIOP 1.1", |octets| {
        fragments(1, octets)
    }),
    shape("fragments of one octet, GIOP 1.2", |octets| {
        fragments(2, octets)
    }),
    shape("short messages", short),
    Shape::new(
        "GIOPlite",
        "a batch of one-ways without bodies",
        requests,
        read_lite,
    ),
    Shape::new(
        "frames",
        "a batch of frames without bodies",
        frames,
        read_frames,
    ),
];

const fn shape(name: &'static str, make: fn(usize) -> Vec<u8>) -> Shape {
    Shape::new("GIOP", name, make, read)
}

fn read(octets: &[u8]) {
    let limits = Limits::default();
    let mut reassembly = Reassembly::new(&limits);
    let mut rest = octets;
    while let Ok(Examined::Complete(header)) = examine(rest, &limits) {
        let Some((message, behind)) = rest.split_at_checked(header.message_len()) else {
            return;
        };
        match reassembly.accept(&header, message) {
            Ok(Accepted::Assembled(whole)) => head(whole.decoder(Coding::default())),
            Ok(Accepted::Whole) => head(message_decoder(&header, message, Coding::default())),
            Ok(Accepted::Pending) => {}
            Err(_) => return,
        }
        rest = behind;
    }
}

fn head(mut input: Decoder<'_>) {
    if let Ok(header) = RequestHeader::decode(&mut input) {
        // Each context is looked for by itself.
        for id in [1, 5, 17] {
            let found = header.contexts.find(id);
            let _ = found.map(CodeSetContext::decode);
        }
        let _ = header.contexts.iter().count();
    }
}

fn message(minor: u8, kind: u8, more: bool, body: &[u8]) -> Vec<u8> {
    let mut message = b"GIOP\x01".to_vec();
    message.extend([minor, if more { 2 } else { 0 }, kind]);
    message.extend(number(body.len()).to_be_bytes());
    message.extend(body);
    message
}

fn contexts(octets: usize) -> Vec<u8> {
    let body = written(|out| {
        out.put_u32(7);
        out.put_bytes(&[3, 0, 0, 0]);
        out.put_bytes(&[0, 0, 0, 0]);
        out.put_octets(b"key")?;
        out.put_string("op")?;
        let contexts = octets / 8;
        out.put_u32(number(contexts));
        for _ in 0..contexts {
            out.put_u32(2);
            out.put_u32(0);
        }
        Ok(())
    });
    message(2, 0, false, &body)
}

fn fragments(minor: u8, octets: usize) -> Vec<u8> {
    let id: &[u8] = if minor == 2 { &[0, 0, 0, 7] } else { &[] };
    let mut all = message(minor, 0, true, &[&[0, 0, 0, 7][..], &[0; 4]].concat());
    let fragment = [id, &[0]].concat();
    let each = message(minor, 7, true, &fragment);
    all.extend(each.repeat(octets / each.len()));
    all.extend(message(minor, 7, false, &fragment));
    all
}

fn short(octets: usize) -> Vec<u8> {
    message(2, 3, false, &[0; 8]).repeat(octets / 20 + 1)
}

fn requests(octets: usize) -> Vec<u8> {
    written(|out| {
        out.put_octets(b"key")?;
        out.put_string("op")?;
        let requests = octets / 4;
        out.put_u32(number(requests));
        (0..requests).for_each(|_| out.put_u32(0));
        Ok(())
    })
}

fn frames(octets: usize) -> Vec<u8> {
    written(|out| {
        let frames = octets / 24;
        out.put_u32(number(frames));
        for _ in 0..frames {
            out.put_u64(1);
            out.put_u64(1);
            out.put_u32(0);
        }
        Ok(())
    })
}

fn read_lite(octets: &[u8]) {
    let batch = lite::decode_batch(&mut decoder(octets));
    debug_assert!(batch.is_ok(), "{batch:?}");
    let bodies = batch.map_or(0, |batch| batch.bodies.count());
    debug_assert_eq!(bodies > 0, octets.len() > 32);
}

fn read_frames(octets: &[u8]) {
    let frames = sequenced::decode_batch(&mut decoder(octets));
    debug_assert!(frames.is_ok(), "{frames:?}");
    let frames = frames.map_or(0, Iterator::count);
    debug_assert_eq!(frames > 0, octets.len() > 8);
}
