//! Repeated attempts: a measurement with too large a spread is repeated, and the calmest attempt
//! counts.

/// Unrest of an attempt. Attempts with fewer unknown figures compare as calmer, then those with a
/// narrower spread.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Unrest {
    not_known: usize,
    widest: f64,
}

impl Unrest {
    /// Returns the unrest of an attempt with these figures: the spread of each one's rounds, and
    /// whether it is known.
    pub(crate) fn of(figures: impl Iterator<Item = (f64, bool)>) -> Self {
        let calm = Self {
            not_known: 0,
            widest: 0.0,
        };
        figures.fold(calm, |so_far, (spread, known)| Self {
            not_known: so_far.not_known + usize::from(!known),
            widest: so_far.widest.max(spread),
        })
    }
}

/// Measures until all figures are known, at most `again` times more than once, and returns the
/// calmest attempt.
pub(crate) fn calmest<T>(
    again: u32,
    mut measure: impl FnMut() -> T,
    unrest: impl Fn(&T) -> Unrest,
) -> T {
    let mut best = measure();
    let mut least = unrest(&best);
    for _ in 0..again {
        if least.not_known == 0 {
            break;
        }
        let attempt = measure();
        let its = unrest(&attempt);
        if its < least {
            (best, least) = (attempt, its);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns which of several attempts, of two figures each, counts, and how many were made.
    fn chosen(again: u32, spreads: &[[f64; 2]]) -> (usize, usize) {
        let mut made = 0;
        let measure = || {
            made += 1;
            made - 1
        };
        let best = calmest(again, measure, |&attempt| {
            Unrest::of(spreads[attempt].iter().map(|&one| (one, one <= 0.1)))
        });
        (best, made)
    }

    #[test]
    fn a_calm_attempt_is_the_only_one() {
        assert_eq!(chosen(2, &[[0.1, 0.0]]), (0, 1));
        assert_eq!(chosen(2, &[[0.3, 0.0], [0.05, 0.1]]), (1, 2));
    }

    #[test]
    fn of_restless_ones_that_with_the_most_known_figures_counts() {
        assert_eq!(chosen(2, &[[0.2, 0.2], [0.0, 0.9], [0.2, 0.2]]), (1, 3));
        assert_eq!(chosen(2, &[[0.3, 0.0], [0.2, 0.1], [0.4, 0.0]]), (1, 3));
        assert_eq!(chosen(0, &[[0.3, 0.3]]), (0, 1));
    }
}
