//! Calls to objects of others, in bounded time.

use std::time::Duration;

use punctual::Interface;

/// Returns a reference to the same object, whose calls take no longer than the time.
pub(crate) fn bounded<I: Interface>(object: &impl Interface, time: Duration) -> I {
    I::from_object(object.as_object().with_timeout(time))
}
