//! Priority inversions: requests that were served before more urgent ones.

use super::requests::ServedRequest;
use punctual_orb::Priority;
use punctual_orb::timeline::RequestId;
use std::collections::HashMap;

/// Set of requests among which the most urgent one is to be served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// Requests of one lane: any of its threads may serve them.
    Lane,
    /// Requests that were read on one processor, which can run only one thread at a time.
    Processor,
}

/// Request whose upcall began while a more urgent one was waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inversion {
    /// Time at which the upcall began, in nanoseconds of `CLOCK_MONOTONIC`.
    pub at: u64,
    /// Request that was served first, and its priority.
    pub served: (RequestId, Option<Priority>),
    /// Request that had been sent or read and whose upcall had not begun, and its priority.
    pub waiting: (RequestId, Option<Priority>),
}

/// Event of a request, for sorting by time: it becomes available, or its upcall begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Begins(usize),
    IsThere(usize),
}

/// Returns each upcall that began while a more urgent request was waiting: sent (if the time of
/// sending is known) or read, and not yet begun. Requests without a priority are the least urgent.
#[must_use]
pub fn inversions(requests: &[ServedRequest], within: Within) -> Vec<Inversion> {
    let mut events: HashMap<u32, Vec<(u64, Event)>> = HashMap::new();
    for (index, request) in requests.iter().enumerate() {
        let Some(begins) = request.upcall else {
            continue;
        };
        let group = match within {
            Within::Lane => request.id.lane,
            Within::Processor => request.processor.into(),
        };
        let of_group = events.entry(group).or_default();
        of_group.push((request.sent.unwrap_or(request.read), Event::IsThere(index)));
        of_group.push((begins, Event::Begins(index)));
    }
    let mut found: Vec<Inversion> = Vec::new();
    for (_, mut events) in events {
        events.sort_unstable();
        let mut there: Vec<usize> = Vec::new();
        for (at, event) in events {
            match event {
                Event::IsThere(index) => there.push(index),
                Event::Begins(index) => {
                    there.retain(|&other| other != index);
                    let waiting = there
                        .iter()
                        .filter_map(|&other| requests.get(other))
                        .max_by_key(|one| one.priority);
                    if let Some((served, waiting)) = requests.get(index).zip(waiting)
                        && waiting.priority > served.priority
                    {
                        found.push(Inversion {
                            at,
                            served: (served.id, served.priority),
                            waiting: (waiting.id, waiting.priority),
                        });
                    }
                }
            }
        }
    }
    found.sort_by_key(|inversion| inversion.at);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: u32, priority: i16, read: u64, upcall: u64) -> ServedRequest {
        ServedRequest {
            id: RequestId {
                lane: number / 10,
                connection: 1,
                request: number,
            },
            sent: None,
            read,
            was_queued: false,
            upcall: Some(upcall),
            upcall_end: None,
            replied: None,
            operation: None,
            priority: Priority::new(priority).ok(),
            processor: 0,
        }
    }

    #[test]
    fn a_request_that_is_served_before_a_more_urgent_one_is_found() {
        let high = request(1, 50, 10, 30);
        let low = request(2, 20, 5, 20);
        let inverted = inversions(&[high.clone(), low.clone()], Within::Lane);
        assert_eq!(inverted.len(), 1);
        assert_eq!((inverted[0].at, inverted[0].served.0), (20, low.id));
        assert_eq!(inverted[0].waiting.0, high.id);
        // Its upcall began before the other arrived.
        let earlier = request(2, 20, 5, 9);
        assert_eq!(
            inversions(&[high.clone(), earlier.clone()], Within::Lane),
            []
        );
        // The request is known to have been sent.
        let sent = ServedRequest {
            sent: Some(8),
            ..high.clone()
        };
        assert_eq!(inversions(&[sent, earlier], Within::Lane).len(), 1);
        // Equal priorities, or the reverse order.
        assert_eq!(inversions(&[request(1, 20, 10, 30), low], Within::Lane), []);
        let none = request(3, -1, 11, 40);
        assert_eq!(inversions(&[high, none], Within::Lane), []);
    }

    #[test]
    fn lanes_wait_for_each_other_on_a_processor_alone() {
        let (high, low) = (request(1, 50, 10, 30), request(12, 20, 5, 20));
        let both = [high, low];
        assert_eq!(inversions(&both, Within::Lane), []);
        assert_eq!(inversions(&both, Within::Processor).len(), 1);
    }
}
