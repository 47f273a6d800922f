//! List of the ring buffers of all threads.

use super::point::Point;
use super::ring::{CAPACITY, Ring, Stamp};
use punctual_sys::cycles;
use std::cell::OnceCell;
// Not `crate::sync`: statics cannot be modelled by a model checker.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of threads with ring buffers at a time; other threads are not recorded.
const MAX_RINGS: usize = 256;

thread_local! {
    /// Ring buffer of the thread's time stamps; `None` if there were too many threads when the
    /// first stamp was to be recorded.
    static RING: OnceCell<Option<Arc<Ring>>> = const { OnceCell::new() };
}

static RINGS: Mutex<Vec<ThreadRing>> = Mutex::new(Vec::new());

struct ThreadRing {
    thread: String,
    ring: Arc<Ring>,
    /// Number of the ring buffer's stamps that have been taken.
    taken: u64,
}

/// Time stamps that the probes have recorded on one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadStamps {
    /// Name of the thread that recorded the stamps.
    pub thread: String,
    /// Time stamps recorded on the thread, in chronological order.
    pub stamps: Vec<Stamp>,
    /// Number of stamps overwritten before they could be taken; they precede `stamps`.
    pub lost: u64,
}

/// Returns the stamps of every thread since the last call of this function, including threads that
/// have ended. Takes a lock, and allocates; other threads continue to record stamps meanwhile.
#[must_use]
pub fn take() -> Vec<ThreadStamps> {
    let mut rings = rings();
    let taken = rings.iter_mut().map(ThreadRing::take).collect::<Vec<_>>();
    rings.retain(ThreadRing::is_used);
    drop(rings);
    taken
        .into_iter()
        .filter(|thread| !thread.stamps.is_empty())
        .collect()
}

/// Records a stamp for a point on the calling thread.
#[cold]
#[inline(never)]
pub(super) fn stamp(point: Point) {
    let stamp = Stamp::new(point, cycles::now());
    // A thread whose ring is already gone is ending.
    let _ = RING.try_with(|ring| {
        if let Some(ring) = ring.get_or_init(register) {
            ring.push(stamp);
        }
    });
}

/// Returns the median number of ticks between successive stamps of the calling thread that are
/// recorded without any work in between.
pub(super) fn ticks_between_stamps() -> Option<u64> {
    const STAMPS: usize = CAPACITY / 2;
    for _ in 0..STAMPS {
        stamp(Point::ClientEnd);
    }
    let ring = RING.try_with(|ring| ring.get().cloned().flatten()).ok()??;
    let stamps = ring.read(0).stamps;
    forget(&ring);
    let mut between: Vec<u64> = stamps
        .windows(2)
        .map(|pair| pair[1].since(pair[0]))
        .collect();
    between.sort_unstable();
    between.get(between.len() / 2).copied()
}

fn rings() -> MutexGuard<'static, Vec<ThreadRing>> {
    RINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cold]
fn register() -> Option<Arc<Ring>> {
    let thread = std::thread::current()
        .name()
        .unwrap_or("unnamed")
        .to_owned();
    let mut rings = rings();
    if rings.len() >= MAX_RINGS {
        rings.retain(ThreadRing::is_used);
    }
    if rings.len() >= MAX_RINGS {
        tracing::warn!(
            thread,
            "too many threads have time probes; this one's are not kept"
        );
        return None;
    }
    let ring = Arc::new(Ring::new(CAPACITY));
    rings.push(ThreadRing {
        thread,
        ring: ring.clone(),
        taken: 0,
    });
    Some(ring)
}

/// Removes a ring buffer from the list, so that its stamps are not returned.
fn forget(ring: &Arc<Ring>) {
    rings().retain(|known| !Arc::ptr_eq(&known.ring, ring));
}

impl ThreadRing {
    fn take(&mut self) -> ThreadStamps {
        let read = self.ring.read(self.taken);
        self.taken = read.end;
        ThreadStamps {
            thread: self.thread.clone(),
            stamps: read.stamps,
            lost: read.lost,
        }
    }

    /// Returns whether the thread of this ring buffer still exists.
    fn is_used(&self) -> bool {
        Arc::strong_count(&self.ring) > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the stamps of the threads with this name. As it takes the stamps of all threads,
    /// only one test of the process may use it.
    fn taken_of(thread: &str) -> Vec<ThreadStamps> {
        let mut taken = take();
        taken.retain(|one| one.thread == thread);
        taken
    }

    fn on_a_thread(name: &str, work: impl FnOnce() + Send + 'static) {
        let thread = std::thread::Builder::new().name(name.into());
        thread.spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn each_thread_has_its_own_stamps_which_outlive_it_and_are_taken_once() {
        on_a_thread("probed-1", || {
            stamp(Point::ClientInitialise);
            stamp(Point::ClientEnd);
        });
        on_a_thread("probed-2", || stamp(Point::ServerUpcall));
        let taken = take();
        let of = |thread: &str| -> Vec<Point> {
            let found = taken.iter().filter(|one| one.thread == thread);
            found
                .flat_map(|one| one.stamps.iter().map(|stamp| stamp.point))
                .collect()
        };
        assert_eq!(of("probed-1"), [Point::ClientInitialise, Point::ClientEnd]);
        assert_eq!(of("probed-2"), [Point::ServerUpcall]);
        assert_eq!(taken_of("probed-1"), []);

        // The cost of a stamp is measured apart from any thread's stamps.
        on_a_thread("probed-3", || {
            assert!(ticks_between_stamps().is_some());
        });
        assert_eq!(taken_of("probed-3"), []);
    }
}
