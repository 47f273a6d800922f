//! What a host knows of the entities of others.

use super::EntityState;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Picture of the entities of other hosts.
#[derive(Debug)]
pub(super) struct Picture {
    /// Latest state of each entity.
    states: HashMap<u32, EntityState>,
    most_entities: u32,
    counts: Received,
}

/// States of other hosts' entities, counted by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Received {
    /// States that arrived, those that were overtaken included.
    pub(super) received: u64,
    /// States that are missing below the latest of their entity, from number 1 on.
    pub(super) lost: u64,
    /// States that were overtaken by later ones, and are not shown.
    pub(super) late: u64,
    /// States of entities that the simulation does not have: datagrams come from anybody.
    pub(super) foreign: u64,
    /// Entities of others that are shown.
    pub(super) shown: u64,
}

impl Picture {
    pub(super) fn new(most_entities: u32) -> Self {
        Self {
            states: HashMap::new(),
            most_entities,
            counts: Received::default(),
        }
    }

    /// Takes a state that has arrived.
    pub(super) fn take(&mut self, state: &EntityState) {
        if state.entity >= self.most_entities {
            self.counts.foreign += 1;
            return;
        }
        let counts = &mut self.counts;
        counts.received += 1;
        let latest = self.states.get(&state.entity).map_or(0, |it| it.number);
        match state.number.checked_sub(latest) {
            None | Some(0) => {
                // It was counted as lost when a later one overtook it.
                counts.late += 1;
                counts.lost = counts.lost.saturating_sub(1);
            }
            Some(ahead) => {
                counts.lost = counts.lost.saturating_add(ahead - 1);
                self.states.insert(state.entity, state.clone());
            }
        }
    }

    pub(super) fn counts(&self) -> Received {
        Received {
            shown: self.states.len() as u64,
            ..self.counts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(entity: u32, number: u64) -> EntityState {
        EntityState {
            entity,
            number,
            ..EntityState::default()
        }
    }

    #[test]
    fn gaps_are_losses_until_what_is_missing_arrives_late() {
        let mut picture = Picture::new(10);
        for number in [1, 2, 5] {
            picture.take(&state(3, number));
        }
        assert_eq!((picture.counts().received, picture.counts().lost), (3, 2));
        picture.take(&state(3, 4));
        let counts = picture.counts();
        assert_eq!((counts.received, counts.lost, counts.late), (4, 1, 1));
        assert_eq!(counts.shown, 1);
    }

    #[test]
    fn entities_that_the_simulation_does_not_have_are_not_shown() {
        let mut picture = Picture::new(10);
        picture.take(&state(10, 1));
        let expected = Received {
            foreign: 1,
            ..Received::default()
        };
        assert_eq!(picture.counts(), expected);
    }
}
