//! Replies to requests that their clients may repeat, perhaps at another member.
//!
//! All members have to drop the same ones at the same place of the log: a request that one member runs again, and another one does
//! not, would make their states differ. So what counts is the time in the entries, and not that of the clock.

use std::collections::{HashMap, VecDeque};

use crate::records::{Known, Reply};

/// Replies, by the identities of their requests.
#[derive(Debug)]
pub(crate) struct Replies {
    most: usize,
    most_bytes: usize,
    bytes: usize,
    /// Identities in the order of the log, with the times at which the requests expire.
    order: VecDeque<(Vec<u8>, u64)>,
    replies: HashMap<Vec<u8>, Reply>,
    /// Latest time of the log's requests.
    time: u64,
}

impl Replies {
    /// Makes a table of so many replies, and bytes of their bodies, at most.
    pub(crate) fn at_most(most: usize, most_bytes: usize) -> Self {
        Self {
            most,
            most_bytes,
            bytes: 0,
            order: VecDeque::new(),
            replies: HashMap::new(),
            time: 0,
        }
    }

    pub(crate) fn time(&self) -> u64 {
        self.time
    }

    /// Notes the time of a request, and drops the replies to those that have expired by then.
    pub(crate) fn pass_time(&mut self, time: u64) {
        self.time = self.time.max(time);
        while let Some((_, expires)) = self.order.front()
            && *expires < self.time
        {
            self.drop_first();
        }
    }

    pub(crate) fn find(&self, identity: &[u8]) -> Option<&Reply> {
        self.replies.get(identity)
    }

    /// Adds the reply to a request, and drops the oldest ones beyond the limits.
    pub(crate) fn add(&mut self, identity: &[u8], expires: u64, reply: Reply) {
        self.bytes += reply.results.bytes.len();
        match self.replies.insert(identity.to_vec(), reply) {
            None => self.order.push_back((identity.to_vec(), expires)),
            Some(former) => self.bytes -= former.results.bytes.len(),
        }
        while self.order.len() > self.most || self.bytes > self.most_bytes && self.order.len() > 1 {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        let first = self.order.pop_front();
        if let Some(reply) = first.and_then(|(identity, _)| self.replies.remove(&identity)) {
            self.bytes -= reply.results.bytes.len();
        }
    }

    /// Returns all replies, in the order of the log.
    pub(crate) fn to_records(&self) -> Vec<Known> {
        let known = self.order.iter().filter_map(|(identity, expires)| {
            Some(Known {
                identity: identity.clone(),
                expires: *expires,
                the_reply: self.replies.get(identity)?.clone(),
            })
        });
        known.collect()
    }

    /// Replaces the replies by those of a state.
    pub(crate) fn replace(&mut self, time: u64, known: Vec<Known>) {
        *self = Self::at_most(self.most, self.most_bytes);
        self.time = time;
        for one in known {
            self.add(&one.identity, one.expires, one.the_reply);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::Body;

    fn reply(bytes: usize) -> Reply {
        Reply {
            status: 0,
            results: Body {
                is_little_endian: true,
                minor: 2,
                phase: 0,
                bytes: vec![0; bytes],
            },
        }
    }

    #[test]
    fn replies_are_dropped_by_the_log_s_time_and_beyond_the_limits() {
        let mut replies = Replies::at_most(3, 100);
        for (identity, expires) in [(b"a", 10), (b"b", 20), (b"c", 30)] {
            replies.add(identity, expires, reply(10));
        }
        replies.pass_time(10);
        assert!(replies.find(b"a").is_some(), "it expires after this time");
        replies.pass_time(11);
        assert!(replies.find(b"a").is_none() && replies.find(b"b").is_some());
        replies.pass_time(5);
        assert_eq!(replies.time(), 11, "time does not go back");
        replies.add(b"d", 40, reply(85));
        assert_eq!(replies.to_records().len(), 2, "c and d have 95 bytes");
        replies.add(b"e", 40, reply(1_000));
        let left: Vec<Vec<u8>> = replies
            .to_records()
            .into_iter()
            .map(|one| one.identity)
            .collect();
        assert_eq!(left, [b"e"], "the last one stays, however long it is");
    }

    #[test]
    fn a_table_that_is_replaced_has_the_same_replies_in_the_same_order() {
        let mut replies = Replies::at_most(3, 100);
        for identity in [b"a", b"b", b"c", b"d"] {
            replies.add(identity, 10, reply(1));
        }
        replies.pass_time(7);
        let mut other = Replies::at_most(3, 100);
        other.add(b"x", 99, reply(1));
        other.replace(replies.time(), replies.to_records());
        assert_eq!(other.to_records(), replies.to_records());
        assert_eq!((other.time(), other.find(b"x")), (7, None));
        other.pass_time(11);
        assert!(other.to_records().is_empty() && other.bytes == 0);
    }
}
