//! Errors of connecting and pushing.

use crate::filter::FilterError;
use crate::options::OptionsError;
use punctual_exec::SpawnError;
use std::fmt;
use std::sync::Arc;

/// Reason why a consumer or a supplier could not be connected, or its wishes not be changed.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The channel has been destroyed.
    #[error("the channel has been destroyed: connect to another one")]
    Destroyed,
    /// The consumer or supplier has been disconnected.
    #[error("the connection has ended: connect again")]
    Disconnected,
    /// The filter breaks a limit of the channel.
    #[error("the filter is refused: {0}")]
    Filter(#[from] FilterError),
    /// An option of the queue is out of range.
    #[error("the queue is refused: {0}")]
    Queue(OptionsError),
    /// The channel has its maximum number of consumers, suppliers or publications.
    #[error("the channel has {limit} {what} already: raise `{option}`, or disconnect some")]
    Full {
        /// Subject of the limit.
        what: &'static str,
        /// Name of the option with the limit.
        option: &'static str,
        /// Limit.
        limit: usize,
    },
    /// A thread for the consumer's level, or for its timers, could not be started.
    #[error("no thread for deliveries could be started: {0}")]
    Thread(Arc<SpawnError>),
}

impl From<SpawnError> for ConnectError {
    fn from(error: SpawnError) -> Self {
        Self::Thread(Arc::new(error))
    }
}

/// Reason why events were refused. None of them was delivered.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PushError {
    /// The supplier has been disconnected, or the channel destroyed.
    #[error("the supplier is not connected: connect it again")]
    Disconnected,
    /// An event is larger than the channel allows.
    #[error(
        "event {index} of the set has {size} bytes of data, and the channel takes {limit}: raise `largest_event`, or send \
         less"
    )]
    TooLarge {
        /// Place of the event in the set, from 0.
        index: usize,
        /// Size of its data in bytes.
        size: usize,
        /// Largest size allowed.
        limit: usize,
    },
    /// Consumers push within pushes too deeply, perhaps without end.
    #[error(
        "{limit} pushes are in progress on this thread, one within the other: look for consumers that answer their own \
         events, use queues, or raise `most_nesting`"
    )]
    TooDeep {
        /// Largest number of pushes within pushes.
        limit: usize,
    },
}

macro_rules! shown_as_displayed {
    ($($error:ty),*) => {$(
        /// Shows the error as `Display` does, for a `main` that returns it.
        impl fmt::Debug for $error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}
shown_as_displayed!(ConnectError, PushError, OptionsError, FilterError);
