//! Page of the alarms, for the console's HTTP server: it bounds connections and times, and refuses requests of other
//! sites.
//!
//! | path | |
//! |---|---|
//! | `GET /alarms` | the page, which fetches the JSON every second |
//! | `GET /alarms.json` | active alarms, numbers by severity, management systems, the connection to the service |

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use punctual_console::{Mounted, Page, Shell};

use crate::board::Board;

/// Console page of the manager.
#[derive(Debug)]
pub(crate) struct AlarmsPage(pub(crate) Arc<Board>);

impl Page for AlarmsPage {
    fn name(&self) -> &'static str {
        "Alarms"
    }

    fn path(&self) -> &'static str {
        "/alarms"
    }

    fn mount(self: Box<Self>, _: Arc<Shell>) -> Mounted {
        let file = |kind: &'static str, text: &'static str| {
            get(move || async move { answer(kind, text.to_owned()) })
        };
        let routes = Router::new()
            .route("/alarms", file("text/html", include_str!("page.html")))
            .route(
                "/alarms/page.js",
                file("text/javascript", include_str!("page.js")),
            )
            .route(
                "/alarms/page.css",
                file("text/css", include_str!("page.css")),
            )
            .route("/alarms.json", get(json));
        Mounted {
            routes: routes.with_state(self.0),
            tasks: Vec::new(),
        }
    }
}

async fn json(State(board): State<Arc<Board>>) -> Response {
    match board.json() {
        Ok(text) => answer("application/json", text),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

fn answer(kind: &str, text: String) -> Response {
    let head = [
        (CONTENT_TYPE, format!("{kind}; charset=utf-8")),
        (CACHE_CONTROL, "no-cache".to_owned()),
    ];
    (head, text).into_response()
}
