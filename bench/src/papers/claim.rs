//! Claim of a paper, and what becomes of it.

use super::evidence::Evidence;

/// Claim of a paper.
pub(super) struct Claim {
    pub(super) paper: &'static str,
    /// Figure, table or section.
    pub(super) place: &'static str,
    pub(super) claim: &'static str,
    /// Figures of the paper.
    pub(super) theirs: &'static str,
    /// Name of the measurement that has our figures.
    pub(super) by: &'static str,
    pub(super) find: fn(&Evidence<'_>) -> Result<Found, String>,
}

/// Figures found for a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) ours: String,
    pub(super) verdict: Verdict,
    /// Reason why the verdict is not certain, if there is one.
    pub(super) doubt: Option<&'static str>,
}

/// What becomes of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    Holds,
    /// It does not hold as the paper has it; the text says why.
    Differently(&'static str),
    /// A time of the paper's machines, which no machine of today can confirm or refute.
    OfItsTime,
}

impl Found {
    /// Makes figures with a verdict: the claim holds, or else differs because of `why`.
    pub(super) fn judged(ours: String, holds: bool, why: &'static str) -> Result<Self, String> {
        Ok(Self {
            ours,
            verdict: match holds {
                true => Verdict::Holds,
                false => Verdict::Differently(why),
            },
            doubt: None,
        })
    }

    /// Makes figures to stand beside a time of the paper's machines.
    pub(super) const fn of_its_time(ours: String) -> Self {
        Self {
            ours,
            verdict: Verdict::OfItsTime,
            doubt: None,
        }
    }

    /// Adds omniORB's figures, if there are any.
    pub(super) fn beside(self, omniorb: Result<String, String>) -> Self {
        let omniorb = omniorb.map(|its| format!("; omniORB: {its}"));
        let ours = self.ours + &omniorb.unwrap_or_default();
        Self { ours, ..self }
    }

    pub(super) fn doubted(self, doubt: Option<&'static str>) -> Self {
        Self { doubt, ..self }
    }
}

/// Claim that a measurement finds.
pub(super) const fn by(
    name: &'static str,
    (paper, place): (&'static str, &'static str),
    claim: &'static str,
    theirs: &'static str,
    find: fn(&Evidence<'_>) -> Result<Found, String>,
) -> Claim {
    Claim {
        paper,
        place,
        claim,
        theirs,
        by: name,
        find,
    }
}
