//! Settings of dynamic scheduling.

use punctual_exec::thread::Reservation;
use punctual_orb::{AboveHighest, Discipline};
use std::time::Duration;

/// Settings of dynamic scheduling ([`crate::RtConfig::dynamic_scheduling`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicScheduling {
    /// Scheduling disciplines that segments may have; by default both.
    pub disciplines: Vec<Discipline>,
    /// Treatment of the reservations that the segments of clients request.
    pub propagated: PropagatedReservations,
}

impl Default for DynamicScheduling {
    fn default() -> Self {
        Self {
            disciplines: Discipline::ALL.to_vec(),
            propagated: PropagatedReservations::default(),
        }
    }
}

/// Treatment of the reservations that the segments of other processes request. Their fixed
/// priorities are limited by [`crate::Propagated`], like priorities with CLIENT_PROPAGATED.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PropagatedReservations {
    /// The upcall belongs to the segment, but the segment does not change its thread's scheduling.
    #[default]
    NotObeyed,
    /// The upcall's thread makes the reservation that the segment requests, up to a limit.
    UpTo {
        /// Maximum that one upcall may reserve. The number of simultaneous reservations is limited
        /// by the kernel's admission.
        most: ReservationLimit,
        /// Treatment of a request for a larger reservation: with [`AboveHighest::Cap`] its runtime
        /// is reduced to the maximum.
        above: AboveHighest,
    },
}

/// Maximum that the upcall of one request may reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservationLimit {
    /// Maximum runtime that may be reserved in each period.
    pub runtime: Duration,
    /// Maximum share of one processor that may be reserved, in percent.
    pub percent: u32,
}

impl ReservationLimit {
    /// Returns the maximum runtime of a reservation with this period.
    pub(super) fn runtime_of(self, period: Duration) -> Duration {
        let share = period.as_nanos().saturating_mul(self.percent.into()) / 100;
        let share = Duration::from_nanos(u64::try_from(share).unwrap_or(u64::MAX));
        share.min(self.runtime)
    }

    /// Returns a reservation with its runtime reduced to the maximum; `None` if that is too little
    /// for a valid reservation.
    pub(super) fn capped(self, wanted: Reservation) -> Option<Reservation> {
        let runtime = wanted.runtime.min(self.runtime_of(wanted.period));
        Reservation { runtime, ..wanted }.check().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_is_cut_to_its_limit_or_is_none() {
        let limit = ReservationLimit {
            runtime: Duration::from_millis(2),
            percent: 10,
        };
        let capped = |runtime, period| {
            let period = Duration::from_micros(period);
            let capped = limit.capped(Reservation {
                runtime: Duration::from_micros(runtime),
                deadline: period,
                period,
            });
            capped.map(|reserved| reserved.runtime.as_micros())
        };
        assert_eq!(capped(1_000, 10_000), Some(1_000));
        assert_eq!(capped(1_001, 10_000), Some(1_000));
        assert_eq!(capped(9_000, 100_000), Some(2_000));
        assert_eq!(capped(5, 5), None);
    }
}
