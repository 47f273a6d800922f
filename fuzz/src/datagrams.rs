//! Fuzz target for datagrams of event channels: fragments of many sources, and the events in the messages that they
//! make.
//!
//! ```text
//! octet 0     bit 0: checksums are computed and checked; bit 1: those of the input are mended first;
//!             bits 2 to 4: events are without time stamps, octets, any
//! then, again and again: an octet, the source; two octets, the length, big-endian; a datagram
//! ```

use punctual_rtevent_service::Form;
use punctual_rtevent_service::federation::datagram::{
    Assembler, AssemblerOptions, Counts, FragmentHeader, HEADER, Taken, split,
};
use std::net::SocketAddr;

/// Octets of the datagrams into which a message is split again.
const DATAGRAM: usize = 256;

/// Number of messages of an input that are split again, as that costs more than reading a short one.
const SPLIT: usize = 8;

/// Runs the target on one input.
///
/// # Panics
/// The input breaks a property.
pub fn run(input: &[u8]) {
    let (how, mut rest) = crate::choice(input);
    let has_checksum = how & 1 != 0;
    let form = form(how);
    let options = options(has_checksum);
    let mut assembler = Assembler::new(options);
    let (mut datagrams, mut messages) = (0, 0);
    while let Some((source, datagram, behind)) = next(rest) {
        rest = behind;
        datagrams += 1;
        let mended = (how & 2 != 0).then(|| mend(datagram)).flatten();
        let datagram = mended.as_deref().unwrap_or(datagram);
        if let Taken::Message(order, message) = assembler.take(source, datagram) {
            assert!(message.len() <= options.most_message);
            messages += 1;
            if messages <= SPLIT {
                split_again(has_checksum, order, &message);
            }
            let _ = punctual_rtevent_service::fuzzing::events(form, order, &message);
        }
    }
    assert!(all(assembler.counts()) <= datagrams);
    let _ = assembler.missing();
}

/// Returns options with small limits, so that short inputs reach them.
fn options(has_checksum: bool) -> AssemblerOptions {
    AssemblerOptions {
        has_checksum,
        most_message: 2_048,
        most_incomplete: 4_096,
        most_sources: 3,
        window: 64,
    }
}

fn form(how: u8) -> Form {
    Form {
        has_timestamps: how & 4 == 0,
        has_octets: how & 8 == 0,
        has_any: how & 16 == 0,
        ..Form::default()
    }
}

/// Returns the next source and datagram, and what is behind them.
fn next(input: &[u8]) -> Option<(SocketAddr, &[u8], &[u8])> {
    let ([source, high, low], rest) = input.split_first_chunk()?;
    let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
    let (datagram, rest) = rest.split_at(length);
    let source = SocketAddr::from(([10, 0, 0, *source], 10_001));
    Some((source, datagram, rest))
}

/// Returns a datagram with its right checksum; `None` for one that is no fragment.
fn mend(datagram: &[u8]) -> Option<Vec<u8>> {
    let (header, fragment) = FragmentHeader::decode(datagram, false).ok()?;
    let head = header.encode(fragment, true);
    assert_eq!(head[..HEADER - 4], datagram[..HEADER - 4]);
    Some([&head[..], fragment].concat())
}

/// Splits a message, and puts it together again: in the order of its fragments, and in the opposite one.
fn split_again(has_checksum: bool, order: punctual_cdr::ByteOrder, message: &[u8]) {
    let Ok(fragments) = split(7, order, message, DATAGRAM, has_checksum) else {
        assert!(message.is_empty());
        return;
    };
    let mut all: Vec<_> = fragments
        .map(|(head, part)| [&head, part].concat())
        .collect();
    for _ in 0..2 {
        let mut assembler = Assembler::new(options(has_checksum));
        let source = SocketAddr::from(([10, 0, 0, 1], 1));
        let taken = all.iter().map(|one| assembler.take(source, one)).last();
        assert_eq!(taken, Some(Taken::Message(order, message.to_vec())));
        all.reverse();
    }
}

/// Returns the number of datagrams that are counted as something.
const fn all(counts: Counts) -> u64 {
    counts.messages + counts.duplicates + counts.late + counts.bad + counts.no_room
}
