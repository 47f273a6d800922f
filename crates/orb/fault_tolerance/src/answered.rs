//! Answers that are kept with the state of a passive group, so that the next primary gives them to repeats.
//!
//! As bytes, in the order in which the requests were answered, numbers in big-endian order:
//!
//! ```text
//! u32 number of answers
//! each: u32 length, identity | u32 length, client | i32 retention id | u64 expiration | u32 length, answer
//! ```

use crate::request_id::{ClientName, RequestId};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Answers of a passive group to requests that may be repeated: a part of its state. A servant looks here before it changes
/// anything, adds its answer afterwards, and stores both together. So a request that one primary has run, and whose reply was
/// lost with it, is not run again by the next.
///
/// ```
/// use punctual_fault_tolerance::{Answered, RequestId};
///
/// # let mut answered = Answered::at_most(1_000);
/// # let mut sum = 0_u32;
/// let request = RequestId::current();
/// let known = request.as_ref().and_then(|request| answered.find(request));
/// if known.is_none() {
///     sum += 1;
///     if let Some(request) = request {
///         answered.add(request, sum.to_be_bytes().into());
///     }
///     let mut state = sum.to_be_bytes().to_vec();
///     answered.append_to(&mut state);
///     // Now the state is stored, and then the client is answered.
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Answered {
    most: usize,
    requests: VecDeque<RequestId>,
    answers: HashMap<RequestId, Box<[u8]>>,
}

impl Answered {
    /// Makes a table of so many answers at most. Beyond, the oldest is dropped although its request may be repeated yet: at
    /// least the number of requests that come within a call's duration.
    #[must_use]
    pub fn at_most(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// Returns the answer to a request, if it was answered before.
    #[must_use]
    pub fn find(&self, request: &RequestId) -> Option<&[u8]> {
        self.answers.get(request).map(|answer| &**answer)
    }

    /// Returns the number of answers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Returns whether there is no answer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Adds an answer, and removes those whose requests have expired.
    pub fn add(&mut self, request: RequestId, answer: Box<[u8]>) {
        let answers = &mut self.answers;
        self.requests.retain(|one| {
            let stays = !one.has_expired();
            if !stays {
                answers.remove(one);
            }
            stays
        });
        if self.answers.insert(request.clone(), answer).is_none() {
            self.requests.push_back(request);
        }
        while self.requests.len() > self.most {
            if let Some(oldest) = self.requests.pop_front() {
                self.answers.remove(&oldest);
            }
        }
    }

    /// Appends the answers to a state.
    pub fn append_to(&self, state: &mut Vec<u8>) {
        put_length(state, self.requests.len());
        for request in &self.requests {
            put_answer(state, request, self.find(request).unwrap_or_default());
        }
    }

    /// Appends the answer to one request, if there is one, to an update of a state, which [`add_from`](Self::add_from) reads.
    pub fn append_one_to(&self, request: Option<&RequestId>, update: &mut Vec<u8>) {
        let one = request.and_then(|request| Some((request, self.find(request)?)));
        put_length(update, usize::from(one.is_some()));
        if let Some((request, answer)) = one {
            put_answer(update, request, answer);
        }
    }

    /// Replaces the answers by those at the beginning of bytes that [`append_to`](Self::append_to) has written; returns what
    /// follows them. `None` if they are malformed: then the answers stay.
    pub fn replace_from<'s>(&mut self, state: &'s [u8]) -> Option<&'s [u8]> {
        let (read, rest) = read(state)?;
        let mut taken = Self::at_most(self.most);
        for (request, answer) in read {
            taken.add(request, answer);
        }
        *self = taken;
        Some(rest)
    }

    /// Adds the answers at the beginning of bytes that [`append_one_to`](Self::append_one_to) or [`append_to`](Self::append_to)
    /// has written; returns what follows them. `None` if they are malformed: then the answers stay.
    pub fn add_from<'s>(&mut self, update: &'s [u8]) -> Option<&'s [u8]> {
        let (read, rest) = read(update)?;
        for (request, answer) in read {
            self.add(request, answer);
        }
        Some(rest)
    }
}

/// Answer with its request.
type Answer = (RequestId, Box<[u8]>);

