//! Programs that use channels of other servers, and go on when those were started again.

mod backoff;
mod publisher;
mod subscriber;

pub use publisher::{Publisher, PublisherCounts};
pub use subscriber::{Subscriber, SubscriberCounts, SubscriberOptions};
