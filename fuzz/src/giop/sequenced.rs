//! Sequenced frames: single ones, in batches, and as parts of a stream.

use super::limits;
use punctual_cdr::{Block, Coding, Decoder};
use punctual_giop::sequenced::{
    Arrival, BatchWriter, Examined, Frame, FrameHeader, MessageHeader, Sequence, begin_message,
    decode_batch, examine, finish_message, message_decoder,
};

/// Decodes the consecutive sequenced-frames messages of a fuzz input.
pub(super) fn run(mut rest: &[u8]) {
    let limits = limits();
    let coding = Coding {
        limits: &limits,
        ..Coding::default()
    };
    let mut stream = Stream::default();
    loop {
        let header = match examine(rest, rest.len(), &limits) {
            Ok(Examined::Complete(header)) => header,
            Ok(Examined::Incomplete { need }) => return assert!(need > rest.len()),
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        let Some((message, behind)) = rest.split_at_checked(header.message_len()) else {
            return;
        };
        let mut input = message_decoder(&header, message, coding);
        if let Ok(frame) = FrameHeader::decode(&header, &mut input) {
            match header.batch {
                false => {
                    stream.goes_on(frame.sequence, frame.sent_at);
                    alone(&header, &frame, coding);
                }
                true => batch(&header, &frame, &mut input, coding, &mut stream),
            }
        }
        rest = behind;
    }
}

/// Checks that a frame read, written and read again is the same.
fn alone(header: &MessageHeader, frame: &FrameHeader<'_>, coding: Coding<'_>) {
    let mut out = begin_message(Block::default(), header.order, coding);
    frame.encode(&mut out).expect("what was read is written");
    let mut block = out.into_block();
    finish_message(&mut block).expect("it is short");
    let Ok(Examined::Complete(header)) = examine(&block, block.len(), &limits()) else {
        panic!("what was written is no message");
    };
    let mut input = message_decoder(&header, &block, coding);
    assert_eq!(FrameHeader::decode(&header, &mut input).as_ref(), Ok(frame));
}

/// Checks that frames written to a batch get consecutive numbers, whatever numbers they had when
/// they were read.
fn batch(
    header: &MessageHeader,
    first: &FrameHeader<'_>,
    input: &mut Decoder<'_>,
    coding: Coding<'_>,
    stream: &mut Stream,
) {
    let Ok(frames) = decode_batch(input) else {
        return;
    };
    let frames: Vec<Frame<'_>> = frames.collect();
    let writer = BatchWriter::begin(Block::default(), header.order, first, coding);
    let mut writer = writer.expect("what was read is written");
    assert!(writer.is_empty());
    for frame in &frames {
        stream.goes_on(frame.sequence, frame.sent_at);
        let before = writer.octets();
        let pushed = writer.push(frame.sent_at, |out| {
            out.put_bytes(frame.body.rest());
            Ok(())
        });
        pushed.expect("what was read is written");
        assert!(writer.octets() > before);
    }
    assert_eq!(writer.len(), frames.len());
    let block = writer.finish().expect("it is short");
    let Ok(Examined::Complete(header)) = examine(&block, block.len(), &limits()) else {
        panic!("what was written is no message");
    };
    let mut input = message_decoder(&header, &block, coding);
    let again = FrameHeader::decode(&header, &mut input);
    assert_eq!(again.as_ref(), Ok(first));
    let again = decode_batch(&mut input).expect("what was written is read");
    assert_eq!(again.len(), frames.len());
    for (number, (again, frame)) in again.zip(&frames).enumerate() {
        assert_eq!(again.sequence, first.sequence.wrapping_add(number as u64));
        assert_eq!(again.sent_at, frame.sent_at);
        assert_eq!(again.body.rest(), frame.body.rest());
    }
}

/// Sequence state of a stream, and the number of frames that have arrived.
#[derive(Default)]
struct Stream {
    sequence: Sequence,
    arrived: u64,
}

impl Stream {
    /// Passes a frame to the sequence state, and checks the counters: the frame counts as received,
    /// duplicate or stray, and a late frame no longer counts as lost.
    fn goes_on(&mut self, number: u64, sent_at: u64) {
        let before = self.sequence.statistics();
        self.arrived += 1;
        let arrival = self.sequence.accept(number, sent_at, self.arrived);
        let now = self.sequence.statistics();
        assert_eq!(now.received + now.duplicate + now.stray, self.arrived);
        match arrival {
            Arrival::InOrder | Arrival::Restarted => {
                assert_eq!(self.sequence.highest(), Some(number))
            }
            Arrival::Gap { lost } => assert_eq!(now.lost, before.lost.saturating_add(lost)),
            Arrival::Late => assert!(now.lost <= before.lost && now.late == before.late + 1),
            Arrival::Duplicate => assert_eq!(now.duplicate, before.duplicate + 1),
            _ => assert_eq!(now.stray, before.stray + 1),
        }
        let _ = self.sequence.jitter();
    }
}
