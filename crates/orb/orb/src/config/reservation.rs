//! Reservations of processor time in endpoint options: `runtime/deadline/period`.

use super::concurrency::{Concurrency, ConcurrencyOptions, PoolSize};
use super::duration::parse_duration;
use punctual_exec::thread::Reservation;

const EXPECTED: &str = "runtime/deadline/period, e.g. 1ms/5ms/10ms";

const SERVED_BY_A_POOL: &str = "leader_followers alone beside deadline: the number of its threads says how much of the \
                                processors is reserved";

/// Parses a reservation of the form `runtime/deadline/period`.
///
/// # Errors
/// The fault in the text.
pub(super) fn parse(text: &str) -> Result<Reservation, String> {
    let times: Vec<&str> = text.split('/').collect();
    let &[runtime, deadline, period] = &times[..] else {
        return Err(format!("`{text}` is not {EXPECTED}"));
    };
    let time = |text| parse_duration(text).map_err(|error| format!("{error}; {EXPECTED}"));
    let reserved = Reservation {
        runtime: time(runtime)?,
        deadline: time(deadline)?,
        period: time(period)?,
    };
    reserved.check().map_err(|error| error.to_string())
}

/// Returns the size of the pool that serves an endpoint with a reservation: one thread, unless the
/// options say otherwise.
///
/// # Errors
/// The text of the options that are valid.
pub(crate) fn pool_size(options: ConcurrencyOptions<'_>) -> Result<PoolSize, &'static str> {
    let one = PoolSize {
        threads: 1,
        most: 1,
        reserve: false,
    };
    match Concurrency::LeaderFollowers(one).overridden_by(options)? {
        Concurrency::LeaderFollowers(size) => Ok(size),
        _ => Err(SERVED_BY_A_POOL),
    }
}
