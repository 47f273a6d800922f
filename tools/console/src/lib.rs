//! Console: web pages that show the services running in a process.
//!
//! A page is a [`Page`]: its name, its path, its routes, and a template that extends the shared
//! layout: [`Naming`], [`Events`], [`Channels`] and [`Groups`]. The process that serves the services chooses the pages. The
//! pages work without script. With it, `static/console.js` receives a stream of events, each of
//! which reports only *that* something on the page has changed, and fetches the page again: so only
//! the server renders pages.
//!
//! Clients are not trusted. `guard` refuses requests that come from elsewhere (a wrong host,
//! another origin, a missing token) before any page sees them, `server` bounds connections, heads,
//! bodies and time, and each event stream holds one flag however slowly it is read. One thread runs
//! all of it, with the async runtime that is used in this crate only; blocking work (changes, calls
//! to objects) runs on a bounded number of others.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod answers;
mod app;
mod assets;
mod channels;
mod ends;
mod events;
mod groups;
mod guard;
mod layout;
mod live;
mod naming;
mod options;
mod page;
mod pulse;
mod server;
mod shell;

pub use channels::Channels;
pub use events::Events;
pub use groups::Groups;
pub use naming::Naming;
pub use options::{ConsoleLimits, ConsoleOptions};
pub use page::{Mounted, Page, Task};
pub use server::{Console, ConsoleError};
pub use shell::Shell;