/// Reads the answers at the beginning of bytes; also returns what follows them.
fn read(mut input: &[u8]) -> Option<(Vec<Answer>, &[u8])> {
    let mut read = Vec::new();
    for _ in 0..u32::from_be_bytes(array(&mut input)?) {
        let client = ClientName {
            identity: bytes(&mut input)?.into(),
            id: bytes(&mut input)?.into(),
        };
        let request = RequestId {
            client: Arc::new(client),
            retention: i32::from_be_bytes(array(&mut input)?),
            expires: u64::from_be_bytes(array(&mut input)?),
        };
        read.push((request, bytes(&mut input)?.into()));
    }
    Some((read, input))
}

fn put_answer(out: &mut Vec<u8>, request: &RequestId, answer: &[u8]) {
    put(out, &request.client.identity);
    put(out, &request.client.id);
    out.extend(request.retention.to_be_bytes());
    out.extend(request.expires.to_be_bytes());
    put(out, answer);
}

fn put_length(state: &mut Vec<u8>, length: usize) {
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    state.extend(length.to_be_bytes());
}

fn put(state: &mut Vec<u8>, bytes: &[u8]) {
    put_length(state, bytes.len());
    state.extend(bytes);
}

fn array<const N: usize>(input: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = input.split_first_chunk()?;
    *input = rest;
    Some(*first)
}

fn bytes<'s>(input: &mut &'s [u8]) -> Option<&'s [u8]> {
    let length = u32::from_be_bytes(array(input)?);
    let (first, rest) = input.split_at_checked(usize::try_from(length).ok()?)?;
    *input = rest;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time;
    use std::time::Duration;

    fn name(identity: &str, id: &str) -> Arc<ClientName> {
        Arc::new(ClientName {
            identity: identity.as_bytes().into(),
            id: id.as_bytes().into(),
        })
    }

    fn request(client: &str, retention: i32) -> RequestId {
        RequestId {
            client: name("user", client),
            retention,
            expires: time::now() + time::units(Duration::from_secs(600)),
        }
    }

    #[test]
    fn answers_are_the_same_after_they_were_stored_and_read() {
        let mut answered = Answered::at_most(10);
        let all: Vec<RequestId> = (0..3).map(|number| request("one", number)).collect();
        for (number, one) in all.iter().enumerate() {
            answered.add(one.clone(), vec![number as u8; number].into());
        }
        let mut state = b"state".to_vec();
        answered.append_to(&mut state);
        state.extend(b"rest");
        let mut read = Answered::at_most(10);
        assert_eq!(read.replace_from(&state[5..]), Some(&b"rest"[..]));
        for (number, one) in all.iter().enumerate() {
            assert_eq!(read.find(one), Some(&vec![number as u8; number][..]));
        }
        let other = RequestId {
            client: name("other", "one"),
            ..all[1].clone()
        };
        assert_eq!(
            read.find(&other),
            None,
            "another user with the same client id"
        );
        for end in 5..state.len() - 4 {
            assert_eq!(read.replace_from(&state[5..end]), None);
            assert_eq!(read.len(), 3);
        }
    }

    #[test]
    fn the_answer_to_one_request_is_added_to_those_of_another_table() {
        let mut answered = Answered::at_most(10);
        let all: Vec<RequestId> = (0..3).map(|number| request("one", number)).collect();
        let mut other = Answered::at_most(2);
        for (number, one) in all.iter().enumerate() {
            answered.add(one.clone(), vec![number as u8].into());
            let mut update = Vec::new();
            answered.append_one_to(Some(one), &mut update);
            update.extend(b"rest");
            assert_eq!(other.add_from(&update[..update.len() - 5]), None);
            assert_eq!(other.add_from(&update), Some(&b"rest"[..]));
        }
        assert_eq!(other.len(), 2, "its own bound holds");
        assert_eq!(other.find(&all[0]), None);
        assert_eq!(other.find(&all[2]), Some(&[2][..]));
        // One without an answer adds none.
        for request in [None, Some(&request("two", 7))] {
            let mut update = Vec::new();
            answered.append_one_to(request, &mut update);
            assert_eq!(other.add_from(&update), Some(&b""[..]));
        }
        assert_eq!(other.len(), 2);
    }

    #[test]
    fn answers_are_bounded_and_forgotten_when_their_requests_expire() {
        let mut answered = Answered::at_most(2);
        assert!(answered.is_empty());
        let expired = RequestId {
            expires: time::now(),
            ..request("old", 1)
        };
        answered.add(expired.clone(), Box::default());
        for number in 0..3 {
            answered.add(request("one", number), Box::default());
        }
        assert_eq!((answered.len(), answered.answers.len()), (2, 2));
        assert_eq!(answered.find(&expired), None);
        assert!(RequestId::current().is_none());
    }
}
