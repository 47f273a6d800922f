//! From records of threads to requests.

use punctual_orb::Priority;
use punctual_orb::timeline::{Record, RequestId, Stage, ThreadRecords};
use std::collections::HashMap;

/// A request as a server has served it. Times are nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRequest {
    /// Which one it is. Numbers come again, once a request is over.
    pub id: RequestId,
    /// When its client had sent it, if that is a process, or a thread, of which there are records. From then on it was
    /// there to be read.
    pub sent: Option<u64>,
    /// When it was read.
    pub read: u64,
    /// Whether it waited in a pool's buffer.
    pub was_queued: bool,
    /// When its upcall began; `None` where it was refused.
    pub upcall: Option<u64>,
    /// When the servant returned.
    pub upcall_end: Option<u64>,
    /// When the reply had been sent.
    pub replied: Option<u64>,
    /// The CORBA priority that its upcall ran at, or that it waited with.
    pub priority: Option<Priority>,
    /// The processor that it was read on.
    pub processor: u8,
}

/// The requests that servers of this process have read, in the order of time.
#[must_use]
pub fn requests(threads: &[ThreadRecords]) -> Vec<ServedRequest> {
    let mut records: Vec<Record> = threads
        .iter()
        .flat_map(|thread| thread.records.iter().copied())
        .collect();
    // Of one thread they stand in order.
    records.sort_by_key(|record| record.at);
    let mut served: Vec<ServedRequest> = Vec::new();
    let mut current: HashMap<RequestId, usize> = HashMap::new();
    for record in &records {
        if record.stage == Stage::Read {
            current.insert(record.request, served.len());
            served.push(ServedRequest::read(record));
        } else if let Some(&place) = current.get(&record.request)
            && let Some(request) = served.get_mut(place)
        {
            request.comes_to(record);
        }
    }
    add_sent(&mut served, &records);
    served
}

impl ServedRequest {
    fn read(record: &Record) -> Self {
        Self {
            id: record.request,
            sent: None,
            read: record.at,
            was_queued: false,
            upcall: None,
            upcall_end: None,
            replied: None,
            priority: record.priority,
            processor: record.processor,
        }
    }

    fn comes_to(&mut self, record: &Record) {
        match record.stage {
            Stage::Queued => {
                self.was_queued = true;
                self.priority = record.priority;
            }
            Stage::Upcall => {
                self.upcall = Some(record.at);
                // One that waited has a priority already, which is not the thread's.
                if !self.was_queued {
                    self.priority = record.priority;
                }
            }
            Stage::RunsAt => self.priority = record.priority,
            Stage::UpcallEnd => self.upcall_end = Some(record.at),
            Stage::Replied => self.replied = Some(record.at),
            Stage::Read | Stage::Sent => {}
        }
    }
}

/// Adds when they were sent, of requests whose client's priority they were served at. A client's record does not say by
/// which connection: it is known where no two clients of one priority are under way with the same number.
fn add_sent(served: &mut [ServedRequest], records: &[Record]) {
    let key = |priority: Option<Priority>, request: RequestId| (priority, request.request);
    let mut sent: HashMap<(Option<Priority>, u32), Vec<u64>> = HashMap::new();
    for record in records.iter().rev() {
        if record.stage == Stage::Sent {
            let times = sent.entry(key(record.priority, record.request));
            times.or_default().push(record.at);
        }
    }
    for request in served {
        let Some(times) = sent.get_mut(&key(request.priority, request.id)) else {
            continue;
        };
        // The earliest stands last. It may be told a moment after the request was read.
        while let Some(at) = times.pop_if(|at| request.replied.is_none_or(|end| *at <= end)) {
            if at <= request.read {
                request.sent = Some(at);
            }
        }
    }
}
