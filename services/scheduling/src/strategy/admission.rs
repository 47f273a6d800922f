//! Admission: which operations, at which of their rates, a processor takes.

use super::{Operation, Rate, Strategy};
use crate::analysis::fixed_priority::Prioritized;
use crate::assignment::Candidate;
use crate::assignment::load::{Load, WHOLE};

/// Test of admission.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Limit<'t> {
    /// None: every operation is admitted, at its highest rate.
    None,
    /// Largest utilisation, in millionths: 1,000,000 are the whole processor, as in TAO. Sufficient
    /// for EDF and MLF if deadlines are the periods; for RMS, 693,147 is (Liu and Layland 1973).
    Utilisation(u32),
    /// Test of the admitted tasks, which have their levels' priorities. For static strategies,
    /// [`assignment::fits`](crate::assignment::fits) is exact; a test of EDF disregards priorities.
    /// It has to be sustainable: tasks that pass together also pass without one of them. It is
    /// called once for each rate of each operation.
    Test(&'t dyn Fn(&[Prioritized<'_>]) -> bool),
}

/// Limits of the whole processor.
impl Default for Limit<'_> {
    fn default() -> Self {
        Self::Utilisation(1_000_000)
    }
}

impl std::fmt::Debug for Limit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Utilisation(millionths) => {
                f.debug_tuple("Utilisation").field(millionths).finish()
            }
            Self::None => f.write_str("None"),
            Self::Test(_) => f.debug_tuple("Test").finish_non_exhaustive(),
        }
    }
}

/// Operation at one of its rates, in the order of admission.
struct Entry {
    operation: usize,
    /// Number among the operation's rates as they were given.
    rate: usize,
    /// Rate index: 0 is the lowest rate.
    index: usize,
    candidate: Candidate,
}

/// Operations that are admitted so far.
pub(super) struct Admission<'s> {
    strategy: &'s dyn Strategy,
    limit: Limit<'s>,
    /// Admitted rate of each operation, by index: number of the rate, and the operation at this rate.
    pub(super) admitted: Vec<Option<(usize, Candidate)>>,
    /// Utilisation of each operation's first refusal.
    pub(super) refused: Vec<Option<f64>>,
    load: Load,
}

impl<'s> Admission<'s> {
    /// Admits operations in the strategy's order.
    pub(super) fn run(
        strategy: &'s dyn Strategy,
        operations: &[Operation],
        limit: Limit<'s>,
    ) -> Self {
        let mut admission = Self {
            strategy,
            limit,
            admitted: vec![None; operations.len()],
            refused: vec![None; operations.len()],
            load: Load::default(),
        };
        let mut entries: Vec<Entry> = operations.iter().enumerate().flat_map(entries).collect();
        entries.sort_by(|one, other| strategy.admission_order(&one.rate(), &other.rate()));
        for entry in entries {
            admission.consider(entry);
        }
        admission
    }

    /// Admits one rate of an operation, in the place of a lower one, if it passes the test.
    fn consider(&mut self, entry: Entry) {
        let (operation, period) = (entry.operation, entry.candidate.task.period);
        let before = self.admitted[operation].take();
        if before
            .as_ref()
            .is_some_and(|(_, old)| old.task.period <= period)
        {
            self.admitted[operation] = before;
            return;
        }
        let old_load = self.load;
        if let Some((_, old)) = &before {
            self.load = self.load.without(&old.task);
        }
        self.load = self.load.with(&entry.candidate.task);
        self.admitted[operation] = Some((entry.rate, entry.candidate));
        if self.passes() {
            return;
        }
        self.refused[operation].get_or_insert(utilisation(&self.load));
        self.load = old_load;
        self.admitted[operation] = before;
    }

    fn passes(&self) -> bool {
        match self.limit {
            Limit::None => true,
            Limit::Utilisation(millionths) => {
                // A set that just fills the limit may be above it by rounding, by one unit a task.
                let rounding = self.admitted.len() as u128;
                let limit = WHOLE * u128::from(millionths) / 1_000_000;
                self.load.share <= limit + rounding
            }
            Limit::Test(test) => test(&self.prioritized()),
        }
    }

    /// Returns the admitted tasks with their levels' priorities.
    fn prioritized(&self) -> Vec<Prioritized<'_>> {
        let admitted = self.admitted.iter().flatten();
        let candidates: Vec<&Candidate> = admitted.map(|(_, candidate)| candidate).collect();
        let levels = self.strategy.levels(&candidates, None);
        let level = |level: usize| i32::try_from(level).unwrap_or(i32::MAX);
        let tasks = candidates.into_iter().zip(levels);
        tasks
            .map(|(candidate, of)| Prioritized {
                task: &candidate.task,
                priority: -level(of),
            })
            .collect()
    }
}

impl Entry {
    const fn rate(&self) -> Rate<'_> {
        Rate {
            candidate: &self.candidate,
            index: self.index,
        }
    }
}

/// Returns an operation at each of its rates, the lowest first.
fn entries((operation, of): (usize, &Operation)) -> Vec<Entry> {
    let mut rates: Vec<usize> = (0..of.rates.len()).collect();
    rates.sort_by_key(|&rate| std::cmp::Reverse(of.rates[rate].period));
    let entry = |(index, rate): (usize, usize)| Entry {
        operation,
        rate,
        index,
        candidate: Candidate {
            task: of.rates[rate].clone(),
            criticality: of.criticality,
            importance: of.importance,
        },
    };
    rates.into_iter().enumerate().map(entry).collect()
}

/// Returns a load's utilisation as a fraction, to be shown: 1.0 is the whole processor.
#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn utilisation(load: &Load) -> f64 {
    load.share as f64 / WHOLE as f64
}
