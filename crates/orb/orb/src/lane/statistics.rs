//! Statistics of a lane, from its counters.

use super::owned::Lane;
use crate::priority::Priority;
use crate::profile::LaneId;
use std::fmt;
use std::time::Duration;

/// Statistics of a lane since its creation ([`crate::Orb::lane_statistics`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneStatistics {
    /// Number of the lane, as in a timeline ([`crate::timeline`]).
    pub number: u32,
    /// CORBA priority of the lane, if it has one.
    pub priority: Option<Priority>,
    /// Identifier of the lane in a thread pool, if it belongs to one.
    pub pool: Option<LaneId>,
    /// Number of open connections from clients to the lane.
    pub connections: usize,
    /// Number of messages read from clients: requests, and the few others that clients send.
    pub messages: u64,
    /// Number of requests served at each CORBA priority that a priority model has set for them,
    /// lowest first, for up to 32 priorities. Requests for objects without a model run at the
    /// priority of the thread that reads them, and are not counted here.
    pub by_priority: Vec<(Priority, u64)>,
    /// Number of requests served at CORBA priorities that are not counted separately.
    pub at_other_priorities: u64,
    /// Number of requests that wait to be served: read while all threads of the pool were in
    /// upcalls.
    pub waiting: usize,
    /// Number of requests refused with TRANSIENT, as no thread could serve them.
    pub refused: u64,
    /// Number of requests answered with TIMEOUT, as the servant did not send its deferred reply
    /// within the allowed time (`timeouts.answer`).
    pub unanswered: u64,
    /// Number of times that another thread took over receiving on a connection, as an upcall
    /// blocked or took long.
    pub handed_over: u64,
    /// Number of times that a thread of a lane of lower priority was borrowed.
    pub borrowed: u64,
    /// Longest time from reading a request to its upcall, among the requests that a timeline has
    /// recorded.
    pub worst_wait: Duration,
}

impl Lane {
    /// Returns the statistics of the lane since the lane was created.
    pub(crate) fn statistics(&self) -> LaneStatistics {
        let counters = &self.counters;
        let (connections, messages) = self.incoming.connections.messages();
        let (by_priority, at_other_priorities) = counters.by_priority();
        LaneStatistics {
            number: u32::try_from(self.number()).unwrap_or(u32::MAX),
            priority: self.priority(),
            pool: self.pool_lane(),
            connections,
            messages: messages + counters.gone_messages(),
            by_priority,
            at_other_priorities,
            waiting: self.buffered_requests(),
            refused: counters.refused(),
            unanswered: counters.unanswered(),
            handed_over: counters.handed_over(),
            borrowed: counters.borrowed(),
            worst_wait: counters.worst_wait(),
        }
    }
}

impl fmt::Display for LaneStatistics {
    /// Formats as one line: `lane 3 (priority 20000): 12 connections, 4096 messages, …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane {}", self.number)?;
        match (self.pool, self.priority) {
            (Some(lane), Some(priority)) => write!(f, " ({lane}, priority {priority})")?,
            (Some(lane), None) => write!(f, " ({lane})")?,
            (None, Some(priority)) => write!(f, " (priority {priority})")?,
            (None, None) => {}
        }
        write!(
            f,
            ": {} connections, {} messages",
            self.connections, self.messages
        )?;
        for (priority, requests) in &self.by_priority {
            write!(f, ", {requests} at priority {priority}")?;
        }
        if self.at_other_priorities > 0 {
            write!(f, ", {} at others", self.at_other_priorities)?;
        }
        write!(
            f,
            ", {} waiting, {} refused, {} handed over, {} borrowed",
            self.waiting, self.refused, self.handed_over, self.borrowed
        )?;
        if self.unanswered > 0 {
            write!(f, ", {} unanswered", self.unanswered)?;
        }
        match self.worst_wait {
            Duration::ZERO => Ok(()),
            worst => write!(f, ", worst wait {worst:?}"),
        }
    }
}
