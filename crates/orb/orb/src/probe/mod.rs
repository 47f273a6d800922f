//! Time probes: stamps at the labelled points of a two-way call (Schmidt et al. 2001, §5.3, figure 17).
//!
//! A stamp says what *begins* at it, and when: the stage lasts until the next stamp of the thread, and a
//! stage that is come back to counts together ([`calls`]). So the stages of a call leave nothing out, and
//! their times add up to the call's.
//!
//! Without the feature `time-probes` there is nothing of this in a program's calls. With it, and not
//! switched on ([`switch`]), a point is a load and a branch, and what the compiler keeps clear for what may
//! be called there: six or seven instructions. Switched on, it reads the processor's counter and writes a
//! word into a ring of the thread's own: no lock, no system call, and no allocation but for a thread's
//! first stamp. The oldest stamps are overwritten; [`take`] reads what is there, from any thread.
//!
//! Rings and switch are the process's, not an ORB's: points stand where no ORB is at hand, and a program is
//! measured as a whole.

mod calls;
mod point;
mod ring;
mod threads;

pub use calls::{Seen, calls};
pub use point::{Point, Side};
pub use punctual_sys::cycles::{Rate, is_invariant};
pub use ring::{CAPACITY, Stamp};
pub use threads::{ThreadStamps, take};

use punctual_exec::ThreadSpec;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this program has its probes: it was compiled with the feature `time-probes`.
pub const COMPILED_IN: bool = cfg!(feature = "time-probes");

static ON: AtomicBool = AtomicBool::new(false);

/// Has every point stamped from now on, or none. Does nothing where [`COMPILED_IN`] is false.
pub fn switch(on: bool) {
    // Relaxed: a call under way is stamped from some point on, and `calls` leaves it out.
    ON.store(on, Ordering::Relaxed);
}

/// Whether points are stamped.
#[must_use]
pub fn is_on() -> bool {
    COMPILED_IN && ON.load(Ordering::Relaxed)
}

/// Stamps a point of the calling thread, if that is switched on. An application may do so, too: a servant
/// whose operation has no arguments says by [`Point::ServerUpcall`] when it began to run, which nothing
/// else tells from the search for the operation.
#[inline(always)]
pub fn begins(point: Point) {
    if COMPILED_IN && ON.load(Ordering::Relaxed) {
        threads::stamp(point);
    }
}

/// The same, which leaves not even an empty call behind where probes are not compiled in: what is inlined
/// where is decided before such calls are gone.
#[cfg(feature = "time-probes")]
#[doc(hidden)]
#[macro_export]
macro_rules! __begins {
    ($point:expr) => {
        $crate::probe::begins($point)
    };
}

/// Nothing, of a point that there is.
#[cfg(not(feature = "time-probes"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __begins {
    ($point:expr) => {
        const _: $crate::probe::Point = $point;
    };
}

#[doc(hidden)]
pub use crate::__begins as begins;

/// A client's call, whose first stamp is made when it begins and whose last when it is dropped.
pub(crate) struct Call(());

impl Call {
    #[inline(always)]
    pub(crate) fn begin() -> Self {
        begins!(Point::ClientInitialise);
        Self(())
    }
}

#[cfg(feature = "time-probes")]
impl Drop for Call {
    #[inline(always)]
    fn drop(&mut self) {
        begins(Point::ClientEnd);
    }
}

/// What a stamp costs here, in nanoseconds: the median time between two with nothing between them. Is
/// contained in each stage once for each of its stamps.
///
/// Takes a millisecond, on a thread of its own, and counts as nobody's call.
///
/// # Errors
/// When there can be no thread.
pub fn cost(rate: Rate) -> std::io::Result<f64> {
    let measured = ThreadSpec::named("punctual-probe")
        .start(move || threads::ticks_between_stamps().map(|it| rate.nanos(it)))?;
    let failed = || std::io::Error::other("the thread that measures a probe has failed");
    measured.join().ok().flatten().ok_or_else(failed)
}
