//! Conversion of a thread's time stamps to calls and their stages.

use super::point::{Point, Side};
use super::ring::Stamp;

/// Trace of one call at one side: successive intervals without gaps, each belonging to a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTrace {
    stretches: Vec<Stretch>,
    end: Option<Stamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    begin: Stamp,
    ticks: u64,
}

impl CallTrace {
    /// Returns the total ticks of a stage, which the call may have entered more than once.
    #[must_use]
    pub fn ticks(&self, point: Point) -> u64 {
        self.of(point).map(|stretch| stretch.ticks).sum()
    }

    /// Returns the number of times that the call entered a stage; each has a stamp.
    #[must_use]
    pub fn stamps(&self, point: Point) -> usize {
        self.of(point).count()
    }

    /// Returns the duration of the whole call, in ticks of the processor's counter.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.stretches.iter().map(|stretch| stretch.ticks).sum()
    }

    /// Returns the time stamp at which the call begins.
    #[must_use]
    pub fn begin(&self) -> Option<Stamp> {
        self.stretches.first().map(|stretch| stretch.begin)
    }

    /// Returns the time stamp at which the call ends.
    #[must_use]
    pub fn end(&self) -> Option<Stamp> {
        self.end
    }

    /// Returns the stamp at which a stage first began.
    #[must_use]
    pub fn begin_of(&self, point: Point) -> Option<Stamp> {
        self.of(point).next().map(|stretch| stretch.begin)
    }

    /// Returns the stamp at which a stage last ended, which is the beginning of the next stage.
    /// `None` if the call has no such stage.
    #[must_use]
    pub fn end_of(&self, point: Point) -> Option<Stamp> {
        let is_it = |stretch: &Stretch| stretch.begin.point == point;
        let last = self.stretches.iter().rposition(is_it)?;
        let next = self.stretches.get(last + 1);
        next.map(|stretch| stretch.begin).or(self.end)
    }

    fn of(&self, point: Point) -> impl Iterator<Item = &Stretch> {
        self.stretches
            .iter()
            .filter(move |stretch| stretch.begin.point == point)
    }

    fn add(&mut self, begin: Stamp, end: Stamp) {
        let ticks = end.since(begin);
        self.stretches.push(Stretch { begin, ticks });
        self.end = Some(end);
    }
}

/// Returns the complete calls that one thread has made (client side) or served (server side).
///
/// A client's call begins with [`Point::ClientInitialise`] and ends with [`Point::ClientEnd`]; a
/// call that the thread makes in an upcall while another of its calls waits is a separate call, and
/// also counts as part of the outer call's wait. A server's call lasts from the receipt of one
/// request to the receipt of the next, and is included if exactly one request was answered in that
/// time: if a thread serves another request while its upcall waits, the two cannot be told apart.
#[must_use]
pub fn calls(stamps: &[Stamp], side: Side) -> Vec<CallTrace> {
    let own = stamps.iter().filter(|stamp| stamp.point.side() == side);
    match side {
        Side::Client => made(own),
        Side::Server => served(own),
    }
}

fn made<'s>(stamps: impl Iterator<Item = &'s Stamp>) -> Vec<CallTrace> {
    let mut whole = Vec::new();
    // Calls in progress, the innermost last, each with the stamp of its current stage.
    let mut open: Vec<(CallTrace, Stamp)> = Vec::new();
    for &stamp in stamps {
        if stamp.point == Point::ClientInitialise {
            open.push((CallTrace::default(), stamp));
        } else if let Some((seen, last)) = open.last_mut() {
            seen.add(*last, stamp);
            *last = stamp;
            if stamp.point == Point::ClientEnd {
                whole.extend(open.pop().map(|(seen, _)| seen));
            }
        }
    }
    whole
}

fn served<'s>(stamps: impl Iterator<Item = &'s Stamp>) -> Vec<CallTrace> {
    let mut whole = Vec::new();
    let mut open: Option<(CallTrace, Stamp)> = None;
    let mut answered = false;
    for &stamp in stamps {
        if let Some((seen, last)) = &mut open {
            seen.add(*last, stamp);
            *last = stamp;
        }
        answered |= stamp.point == Point::ServerSend;
        // A thread that receives in vain, and then once more, is still at the same request.
        if stamp.point == Point::ServerReceive && (answered || open.is_none()) {
            let next = Some((CallTrace::default(), stamp));
            whole.extend(std::mem::replace(&mut open, next).map(|(seen, _)| seen));
            answered = false;
        }
    }
    whole.retain(|seen| {
        seen.stamps(Point::ServerOperation) == 1 && seen.stamps(Point::ServerSend) == 1
    });
    whole
}

