//! The style sheet, the script and the icon, which are part of the program, so that pages load
//! nothing from other sites.

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

const FILES: [(&str, &str, &str); 3] = [
    (
        "/static/console.css",
        "text/css; charset=utf-8",
        include_str!("../static/console.css"),
    ),
    (
        "/static/console.js",
        "text/javascript; charset=utf-8",
        include_str!("../static/console.js"),
    ),
    (
        "/static/icon.svg",
        "image/svg+xml",
        include_str!("../static/icon.svg"),
    ),
];

pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    FILES
        .into_iter()
        .fold(Router::new(), |routes, (path, kind, text)| {
            routes.route(path, get(move || async move { file(kind, text) }))
        })
}

fn file(kind: &'static str, text: &'static str) -> Response {
    // Another version of the program may have other files.
    let head = [(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")];
    (head, text).into_response()
}
