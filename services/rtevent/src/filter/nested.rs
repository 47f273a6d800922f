//! Correlation of trees whose conjunctions nest: the events that they have collected.

use super::path::{Path, Step};
use super::tree::{Slot, Tree};
use crate::event::{Event, Payload};
use crate::level::Level;

/// Events collected by conjunctions of a tree, some below others.
///
/// An event goes down one path, and what it completes rises: no recursion, and no allocation once the
/// buffers have grown.
#[derive(Debug)]
pub(super) struct Nested<P> {
    /// For each child of each conjunction, whether it has passed something.
    marks: Vec<bool>,
    /// For each conjunction, what it has collected.
    collected: Vec<Collected<P>>,
    /// Number of all collected events, and their bytes.
    held: (usize, usize),
}

#[derive(Debug)]
struct Collected<P> {
    events: Vec<Event<P>>,
    /// Number of children that have passed nothing.
    left: u32,
}

impl<P: Payload> Nested<P> {
    /// Makes the state of a tree that has collected nothing.
    pub(super) fn new(tree: &Tree) -> Self {
        let collected = tree.conjunctions.iter().map(|conjunction| Collected {
            events: Vec::new(),
            left: conjunction.children,
        });
        Self {
            marks: vec![false; tree.marks()],
            collected: collected.collect(),
            held: (0, 0),
        }
    }

    /// Takes an event down its path. If something reaches the consumer, it is appended to `set`, its level is returned, and
    /// all conjunctions are empty again.
    pub(super) fn take(
        &mut self,
        tree: &Tree,
        path: &Path,
        event: &Event<P>,
        set: &mut Vec<Event<P>>,
    ) -> Option<Level> {
        let (slot, level) = self.descend(path)?;
        match slot {
            None => set.push(event.clone()),
            Some(slot) => self.rise(tree, slot, event, set)?,
        }
        self.clear(tree);
        Some(level)
    }

    /// Returns the number of collected events, and their bytes.
    pub(super) fn held(&self) -> (usize, usize) {
        self.held
    }

    /// Returns where the path ends now; `None` if the event is a repeat for one of the conjunctions.
    fn descend(&self, path: &Path) -> Option<(Option<Slot>, Level)> {
        let mut step = path.steps.first()?;
        loop {
            match step {
                Step::Pass { slot, level } => return Some((*slot, *level)),
                Step::Conjunction { choices } => {
                    let choices = &path.choices[choices.start as usize..choices.end as usize];
                    let open = choices
                        .iter()
                        .find(|choice| !self.marks[choice.mark as usize])?;
                    step = &path.steps[open.step as usize];
                }
            }
        }
    }

    /// Adds the event to a conjunction, and what this completes to those above; `None` if one stays incomplete.
    fn rise(
        &mut self,
        tree: &Tree,
        mut slot: Slot,
        event: &Event<P>,
        set: &mut Vec<Event<P>>,
    ) -> Option<()> {
        self.collected[slot.conjunction as usize]
            .events
            .push(event.clone());
        self.held.0 += 1;
        self.held.1 = self.held.1.saturating_add(event.data.size());
        loop {
            self.marks[slot.mark as usize] = true;
            let collected = &mut self.collected[slot.conjunction as usize];
            collected.left -= 1;
            if collected.left > 0 {
                return None;
            }
            let Some(above) = tree.conjunctions[slot.conjunction as usize].parent else {
                set.append(&mut collected.events);
                return Some(());
            };
            let mut events = std::mem::take(&mut collected.events);
            self.collected[above.conjunction as usize]
                .events
                .append(&mut events);
            // The buffer keeps its room.
            self.collected[slot.conjunction as usize].events = events;
            slot = above;
        }
    }

    pub(super) fn clear(&mut self, tree: &Tree) {
        self.marks.fill(false);
        self.held = (0, 0);
        for (collected, conjunction) in self.collected.iter_mut().zip(&tree.conjunctions) {
            collected.events.clear();
            collected.left = conjunction.children;
        }
    }
}
