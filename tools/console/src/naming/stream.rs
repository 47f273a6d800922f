//! Stream of events that tells the browser to fetch the page again.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Extension, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, unfold};
use punctual_naming::Leads;
use punctual_naming::store::{ContextId, ROOT};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::names::{Selection, name_of};
use super::state::NamingPage;
use super::view;
use crate::ends::ConnectionAddresses;
use crate::live::{Interest, Visible};

/// State of one event stream of the naming page.
struct Watch {
    page: Arc<NamingPage>,
    place: Selection,
    peer: IpAddr,
    interest: Arc<Interest>,
    ends: Instant,
    is_begun: bool,
    _place: OwnedSemaphorePermit,
}

/// Sends `changed` at once, as something may have changed since the page was fetched, and after
/// each change.
pub(super) async fn live(
    State(page): State<Arc<NamingPage>>,
    Extension(ends): Extension<ConnectionAddresses>,
    Query(place): Query<Selection>,
) -> Response {
    let Ok(permit) = page.shell.streams.clone().try_acquire_owned() else {
        let why = "Too many pages are looked at.";
        return page.shell.problem(StatusCode::SERVICE_UNAVAILABLE, why);
    };
    let watch = Watch {
        interest: page.live.interest(),
        ends: Instant::now() + page.shell.limits.stream_time,
        peer: ends.peer.ip(),
        is_begun: false,
        _place: permit,
        place,
        page,
    };
    // Keep-alive messages also detect a peer that has gone.
    let stream = Sse::new(watch.events()).keep_alive(KeepAlive::new());
    // Proxies must not buffer it.
    ([("x-accel-buffering", "no")], stream).into_response()
}

impl Watch {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        unfold(self, |mut watch| async move {
            watch.next().await?;
            // Browsers drop an event without data.
            Some((Ok(Event::default().event("changed").data("page")), watch))
        })
    }

    /// Waits for the next event; returns `None` when the stream's time is over.
    async fn next(&mut self) -> Option<()> {
        if !std::mem::replace(&mut self.is_begun, true) {
            let _ = self.look();
            return Some(());
        }
        let gap = Instant::now() + self.page.shell.limits.event_gap;
        sleep_until(gap.min(self.ends)).await;
        while Instant::now() < self.ends {
            let again = Instant::now() + self.page.shell.limits.answer_age;
            let has_changed = timeout_at(again.min(self.ends), self.interest.changed()).await;
            // Objects are asked again as long as a client watches. A context that does not exist
            // may be created later, without a notification.
            let is_there = self.look();
            if has_changed.is_ok() || !is_there {
                return Some(());
            }
        }
        None
    }

    /// Watches the data that the page shows now, and queues its objects to be asked whether they
    /// exist. Returns `true` if the context exists.
    fn look(&self) -> bool {
        let naming = &self.page;
        let portion = name_of(&self.place.context).and_then(|name| {
            let from = view::begin(&self.place);
            let most = self.page.shell.limits.rows;
            naming
                .directory
                .portion(&name, from.as_ref(), most, self.peer)
        });
        let Ok(portion) = portion else {
            self.interest.show(Visible {
                contexts: self.way(),
                ..Visible::default()
            });
            return false;
        };
        let objects = portion
            .entries
            .iter()
            .filter_map(|entry| match &entry.leads {
                Leads::Object(ior) | Leads::Elsewhere(ior) => Some(ior),
                _ => None,
            });
        let objects = objects.map(|ior| {
            naming.answers.of(ior);
            naming.answers.key(ior)
        });
        let shown = Visible {
            objects: objects.collect(),
            contexts: portion.way,
        };
        self.interest.show(shown);
        true
    }

    /// Returns the existing contexts that lead towards a context which does not exist.
    fn way(&self) -> Vec<ContextId> {
        let mut name = name_of(&self.place.context).unwrap_or_default();
        let directory = &self.page.directory;
        while !name.is_empty() {
            name.pop();
            if let Ok(portion) = directory.portion(&name, None, 0, self.peer) {
                return portion.way;
            }
        }
        vec![ROOT]
    }
}
