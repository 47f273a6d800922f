//! Frame-sequencing ESIOP as a messaging protocol (Schmidt et al. 2001, §3.4.1): for one-way media,
//! numbered and time-stamped, without retransmission. The receiver learns which frames were lost or
//! are late.

use super::protocol::{
    Abilities, BadFrame, EachRequest, Examined, Frame, FrameArrival, Head, Messaging, Needs,
    QueuedRequest, Session,
};
use punctual_cdr::{Block, ByteOrder, CdrError, Coding, Decoder, Encoder, GiopVersion, Limits};
use punctual_giop::sequenced::{self, FrameHeader, Sequence};
use punctual_giop::{
    MessageHeader, MessageKind, RequestHeader, ResponseFlags, ServiceContexts, Target,
};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Position of the sequence number in a message; the time stamp follows it.
const SEQUENCE_AT: usize = 16;
const SENT_AT: usize = 24;
const FLAGS_AT: usize = 5;

/// Messaging protocol that numbers its frames, so that lost ones are noticed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames;

/// Session of one connection, with the numbering of one outgoing and one incoming stream of frames.
#[derive(Debug)]
struct FrameSession {
    stream: u32,
    next: AtomicU64,
    /// Number and sequence state of the incoming stream, once it has begun.
    incoming: Mutex<Option<(u32, Sequence)>>,
}

impl Frames {
    /// Name of the frame-sequencing protocol.
    pub const NAME: &'static str = "frames";
}

impl Messaging for Frames {
    fn name(&self) -> &str {
        Self::NAME
    }

    /// Returns that the protocol needs no guarantees: lost frames are not repeated.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            two_way: false,
            contexts: false,
            fragments: false,
            batches: true,
            either_order: true,
        }
    }

    fn session(&self) -> Arc<dyn Session> {
        // A number that is unlikely to be used by another stream.
        let number = RandomState::new().build_hasher().finish();
        Arc::new(FrameSession {
            stream: u32::try_from(number >> 32).unwrap_or_default(),
            next: AtomicU64::new(0),
            incoming: Mutex::new(None),
        })
    }
}

impl FrameSession {
    fn arrived(&self, stream: u32, sequence: u64, sent_at: u64) -> FrameArrival {
        let mut incoming = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        if incoming.as_ref().is_none_or(|(known, _)| *known != stream) {
            *incoming = Some((stream, Sequence::new()));
        }
        let (_, tracker) = incoming.get_or_insert_with(|| (stream, Sequence::new()));
        FrameArrival {
            stream,
            sequence,
            sent_at,
            arrival: tracker.accept(sequence, sent_at, now()),
            statistics: tracker.statistics(),
        }
    }

    fn request<'m>(
        &self,
        header: &FrameHeader<'m>,
        sequence: u64,
        sent_at: u64,
    ) -> (RequestHeader<'m>, Option<FrameArrival>) {
        let request = RequestHeader {
            request_id: 0,
            response: ResponseFlags::NONE,
            target: Target::ObjectKey(header.object_key),
            operation: header.operation,
            contexts: ServiceContexts::none(),
        };
        (
            request,
            Some(self.arrived(header.stream, sequence, sent_at)),
        )
    }
}

impl Session for FrameSession {
    fn examine(
        &self,
        octets: &[u8],
        available: usize,
        limits: &Limits,
    ) -> Result<Examined, BadFrame> {
        let header = match sequenced::examine(octets, available, limits)? {
            sequenced::Examined::Incomplete { need } => return Ok(Examined::Incomplete { need }),
            sequenced::Examined::Complete(header) => header,
        };
        let (version, kind) = (GiopVersion::V1_2, MessageKind::Request);
        Ok(Examined::Complete(Frame {
            header: MessageHeader::new(version, header.order, kind, header.size),
            length: header.message_len(),
            origin: 0,
            head: sequenced::MessageHeader::LEN,
            batch: header.batch,
        }))
    }

