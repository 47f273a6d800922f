//! Servant that answers later: from a thread of its own, or when the test commands it.

use super::generated::asynchronous::{Clerk, ClerkAmhServant, ClerkCopiesError, Refused};
use punctual::{Response, SystemException};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// Servant that answers later (AMH), from its own thread.
pub(super) struct Desk {
    jobs: Mutex<Sender<Job>>,
    rate: AtomicI32,
    /// Unanswered calls of `wait_at`: the name of the gate, and the response.
    pub(super) waiting: Mutex<Vec<(String, Response<i32>)>>,
    pub(super) notes: AtomicUsize,
}

impl Desk {
    pub(super) fn new() -> Arc<Self> {
        let (jobs, to_do) = channel::<Job>();
        thread::spawn(move || to_do.iter().for_each(|job| job()));
        Arc::new(Self {
            jobs: Mutex::new(jobs),
            rate: AtomicI32::new(0),
            waiting: Mutex::default(),
            notes: AtomicUsize::new(0),
        })
    }

    fn later(&self, job: impl FnOnce() + Send + 'static) {
        self.jobs.lock().unwrap().send(Box::new(job)).unwrap();
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.lock().unwrap().len()
    }

    /// Answers the calls that wait at a gate, the last first.
    pub(super) fn open_gate(&self, gate: &str) {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap());
        for (at, response) in waiting.into_iter().rev() {
            match at == gate {
                // The client may have gone.
                true => drop(response.reply(i32::try_from(gate.len()).unwrap())),
                false => self.waiting.lock().unwrap().push((at, response)),
            }
        }
    }
}

impl ClerkAmhServant for Desk {
    fn rate(&self, response: Response<i32>) {
        response.reply(self.rate.load(Ordering::Relaxed)).unwrap();
    }

    fn set_rate(&self, response: Response<()>, value: i32) {
        self.rate.store(value, Ordering::Relaxed);
        self.later(move || response.reply(()).unwrap());
    }

    fn add(&self, response: Response<i32>, a: i32, b: i32) {
        self.later(move || response.reply(a + b).unwrap());
    }

    fn copies(
        &self,
        response: Response<(String, i32, bool), ClerkCopiesError>,
        text: &str,
        number: i32,
    ) {
        let (text, times) = (text.to_owned(), usize::try_from(number).unwrap_or_default());
        self.later(move || {
            let why = format!("no copies of {text}");
            match times {
                0 => response.raise(Refused { why }).unwrap(),
                _ => response.reply((text.repeat(times), 0, times > 1)).unwrap(),
            }
        });
    }

    fn back(&self, response: Response<Vec<u8>>, data: &[u8]) {
        let data = data.to_vec();
        // Results that are too long are reported as an exception.
        self.later(move || drop(response.reply(data)));
    }

    fn wait_at(&self, response: Response<i32>, gate: &str) {
        if gate == "nowhere" {
            return drop(response);
        }
        let mut waiting = self.waiting.lock().unwrap();
        waiting.push((gate.to_owned(), response));
    }

    fn open(&self, response: Response<()>, gate: &str) {
        self.open_gate(gate);
        response.reply(()).unwrap();
    }

    fn self_or_nil(&self, response: Response<Option<Clerk>>, other: Option<&Clerk>) {
        let other = other.cloned();
        self.later(move || response.reply(other).unwrap());
    }

    fn stumble(&self, _response: Response<()>) {
        panic!("on purpose")
    }

    fn note(&self, _: &str) {
        self.notes.fetch_add(1, Ordering::Relaxed);
    }
}

/// Calls each operation and checks its results; works for any kind of servant.
pub(super) fn exercise(clerk: &Clerk) -> Result<(), SystemException> {
    clerk.set_rate(7)?;
    assert_eq!(clerk.rate()?, 7);
    for number in 0..20 {
        assert_eq!(clerk.add(number, 1)?, number + 1);
    }
    let mut number = 3;
    assert_eq!(
        clerk.copies("ab", &mut number).unwrap(),
        ("ababab".to_owned(), true)
    );
    assert_eq!(number, 0);
    let refused = clerk.copies("ab", &mut number).unwrap_err();
    let why = "no copies of ab".to_owned();
    assert_eq!(refused, ClerkCopiesError::Refused(Refused { why }));
    for length in [0, 1, 5_000, 300_000] {
        let data: Vec<u8> = (0..length).map(|i: u32| i.to_le_bytes()[0]).collect();
        assert_eq!(clerk.back(&data)?, data);
    }
    assert_eq!(clerk.self_or_nil(None)?, None);
    assert_eq!(clerk.self_or_nil(Some(clerk))?.as_ref(), Some(clerk));
    clerk.note("a one-way")?;
    Ok(())
}
