//! Connections to one endpoint.
//!
//! There is one, until callers meet on it repeatedly ([`crate::lane`]'s `spreading`).

use crate::config::OrbConfig;
use parking_lot::Mutex;
use punctual_link::Properties;
use punctual_sys::clock::coarse_millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Number of meetings of callers on a connection before another one is opened.
const MEETINGS: u32 = 32;
/// Time in milliseconds during which no further connection is opened after the server has refused
/// one.
const REFUSED: u64 = 30_000;

/// Connections of kind `C` to one endpoint.
#[derive(Debug)]
pub(crate) struct ToEndpoint<C> {
    /// Unique number of the endpoint.
    pub(in crate::lane) number: u64,
    /// Open connections. Locked while the first is being opened: two callers then share one, and
    /// callers of other endpoints do not wait.
    pub(in crate::lane) held: Mutex<Vec<Arc<C>>>,
    pub(in crate::lane) properties: Properties,
    /// Maximum number of connections.
    pub(in crate::lane) most: usize,
    /// Time for which an additional connection is kept that is not needed.
    pub(in crate::lane) spare: Option<Duration>,
    /// Number of meetings of callers since another connection was opened. Relaxed, as the two
    /// below: independent numbers.
    met: AtomicU32,
    is_opening: AtomicBool,
    /// Earliest time at which another connection may be opened, by the coarse clock.
    not_before: AtomicU64,
}

impl<C> ToEndpoint<C> {
    /// Makes an entry without connections; up to the configured maximum may be added if `spreads`
    /// is true.
    pub(in crate::lane) fn new(properties: &Properties, spreads: bool, config: &OrbConfig) -> Self {
        // Relaxed: only a unique number.
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            held: Mutex::default(),
            properties: properties.clone(),
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

    /// Counts a meeting of callers, and returns whether it is time to look for another connection.
    pub(in crate::lane) fn record_meeting(&self) -> bool {
        let met = self.met.fetch_add(1, Ordering::Relaxed) + 1;
        if met < MEETINGS || self.not_before.load(Ordering::Relaxed) > coarse_millis() {
            return false;
        }
        self.met.store(0, Ordering::Relaxed);
        true
    }

    /// Prevents further connections for a while.
    pub(in crate::lane) fn pause_opening(&self) {
        let next = coarse_millis() + REFUSED;
        self.not_before.store(next, Ordering::Relaxed);
    }

    /// Returns `true` if the caller is the one to open another connection: one caller at a time.
    pub(in crate::lane) fn begins_opening(&self) -> bool {
        !self.is_opening.swap(true, Ordering::Relaxed)
    }

    /// Ends the caller's turn to open a connection, whether it has succeeded or not.
    pub(in crate::lane) fn ends_opening(&self) {
        self.is_opening.store(false, Ordering::Relaxed);
    }
}
