//! Page of a Notification Service: its channels, their proxies with queues and losses, and a tail of events.
//!
//! | path | |
//! |---|---|
//! | `GET /channels?channel=ID&filter=CONSTRAINT` | all channels; the proxies of one, and its latest events that meet a constraint |
//! | `GET /channels/live` | `changed`, every second |
//!
//! Events are copied for the tail only while somebody looks at it.

mod tails;
mod view;

use crate::layout;
use crate::page::{Mounted, Page};
use crate::pulse;
use crate::shell::Shell;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use punctual_notification::NotificationService;
use serde::Deserialize;
use std::sync::Arc;
use tails::Tails;
use view::{ChannelsPage, PATH};

/// Console page of a Notification Service.
#[derive(Clone, Debug)]
pub struct Channels {
    /// Service whose channels the page shows.
    pub service: NotificationService,
}

/// State that the page's handlers share.
struct Shown {
    shell: Arc<Shell>,
    service: NotificationService,
    tails: Tails,
}

/// What the page is to show.
#[derive(Debug, Default, Deserialize)]
struct Selection {
    /// Id of the channel; by default the first one.
    channel: Option<i32>,
    /// Constraint of the tail; by default there is no tail, and an empty one is met by all events.
    filter: Option<String>,
}

impl Page for Channels {
    fn name(&self) -> &'static str {
        "Channels"
    }

    fn path(&self) -> &'static str {
        PATH
    }

    fn mount(self: Box<Self>, shell: Arc<Shell>) -> Mounted {
        let shown = Arc::new(Shown {
            shell,
            tails: Tails::new(self.service.clone()),
            service: self.service,
        });
        let routes = Router::new()
            .route(PATH, get(show))
            .route("/channels/live", get(live));
        Mounted {
            routes: routes.with_state(shown.clone()),
            tasks: vec![Box::pin(async move { shown.tails.end_when_unseen().await })],
        }
    }
}

async fn live(State(shown): State<Arc<Shown>>) -> Response {
    pulse::stream(&shown.shell)
}

async fn show(State(shown): State<Arc<Shown>>, Query(selection): Query<Selection>) -> Response {
    let most = u32::try_from(shown.shell.limits.rows).unwrap_or(u32::MAX);
    let channels = shown.service.channels(most);
    let wanted = |id: i32| selection.channel.is_none_or(|channel| channel == id);
    let chosen = channels.iter().find(|one| wanted(one.id));
    let tail = match (chosen, &selection.filter) {
        (Some(chosen), Some(text)) => Some(shown.tails.look(chosen.id, text)),
        _ => None,
    };
    let filter = selection.filter.as_deref().unwrap_or_default();
    let page = ChannelsPage::new(&shown.shell.pages, &channels, chosen, (filter, tail));
    layout::page(StatusCode::OK, &page)
}