#[cfg(test)]
mod tests {
    use super::Point::*;
    use super::*;

    /// Returns stamps at these points, each the given number of ticks after the previous one.
    fn stamps(points: &[(Point, u64)]) -> Vec<Stamp> {
        let mut now = 1000;
        let at = |&(point, later)| {
            now += later;
            Stamp::new(point, now)
        };
        points.iter().map(at).collect()
    }

    #[test]
    fn a_stage_that_is_come_back_to_counts_together_and_all_of_them_are_the_whole() {
        let seen = calls(
            &stamps(&[
                (ClientInitialise, 1),
                (ClientMessagingSend, 2),
                (ClientMarshal, 3),
                (ClientMessagingSend, 4),
                (ClientReceive, 5),
                (ClientEnd, 60),
            ]),
            Side::Client,
        );
        let [call] = seen.as_slice() else {
            panic!("{seen:?}");
        };
        assert_eq!(call.ticks(ClientMessagingSend), 3 + 5);
        assert_eq!(call.stamps(ClientMessagingSend), 2);
        assert_eq!(call.ticks(ClientReceive), 60);
        assert_eq!(call.total(), 2 + 3 + 4 + 5 + 60);
        assert_eq!(call.begin_of(ClientMarshal).unwrap().ticks, 1006);
        assert_eq!(call.end_of(ClientMessagingSend).unwrap().ticks, 1015);
        assert_eq!(call.end_of(ClientReceive), call.end());
        assert_eq!(call.end_of(ClientDemarshal), None);
    }

    #[test]
    fn calls_that_are_not_there_from_beginning_to_end_are_left_out() {
        let seen = calls(
            &stamps(&[
                (ClientReceive, 1),
                (ClientEnd, 1),
                (ClientInitialise, 1),
                (ClientEnd, 7),
                (ClientInitialise, 1),
                (ClientMarshal, 1),
            ]),
            Side::Client,
        );
        assert_eq!(seen.iter().map(CallTrace::total).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn a_call_from_within_an_upcall_is_part_of_the_wait_of_the_outer_one() {
        let seen = calls(
            &stamps(&[
                (ClientInitialise, 1),
                (ClientReceive, 1),
                (ServerUpcall, 1),
                (ClientInitialise, 1),
                (ClientReceive, 1),
                (ClientEnd, 5),
                (ClientDemarshal, 3),
                (ClientEnd, 1),
            ]),
            Side::Client,
        );
        let waits: Vec<u64> = seen.iter().map(|call| call.ticks(ClientReceive)).collect();
        assert_eq!(waits, [5, 11]);
        assert_eq!(seen[1].ticks(ClientDemarshal), 1);
    }

    #[test]
    fn a_server_s_call_is_from_one_receive_to_the_next_that_comes_behind_a_reply() {
        let one = [
            (ServerReceive, 1),
            (ServerTransportReceive, 1),
            (ServerReceive, 1),
            (ServerMessagingReceive, 10),
            (ServerOperation, 1),
            (ServerSend, 1),
            (ServerTransportSend, 1),
        ];
        let two = [one, one, one].concat();
        let seen = calls(&stamps(&two), Side::Server);
        // The last call may go on.
        assert_eq!(seen.len(), 2);
        for call in seen {
            assert_eq!(call.ticks(ServerReceive), 1 + 10);
            assert_eq!(call.total(), 16);
        }
    }

    #[test]
    fn what_was_not_answered_or_mixed_with_another_request_is_left_out() {
        let unanswered = [(ServerReceive, 1), (ServerOperation, 1)];
        let mixed = [
            (ServerReceive, 1),
            (ServerOperation, 1),
            (ServerOperation, 1),
            (ServerSend, 1),
        ];
        let clean = [(ServerReceive, 1), (ServerOperation, 1), (ServerSend, 1)];
        let end = [(ServerReceive, 1)];
        let all = [&mixed[..], &clean, &unanswered, &clean, &end].concat();
        assert_eq!(calls(&stamps(&all), Side::Server).len(), 1);
    }
}
