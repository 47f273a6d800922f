//! What a lane has done, as its counters say it.

use super::owned::Lane;
use crate::priority::Priority;
use crate::profile::LaneId;
use std::fmt;
use std::time::Duration;

/// What a lane has done since it came to be ([`crate::Orb::lane_statistics`]).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaneStatistics {
    /// Its number, as in a timeline ([`crate::timeline`]).
    pub number: u32,
    /// Its CORBA priority, if it has one.
    pub priority: Option<Priority>,
    /// Which lane of a thread pool it is, if it is one.
    pub pool: Option<LaneId>,
    /// Clients' connections that are open.
    pub connections: usize,
    /// Messages that were read from clients: requests, and the few others that clients send.
    pub messages: u64,
    /// Requests that were served at each CORBA priority that a priority model has said for them, the lowest first: of up to
    /// 32 priorities. Those for objects without a model run at the priority of the thread that reads them, and are
    /// none of these.
    pub by_priority: Vec<(Priority, u64)>,
    /// The same of all further priorities together.
    pub at_other_priorities: u64,
    /// Requests that wait to be served: read while all threads of its pool were in upcalls.
    pub waiting: usize,
    /// Requests that were refused with TRANSIENT, as no thread could serve them.
    pub refused: u64,
    /// Requests that were answered with TIMEOUT, as the servant that was to answer them later had not within the time that it may
    /// take (`timeouts.answer`).
    pub unanswered: u64,
    /// How often another thread took a connection over, as an upcall blocked or took long.
    pub handed_over: u64,
    /// How often a thread of a lane of lower priority stood in for its own.
    pub borrowed: u64,
    /// The longest time from reading a request to its upcall, among those that a timeline was recorded of.
    pub worst_wait: Duration,
}

impl Lane {
    /// What it has done.
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
    /// One line: `lane 3 (priority 20000): 12 connections, 4096 messages, …`.
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
