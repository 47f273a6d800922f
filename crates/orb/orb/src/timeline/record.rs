//! Record of a request that has reached a stage.

use crate::priority::Priority;

/// Stage of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The client has written the request, and is about to send it: the server cannot have read it before.
    Sending,
    /// The client has sent the request.
    Sent,
    /// The server has read the request.
    Read,
    /// The request is queued, as a thread pool has read it while all its threads were in upcalls.
    Queued,
    /// The upcall begins: the object adapter looks for the servant.
    Upcall,
    /// The upcall runs at another priority from now on.
    RunsAt,
    /// The servant has returned.
    UpcallEnd,
    /// The reply has been sent, or is queued until the peer accepts it.
    Replied,
    /// The client's caller has the reply, or the thread that continues an asynchronous call.
    Received,
}

impl Stage {
    const ALL: [Self; 9] = [
        Self::Sending,
        Self::Sent,
        Self::Read,
        Self::Queued,
        Self::Upcall,
        Self::RunsAt,
        Self::UpcallEnd,
        Self::Replied,
        Self::Received,
    ];
}

/// Identifier of a request, unique among those in progress in a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId {
    /// Number of the request's lane ([`crate::LaneStatistics::number`]).
    pub lane: u32,
    /// The connection's number: among those that the lane has accepted, or, for the client's stages, among those that
    /// the process has opened.
    pub connection: u32,
    /// GIOP request id of the request.
    pub request: u32,
}

/// Record of a request that has reached a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time in nanoseconds of `CLOCK_MONOTONIC`: the same clock for all processes of a machine.
    pub at: u64,
    /// Stage that the request has reached.
    pub stage: Stage,
    /// Request to which the record belongs.
    pub request: RequestId,
    /// CORBA priority of the thread, or of the request if it is queued; `None` if there is none, and at the end of an
    /// upcall.
    pub priority: Option<Priority>,
    /// Number of the operation in [`super::ThreadRecords::operations`], at the end of an upcall; `None` if the servant
    /// has no such operation, it is one of every object, or there was no room for its name.
    pub operation: Option<u16>,
    /// Number of the processor on which the thread ran.
    pub processor: u8,
}

/// Length of one timeline record, in 64-bit words.
pub(super) const WORDS: usize = 3;

/// Number that stands for "no priority" and "no operation"; CORBA priorities are never negative.
pub(super) const NONE: u16 = u16::MAX;

impl Record {
    pub(super) fn to_words(self) -> [u64; WORDS] {
        // The thread has its own priority again at the end of an upcall, which needs no record.
        let detail = match self.stage {
            Stage::UpcallEnd => self.operation,
            _ => self.priority.map(|priority| priority.get().cast_unsigned()),
        };
        let kind = u64::from(self.stage as u8) | u64::from(self.processor) << 8;
        let RequestId {
            lane,
            connection,
            request,
        } = self.request;
        [
            self.at,
            kind | u64::from(detail.unwrap_or(NONE)) << 16 | u64::from(lane) << 32,
            u64::from(connection) | u64::from(request) << 32,
        ]
    }

    /// Converts from words; `None` if they are not a record.
    pub(super) fn of_words([at, kind, request]: [u64; WORDS]) -> Option<Self> {
        let [stage, processor, low, high, lane @ ..] = kind.to_le_bytes();
        let [c0, c1, c2, c3, request @ ..] = request.to_le_bytes();
        let stage = *Stage::ALL.get(usize::from(stage))?;
        let detail = Some([low, high]).filter(|_| [low, high] != NONE.to_le_bytes());
        let (operation, priority) = match stage {
            Stage::UpcallEnd => (detail, None),
            _ => (None, detail),
        };
        Some(Self {
            at,
            stage,
            request: RequestId {
                lane: u32::from_le_bytes(lane),
                connection: u32::from_le_bytes([c0, c1, c2, c3]),
                request: u32::from_le_bytes(request),
            },
            priority: priority.and_then(|octets| Priority::new(i16::from_le_bytes(octets)).ok()),
            operation: operation.map(u16::from_le_bytes),
            processor,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for (place, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(place, stage as usize);
            let request = RequestId {
                lane: 0xffff_fffe,
                connection: 0x8000_0001,
                request: 0x1234_5678,
            };
            for number in [None, Some(0), Some(0x7fff)] {
                let is_end = stage == Stage::UpcallEnd;
                let priority =
                    number.and_then(|number: u16| Priority::new(number.cast_signed()).ok());
                let record = Record {
                    at: u64::MAX,
                    stage,
                    request,
                    priority: priority.filter(|_| !is_end),
                    operation: number.filter(|_| is_end),
                    processor: 255,
                };
                assert_eq!(Record::of_words(record.to_words()), Some(record));
            }
        }
        assert_eq!(Record::of_words([0, 9, 0]), None);
    }
}
