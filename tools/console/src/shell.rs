//! State and parts that all pages share.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use tokio::sync::Semaphore;

use crate::guard::Guard;
use crate::layout::{self, Link};
use crate::options::ConsoleLimits;

/// Parts of the console that are outside of its pages.
#[derive(Debug)]
pub struct Shell {
    pub(crate) guard: Guard,
    pub(crate) limits: ConsoleLimits,
    /// Links to all pages of the console, in the order of the navigation.
    pub(crate) pages: Vec<Link>,
    /// Permits that limit the number of concurrent event streams.
    pub(crate) streams: Arc<Semaphore>,
    /// Permits that limit the number of concurrent changes.
    pub(crate) changes: Arc<Semaphore>,
}

impl Shell {
    pub(crate) fn new(guard: Guard, limits: ConsoleLimits, pages: Vec<Link>) -> Self {
        Self {
            guard,
            limits,
            pages,
            streams: Arc::new(Semaphore::new(limits.streams)),
            changes: Arc::new(Semaphore::new(limits.at_a_time)),
        }
    }

    /// Returns an HTML page that only shows an error.
    #[must_use]
    pub fn problem(&self, status: StatusCode, what: &str) -> Response {
        layout::problem(&self.pages, status, what)
    }
}
