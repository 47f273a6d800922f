//! Replies to requests that their clients may repeat, perhaps at another member.
//!
//! All members have to know the same ones at the same place of the log: a request that one member runs again, and another one does
//! not, would make their states differ. So what counts is the time in the entries, and not that of the clock; and where there is no
//! room for one more reply, the request is not run, at any member.

use std::collections::{BTreeSet, HashMap};

use crate::records::{Known, Reply};

/// Replies, by the identities of their requests.
#[derive(Debug)]
pub(crate) struct Replies {
    most: usize,
    most_bytes: usize,
    bytes: usize,
    /// Times at which the requests expire, with their identities.
    order: BTreeSet<(u64, Vec<u8>)>,
    replies: HashMap<Vec<u8>, Reply>,
    /// Latest time of the log's requests.
    time: u64,
}

impl Replies {
    /// Makes a table of so many replies, and bytes of their bodies. The last one may have more.
    pub(crate) fn at_most(most: usize, most_bytes: usize) -> Self {
        Self {
            most,
            most_bytes,
            bytes: 0,
            order: BTreeSet::new(),
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
        while let Some((expires, _)) = self.order.first()
            && *expires < self.time
            && let Some((_, identity)) = self.order.pop_first()
        {
            let reply = self.replies.remove(&identity);
            self.bytes -= reply.map_or(0, |reply| reply.results.bytes.len());
        }
    }

    pub(crate) fn find(&self, identity: &[u8]) -> Option<&Reply> {
        self.replies.get(identity)
    }

    /// Returns whether there is room for one more reply.
    pub(crate) fn have_room(&self) -> bool {
        self.replies.len() < self.most && self.bytes < self.most_bytes
    }

    /// Adds the reply to a request that is not known.
    pub(crate) fn add(&mut self, identity: &[u8], expires: u64, reply: Reply) {
        self.bytes += reply.results.bytes.len();
        self.order.insert((expires, identity.to_vec()));
        self.replies.insert(identity.to_vec(), reply);
    }

    /// Returns all replies.
    pub(crate) fn to_records(&self) -> Vec<Known> {
        let known = self.order.iter().filter_map(|(expires, identity)| {
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
    use crate::records::{Body, TextCodes};

    fn reply(bytes: usize) -> Reply {
        Reply {
            status: 0,
            text: TextCodes { narrow: 1, wide: 0 },
            results: Body {
                is_little_endian: true,
                minor: 2,
                phase: 0,
                bytes: vec![0; bytes],
            },
        }
    }

    #[test]
    fn replies_are_dropped_by_the_log_s_time_alone() {
        let mut replies = Replies::at_most(3, 100);
        for (identity, expires) in [(b"far", 90), (b"one", 10), (b"two", 20)] {
            assert!(replies.have_room());
            replies.add(identity, expires, reply(10));
        }
        assert!(!replies.have_room(), "three are kept");
        replies.pass_time(10);
        assert!(replies.find(b"one").is_some(), "it expires after this time");
        replies.pass_time(11);
        assert!(replies.find(b"one").is_none() && replies.find(b"two").is_some());
        assert!(replies.have_room());
        replies.pass_time(5);
        assert_eq!(replies.time(), 11, "time does not go back");
        replies.add(b"long", 40, reply(85));
        assert!(!replies.have_room(), "they have 105 bytes");
        replies.pass_time(91);
        assert!(replies.to_records().is_empty() && replies.bytes == 0);
    }

    #[test]
    fn a_table_that_is_replaced_has_the_same_replies() {
        let mut replies = Replies::at_most(3, 100);
        for identity in [b"a", b"b", b"c"] {
            replies.add(identity, 10, reply(1));
        }
        replies.pass_time(7);
        let mut other = Replies::at_most(3, 100);
        other.add(b"x", 99, reply(1));
        other.replace(replies.time(), replies.to_records());
        assert_eq!(other.to_records(), replies.to_records());
        assert_eq!((other.time(), other.find(b"x")), (7, None));
        assert!(!other.have_room());
    }
}
