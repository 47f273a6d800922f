//! What all pages have around them, and how they become replies.

use askama::Template;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// A page in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
}

/// All pages, in the order of the navigation.
pub(crate) const PAGES: [Page; 1] = [NAMING];

/// [`crate::naming`].
pub(crate) const NAMING: Page = Page {
    path: "/naming",
    title: "Names",
};

#[derive(Debug, Template)]
#[template(path = "problem.html")]
struct Problem<'p> {
    pages: &'static [Page],
    here: &'static str,
    status: u16,
    what: &'p str,
}

/// A template as a reply. What it shows is as of now, and kept by nobody.
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

/// A page that says what went wrong, and nothing else.
pub(crate) fn problem(status: StatusCode, what: &str) -> Response {
    let template = Problem {
        pages: &PAGES,
        here: "",
        status: status.as_u16(),
        what,
    };
    page(status, &template)
}
