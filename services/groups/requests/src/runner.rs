//! Runs requests from their records on a servant, one at a time, and keeps replies to those that clients may repeat.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use punctual::relay::{RelayedReply, Terms, on_terms, reference_to};
use punctual::{ObjectRef, SystemException, SystemExceptionKind as Kind};

use crate::pace::Pace;
use crate::replies::Replies;
use crate::requests::{Known, Reply, Request};

/// Pause before a request is tried again that has not reached the servant.
const PAUSE: Duration = Duration::from_millis(200);

/// Time for which a servant may run a request, whatever time-out the ORB's calls have.
pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What becomes of a request that waits to be stored together with others.
pub(crate) enum Admission {
    /// It is stored with them.
    Joins,
    /// It waits until they have been run: it may be a repeat of one, or there may be no room for its reply.
    Waits,
    /// It is not run.
    Answered(Outcome),
}

/// Outcome of a request.
pub type Outcome = Result<Reply, SystemException>;

/// Runs requests on a servant ([`Behind::runner`](crate::Behind::runner)).
#[derive(Debug)]
pub struct Runner {
    pub(crate) behind: ObjectRef,
    pub(crate) was_reached: Arc<AtomicBool>,
    /// References to the servant's object, for requests in each GIOP version and with each code sets.
    pub(crate) on_terms: HashMap<Terms, ObjectRef>,
    pub(crate) within: Duration,
    pub(crate) replies: Replies,
    pub(crate) pace: Pace,
}

impl Runner {
    /// Returns the reply to a request that is the repeat of one that was run, or the exception for one that is not to be run; `None` for
    /// one that is.
    pub fn answered(&mut self, request: &Request) -> Option<Outcome> {
        self.replies.pass_time(request.time);
        if request.identity.is_empty() {
            return None;
        }
        if let Some(reply) = self.replies.find(&request.identity) {
            return Some(Ok(reply.clone()));
        }
        // It may be the repeat of one whose reply is not known any more.
        if request.expires < self.replies.time() {
            let why = "the request had expired when it came into the group's log, whose time is that of the member with \
                       the latest time of day";
            return Some(Err(Kind::Timeout.because(why)));
        }
        let room = self.replies.have_room(&request.identity);
        room.err().map(|why| Err(Kind::NoResources.because(why)))
    }

