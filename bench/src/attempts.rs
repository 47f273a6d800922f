//! Repeated attempts: a measurement with too large a spread is repeated, and the attempt with the
//! smallest spread is used.

/// Measure of an attempt's noise: first the number of figures whose spread is too wide for them to
/// be known, then the widest spread. The smaller value is the better attempt.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Unrest {
    not_known: usize,
    widest: f64,
}

impl Unrest {
    /// Returns the noise of an attempt, given the spread of each figure's rounds and whether the
    /// figure is known.
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

/// Measures once, and up to `again` more times while any figure is unknown; returns the attempt
/// with the least noise.
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

    /// Returns the index of the selected one of several attempts with two figures each, and the
    /// number of attempts that were made.
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
