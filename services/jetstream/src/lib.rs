//! Durable logs of events on NATS JetStream, for channels that several processes share, and a bridge
//! to NATS subjects.
//!
//! | module | contents |
//! |---|---|
//! | `settings` | servers, credentials, TLS, limits: [`JetStreamOptions`] |
//! | `runtime` | the one thread on which all communication runs |
//! | `connection` | the connection to the servers, and requests to their interface |
//! | `message`, `outgoing` | events as messages; messages on their way to a stream |
//! | `publisher` | appends: the events of all waiting threads in one atomic batch |
//! | `held`, `follow`, `reader` | readers: events that are held, the task that gets them, the interface |
//! | `shared`, `log`, `store` | state of a log in this process, logs, and the [`JetStreamStore`] |
//! | `records` | [`JetStreamRecords`]: records that the servers of a service share, of which one writes at a time |
//! | `bridge` | the [`Bridge`]: messages on subjects, without persistence |
//!
//! A log is a stream with interest retention, a reader is a durable pull consumer. Callers block;
//! what waits for the runtime is limited: appends by a setting, acknowledgements by the events that readers hold, and all
//! else to one request of each caller. `docs/durable-events.md` says what is
//! promised.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bridge;
mod connection;
mod follow;
mod held;
mod log;
mod message;
mod outgoing;
mod publisher;
mod reader;
mod records;
mod runtime;
mod settings;
mod shared;
mod store;

pub use bridge::{Bridge, BridgeMessage, Subscription};
pub use records::JetStreamRecords;
pub use settings::{Credentials, JetStreamOptions, JetStreamTls};
pub use store::JetStreamStore;
