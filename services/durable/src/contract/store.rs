//! Interface of stores: logs, and their readers.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use super::error::DurableError;
use super::event::{Delivery, NewEvent, Position};
use super::name::Name;
use super::settings::LogSettings;

type Result<T> = std::result::Result<T, DurableError>;

/// Function that a reader calls when events may have come. It must neither block, nor call the
/// store, nor drop it.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Store of durable logs.
pub trait EventStore: Debug + Send + Sync {
    /// Opens a log, which is created if need be, and gives it these settings. A log that is open
    /// already is shared.
    ///
    /// # Errors
    /// The store cannot be reached, read or written, or refuses the settings.
    fn open_log(&self, name: &Name, settings: LogSettings) -> Result<Arc<dyn EventLog>>;

    /// Removes a log with its events and readers. Returns false if there is none.
    ///
    /// # Errors
    /// The store cannot be reached or written.
    fn remove_log(&self, name: &Name) -> Result<bool>;

    /// Returns the names of all logs, in order.
    ///
    /// # Errors
    /// The store cannot be reached or read.
    fn log_names(&self) -> Result<Vec<Name>>;

    /// Lets no call, in progress or later, wait long for servers that do not answer: the process ends. Returns at once. Does
    /// nothing in a store without servers.
    fn end_waiting(&self) {}
}

/// Log of one channel: events in the order in which they were appended, until all readers have
/// acknowledged them. Without readers, events are accepted and not stored.
pub trait EventLog: Debug + Send + Sync {
    /// Appends events, in this order and without others between those of one commit, and returns
    /// when they are durable. Blocks; appends of several threads share a commit.
    ///
    /// # Errors
    /// The log is full, an event is too long, or the store fails. What is stored after an error
    /// depends on it: see [`DurableError`].
    fn append(&self, events: Vec<NewEvent>) -> Result<Appended>;

    /// Opens a reader for this process. A new one gets the events that are appended from then on; one
    /// that exists gets, in order, all events that it has not acknowledged.
    ///
    /// # Errors
    /// The reader is in use, or the store cannot be reached or written.
    fn open_reader(&self, name: &Name) -> Result<Arc<dyn Reader>>;

    /// Removes a reader; events that it alone had yet to acknowledge are deleted. Returns false if there is none.
    ///
    /// # Errors
    /// The store cannot be reached or written.
    fn remove_reader(&self, name: &Name) -> Result<bool>;

    /// Returns the names of all readers, in order.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn reader_names(&self) -> Result<Vec<Name>>;

    /// Returns what the log keeps, and what it has dropped.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn status(&self) -> Result<LogStatus>;
}

/// Reader of a log, with acknowledgements of its own. Dropping it closes it: another one of this
/// name gets all that was not acknowledged.
pub trait Reader: Debug + Send + Sync {
    /// Returns the next events, in the order of the log; first those that were given back. Waits for
    /// the first one up to `patience`, and returns none if there is none by then. Each event is
    /// handed out once, until it is given back or the reader opened again.
    ///
    /// # Errors
    /// The reader or its log was removed, or the store fails.
    fn fetch(&self, most: Most, patience: Duration) -> Result<Vec<Delivery>>;

    /// Hands out no event from now on while one before it is missing, however long that takes: another process may have it, which has
    /// opened the reader, too. Otherwise a store may give missing events up some time. Does nothing where none can be missing.
    fn keep_order(&self) {}

    /// Returns the position up to which the reader gets no events any more: it has acknowledged them, or they were appended before it
    /// was added. It gets all later ones. `None` if that is not known, as it has not acknowledged its first event.
    ///
    /// # Errors
    /// The reader or its log was removed, or the store cannot be reached.
    fn floor(&self) -> Result<Option<Position>>;

    /// Acknowledges events, in any order. Returns at once. Acknowledgements become durable a little
    /// later: if the process is killed before, the events are repeated. Positions that were not
    /// handed out, or were acknowledged before, are ignored.
    fn acknowledge(&self, positions: &[Position]);

    /// Gives back events that could not be delivered, so that they are handed out again.
    fn give_back(&self, positions: &[Position]);

    /// Waits until all acknowledgements of this reader up to now are durable.
    ///
    /// # Errors
    /// The store fails; the acknowledgements become durable later.
    fn flush(&self) -> Result<()>;

    /// Sets the function to be called when a fetch may find an event after one has found none, in
    /// place of the function before. It is called at least once for each time.
    fn wake_by(&self, wake: Wake);

    /// Returns the number of events that the reader has yet to acknowledge.
    ///
    /// # Errors
    /// The reader or its log was removed, or the store cannot be reached.
    fn waiting(&self) -> Result<u64>;
}

/// Limits of one fetch. At least one event is returned, whatever its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    /// Maximum number of events.
    pub events: usize,
    /// Maximum sum of their bytes.
    pub bytes: usize,
}

impl Most {
    /// Returns the limits of so many events, and of no more than 16 MiB.
    #[must_use]
    pub fn events(events: usize) -> Self {
        Self {
            events,
            bytes: 16 << 20,
        }
    }
}

/// Outcome of an append.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// Number of events that were not stored, since the log knows their ids.
    pub repeated: usize,
}

/// State of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogStatus {
    /// Number of events that readers have yet to acknowledge.
    pub events: u64,
    /// Sum of these events' bytes, as the quota counts them.
    pub bytes: u64,
    /// Number of events that were refused, since the log was opened.
    pub refused: u64,
    /// Number of events that were dropped to make room, as far as the store counts them, since the
    /// log was opened.
    pub dropped: u64,
    /// Number of events that expired before all readers had acknowledged them, as far as the store
    /// counts them, since the log was opened.
    pub expired: u64,
    /// Number of events that were not stored as their ids were known, since the log was opened.
    pub repeated: u64,
}
