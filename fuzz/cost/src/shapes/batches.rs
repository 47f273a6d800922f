//! GIOPlite and sequenced frames: consecutive messages, and many requests in one message.

use crate::outcome::read_whole;
use crate::{Outcome, Refusal, Shape};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Limits};
use punctual_giop::sequenced::{self, FrameHeader};
use punctual_giop::{RequestHeader, ResponseFlags, ServiceContexts, Target, lite};

pub(super) const SHAPES: &[Shape] = &[
    Shape::new("GIOPlite", "one-ways without bodies", one_ways, read_lite),
    Shape::new("GIOPlite", "a batch of them", lite_batch, read_lite),
    Shape::new("frames", "frames without bodies", frames, read_frames),
    Shape::new("frames", "a batch of them", frame_batch, read_frames),
];

fn read_lite(octets: &[u8]) -> Outcome {
    use lite::Examined::{Complete, Incomplete};
    let mut rest = octets;
    while !rest.is_empty() {
        let at = octets.len() - rest.len();
        let (message, behind) = match lite::examine(rest, rest.len(), &Limits::default()) {
            Ok(Complete(header)) => rest.split_at(header.message_len()),
            Ok(Incomplete { .. }) => return Err(Refusal::new(at, "it is not whole")),
            Err(error) => return Err(Refusal::new(at, error)),
        };
        let mut input = lite::message_decoder(message, Coding::default());
        let read = match message.get(4) {
            Some(&kind) if kind == lite::Kind::Batch.number() => of_lite_batch(&mut input),
            _ => lite::decode_request(&mut input).map(drop),
        };
        read.map_err(|error| Refusal::new(at, error))?;
        read_whole(&input)?;
        rest = behind;
    }
    Ok(())
}

fn of_lite_batch(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let bodies = lite::decode_batch(input)?.bodies;
    all_of(bodies.len(), bodies.count())
}

fn read_frames(octets: &[u8]) -> Outcome {
    use sequenced::Examined::{Complete, Incomplete};
    let mut rest = octets;
    while !rest.is_empty() {
        let at = octets.len() - rest.len();
        let header = match sequenced::examine(rest, rest.len(), &Limits::default()) {
            Ok(Complete(header)) => header,
            Ok(Incomplete { .. }) => return Err(Refusal::new(at, "it is not whole")),
            Err(error) => return Err(Refusal::new(at, error)),
        };
        let (message, behind) = rest.split_at(header.message_len());
        let mut input = sequenced::message_decoder(&header, message, Coding::default());
        let read = FrameHeader::decode(&header, &mut input).and_then(|_| match header.batch {
            true => of_frame_batch(&mut input),
            false => Ok(()),
        });
        read.map_err(|error| Refusal::new(at, error))?;
        read_whole(&input)?;
        rest = behind;
    }
    Ok(())
}

fn of_frame_batch(input: &mut Decoder<'_>) -> Result<(), CdrError> {
    let frames = sequenced::decode_batch(input)?;
    all_of(frames.len(), frames.count())
}

fn all_of(announced: usize, found: usize) -> Result<(), CdrError> {
    match found == announced {
        true => Ok(()),
        false => Err(CdrError::Invalid("requests of the batch are missing")),
    }
}

/// Returns the bytes of an encoded block. The encoding of a shape never fails.
fn finished(block: Result<Block, CdrError>) -> Vec<u8> {
    debug_assert!(block.is_ok(), "{block:?}");
    block.map(Block::into_vec).unwrap_or_default()
}

fn one_ways(octets: usize) -> Vec<u8> {
    let coding = Coding::default();
    let mut out = lite::begin_message(Block::default(), lite::Kind::Request, coding);
    let header = RequestHeader {
        request_id: 7,
        response: ResponseFlags::NONE,
        target: Target::ObjectKey(b""),
        operation: "o",
        contexts: ServiceContexts::none(),
    };
    let written = lite::encode_request(&header, &mut out);
    let mut block = out.into_block();
    let one = written.and_then(|()| lite::finish_message(&mut block));
    let one = finished(one.map(|()| block));
    one.repeat(octets / one.len() + 1)
}

fn lite_batch(octets: usize) -> Vec<u8> {
    let coding = Coding::default();
    let batch = lite::BatchWriter::begin(Block::default(), b"key", "op", coding);
    finished(batch.and_then(|mut batch| {
        (0..octets / 4 + 1).try_for_each(|_| batch.push(|_| Ok(())))?;
        batch.finish()
    }))
}

const FRAME: FrameHeader<'_> = FrameHeader {
    stream: 1,
    sequence: 1,
    sent_at: 1,
    object_key: b"",
    operation: "o",
};

fn frames(octets: usize) -> Vec<u8> {
    let coding = Coding::default();
    let mut out = sequenced::begin_message(Block::default(), ByteOrder::Big, coding);
    let written = FRAME.encode(&mut out);
    let mut block = out.into_block();
    let one = written.and_then(|()| sequenced::finish_message(&mut block));
    let one = finished(one.map(|()| block));
    one.repeat(octets / one.len() + 1)
}

fn frame_batch(octets: usize) -> Vec<u8> {
    let coding = Coding::default();
    let batch = sequenced::BatchWriter::begin(Block::default(), ByteOrder::Big, &FRAME, coding);
    finished(batch.and_then(|mut batch| {
        (0..octets / 24 + 1).try_for_each(|_| batch.push(1, |_| Ok(())))?;
        batch.finish()
    }))
}
