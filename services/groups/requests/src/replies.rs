//! Replies to requests that their clients may repeat, perhaps at another member.
//!
//! All members have to know the same ones at the same place of the log: a request that one member runs again, and another one does
//! not, would make their states differ. So what counts is the time in the entries, and not that of the clock; and where there is no
//! room for one more reply, of all clients or of this one, the request is not run, at any member.

use std::collections::{BTreeSet, HashMap};

use crate::requests::{Known, Reply};

/// Number of the last bytes of a request's identity, which tell it from others of its client.
const OF_REQUEST: usize = size_of::<i32>();

/// Maximum number of replies, and of the bytes of their bodies. The last reply may have more.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bound {
    /// Number of replies.
    pub replies: usize,
    /// Bytes of their bodies.
    pub bytes: usize,
}

impl Bound {
    fn allows_more_than(self, there: Self) -> bool {
        there.replies < self.replies && there.bytes < self.bytes
    }
}

/// Replies, by the identities of their requests.
#[derive(Debug)]
pub(crate) struct Replies {
    most: Bound,
    most_of_client: Bound,
    bytes: usize,
    /// Bytes that the next reply may have: about those of the longest one of late.
    expected: usize,
    /// What is kept for each client.
    clients: HashMap<Vec<u8>, Bound>,
    /// Times at which the requests expire, with their identities.
    order: BTreeSet<(u64, Vec<u8>)>,
    replies: HashMap<Vec<u8>, Reply>,
    /// Latest time of the log's requests.
    time: u64,
}

impl Replies {
    /// Makes a table of so many replies, of all clients and of each one.
    pub(crate) fn at_most(most: Bound, most_of_client: Bound) -> Self {
        Self {
            most,
            most_of_client,
            bytes: 0,
            expected: 0,
            clients: HashMap::new(),
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
            self.drop_one(&identity);
        }
    }

    pub(crate) fn find(&self, identity: &[u8]) -> Option<&Reply> {
        self.replies.get(identity)
    }

    fn drop_one(&mut self, identity: &[u8]) {
        let Some(reply) = self.replies.remove(identity) else {
            return;
        };
        let bytes = reply.results.bytes.len();
        self.bytes -= bytes;
        if let Some(client) = self.clients.get_mut(client(identity)) {
            client.replies -= 1;
            client.bytes -= bytes;
            if client.replies == 0 {
                self.clients.remove(self::client(identity));
            }
        }
    }

    /// Checks that there is room for the reply to one more request of its client.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn have_room(&self, identity: &[u8]) -> Result<(), &'static str> {
        let all = Bound {
            replies: self.replies.len(),
            bytes: self.bytes,
        };
        let of_client = self.clients.get(client(identity));
        let of_client = of_client.copied().unwrap_or_default();
        if !self.most_of_client.allows_more_than(of_client) {
            return Err(
                "the members of the group keep as many replies for this client as they may",
            );
        }
        match self.most.allows_more_than(all) {
            true => Ok(()),
            false => Err("the members of the group keep as many replies as they may"),
        }
    }

    /// Returns whether there will be room for the reply to a request when others have been run, as far as the length of their replies can be known. Beside
    /// none there is.
    pub(crate) fn will_have_room(
        &self,
        identity: &[u8],
        others: &mut dyn Iterator<Item = &[u8]>,
    ) -> bool {
        let (mut all, mut of_client) = (0, 0);
        for other in others.filter(|other| !other.is_empty()) {
            all += 1;
            of_client += usize::from(client(other) == client(identity));
        }
        let with = |kept: Bound, more: usize| Bound {
            replies: kept.replies + more,
            bytes: kept.bytes + more * self.expected,
        };
        let kept = Bound {
            replies: self.replies.len(),
            bytes: self.bytes,
        };
        let kept_for_client = self.clients.get(client(identity)).copied();
        let kept_for_client = kept_for_client.unwrap_or_default();
        (all == 0 || self.most.allows_more_than(with(kept, all)))
            && (of_client == 0 || { self.most_of_client }
                .allows_more_than(with(kept_for_client, of_client)))
    }

    /// Adds the reply to a request that is not known.
    pub(crate) fn add(&mut self, identity: &[u8], expires: u64, reply: Reply) {
        let bytes = reply.results.bytes.len();
        self.bytes += bytes;
        self.expected = bytes.max(self.expected - self.expected / 16);
        let client = self.clients.entry(client(identity).to_vec());
        let client = client.or_default();
        client.replies += 1;
        client.bytes += bytes;
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
        *self = Self::at_most(self.most, self.most_of_client);
        self.time = time;
        for one in known {
            self.add(&one.identity, one.expires, one.the_reply);
        }
    }
}

