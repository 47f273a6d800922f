//! Queues of a channel's consumers, if the channel tells of them.

use crate::events::channel::Channel;
use punctual::{Interface, ObjectRef};
use punctual_rtevent_service::punctual_events::{Channel as Counting, ChannelCounts};

/// Source of a channel's counts.
pub(super) struct Queues {
    object: ObjectRef,
    most_consumers: u32,
    /// Interface of the counts; not known before the channel has answered.
    counting: Option<Answer>,
}

/// Answer of a channel to the question whether it has counts.
enum Answer {
    Counts(Counting),
    /// It is the channel of another implementation.
    None,
}

impl Queues {
    pub(super) fn of(channel: &Channel, most_consumers: u32) -> Self {
        Self {
            object: channel.object.clone(),
            most_consumers,
            counting: None,
        }
    }

    /// Returns the counts now; `None` if the channel has none, or does not answer.
    pub(super) fn look(&mut self) -> Option<ChannelCounts> {
        if self.counting.is_none() {
            self.counting = ask(&self.object);
        }
        match &self.counting {
            Some(Answer::Counts(channel)) => channel.counts(self.most_consumers).ok(),
            Some(Answer::None) | None => None,
        }
    }
}

fn ask(object: &ObjectRef) -> Option<Answer> {
    match object.is_a(Counting::REPOSITORY_ID).ok()? {
        true => Some(Answer::Counts(Counting::from_object(object.clone()))),
        false => Some(Answer::None),
    }
}
