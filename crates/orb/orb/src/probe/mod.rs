//! Time probes: stamps at the labelled points of a two-way call (Schmidt et al. 2001, §5.3, figure
//! 17).
//!
//! A stamp marks the *beginning* of a stage, which lasts until the next stamp of the thread; times
//! of a stage that is entered again are added up ([`calls`]). So the stages of a call leave nothing
//! out, and their times add up to the call's.
//!
//! Without the feature `time-probes` a program's calls contain none of this. With it, and not
//! switched on ([`switch`]), a point is a load and a branch, and the registers that the compiler
//! keeps free for the call: six or seven instructions. Switched on, it reads the processor's
//! counter and writes a word into a ring of the thread's own: no lock, no system call, and no
//! allocation but for a thread's first stamp. The oldest stamps are overwritten; [`take`] reads the
//! present ones, from any thread.
//!
//! Rings and switch belong to the process, not to an ORB: points stand where no ORB is at hand, and
//! a program is measured as a whole.

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

/// Switches stamps on or off at every point. Does nothing where [`COMPILED_IN`] is false.
pub fn switch(on: bool) {
    // Relaxed: a call in progress is stamped from some point on, and `calls` leaves it out.
    ON.store(on, Ordering::Relaxed);
}

/// Returns whether points are stamped.
#[must_use]
pub fn is_on() -> bool {
    COMPILED_IN && ON.load(Ordering::Relaxed)
}

/// Stamps a point of the calling thread, if stamps are switched on. An application may do so, too:
/// a servant whose operation has no arguments can mark the beginning of its upcall by
/// [`Point::ServerUpcall`], which is not distinguished otherwise from the search for the operation.
#[inline(always)]
pub fn begins(point: Point) {
    if COMPILED_IN && ON.load(Ordering::Relaxed) {
        threads::stamp(point);
    }
}

/// Stamps a point like `begins`, without leaving an empty call behind where probes are not
/// compiled in: inlining is decided before such calls are removed.
#[cfg(feature = "time-probes")]
#[doc(hidden)]
#[macro_export]
macro_rules! __begins {
    ($point:expr) => {
        $crate::probe::begins($point)
    };
}

/// Checks that the point exists, and does nothing else.
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

/// Call of a client: its first stamp is made when it begins, its last on drop.
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

/// Returns the cost of a stamp in nanoseconds: the median time between two with nothing between
/// them. Each stage contains it once for each of its stamps.
///
/// Takes a millisecond, on a thread of its own, and belongs to no call.
///
/// # Errors
/// When no thread can be started.
pub fn cost(rate: Rate) -> std::io::Result<f64> {
    let measured = ThreadSpec::named("punctual-probe")
        .start(move || threads::ticks_between_stamps().map(|it| rate.nanos(it)))?;
    let failed = || std::io::Error::other("the thread that measures a probe has failed");
    measured.join().ok().flatten().ok_or_else(failed)
}