/// Returns the part of a request's identity that all requests of its client have.
fn client(identity: &[u8]) -> &[u8] {
    &identity[..identity.len().saturating_sub(OF_REQUEST)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::{Body, TextCodes};

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

    fn three() -> Replies {
        let most = Bound {
            replies: 3,
            bytes: 100,
        };
        Replies::at_most(most, most)
    }

    #[test]
    fn one_client_cannot_use_up_the_room_of_all() {
        let most = |replies, bytes| Bound { replies, bytes };
        let mut replies = Replies::at_most(most(100, 1_000), most(2, 50));
        // The last four bytes tell the requests of a client apart.
        for request in [b"much1111", b"much2222"] {
            assert!(replies.have_room(request).is_ok());
            replies.add(request, 10, reply(1));
        }
        let why = replies.have_room(b"much3333").unwrap_err();
        assert!(why.contains("for this client"), "{why}");
        assert!(replies.have_room(b"less1111").is_ok());
        replies.add(b"less1111", 20, reply(60));
        assert!(replies.have_room(b"less2222").is_err(), "it has 60 bytes");
        let mut other = Replies::at_most(most(100, 1_000), most(2, 50));
        other.replace(replies.time(), replies.to_records());
        assert!(other.have_room(b"much3333").is_err(), "as the state has it");
        replies.pass_time(11);
        assert!(replies.have_room(b"much3333").is_ok());
        replies.pass_time(21);
        assert!(replies.clients.is_empty() && replies.bytes == 0);
    }

    #[test]
    fn room_is_kept_for_the_replies_to_those_that_are_run_before() {
        let most = |replies, bytes| Bound { replies, bytes };
        let mut replies = Replies::at_most(most(4, 100), most(2, 50));
        let mut room = |identity: &[u8], others: &[&[u8]], length: usize| {
            replies.replace(0, Vec::new());
            replies.add(b"some0000", 10, reply(length));
            replies.will_have_room(identity, &mut others.iter().copied())
        };
        assert!(
            room(b"one-1111", &[], 200),
            "as the request itself is refused"
        );
        assert!(room(b"one-1111", &[b"one-2222", b""], 1));
        assert!(
            !room(b"one-1111", &[b"one-2222", b"one-3333"], 1),
            "two of one client"
        );
        assert!(room(b"one-1111", &[b"two-1111", b"thr-1111"], 1));
        assert!(
            !room(b"one-1111", &[b"two-1111", b"two-2222", b"thr-1111"], 1),
            "four of all"
        );
        assert!(room(b"one-1111", &[b"two-1111"], 49));
        assert!(!room(b"one-1111", &[b"two-1111"], 50), "100 bytes of all");
        assert!(
            !room(b"some1111", &[b"some2222"], 25),
            "50 bytes of one client"
        );
    }

    #[test]
    fn replies_are_dropped_by_the_log_s_time_alone() {
        let mut replies = three();
        for (identity, expires) in [(b"far", 90), (b"one", 10), (b"two", 20)] {
            assert!(replies.have_room(b"new").is_ok());
            replies.add(identity, expires, reply(10));
        }
        assert!(replies.have_room(b"new").is_err(), "three are kept");
        replies.pass_time(10);
        assert!(replies.find(b"one").is_some(), "it expires after this time");
        replies.pass_time(11);
        assert!(replies.find(b"one").is_none() && replies.find(b"two").is_some());
        assert!(replies.have_room(b"new").is_ok());
        replies.pass_time(5);
        assert_eq!(replies.time(), 11, "time does not go back");
        replies.add(b"long", 40, reply(85));
        assert!(replies.have_room(b"new").is_err(), "they have 105 bytes");
        replies.pass_time(91);
        assert!(replies.to_records().is_empty() && replies.bytes == 0);
    }

    #[test]
    fn a_table_that_is_replaced_has_the_same_replies() {
        let mut replies = three();
        for identity in [b"a", b"b", b"c"] {
            replies.add(identity, 10, reply(1));
        }
        replies.pass_time(7);
        let mut other = three();
        other.add(b"x", 99, reply(1));
        other.replace(replies.time(), replies.to_records());
        assert_eq!(other.to_records(), replies.to_records());
        assert_eq!((other.time(), other.find(b"x")), (7, None));
        assert!(other.have_room(b"new").is_err());
    }
}
