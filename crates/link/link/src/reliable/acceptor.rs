//! Listening: unknown senders are answered without storing state, until they return their cookie.
//!
//! A thread does that as long as the acceptor is open, whether or not `accept` is called.

use super::connection::{ReliableConnection, Shared};
use super::cookie::{Cookies, random};
use super::driver::Driver;
use super::handshake::{Agreed, UnknownSender, handle_unknown_sender};
use super::machine::Machine;
use super::options::ReliableOptions;
use crate::{Acceptor, Address, Cause, Connection, LinkError, Phase};
use punctual_exec::{Deadline, ThreadSpec};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time limit for receiving a new peer's first datagram, which has arrived already, and for sending
/// the answer.
const FIRST: Duration = Duration::from_millis(1);
/// Pause of the acceptor's thread after a failure of the underlying datagram link.
const PAUSE: Duration = Duration::from_millis(10);

/// Queue of open connections that wait to be accepted.
#[derive(Debug)]
struct Queue {
    state: Mutex<State>,
    opened: Condvar,
    backlog: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arc<ReliableConnection>>,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self) -> bool {
        self.lock().waiting.len() >= self.backlog
    }

    fn put(&self, connection: Arc<ReliableConnection>) {
        let mut state = self.lock();
        if !state.closed {
            state.waiting.push_back(connection);
            drop(state);
            self.opened.notify_one();
        }
    }

    fn take(&self) -> Option<Arc<ReliableConnection>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(next) = state.waiting.pop_front() {
                return Some(next);
            }
            let waited = self.opened.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let forgotten = std::mem::take(&mut state.waiting);
        drop(state);
        self.opened.notify_all();
        drop(forgotten);
    }
}

#[derive(Debug)]
struct ReliableAcceptor {
    below: Arc<dyn Acceptor>,
    queue: Arc<Queue>,
    address: Address,
}

pub(super) fn begin(
    below: Arc<dyn Acceptor>,
    name: Arc<str>,
    options: ReliableOptions,
    driver: &Arc<Driver>,
) -> Result<Box<dyn Acceptor>, LinkError> {
    let queue = Arc::new(Queue {
        state: Mutex::default(),
        opened: Condvar::new(),
        backlog: options.backlog.max(1),
    });
    let address = Address::new(&name, below.address().place());
    let thread = AcceptorThread {
        below: below.clone(),
        queue: queue.clone(),
        name,
        options,
        driver: driver.clone(),
        cookies: Cookies::new(),
    };
    ThreadSpec::named("punctual-accept")
        .start(move || thread.run())
        .map_err(|error| LinkError::os(Phase::Listen, error.into()))?;
    Ok(Box::new(ReliableAcceptor {
        below,
        queue,
        address,
    }))
}

impl Acceptor for ReliableAcceptor {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&self) -> Result<Arc<dyn Connection>, LinkError> {
        let next = self.queue.take();
        Ok(next.ok_or_else(|| LinkError::closed(Phase::Accept))?)
    }

    fn close(&self) {
        self.below.close();
        self.queue.close();
    }
}

impl Drop for ReliableAcceptor {
    fn drop(&mut self) {
        self.close();
    }
}

/// State of the acceptor's thread.
struct AcceptorThread {
    below: Arc<dyn Acceptor>,
    queue: Arc<Queue>,
    name: Arc<str>,
    options: ReliableOptions,
    driver: Arc<Driver>,
    cookies: Cookies,
}

impl AcceptorThread {
    fn run(mut self) {
        loop {
            match self.below.accept() {
                // A failure concerns only this sender, which may retry.
                Ok(stranger) => drop(self.handle_unknown_sender(stranger)),
                Err(error) if matches!(error.cause, Cause::Closed) => break,
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
        self.queue.close();
    }

    /// Handles the first datagram of a new sender. Unless a connection is opened, `below` is
    /// dropped, and the link below forgets the sender.
    fn handle_unknown_sender(&mut self, below: Arc<dyn Connection>) -> io::Result<()> {
        let mut block = below.lend(0);
        if below
            .receive(&mut block, 1, Deadline::after(FIRST))
            .is_err()
            || self.queue.is_full()
        {
            return Ok(());
        }
        let mut out = Vec::new();
        // Far longer than any uptime.
        let seconds = u32::try_from(self.driver.now().as_secs()).unwrap_or(u32::MAX);
        let peer = below.peer();
        match handle_unknown_sender(&mut self.cookies, peer, &block, seconds, &mut out) {
            UnknownSender::Answered => {
                // The peer repeats its request for a lost answer.
                let _ = below.send(&[IoSlice::new(&out)], Deadline::after(FIRST));
                Ok(())
            }
            UnknownSender::Opens(agreed) => self.open(below, agreed),
            UnknownSender::Ignored => Ok(()),
        }
    }

    fn open(&self, below: Arc<dyn Connection>, agreed: Agreed) -> io::Result<()> {
        let now = self.driver.now();
        let mut machine = Machine::new(random(), agreed.peer, agreed.window, self.options, now);
        machine.accept();
        let shared = Shared::begin(below, &self.driver, machine)?;
        let connection = ReliableConnection::new(shared, &self.name);
        self.queue.put(Arc::new(connection));
        Ok(())
    }
}