    /// Decides on a request that waits behind others, which are to be stored together.
    pub(crate) fn admit<'r>(
        &mut self,
        request: &Request,
        others: impl Iterator<Item = &'r Request> + Clone,
    ) -> Admission {
        let identity = &request.identity;
        let may_be_repeated = !identity.is_empty();
        if may_be_repeated && others.clone().any(|other| other.identity == *identity) {
            return Admission::Waits;
        }
        if let Some(outcome) = self.answered(request) {
            return Admission::Answered(outcome);
        }
        let mut kept = others.map(|other| &*other.identity);
        match may_be_repeated && !self.replies.will_have_room(identity, &mut kept) {
            true => Admission::Waits,
            false => Admission::Joins,
        }
    }

    /// Runs a request, and keeps its reply if its client may repeat it. Blocks.
    ///
    /// # Errors
    /// The reason why the servant has not run it, or not to its end.
    pub fn run(
        &mut self,
        request: &Request,
        is_ending: &dyn Fn() -> bool,
    ) -> Result<Reply, String> {
        let failed = |why: String| format!("`{}` was not run: {why}", request.operation);
        self.replies.pass_time(request.time);
        let reply = self.call(request, is_ending).map_err(failed)?;
        let reply = Reply::of(&reply).map_err(|exception| failed(exception.to_string()))?;
        if !request.identity.is_empty() {
            let expires = request.expires;
            self.replies.add(&request.identity, expires, reply.clone());
        }
        Ok(reply)
    }

    /// Calls the servant, again as long as the request does not reach it, as the ORB has too much to do.
    ///
    /// An exception of the servant is a result, which is the same at all members. One of the ORB is not.
    fn call(
        &mut self,
        request: &Request,
        is_ending: &dyn Fn() -> bool,
    ) -> Result<RelayedReply, String> {
        let terms = request.with(|request| request.terms());
        let terms = terms.ok_or("its record cannot be read")?;
        let object = self.on_terms.entry(terms).or_insert_with(|| {
            let orb = self.behind.orb();
            reference_to(orb, on_terms(orb, self.behind.ior(), None, terms)).with_timeout(DAY)
        });
        let begun = Instant::now();
        loop {
            self.was_reached.store(false, Ordering::Release);
            let called = Instant::now();
            let passed = request.with(|request| object.relay(request));
            let reply = passed.ok_or("its record cannot be read")?;
            let was_reached = self.was_reached.load(Ordering::Acquire);
            let raised = match reply {
                Ok(Some(reply)) if was_reached => {
                    self.pace.note(called.elapsed());
                    return Ok(reply);
                }
                Ok(Some(reply)) => reply.exception().map(ToString::to_string),
                Ok(None) => Some("no reply came".to_owned()),
                Err(exception) => Some(exception.to_string()),
            };
            if was_reached || begun.elapsed() > self.within || is_ending() {
                return Err(raised.unwrap_or_default());
            }
            thread::sleep(PAUSE);
        }
    }

    /// Returns the latest time of the requests, as a TimeT.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.replies.time()
    }

    /// Returns the replies that are kept.
    #[must_use]
    pub fn known(&self) -> Vec<Known> {
        self.replies.to_records()
    }

    /// Replaces time and replies by those of a state.
    pub fn replace(&mut self, time: u64, known: Vec<Known>) {
        self.replies.replace(time, known);
    }
}

#[cfg(test)]
mod tests {
    use punctual::Orb;

    use super::*;
    use crate::replies::Bound;
    use crate::requests::{Body, TextCodes};

    fn request(identity: &[u8], expires: u64) -> Request {
        Request {
            identity: identity.to_vec(),
            time: 10,
            expires,
            operation: "add".to_owned(),
            text: TextCodes { narrow: 1, wide: 0 },
            arguments: Body {
                is_little_endian: true,
                minor: 2,
                phase: 0,
                bytes: Vec::new(),
            },
        }
    }

    #[test]
    fn a_repeat_waits_for_its_request_and_others_join_while_there_is_room_for_their_replies() {
        let orb = Orb::builder().build().unwrap();
        let most = |replies| Bound {
            replies,
            bytes: 100,
        };
        let mut runner = Runner {
            behind: orb.string_to_object("corbaloc::127.0.0.1:1/x").unwrap(),
            was_reached: Arc::default(),
            on_terms: HashMap::new(),
            within: DAY,
            replies: Replies::at_most(most(9), most(2)),
            pace: Pace::default(),
        };
        let others = [request(b"one-1111", 20), request(b"", 0)];
        let mut admitted =
            |one: &Request, others: &[Request]| match runner.admit(one, others.iter()) {
                Admission::Joins => "joins".to_owned(),
                Admission::Waits => "waits".to_owned(),
                Admission::Answered(outcome) => outcome.unwrap_err().kind().name().to_owned(),
            };
        assert_eq!(admitted(&others[0], &others), "waits", "it is a repeat");
        assert_eq!(admitted(&others[1], &others), "joins", "it is none");
        assert_eq!(admitted(&request(b"one-2222", 20), &others), "joins");
        let more = [&others[..], &[request(b"one-2222", 20)]].concat();
        assert_eq!(
            admitted(&request(b"one-3333", 20), &more),
            "waits",
            "two of a client"
        );
        assert_eq!(admitted(&request(b"two-1111", 20), &more), "joins");
        assert_eq!(admitted(&request(b"two-2222", 9), &more), "TIMEOUT");
    }
}
