//! Stream of events that tells the browser to fetch the page again, every second.

use crate::shell::Shell;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, unfold};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep};

const GAP: Duration = Duration::from_secs(1);

/// Place of a stream among those that are permitted, and its end.
struct Watch {
    ends: Instant,
    is_begun: bool,
    _place: OwnedSemaphorePermit,
}

/// Returns the stream, if there may be one more.
pub(crate) fn stream(shell: &Shell) -> Response {
    let Ok(permit) = shell.streams.clone().try_acquire_owned() else {
        let why = "Too many pages are looked at.";
        return shell.problem(StatusCode::SERVICE_UNAVAILABLE, why);
    };
    let watch = Watch {
        ends: Instant::now() + shell.limits.stream_time,
        is_begun: false,
        _place: permit,
    };
    // Keep-alive messages also detect a peer that has gone.
    let stream = Sse::new(watch.events()).keep_alive(KeepAlive::new());
    // Proxies must not buffer it.
    ([("x-accel-buffering", "no")], stream).into_response()
}

impl Watch {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        unfold(self, |mut watch| async move {
            if std::mem::replace(&mut watch.is_begun, true) {
                sleep(GAP).await;
            }
            let is_over = Instant::now() >= watch.ends;
            // Browsers drop an event without data.
            let event = Ok(Event::default().event("changed").data("page"));
            (!is_over).then_some((event, watch))
        })
    }
}
