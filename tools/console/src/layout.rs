//! Layout around all pages, and their conversion to replies.

use askama::Template;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// Link to a page of the console in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
}

#[derive(Debug, Template)]
#[template(path = "problem.html")]
struct Problem<'p> {
    pages: &'p [Link],
    here: &'static str,
    status: u16,
    what: &'p str,
}

/// Renders a template as a reply. As it shows the present state, browsers are told not to store it.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => {
            let head = [
                (CONTENT_TYPE, "text/html; charset=utf-8"),
                (CACHE_CONTROL, "no-store"),
            ];
            (status, head, text).into_response()
        }
        Err(error) => {
            tracing::error!("a page of the console could not be rendered: {error}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Returns an HTML page that only shows an error.
pub(crate) fn problem(pages: &[Link], status: StatusCode, what: &str) -> Response {
    let template = Problem {
        pages,
        here: "",
        status: status.as_u16(),
        what,
    };
    page(status, &template)
}
