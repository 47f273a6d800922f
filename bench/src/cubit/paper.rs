//! Figures of Schmidt et al. 2001's text on its figure 16 (§5.2).
//!
//! The bars' own heights are in an image that the paper's text does not repeat; these are the
//! figures of the text, and there are no others. Its machine: four Pentium II Xeon at 400 MHz,
//! Linux 2.2.10, 100,000 calls of each type. A gain is one of rates: how many per cent more calls
//! in the same time.

use super::operation::Operation;

/// Comparison of two transport protocols, as stated in the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparison {
    /// Protocol whose gain the paper states.
    pub(super) protocol: &'static str,
    /// Protocol with which the first one is compared.
    pub(super) over: &'static str,
    /// Smallest gain over all types, in per cent.
    pub(super) least: f64,
    /// Mean gain, in per cent, if the text gives it.
    pub(super) mean: Option<f64>,
    /// Largest gain over all types, in per cent.
    pub(super) most: f64,
    /// Approximate gain for small data and basic types, if the text gives it.
    pub(super) small: Option<f64>,
}

/// All comparisons that the paper's text states.
pub(super) const COMPARISONS: [Comparison; 3] = [
    Comparison {
        protocol: "uiop",
        over: "iiop",
        least: 20.0,
        mean: None,
        most: 50.0,
        small: Some(50.0),
    },
    Comparison {
        protocol: "giop_lite+iiop",
        over: "iiop",
        least: 0.36,
        mean: Some(2.74),
        most: 4.74,
        small: None,
    },
    Comparison {
        protocol: "giop_lite+uiop",
        over: "uiop",
        least: 0.37,
        mean: Some(3.26),
        most: 5.29,
        small: None,
    },
];

impl Comparison {
    /// Returns the gain in one column, as far as the text gives it.
    pub(super) fn at(&self, operation: Operation) -> String {
        match self.small.filter(|_| operation.is_small()) {
            Some(small) => format!("≈{small:+}"),
            None => self.range(),
        }
    }

    /// Formats the range from the least to the greatest gain.
    pub(super) fn range(&self) -> String {
        format!("{:+}…{:+}", self.least, self.most)
    }

    /// Describes the gains of the comparison in words: range, mean, and gain for small data.
    pub(super) fn words(&self) -> String {
        let mean = self.mean.map(|mean| format!(", mean {mean:+}"));
        let small = self
            .small
            .map(|small| format!(", about {small:+} for small and basic data"));
        [Some(self.range()), mean, small]
            .into_iter()
            .flatten()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_what_the_text_says_of_it_and_no_more() {
        let [uiop, lite, _] = COMPARISONS;
        assert_eq!(uiop.at(Operation::Long), "≈+50");
        assert_eq!(uiop.at(Operation::Structs(341)), "+20…+50");
        assert_eq!(lite.at(Operation::Long), "+0.36…+4.74");
        assert_eq!(lite.words(), "+0.36…+4.74, mean +2.74");
    }
}
