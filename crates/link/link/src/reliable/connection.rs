//! Connection: the state machine, the link below it, and the threads that wait for either.
//!
//! One thread for each connection receives from below, since a link below can only be waited on
//! there. It ends when the connection is over, which may be a while after it was closed: written
//! data is still delivered to the peer.

use super::driver::{Driver, Timed};
use super::machine::{End, Machine};
use crate::{
    Address, BlockPool, Cause, Connection, LinkError, Pending, Phase, SendError, Waitable,
};
use punctual_cdr::Block;
use punctual_exec::{Deadline, ThreadSpec};
use punctual_sys::dscp::Dscp;
use std::fmt;
use std::io::{self, IoSlice};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of blocks that a connection keeps for reuse.
const BLOCKS: usize = 4;
/// Initial size of a buffer that a connection lends, in bytes.
const BLOCK: usize = 4096;
/// Size in bytes beyond which blocks are not kept.
const BLOCK_KEPT: usize = 256 * 1024;
/// Time that the link below may take for one datagram before it counts as lost.
const PATIENCE: Duration = Duration::from_millis(100);

/// State shared by the application's end, the receiving thread and the timers.
///
/// Locks: `out` before `guarded`, never the other way round; nothing blocks under `guarded`.
pub(super) struct Shared {
    below: Arc<dyn Connection>,
    driver: Arc<Driver>,
    guarded: Mutex<Guarded>,
    readable: Condvar,
    writable: Condvar,
    /// Datagram being sent: at most one thread at a time sends on the link below.
    out: Mutex<Vec<u8>>,
}

struct Guarded {
    machine: Machine,
    /// Number of threads that wait to read; like `writers`, kept so that no thread is woken in
    /// vain.
    readers: usize,
    writers: usize,
    /// Time at which the timer thread next checks the connection.
    scheduled: Option<Duration>,
}

impl Shared {
    /// Begins a connection over `below`: starts its thread and its timers.
    pub(super) fn begin(
        below: Arc<dyn Connection>,
        driver: &Arc<Driver>,
        machine: Machine,
    ) -> io::Result<Arc<Self>> {
        let shared = Arc::new(Self {
            below,
            driver: driver.clone(),
            guarded: Mutex::new(Guarded {
                machine,
                readers: 0,
                writers: 0,
                scheduled: None,
            }),
            readable: Condvar::new(),
            writable: Condvar::new(),
            out: Mutex::default(),
        });
        let timed: Arc<dyn Timed> = shared.clone();
        driver.register(&timed)?;
        let receiving = shared.clone();
        ThreadSpec::named("punctual-reliab").start(move || receiving.receive_below())?;
        shared.flush();
        Ok(shared)
    }

    fn lock(&self) -> MutexGuard<'_, Guarded> {
        self.guarded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Receives from the link below until the connection is over.
    fn receive_below(&self) {
        loop {
            let mut block = self.below.lend(0);
            let received = self.below.receive(&mut block, 1, Deadline::NEVER);
            let now = self.driver.now();
            let mut guarded = self.lock();
            let delivering = guarded.machine.is_delivering();
            match received {
                Ok(_) => guarded.machine.handle(&block, now),
                Err(error) if matches!(error.cause, Cause::TimedOut) => {}
                Err(_) => guarded.machine.fail(End::Reset, now),
            }
            let over = guarded.machine.is_over(now);
            let delivered = delivering && !guarded.machine.is_delivering();
            self.tell(guarded);
            self.flush();
            if delivered {
                self.driver.delivered();
            }
            if over {
                self.below.close();
                return;
            }
        }
    }

    /// Wakes the threads that wait for the machine's current state.
    fn tell(&self, guarded: MutexGuard<'_, Guarded>) {
        let ended = guarded.machine.send_end().is_some();
        let read = guarded.readers > 0 && (ended || guarded.machine.readable() > 0);
        let write = guarded.writers > 0 && (ended || guarded.machine.room() > 0);
        drop(guarded);
        if read {
            self.readable.notify_all();
        }
        if write {
            self.writable.notify_all();
        }
    }

    /// Sends the datagrams that are due, and schedules the next timer.
    fn flush(&self) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = self.driver.now();
            let mut guarded = self.lock();
            if !guarded.machine.transmit(now, &mut out) {
                let timer = guarded.machine.timer();
                let sooner = timer
                    .filter(|timer| guarded.scheduled.is_none_or(|scheduled| *timer < scheduled));
                if sooner.is_some() {
                    guarded.scheduled = sooner;
                }
                drop(guarded);
                drop(out);
                if let Some(time) = sooner {
                    self.driver.wake_by(time);
                }
                return;
            }
            drop(guarded);
            let sent = self
                .below
                .send(&[IoSlice::new(&out)], Deadline::after(PATIENCE));
            // Any other reason that keeps a datagram from leaving counts as a loss.
            if sent.is_err_and(|error| is_refused(&error.error)) {
                let mut guarded = self.lock();
                guarded.machine.fail(End::Reset, self.driver.now());
                self.tell(guarded);
            }
        }
    }

    fn close(&self) {
        let mut guarded = self.lock();
        guarded.machine.close(self.driver.now());
        self.tell(guarded);
        self.flush();
    }
}

impl Timed for Shared {
    fn tick(&self) -> Option<Duration> {
        let now = self.driver.now();
        let mut guarded = self.lock();
        guarded.scheduled = None;
        guarded.machine.tick(now);
        self.tell(guarded);
        self.flush();
        let guarded = self.lock();
        if guarded.machine.is_over(now) {
            drop(guarded);
            // This wakes the receiving thread, which ends.
            self.below.close();
            return None;
        }
        guarded.machine.timer()
    }

