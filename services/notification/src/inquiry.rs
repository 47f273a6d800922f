//! An event about which foreign filters are asked: what the filters say so far, and the next question.

use std::sync::Arc;
use std::time::Duration;

use punctual_durable::Position;

use crate::cos_notify_channel_admin::InterFilterGroupOperator as Operator;
use crate::event::Event;
use crate::filter::{Answer, Asked, Opinion, Question};
use crate::group::Group;

/// Priority and life that foreign mapping filters give to an event.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mapped {
    pub(crate) priority: Option<i16>,
    pub(crate) life: Option<Duration>,
}

/// Event that waits for verdicts.
#[derive(Debug)]
pub(crate) struct Inquiry {
    pub(crate) event: Arc<Event>,
    /// Position in the channel's log, if the event comes from there.
    pub(crate) position: Option<Position>,
    pub(crate) of_admin: Opinion,
    pub(crate) of_proxy: Opinion,
    pub(crate) priority: Option<Arc<Question>>,
    pub(crate) lifetime: Option<Arc<Question>>,
}

/// Next step of an inquiry.
#[derive(Debug)]
pub(crate) enum Step {
    Ask(Arc<Question>),
    /// States whether the event passes.
    Decided(bool),
}

impl Inquiry {
    /// Returns the next step, with the answers that have come so far.
    pub(crate) fn step(&mut self, group: &Group) -> Step {
        self.of_admin.settle();
        self.of_proxy.settle();
        let deciding = match group.operator {
            Operator::AndOp => false,
            Operator::OrOp => true,
        };
        let known = [self.of_admin.known(), self.of_proxy.known()];
        let is_decided = known.contains(&Some(deciding));
        let mut open = self.of_admin.open.iter().chain(&self.of_proxy.open);
        if let Some(question) = open.next().filter(|_| !is_decided) {
            return Step::Ask(question.clone());
        }
        if !group.passes(self.of_admin.verdict, self.of_proxy.verdict) {
            return Step::Decided(false);
        }
        let mut mappings = self.priority.iter().chain(&self.lifetime);
        match mappings.find(|question| question.answer().is_none()) {
            Some(question) => Step::Ask(question.clone()),
            None => Step::Decided(true),
        }
    }

    /// Returns the values of foreign mapping filters, as far as they have answered with ones of the right type.
    pub(crate) fn mapped(&self) -> Mapped {
        let value = |question: &Option<Arc<Question>>| match question.as_ref()?.answer()? {
            Answer::Value(any) => Some(any),
            Answer::Match(_) | Answer::Failed => None,
        };
        let life = value(&self.lifetime).and_then(|any| any.extract().ok());
        Mapped {
            priority: value(&self.priority).and_then(|any| any.extract().ok()),
            life: life.map(crate::qos::length),
        }
    }

    /// Returns one of the foreign filters, if there is one to be asked.
    pub(crate) fn foreign(&self) -> Option<&Arc<dyn Asked>> {
        self.questions().next().map(|question| question.filter())
    }

    pub(crate) fn questions(&self) -> impl Iterator<Item = &Arc<Question>> {
        let filters = self.of_admin.open.iter().chain(&self.of_proxy.open);
        filters.chain(&self.priority).chain(&self.lifetime)
    }
}
