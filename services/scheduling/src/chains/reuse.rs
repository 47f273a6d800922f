//! Chains of which most were analysed before: only those that a change reaches are analysed again.

use super::{Analysis, Chains, EndToEnd, analyse};

/// Analyses chains as [`analyse`] does, where others were analysed before, with these outcomes.
///
/// Streams influence one another on a processor, and where one releases the other. What is connected with nothing that has
/// changed keeps its outcome.
#[must_use]
pub(crate) fn analyse_since(
    chains: &Chains<'_>,
    before: &Chains<'_>,
    outcomes: &[Option<EndToEnd>],
) -> Analysis {
    let is_other = chains.protocol != before.protocol
        || chains.streams.len() != before.streams.len()
        || chains.levels.len() != before.levels.len();
    if is_other {
        return analyse(chains);
    }
    let is_reached = reached(chains, before);
    let places = chains.places.iter().zip(&is_reached);
    let places: Vec<_> = places
        .map(|(place, is_reached)| place.filter(|_| *is_reached))
        .collect();
    let mut analysis = analyse(&Chains {
        places: &places,
        ..*chains
    });
    let all = analysis.streams.iter_mut().zip(outcomes).zip(is_reached);
    for ((outcome, before), is_reached) in all {
        if !is_reached {
            outcome.clone_from(before);
        }
    }
    analysis
}

/// Returns the streams that are connected with a change.
fn reached(chains: &Chains<'_>, before: &Chains<'_>) -> Vec<bool> {
    let count = chains.streams.len();
    let mut groups = Groups::of(count + chains.levels.len());
    for one in [chains, before] {
        for (index, stream) in one.streams.iter().enumerate() {
            if let Some(place) = one.places[index] {
                groups.join(index, count + place.processor);
            }
            for release in &stream.released_by {
                groups.join(index, release.stream);
            }
        }
    }
    let mut is_changed = vec![false; count + chains.levels.len()];
    for index in 0..count {
        if chains.streams[index] != before.streams[index]
            || chains.places[index] != before.places[index]
        {
            is_changed[groups.root(index)] = true;
        }
    }
    for at in 0..chains.levels.len() {
        let platform = |one: &Chains<'_>| one.interference.get(at).cloned().flatten();
        if chains.levels[at] != before.levels[at] || platform(chains) != platform(before) {
            is_changed[groups.root(count + at)] = true;
        }
    }
    (0..count)
        .map(|index| is_changed[groups.root(index)])
        .collect()
}

/// Numbers in groups that grow together.
struct Groups(Vec<usize>);

impl Groups {
    fn of(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// Returns the number that stands for the group of a number.
    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            // Halves the path, so that later searches are short.
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one] = other;
    }
}
