//! Time probes: stamps at the labelled points of a two-way call (Schmidt et al. 2001, §5.3, figure
//! 17).
//!
//! A stamp marks the *beginning* of a stage, which lasts until the next stamp of the thread; times
//! of a stage that is entered again are added up ([`calls`]). So the stages of a call have no gaps,
//! and their times add up to the duration of the call.
//!
//! Without the feature `time-probes`, calls contain no code for this. With the feature, but not
//! switched on ([`switch`]), a point costs six or seven instructions: a load, a branch, and the
//! saving of registers for the call. Switched on, it reads the processor's counter and writes a
//! word into a ring buffer of the thread: no lock, no system call, and no allocation except for a
//! thread's first stamp. The oldest stamps are overwritten; [`take`] reads the present ones, from
//! any thread.
//!
//! Ring buffers and switch are global to the process: some points are in code that has no access to
//! an ORB, and a program is measured as a whole.

mod calls;
mod point;
mod ring;
mod threads;

pub use calls::{CallTrace, calls};
pub use point::{Point, Side};
pub use punctual_sys::cycles::{Rate, is_invariant};
pub use ring::{CAPACITY, Stamp};
pub use threads::{ThreadStamps, take};

use punctual_exec::ThreadSpec;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if the program was compiled with probes: with the feature `time-probes`.
pub const COMPILED_IN: bool = cfg!(feature = "time-probes");

static ON: AtomicBool = AtomicBool::new(false);

/// Switches the recording of stamps on or off at every point. Does nothing if [`COMPILED_IN`] is
/// false.
pub fn switch(on: bool) {
    // Relaxed: a call in progress is stamped from some point on, and `calls` leaves it out.
    ON.store(on, Ordering::Relaxed);
}

/// Returns whether the probes record time stamps.
#[must_use]
pub fn is_on() -> bool {
    COMPILED_IN && ON.load(Ordering::Relaxed)
}

/// Records a stamp for a point on the calling thread, if stamps are switched on. Applications may
/// call it, too: a servant whose operation has no arguments can mark the beginning of its upcall by
/// [`Point::ServerUpcall`], which otherwise cannot be separated from the search for the operation.
#[inline(always)]
pub fn begins(point: Point) {
    if COMPILED_IN && ON.load(Ordering::Relaxed) {
        threads::stamp(point);
    }
}

/// Records a stamp like `begins`, but compiles to nothing, not even an empty call, if probes are
/// not compiled in.
#[cfg(feature = "time-probes")]
#[doc(hidden)]
#[macro_export]
macro_rules! __begins {
    ($point:expr) => {
        $crate::probe::begins($point)
    };
}

/// Checks at compile time that the point exists, and does nothing else.
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

/// Guard for a client's call: records its first stamp when created, and its last one when dropped.
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

/// Returns the cost of a stamp in nanoseconds: the median time between two successive stamps. The
/// time of a stage includes this cost once for each of its stamps.
///
/// Takes a millisecond, on a separate thread, and is not part of any call.
///
/// # Errors
/// When no thread can be started.
pub fn cost(rate: Rate) -> std::io::Result<f64> {
    let measured = ThreadSpec::named("punctual-probe")
        .start(move || threads::ticks_between_stamps().map(|it| rate.nanos(it)))?;
    let failed = || std::io::Error::other("the thread that measures a probe has failed");
    measured.join().ok().flatten().ok_or_else(failed)
}