    fn is_delivering(&self) -> bool {
        self.lock().machine.is_delivering()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("below", &self.below)
            .finish_non_exhaustive()
    }
}

/// Returns whether the error means that no process listens at the peer.
fn is_refused(error: &LinkError) -> bool {
    match &error.cause {
        Cause::Closed => true,
        Cause::Os(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        _ => false,
    }
}

/// Application's end of a connection.
#[derive(Debug)]
pub(super) struct ReliableConnection {
    shared: Arc<Shared>,
    peer: Address,
    local: Address,
    pool: Arc<BlockPool>,
}

impl ReliableConnection {
    /// Makes the application's end; `name` is the adapted link's, which the addresses bear.
    pub(super) fn new(shared: Arc<Shared>, name: &str) -> Self {
        let adapted = |address: &Address| Address::new(name, address.place());
        Self {
            peer: adapted(shared.below.peer()),
            local: adapted(shared.below.local()),
            shared,
            pool: BlockPool::new(BLOCKS, BLOCK_KEPT),
        }
    }

    /// Writes from the front of `octets`, at least one byte, and returns the number taken.
    fn write(&self, octets: &[u8], deadline: Deadline) -> Result<usize, LinkError> {
        let mut guarded = self.shared.lock();
        loop {
            if let Some(end) = guarded.machine.send_end() {
                return Err(ended(end, Phase::Send));
            }
            let count = guarded.machine.write(octets);
            if count > 0 {
                return Ok(count);
            }
            let left = deadline.remaining();
            if left.is_some_and(|left| left.is_zero()) {
                return Err(LinkError::timed_out(Phase::Send));
            }
            guarded.writers += 1;
            guarded = wait(&self.shared.writable, guarded, left);
            guarded.writers -= 1;
        }
    }
}

fn wait<'g>(
    condition: &Condvar,
    guarded: MutexGuard<'g, Guarded>,
    left: Option<Duration>,
) -> MutexGuard<'g, Guarded> {
    match left {
        None => condition
            .wait(guarded)
            .unwrap_or_else(PoisonError::into_inner),
        Some(left) => {
            let waited = condition.wait_timeout(guarded, left);
            waited.unwrap_or_else(PoisonError::into_inner).0
        }
    }
}

fn ended(end: End, phase: Phase) -> LinkError {
    let cause = match end {
        End::Closed | End::PeerClosed => Cause::Closed,
        End::Reset => Cause::Os(io::ErrorKind::ConnectionReset.into()),
        End::Silent => Cause::Os(io::Error::new(
            io::ErrorKind::ConnectionAborted,
            "the peer has stopped answering",
        )),
        End::BadPeer => Cause::BadPeer("offsets that contradict each other"),
    };
    LinkError { phase, cause }
}

impl Connection for ReliableConnection {
    fn lend(&self, capacity: usize) -> Block {
        self.pool.lend(capacity.max(BLOCK))
    }

    fn send(&self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<(), SendError> {
        let mut sent = 0;
        for part in parts {
            let mut rest: &[u8] = part;
            while !rest.is_empty() {
                let count = self
                    .write(rest, deadline)
                    .map_err(|error| SendError { error, sent })?;
                sent += count;
                rest = rest.get(count..).unwrap_or_default();
                if !rest.is_empty() {
                    self.shared.flush();
                }
            }
        }
        if sent > 0 {
            self.shared.flush();
        }
        Ok(())
    }

    fn receive(
        &self,
        block: &mut Block,
        need: usize,
        deadline: Deadline,
    ) -> Result<usize, LinkError> {
        let wanted = need.max(block.capacity()).saturating_sub(block.len());
        let mut guarded = self.shared.lock();
        loop {
            if guarded.machine.readable() > 0 {
                let now = self.shared.driver.now();
                let count = guarded.machine.read(block, wanted.max(1), now);
                let due = guarded.machine.timer().is_some_and(|due| due <= now);
                drop(guarded);
                if due {
                    self.shared.flush();
                }
                return Ok(count);
            }
            if let Some(end) = guarded.machine.end() {
                return Err(ended(end, Phase::Receive));
            }
            let left = deadline.remaining();
            if left.is_some_and(|left| left.is_zero()) {
                return Err(LinkError::timed_out(Phase::Receive));
            }
            guarded.readers += 1;
            guarded = wait(&self.shared.readable, guarded, left);
            guarded.readers -= 1;
        }
    }

    fn pending(&self) -> Pending {
        let guarded = self.shared.lock();
        if guarded.machine.readable() > 0 {
            Pending::Data
        } else if guarded.machine.end().is_some() {
            Pending::End
        } else {
            Pending::Nothing
        }
    }

    fn close(&self) {
        self.shared.close();
    }

    fn napi_id(&self) -> Option<u32> {
        self.shared.below.napi_id()
    }

    fn set_dscp(&self, dscp: Option<Dscp>) -> io::Result<()> {
        self.shared.below.set_dscp(dscp)
    }

    fn peer(&self) -> &Address {
        &self.peer
    }

    fn local(&self) -> &Address {
        &self.local
    }

    fn waitable(&self) -> Waitable<'_> {
        Waitable::Own
    }
}

impl Drop for ReliableConnection {
    fn drop(&mut self) {
        self.close();
    }
}
