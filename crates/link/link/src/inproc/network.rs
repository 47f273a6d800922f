//! Network: its acceptors, its connections, and their faults.

use super::clock::{Clock, Sleepers};
use super::connection::{Conditions, InprocConnection, Wire};
use super::pipe::Pipe;
use super::queue::{Queue, refusal};
use crate::{Connection, LinkError, Phase};
use punctual_exec::Deadline;
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Network {
    conditions: Conditions,
    state: Mutex<State>,
    healed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    listening: HashMap<Box<str>, Arc<Queue>>,
    wires: Vec<Weak<Wire>>,
    cut: HashSet<Box<str>>,
    /// Last number used in the names of clients, and of acceptors that did not choose one.
    next: u64,
}

impl State {
    fn wires_at(&self, place: &str) -> Vec<Arc<Wire>> {
        let wires = self.wires.iter().filter_map(Weak::upgrade);
        wires.filter(|wire| wire.ends_at(place)).collect()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

impl Network {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            conditions: Conditions {
                clock,
                latency: Arc::new(AtomicU64::new(0)),
            },
            state: Mutex::default(),
            healed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_latency(&self, latency: Duration) {
        let nanoseconds = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        let latency = &self.conditions.latency;
        latency.store(nanoseconds, Ordering::Relaxed);
    }

    /// Begins listening at the name `place`, or at a chosen name if it is empty; returns the name
    /// and the queue of the connections made to it.
    pub(super) fn listen(&self, place: &str) -> Result<(Box<str>, Arc<Queue>), LinkError> {
        let mut state = self.lock();
        let place: Box<str> = if place.is_empty() {
            let number = state.number();
            format!("open-{number}").into()
        } else {
            place.into()
        };
        if state.listening.contains_key(&place) {
            return Err(refusal(Phase::Listen, io::ErrorKind::AddrInUse));
        }
        let queue = Arc::new(Queue::default());
        state.listening.insert(place.clone(), queue.clone());
        Ok((place, queue))
    }

    /// Stops listening at `place`, unless another queue listens there by now.
    pub(super) fn stop_listening(&self, place: &str, queue: &Arc<Queue>) {
        let mut state = self.lock();
        let known = state.listening.get(place);
        if known.is_some_and(|known| Arc::ptr_eq(known, queue)) {
            state.listening.remove(place);
        }
    }

    pub(super) fn connect(
        &self,
        place: &str,
        deadline: Deadline,
    ) -> Result<Arc<dyn Connection>, LinkError> {
        let (queue, wire) = self.wire_to(place, deadline)?;
        let [client, server] = InprocConnection::ends(&wire, &self.conditions);
        queue.put(server, deadline)?;
        Ok(client)
    }

    fn wire_to(
        &self,
        place: &str,
        deadline: Deadline,
    ) -> Result<(Arc<Queue>, Arc<Wire>), LinkError> {
        let mut state = self.wait_until_healed(place, deadline)?;
        let refused = || refusal(Phase::Connect, io::ErrorKind::ConnectionRefused);
        let queue = state.listening.get(place).cloned().ok_or_else(refused)?;
        let number = state.number();
        let wire = Arc::new(Wire {
            acceptor: place.into(),
            client: format!("{place}#{number}").into(),
            to_acceptor: Pipe::default(),
            to_client: Pipe::default(),
        });
        state.wires.retain(|wire| wire.strong_count() > 0);
        state.wires.push(Arc::downgrade(&wire));
        Ok((queue, wire))
    }

    fn wait_until_healed(
        &self,
        place: &str,
        deadline: Deadline,
    ) -> Result<MutexGuard<'_, State>, LinkError> {
        let mut state = self.lock();
        while state.cut.contains(place) {
            state = match deadline.remaining() {
                None => self.healed.wait(state),
                Some(left) if left.is_zero() => return Err(LinkError::timed_out(Phase::Connect)),
                Some(left) => {
                    let waited = self.healed.wait_timeout(state, left);
                    Ok(waited.unwrap_or_else(PoisonError::into_inner).0)
                }
            }
            .unwrap_or_else(PoisonError::into_inner);
        }
        Ok(state)
    }

    pub(super) fn set_cut(&self, place: &str, cut: bool) -> usize {
        let mut state = self.lock();
        if cut {
            state.cut.insert(place.into());
        } else {
            state.cut.remove(place);
        }
        let wires = state.wires_at(place);
        drop(state);
        for pipe in wires.iter().flat_map(|wire| wire.pipes()) {
            pipe.set_cut(cut);
        }
        self.healed.notify_all();
        wires.len()
    }

    pub(super) fn break_off(&self, place: &str) -> usize {
        let wires = self.lock().wires_at(place);
        for pipe in wires.iter().flat_map(|wire| wire.pipes()) {
            pipe.break_off();
        }
        wires.len()
    }
}

impl Sleepers for Network {
    fn wake(&self) {
        let wires: Vec<Arc<Wire>> = {
            let state = self.lock();
            state.wires.iter().filter_map(Weak::upgrade).collect()
        };
        for pipe in wires.iter().flat_map(|wire| wire.pipes()) {
            pipe.wake();
        }
    }
}
