//! Connections to one endpoint.
//!
//! There is one connection, until callers repeatedly find it in use by another caller
//! ([`crate::lane`]'s `spreading`).

use crate::config::OrbConfig;
use crate::priority::Priority;
use parking_lot::Mutex;
use punctual_link::Properties;
use punctual_sys::clock::coarse_millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Number of times that callers find a connection in use by another caller before one more is
/// opened.
const MEETINGS: u32 = 32;
/// Time in milliseconds during which no further connection is opened after the server has refused
/// one.
const REFUSED: u64 = 30_000;

/// Connections of type `C` to one endpoint.
#[derive(Debug)]
pub(crate) struct ToEndpoint<C> {
    /// Unique number of the endpoint.
    pub(in crate::lane) number: u64,
    /// Open connections. Locked while the first is being opened: two callers then share one, and
    /// callers of other endpoints do not wait.
    pub(in crate::lane) held: Mutex<Vec<Arc<C>>>,
    pub(in crate::lane) properties: Properties,
    /// Lowest priority of the band that the connections are for, if they are for one.
    pub(in crate::lane) lowest: Option<Priority>,
    /// Maximum number of connections to the endpoint.
    pub(in crate::lane) most: usize,
    /// Time for which an unneeded additional connection is kept.
    pub(in crate::lane) spare: Option<Duration>,
    /// Number of times that callers have found a connection in use since one was last added.
    /// Relaxed, as the two fields below: independent values.
    met: AtomicU32,
    is_opening: AtomicBool,
    /// Earliest time at which another connection may be opened, by the coarse clock.
    not_before: AtomicU64,
}

impl<C> ToEndpoint<C> {
    /// Makes an entry without connections; up to the configured maximum may be added if `spreads`
    /// is true.
    pub(in crate::lane) fn new(
        properties: &Properties,
        spreads: bool,
        lowest: Option<Priority>,
        config: &OrbConfig,
    ) -> Self {
        // Relaxed: only a unique number.
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            held: Mutex::default(),
            properties: properties.clone(),
            lowest,
            most: match spreads {
                true => config.connections_per_endpoint,
                false => 1,
            },
            spare: config.timeouts.spare_connection,
            met: AtomicU32::new(0),
            is_opening: AtomicBool::new(false),
            not_before: AtomicU64::new(0),
        }
    }

    /// Returns whether there may be more than one connection.
    pub(in crate::lane) fn spreads(&self) -> bool {
        self.most > 1
    }

    /// Counts that a caller has found a connection in use; returns whether it is time to look for
    /// another connection.
    pub(in crate::lane) fn record_meeting(&self) -> bool {
        let met = self.met.fetch_add(1, Ordering::Relaxed) + 1;
        if met < MEETINGS || self.not_before.load(Ordering::Relaxed) > coarse_millis() {
            return false;
        }
        self.met.store(0, Ordering::Relaxed);
        true
    }

    /// Prevents the opening of further connections for a while.
    pub(in crate::lane) fn pause_opening(&self) {
        let next = coarse_millis() + REFUSED;
        self.not_before.store(next, Ordering::Relaxed);
    }

    /// Returns `true` if the caller is to open another connection, which only one caller does at a
    /// time.
    pub(in crate::lane) fn begins_opening(&self) -> bool {
        !self.is_opening.swap(true, Ordering::Relaxed)
    }

    /// Ends the caller's turn to open a connection, whether or not it has succeeded.
    pub(in crate::lane) fn ends_opening(&self) {
        self.is_opening.store(false, Ordering::Relaxed);
    }
}
