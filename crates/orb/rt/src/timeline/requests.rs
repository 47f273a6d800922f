//! Conversion of threads' timeline records to requests.

use punctual_orb::Priority;
use punctual_orb::timeline::{Record, RequestId, Stage, ThreadRecords};
use std::collections::HashMap;
use std::sync::Arc;

/// Request as a server has served it. Times are nanoseconds of `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRequest {
    /// Id of the request. Ids are reused once a request is over.
    pub id: RequestId,
    /// Time at which the client had sent the request, if there are records of the client's thread.
    /// From then on it could be read.
    pub sent: Option<u64>,
    /// Time at which the server had read the request, in nanoseconds of `CLOCK_MONOTONIC`.
    pub read: u64,
    /// True if the request waited in a pool's buffer.
    pub was_queued: bool,
    /// Time at which the upcall began; `None` if the request was refused.
    pub upcall: Option<u64>,
    /// Time at which the servant returned, if there is a record of it.
    pub upcall_end: Option<u64>,
    /// Time at which the server had sent the reply, if there is a record of it.
    pub replied: Option<u64>,
    /// Scoped name of the operation in IDL, `Module::Interface::operation`; `None` if the upcall has not ended, the
    /// servant has no such operation, or the timeline had no room for its name.
    pub operation: Option<Arc<str>>,
    /// CORBA priority at which the upcall ran, or with which the request waited.
    pub priority: Option<Priority>,
    /// Number of the processor on which the server read the request.
    pub processor: u8,
}

/// Returns the requests that servers of this process have read, in the order of time.
#[must_use]
pub fn requests(threads: &[ThreadRecords]) -> Vec<ServedRequest> {
    let mut records: Vec<(Record, &[Arc<str>])> = Vec::new();
    let names: Vec<Vec<Arc<str>>> = threads.iter().map(names).collect();
    for (thread, names) in threads.iter().zip(&names) {
        records.extend(thread.records.iter().map(|record| (*record, &names[..])));
    }
    // The records of one thread are in order.
    records.sort_by_key(|(record, _)| record.at);
    let mut served: Vec<ServedRequest> = Vec::new();
    let mut current: HashMap<RequestId, usize> = HashMap::new();
    for (record, names) in &records {
        if record.stage == Stage::Read {
            current.insert(record.request, served.len());
            served.push(ServedRequest::read(record));
        } else if let Some(&place) = current.get(&record.request)
            && let Some(request) = served.get_mut(place)
        {
            request.comes_to(record, names);
        }
    }
    add_sent(&mut served, records.iter().map(|(record, _)| record));
    served
}

fn names(thread: &ThreadRecords) -> Vec<Arc<str>> {
    let names = thread.operations.iter();
    names.map(|name| Arc::from(name.as_str())).collect()
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
            operation: None,
            priority: record.priority,
            processor: record.processor,
        }
    }

    fn comes_to(&mut self, record: &Record, names: &[Arc<str>]) {
        match record.stage {
            Stage::Queued => {
                self.was_queued = true;
                self.priority = record.priority;
            }
            Stage::Upcall => {
                self.upcall = Some(record.at);
                // A request that waited has a priority already, which is not the thread's.
                if !self.was_queued {
                    self.priority = record.priority;
                }
            }
            Stage::RunsAt => self.priority = record.priority,
            Stage::UpcallEnd => {
                self.upcall_end = Some(record.at);
                let name = record.operation.and_then(|at| names.get(usize::from(at)));
                self.operation = name.cloned();
            }
            Stage::Replied => self.replied = Some(record.at),
            Stage::Read | Stage::Sending | Stage::Sent | Stage::Received => {}
        }
    }
}

/// Adds the times of sending, for requests that were served at their client's priority. A client's
/// record does not name the connection: a request is identified by id and priority, which is
/// ambiguous only if two clients of one priority have requests with the same id in progress.
fn add_sent<'r>(
    served: &mut [ServedRequest],
    records: impl DoubleEndedIterator<Item = &'r Record>,
) {
    let key = |priority: Option<Priority>, request: RequestId| (priority, request.request);
    let mut sent: HashMap<(Option<Priority>, u32), Vec<u64>> = HashMap::new();
    for record in records.rev() {
        if record.stage == Stage::Sent {
            let times = sent.entry(key(record.priority, record.request));
            times.or_default().push(record.at);
        }
    }
    for request in served {
        let Some(times) = sent.get_mut(&key(request.priority, request.id)) else {
            continue;
        };
        // The earliest is last. It may be recorded a moment after the request was read.
        while let Some(at) = times.pop_if(|at| request.replied.is_none_or(|end| *at <= end)) {
            if at <= request.read {
                request.sent = Some(at);
            }
        }
    }
}