    fn begin<'e>(
        &self,
        block: Block,
        _kind: MessageKind,
        order: ByteOrder,
        coding: Coding<'e>,
    ) -> Encoder<'e> {
        sequenced::begin_message(block, order, coding)
    }

    /// Completes the frame of a request. Fails for any other message: the protocol has none.
    fn finish(&self, block: &mut Block) -> Result<(), CdrError> {
        if block.len() <= sequenced::MessageHeader::LEN {
            return Err(CdrError::Invalid("the protocol has requests only"));
        }
        sequenced::finish_message(block)
    }

    fn put_head(&self, out: &mut Encoder<'_>, head: &Head<'_>) -> Result<(), CdrError> {
        let Head::Request(header, _) = head else {
            return Err(CdrError::Invalid("the protocol has requests only"));
        };
        let Target::ObjectKey(object_key) = &header.target else {
            return Err(CdrError::Invalid("the protocol names objects by key only"));
        };
        FrameHeader {
            stream: self.stream,
            // Both are filled in when the message is sent.
            sequence: 0,
            sent_at: 0,
            object_key,
            operation: header.operation,
        }
        .encode(out)
    }

    fn stamp(&self, message: &mut Block) {
        let big = message
            .get(FLAGS_AT)
            .is_some_and(|flags| ByteOrder::from_flag(*flags) == ByteOrder::Big);
        let in_order = |value: u64| {
            if big {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        // Relaxed: the sending lock keeps the numbers in the order of the messages.
        let sequence = self.next.fetch_add(1, Ordering::Relaxed);
        let octets = message.as_mut_slice();
        for (at, value) in [(SEQUENCE_AT, sequence), (SENT_AT, now())] {
            if let Some(place) = octets.get_mut(at..at + 8) {
                place.copy_from_slice(&in_order(value));
            }
        }
    }

    fn get_head<'m>(
        &self,
        kind: MessageKind,
        input: &mut Decoder<'m>,
    ) -> Result<Head<'m>, CdrError> {
        if kind != MessageKind::Request {
            return Err(CdrError::Invalid("the protocol has requests only"));
        }
        let single = sequenced::MessageHeader {
            order: input.order(),
            batch: false,
            size: 0,
        };
        let header = FrameHeader::decode(&single, input)?;
        let (request, arrival) = self.request(&header, header.sequence, header.sent_at);
        Ok(Head::Request(request, arrival))
    }

    fn batch(
        &self,
        block: Block,
        object_key: &[u8],
        operation: &str,
        requests: &[QueuedRequest],
        coding: Coding<'_>,
    ) -> Result<Block, CdrError> {
        let count = u64::try_from(requests.len()).unwrap_or(u64::MAX);
        let header = FrameHeader {
            stream: self.stream,
            sequence: self.next.fetch_add(count, Ordering::Relaxed),
            sent_at: now(),
            object_key,
            operation,
        };
        let order = ByteOrder::NATIVE;
        let mut batch = sequenced::BatchWriter::begin(block, order, &header, coding)?;
        for request in requests {
            let queued_at = nanoseconds(request.queued_at);
            batch.push(queued_at, |out| {
                out.put_bytes(&request.body);
                Ok(())
            })?;
        }
        batch.finish()
    }

    fn get_batch<'m>(
        &self,
        input: &mut Decoder<'m>,
        each: &mut EachRequest<'_, 'm>,
    ) -> Result<(), CdrError> {
        let whole = sequenced::MessageHeader {
            order: input.order(),
            batch: true,
            size: 0,
        };
        let header = FrameHeader::decode(&whole, input)?;
        for frame in sequenced::decode_batch(input)? {
            let (request, arrival) = self.request(&header, frame.sequence, frame.sent_at);
            each(request, arrival, frame.body)?;
        }
        Ok(())
    }
}

fn now() -> u64 {
    nanoseconds(SystemTime::now())
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
