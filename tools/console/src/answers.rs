//! Liveness of objects, checked in the background.
//!
//! When a page shows an object whose known state is too old, the object is asked whether it exists:
//! a limited number of objects at a time, each with a time limit, on threads for blocking work. If
//! the queue is full, an object is asked when it is shown again. The number of known states is
//! bounded, too.
//!
//! A reference comes from any peer that may bind it, so that asking makes this process connect to
//! an address of that peer's choice. Objects that are reached by links within this machine are
//! asked only if the ORB's configuration allows references of others to lead to those
//! (`foreign_local_endpoints`).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use punctual::Orb;
use punctual_ior::Ior;
use punctual_naming::client::Answer;
use tokio::sync::{Semaphore, mpsc};

use crate::live::Live;
use crate::options::ConsoleLimits;

/// Maximum number of objects queued for a liveness query.
const WAITING: usize = 1024;

/// Liveness of an object, as displayed by the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The object was asked and this is the answer.
    Known(Answer),
    /// The object is being asked, or waits to be.
    Waits,
    /// The object is not asked whether it exists, for this reason.
    NotAsked(&'static str),
}

/// Cache of the known liveness of objects.
#[derive(Debug)]
pub(crate) struct Answers {
    orb: Orb,
    asks: bool,
    limits: ConsoleLimits,
    live: Arc<Live>,
    known: Mutex<HashMap<u64, ObjectState>>,
    hasher: RandomState,
    queue: mpsc::Sender<(u64, Ior)>,
}

#[derive(Debug)]
struct ObjectState {
    answer: Option<Answer>,
    at: Instant,
    is_asked: bool,
}

impl Answers {
    /// Creates an empty set of states, and the queue of objects to be asked, which [`Queue::ask`]
    /// has to process.
    pub(crate) fn new(
        orb: Orb,
        asks: bool,
        limits: ConsoleLimits,
        live: Arc<Live>,
    ) -> (Self, Queue) {
        let (queue, waiting) = mpsc::channel(WAITING);
        let answers = Self {
            orb,
            asks,
            limits,
            live,
            known: Mutex::default(),
            hasher: RandomState::new(),
            queue,
        };
        (answers, Queue(waiting))
    }

    /// Returns the key that identifies an object in this set.
    pub(crate) fn key(&self, object: &Ior) -> u64 {
        self.hasher.hash_one(object)
    }

    /// Returns the known state of an object. If it is unknown or too old, queues the object to be
    /// asked.
    pub(crate) fn of(&self, object: &Ior) -> State {
        if object.is_nil() {
            return State::NotAsked("a nil reference has no object");
        }
        if !self.asks {
            return State::NotAsked("the server was started not to ask");
        }
        if !Answer::may_ask(&self.orb, object) {
            return State::NotAsked(
                "it is reached within this machine, which a reference may not ask for \
                 (foreign_local_endpoints)",
            );
        }
        let key = self.key(object);
        let mut all = self.known.lock();
        if all.len() >= self.limits.answers && !all.contains_key(&key) {
            let age = self.limits.answer_age;
            all.retain(|_, one| one.is_asked || one.at.elapsed() < age);
            if all.len() >= self.limits.answers {
                return State::NotAsked("too many others are asked");
            }
        }
        let known = all.entry(key).or_insert_with(|| ObjectState {
            answer: None,
            at: Instant::now(),
            is_asked: false,
        });
        let is_old = known.answer.is_none() || known.at.elapsed() >= self.limits.answer_age;
        if is_old && !known.is_asked {
            known.is_asked = self.queue.try_send((key, object.clone())).is_ok();
        }
        known.answer.clone().map_or(State::Waits, State::Known)
    }

    fn learn(&self, key: u64, answer: Answer) {
        let mut all = self.known.lock();
        let Some(known) = all.get_mut(&key) else {
            return;
        };
        let is_new = known.answer.as_ref() != Some(&answer);
        *known = ObjectState {
            answer: Some(answer),
            at: Instant::now(),
            is_asked: false,
        };
        drop(all);
        if is_new {
            self.live.answered(key);
        }
    }
}

/// Queue of objects that are to be asked whether they exist.
#[derive(Debug)]
pub(crate) struct Queue(mpsc::Receiver<(u64, Ior)>);

impl Queue {
    /// Asks the queued objects whether they exist; does not return.
    pub(crate) async fn ask(mut self, answers: Arc<Answers>) {
        let places = Arc::new(Semaphore::new(answers.limits.at_a_time));
        while let Some((key, object)) = self.0.recv().await {
            let Ok(place) = places.clone().acquire_owned().await else {
                return;
            };
            let answers = answers.clone();
            tokio::task::spawn_blocking(move || {
                let within = answers.limits.answer_time;
                let object = answers.orb.string_to_object(&object.to_string());
                let answer = object.map(|object| Answer::of(&object, within));
                let answer = answer.unwrap_or_else(|why| Answer::Unreachable(why.to_string()));
                answers.learn(key, answer);
                drop(place);
            });
        }
    }
}
