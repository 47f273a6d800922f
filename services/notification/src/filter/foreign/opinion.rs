//! Verdict of the filters of one object on an event, as far as it is known.

use std::collections::VecDeque;
use std::sync::Arc;

use super::question::{Answer, Question};

/// Verdict of the filters of one object, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Opinion {
    /// `None` without any filter.
    pub(crate) verdict: Option<bool>,
    /// Questions to foreign filters, of which none is asked any more once one lets the event through.
    pub(crate) open: VecDeque<Arc<Question>>,
}

impl Opinion {
    /// Takes the answers that have come.
    pub(crate) fn settle(&mut self) {
        while let Some(answer) = self.open.front().and_then(|first| first.answer()) {
            self.open.pop_front();
            if answer == Answer::Match(true) {
                self.verdict = Some(true);
                self.open.clear();
            }
        }
    }

    /// Returns the verdict, unless it depends on a filter that has not answered.
    pub(crate) fn known(&self) -> Option<bool> {
        self.verdict
            .filter(|passes| *passes || self.open.is_empty())
    }
}
