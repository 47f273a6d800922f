//! Page of a real-time event channel: what passes through it, and what waits for whom.
//!
//! | path | |
//! |---|---|
//! | `GET /events` | types, sources and rates since the last look, and the consumers with their queues |
//! | `GET /events/live` | `changed`, every second |
//!
//! Events are counted by a consumer in the channel's process, only while somebody looks at the page.

mod meter;
mod state;
mod view;

use crate::layout;
use crate::page::{Mounted, Page};
use crate::pulse;
use crate::shell::Shell;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use meter::Meter;
use punctual_rtevent_service::EventService;
use state::Shown;
use std::sync::Arc;
use view::{EventsPage, PATH};

/// Console page of a real-time event channel.
#[derive(Clone, Debug)]
pub struct Events {
    /// Service whose channel the page shows.
    pub service: EventService,
}

impl Page for Events {
    fn name(&self) -> &'static str {
        "Events"
    }

    fn path(&self) -> &'static str {
        PATH
    }

    fn mount(self: Box<Self>, shell: Arc<Shell>) -> Mounted {
        let shown = Arc::new(Shown {
            shell,
            meter: Meter::new(self.service),
        });
        let routes = Router::new()
            .route(PATH, get(show))
            .route("/events/live", get(live));
        Mounted {
            routes: routes.with_state(shown.clone()),
            tasks: vec![Box::pin(
                async move { shown.meter.rest_when_unseen().await },
            )],
        }
    }
}

async fn live(State(shown): State<Arc<Shown>>) -> Response {
    pulse::stream(&shown.shell)
}

async fn show(State(shown): State<Arc<Shown>>) -> Response {
    let (counts, traffic) = shown.meter.look(shown.shell.limits.rows);
    let page = EventsPage::new(&shown.shell.pages, &counts, &traffic);
    layout::page(StatusCode::OK, &page)
}
