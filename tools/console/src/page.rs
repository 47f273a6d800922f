//! Pages: one for each service that is served in the process.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;

use crate::shell::Shell;

/// A page of the console. The process that serves a service passes its page to the console, which
/// does not search for services itself.
pub trait Page: Debug + Send {
    /// Returns the name under which the navigation lists the page.
    fn name(&self) -> &'static str;

    /// Returns the page's path, below which all its routes are: `/naming`.
    fn path(&self) -> &'static str;

    /// Converts the page to its HTTP routes and background tasks.
    fn mount(self: Box<Self>, shell: Arc<Shell>) -> Mounted;
}

/// Work of a page on the console's thread, until the console ends. It must not block.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A page in the form in which the console serves it.
pub struct Mounted {
    /// HTTP routes of the page, below the page's path.
    pub routes: Router,
    /// Background tasks of the page.
    pub tasks: Vec<Task>,
}

impl Debug for Mounted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "routes and {} tasks of a page", self.tasks.len())
    }
}
