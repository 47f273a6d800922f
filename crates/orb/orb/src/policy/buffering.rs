//! Requests that are buffered in the client to be sent together (O'Ryan et al. 2001, §4.2.4: TAO's
//! BufferingConstraint; Schmidt et al. 2001, figure 6: delayed buffering).

use std::time::Duration;

/// Conditions for sending buffered requests: they are sent as soon as any of these is met.
/// Regardless of the conditions, [`crate::ObjectRef::flush`] sends them, and so does an unbuffered
/// request on the connection, as it must not overtake them (but see [`super::Policy::OutOfBand`]).
///
/// Conditions can be combined:
///
/// ```
/// # use punctual_orb::Buffering;
/// # use std::time::Duration;
/// let when = Buffering::EXPLICIT.messages(100).delay(Duration::from_millis(5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffering {
    /// Number of requests in the buffer (TAO::BUFFER_MESSAGE_COUNT). At least 1; `usize::MAX` for
    /// any number.
    pub messages: usize,
    /// Bytes of requests in the buffer (TAO::BUFFER_MESSAGE_BYTES). At least 1; `usize::MAX` for
    /// any number.
    pub octets: usize,
    /// Time that the first request has waited (TAO::BUFFER_TIMEOUT); `None` for any time.
    pub delay: Option<Duration>,
}

/// Capacity of a connection's buffer, and the treatment of a request for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferCapacity {
    /// Maximum bytes of requests that are buffered or being sent; 8 MiB by default. A single
    /// request may be larger.
    pub octets: usize,
    /// Treatment of a request that would exceed the capacity.
    pub when_full: WhenFull,
}

/// Treatment of a request for which a buffer has no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenFull {
    /// The caller sends the buffered requests, as it does when a condition of [`Buffering`] is met;
    /// so a call may block, up to its deadline, as long as the server does not read.
    #[default]
    Flush,
    /// The caller waits for room, up to its deadline (TIMEOUT). It never sends the buffered requests itself: a thread
    /// of the ORB does so when a condition of [`Buffering`] is met or there is no room; with [`Buffering::EXPLICIT`]
    /// only a flush makes room.
    Block,
    /// The call raises TRANSIENT, COMPLETED_NO. The caller never blocks and, as with [`WhenFull::Block`], never sends
    /// the buffered requests itself.
    Raise,
}

impl Buffering {
    /// No condition: requests wait until they are flushed explicitly (TAO::BUFFER_FLUSH).
    pub const EXPLICIT: Self = Self {
        messages: usize::MAX,
        octets: usize::MAX,
        delay: None,
    };

    /// Returns the conditions with a limit on the number of requests.
    #[must_use]
    pub const fn messages(self, messages: usize) -> Self {
        Self { messages, ..self }
    }

    /// Returns the conditions with a limit on the bytes of the requests.
    #[must_use]
    pub const fn octets(self, octets: usize) -> Self {
        Self { octets, ..self }
    }

    /// Returns the conditions with a limit on the time that requests wait.
    #[must_use]
    pub const fn delay(self, delay: Duration) -> Self {
        Self {
            delay: Some(delay),
            ..self
        }
    }

    /// Checks the conditions.
    ///
    /// # Errors
    /// The reason why the conditions are invalid.
    pub(crate) fn check(self) -> Result<(), String> {
        if self.messages == 0 || self.octets == 0 {
            return Err("a buffer of size 0".to_owned());
        }
        Ok(())
    }
}

impl BufferCapacity {
    /// Checks the capacity.
    ///
    /// # Errors
    /// The reason why the capacity is invalid.
    pub(crate) fn check(self) -> Result<(), String> {
        if self.octets == 0 {
            return Err("a buffer of size 0".to_owned());
        }
        Ok(())
    }
}

impl Default for Buffering {
    /// Returns the default: 64 requests or 32 KiB or 5 ms.
    fn default() -> Self {
        Self {
            messages: 64,
            octets: 32 * 1024,
            delay: Some(Duration::from_millis(5)),
        }
    }
}

impl Default for BufferCapacity {
    fn default() -> Self {
        Self {
            octets: 8 << 20,
            when_full: WhenFull::default(),
        }
    }
}
