//! Time stamps of events.

use crate::{Event, Form};
use std::time::{SystemTime, UNIX_EPOCH};

/// Time from 15 October 1582, when TimeBase::TimeT begins, to 1 January 1970, in 100 ns.
const TO_UNIX: u64 = 0x01b2_1dd2_1381_4000;

/// Returns the time of day as a TimeT: in 100 ns since 15 October 1582.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    TO_UNIX.saturating_add(u64::try_from(since.as_nanos() / 100).unwrap_or(u64::MAX))
}

/// Notes that the channel receives the events now, if their form has the time.
pub(crate) fn stamp(form: Form, events: &mut [Event]) {
    if form.has_timestamps {
        let received = now();
        for event in events {
            event.header.received = received;
        }
    }
}
