//! Outcomes of events and of calls, which are counted.

/// What became of an event, or of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A supplier supplied it, and it was not refused.
    Received,
    /// The filters of a supplier did not let it in.
    Filtered,
    /// It was refused, as the channel or its log was full.
    Rejected,
    /// A consumer took it by push.
    Pushed,
    /// A consumer pulled it.
    Pulled,
    /// A full queue gave it up.
    Discarded,
    /// Its life ended in a queue.
    Expired,
    /// Its push failed, or it was in a queue when the consumer was disconnected.
    Undelivered,
    /// The call failed, and is made again.
    Retried,
}

/// Number of outcomes.
pub(crate) const OUTCOMES: usize = Outcome::Retried as usize + 1;
