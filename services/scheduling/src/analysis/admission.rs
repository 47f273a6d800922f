//! Admission of reservations (`SCHED_DEADLINE`) to processors.
//!
//! The kernel sums up runtime by period. On one processor that proves the deadlines if each is its
//! period; [`one_processor`] is exact for all. On several, where any of them serves any reservation,
//! the kernel's sum bounds only the tardiness (Devi and Anderson 2005); [`several_processors`]
//! proves the deadlines.

use super::edf::{Sharing, Verdict, demand_test};
use super::supply::Reservation;
use super::task::Task;
use crate::time::Time;

/// Places behind the binary point of the kernel's sums.
const SHIFT: u32 = 20;

/// One in the fixed point of densities.
const ONE: u128 = 1 << 64;

/// Share of each processor that the kernel gives to reservations and real-time threads:
/// `sched_rt_runtime_us` by `sched_rt_period_us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelShare {
    /// Runtime in each period.
    pub runtime: Time,
    /// Period.
    pub period: Time,
}

/// Outcome of the kernel's test, in its own units of 2⁻²⁰ processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelAdmission {
    /// Sum of the reservations.
    pub asked: u64,
    /// Limit of the root domain.
    pub offered: u64,
}

/// Gives the kernel's default: 950 ms of each second.
impl Default for KernelShare {
    fn default() -> Self {
        Self {
            runtime: Time::from_millis(950),
            period: Time::from_millis(1_000),
        }
    }
}

impl KernelAdmission {
    /// Returns whether the kernel admits all reservations.
    #[must_use]
    pub const fn is_admitted(self) -> bool {
        self.asked <= self.offered
    }
}

/// Applies the kernel's test to the reservations of one root domain.
#[must_use]
pub fn kernel(
    reservations: &[Reservation],
    processors: u32,
    share: KernelShare,
) -> KernelAdmission {
    let asked = reservations
        .iter()
        .map(|reservation| units(reservation.runtime(), reservation.period()))
        .fold(0, u64::saturating_add);
    KernelAdmission {
        asked,
        offered: units(share.runtime, share.period).saturating_mul(processors.into()),
    }
}

/// Tests the deadlines of reservations on one processor under EDF, exactly.
#[must_use]
pub fn one_processor(reservations: &[Reservation]) -> Verdict {
    let task = |reservation: &Reservation| {
        Task::new(reservation.runtime(), reservation.period()).with_deadline(reservation.deadline())
    };
    let tasks: Vec<Task> = reservations.iter().map(task).collect();
    let sharing = |task| Sharing {
        task,
        sections: &[],
    };
    demand_test(&tasks.iter().map(sharing).collect::<Vec<_>>())
}

/// Returns whether the densities prove the deadlines of reservations on identical processors under
/// global EDF: their sum is at most m - (m - 1) times the largest (Goossens, Funk and Baruah 2003).
/// Sufficient, not exact.
#[must_use]
pub fn several_processors(reservations: &[Reservation], processors: u32) -> bool {
    let density = |reservation: &Reservation| {
        let runtime = u128::from(reservation.runtime().as_nanos()) << 64;
        runtime.div_ceil(reservation.deadline().as_nanos().into())
    };
    let sum: u128 = reservations.iter().map(density).sum();
    let largest = reservations.iter().map(density).max().unwrap_or_default();
    let others = u128::from(processors.saturating_sub(1));
    sum + others * largest <= ONE * u128::from(processors)
}

/// Returns a share in the kernel's units, rounded down as there.
fn units(runtime: Time, period: Time) -> u64 {
    let scaled = u128::from(runtime.as_nanos()) << SHIFT;
    let units = scaled / u128::from(period.as_nanos()).max(1);
    u64::try_from(units).unwrap_or(u64::MAX)
}
