//! Page of a group service: its groups with their members, and a time line of one group.
//!
//! | path | |
//! |---|---|
//! | `GET /groups?group=NUMBER` | all groups; the members of one, and what has changed of them |
//! | `GET /groups/live` | `changed`, every second |

mod timeline;
mod view;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use punctual_groups_service::GroupService;
use serde::Deserialize;

use crate::layout;
use crate::page::{Mounted, Page};
use crate::pulse;
use crate::shell::Shell;
use view::{GroupsPage, PATH};

/// Console page of a group service.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Service whose groups the page shows.
    pub service: Arc<GroupService>,
}

/// State that the page's handlers share.
struct Shown {
    shell: Arc<Shell>,
    service: Arc<GroupService>,
}

/// What the page is to show.
#[derive(Debug, Default, Deserialize)]
struct Selection {
    /// Number of the group; by default the first one.
    group: Option<u64>,
}

impl Page for Groups {
    fn name(&self) -> &'static str {
        "Groups"
    }

    fn path(&self) -> &'static str {
        PATH
    }

    fn mount(self: Box<Self>, shell: Arc<Shell>) -> Mounted {
        let shown = Arc::new(Shown {
            shell,
            service: self.service,
        });
        let routes = Router::new()
            .route(PATH, get(show))
            .route("/groups/live", get(live));
        Mounted {
            routes: routes.with_state(shown),
            tasks: Vec::new(),
        }
    }
}

async fn live(State(shown): State<Arc<Shown>>) -> Response {
    pulse::stream(&shown.shell)
}

async fn show(State(shown): State<Arc<Shown>>, Query(selection): Query<Selection>) -> Response {
    let groups = shown.service.list(0, shown.shell.limits.rows);
    let listed = |id: u64| groups.iter().any(|one| one.id == id);
    // One beyond the rows that are listed is shown, too.
    let other = match selection.group {
        Some(id) if !listed(id) => shown.service.list(id.saturating_sub(1), 1),
        _ => Vec::new(),
    };
    let wanted = |id: u64| selection.group.is_none_or(|group| group == id);
    let chosen = groups.iter().chain(&other).find(|one| wanted(one.id));
    let history = chosen.map_or_else(Vec::new, |one| shown.service.history(one.id));
    let shell = &shown.shell;
    let page = GroupsPage::new(shell, &groups, chosen, (&history, Instant::now()));
    layout::page(StatusCode::OK, &page)
}
