//! Routes of all pages, with the guard applied to them.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;

use crate::assets;
use crate::guard::HEADERS;
use crate::shell::Shell;

/// Merges the routes of all pages with the shared routes.
pub(crate) fn routes(shell: Arc<Shell>, pages: impl IntoIterator<Item = Router>) -> Router {
    let shared = Router::new()
        .route("/", get(first))
        .merge(assets::routes())
        .fallback(nothing)
        .with_state(shell.clone());
    pages
        .into_iter()
        .fold(shared, Router::merge)
        .layer(DefaultBodyLimit::max(shell.limits.body_bytes))
        .layer(from_fn_with_state(shell, check))
}

/// Redirects the browser to the console's first page.
async fn first(State(shell): State<Arc<Shell>>) -> Response {
    match shell.pages.first() {
        Some(page) => Redirect::to(page.path).into_response(),
        None => nothing(State(shell)).await,
    }
}

async fn nothing(State(shell): State<Arc<Shell>>) -> Response {
    shell.problem(StatusCode::NOT_FOUND, "This page does not exist.")
}

/// Answers a request, or refuses it if the guard does.
async fn check(State(shell): State<Arc<Shell>>, request: Request, next: Next) -> Response {
    let mut response = match shell.guard.refusal(&request, shell.limits.body_bytes) {
        Some((status, why)) => {
            tracing::info!("a request to the console was refused: {why}");
            shell.problem(status, why)
        }
        None => {
            let time = shell.limits.request_time;
            let answered = tokio::time::timeout(time, next.run(request)).await;
            answered.unwrap_or_else(|_| {
                let what =
                    "This took too long. A change that was asked for may have been made, or not.";
                shell.problem(StatusCode::SERVICE_UNAVAILABLE, what)
            })
        }
    };
    response.headers_mut().extend(HEADERS);
    response
}
