//! What all pages share, and the routes to them.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::{Redirect, Response};
use axum::routing::get;
use tokio::sync::Semaphore;

use crate::guard::{self, Guard};
use crate::naming::{self, NamingPage};
use crate::options::ConsoleLimits;
use crate::{assets, layout};

/// What handlers are given.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) guard: Guard,
    pub(crate) limits: ConsoleLimits,
    pub(crate) naming: NamingPage,
    /// A place for each event stream.
    pub(crate) streams: Arc<Semaphore>,
    /// A place for each change that is under way.
    pub(crate) changes: Arc<Semaphore>,
}

/// The two ends of a request's connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) peer: SocketAddr,
    pub(crate) here: SocketAddr,
}

/// Every path that there is.
pub(crate) fn routes(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(|| async { Redirect::to("/naming") }))
        .merge(naming::routes())
        .merge(assets::routes())
        .fallback(nothing)
        .layer(DefaultBodyLimit::max(app.limits.body_bytes))
        .layer(from_fn_with_state(app.clone(), guard::check))
        .with_state(app)
}

async fn nothing() -> Response {
    layout::problem(StatusCode::NOT_FOUND, "There is no such page.")
}
