//! Changes of a service's records: those of all waiting callers in one commit.

use std::fmt;
use std::sync::Arc;

use super::{Batch, Cdr, Records, StoreError, StoreFile};
use crate::commit::Commits;
use crate::metrics::{Exposition, Timed};

/// Number of times that the service was served.
const RUNS: Records<u64, Cdr<u64>> = Records::named("runs");

/// Bits of the numbers that one run gives to objects.
const OF_ONE_RUN: u32 = 32;

/// Change of one of a service's records.
pub trait Change: Clone + fmt::Debug + Send {
    /// Writes changes in their order.
    ///
    /// # Errors
    /// Those of the batch.
    fn write<'c>(
        changes: impl Iterator<Item = &'c Self>,
        batch: &Batch<'_>,
    ) -> Result<(), StoreError>
    where
        Self: 'c;
}

/// Store file of a service whose changes are lists of `C`: each list is written whole or not at all. Where several servers
/// share the records, that is so for lists up to the number that these write at once
/// ([`SharedRecords::most_at_once`](super::SharedRecords::most_at_once)); longer ones are written in parts, in their order.
#[derive(Debug)]
pub struct ChangeStore<C> {
    file: Arc<StoreFile>,
    commits: Commits<Vec<C>, Result<(), StoreError>>,
    times: Timed,
}

impl<C: Change> ChangeStore<C> {
    /// Makes the store of an open file, which may be shared with other stores.
    #[must_use]
    pub fn new(file: impl Into<Arc<StoreFile>>) -> Self {
        Self {
            file: file.into(),
            commits: Commits::new(),
            times: Timed::default(),
        }
    }

    /// Returns the file, to read it, to compact it, or to keep other tables in it.
    pub fn file(&self) -> &Arc<StoreFile> {
        &self.file
    }

    /// Begins a run of the service; returns the first of its numbers of objects, which no run before has given.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn begin_run(&self) -> Result<u64, StoreError> {
        let runs = self.file.read(|transaction| RUNS.values(transaction))?;
        let run = runs.first().map_or(1, |Cdr(run)| run.saturating_add(1));
        self.file.commit(|batch| batch.put(RUNS, 0, &Cdr(run)))?;
        Ok(run << OF_ONE_RUN)
    }

    /// Makes changes, all or none, together with those of other callers, and returns when they are durable. Blocks. Those of
    /// several callers that are more than the store writes at once are written one after the other, and none of them in
    /// parts.
    ///
    /// # Errors
    /// The changes cannot be written; then nothing has changed. It is logged.
    pub fn change(&self, changes: Vec<C>) -> Result<(), StoreError> {
        let lost = || Err(StoreError::io("the commit has failed"));
        let commit = |all: Vec<Vec<C>>| {
            let groups = groups(&all, self.file.most_at_once());
            groups.flat_map(|group| self.commit(group)).collect()
        };
        self.commits.submit(changes, commit, lost)
    }

    fn commit(&self, all: &[Vec<C>]) -> Vec<Result<(), StoreError>> {
        let write = |batch: &Batch<'_>| C::write(all.iter().flatten(), batch);
        let outcome = self.times.count(|| self.file.commit(write));
        if let Err(error) = &outcome {
            tracing::error!("changes are refused, as they cannot be stored: {error}");
        }
        // One list that cannot be stored is not held against the others.
        if matches!(outcome, Err(StoreError::NotStorable(_))) && all.len() > 1 {
            return all.chunks(1).flat_map(|one| self.commit(one)).collect();
        }
        vec![outcome; all.len()]
    }

    /// Appends the durations of commits and the size of the file to the metrics.
    pub fn write_metrics(&self, out: &mut Exposition) {
        let help = "Commits to the store; changes of many clients share one.";
        out.timed("commit", help, &self.times);
        if let Some(bytes) = self.file.bytes() {
            out.gauge("store_bytes", "Bytes of the store's file.", bytes);
        }
    }
}

/// Divides the lists of callers into groups with so many changes at most, or one list that has more.
fn groups<C>(all: &[Vec<C>], most: usize) -> impl Iterator<Item = &[Vec<C>]> {
    let mut rest = all;
    std::iter::from_fn(move || {
        let mut changes = 0_usize;
        let fits = |list: &&Vec<C>| {
            changes = changes.saturating_add(list.len());
            changes <= most
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (group, others) = rest.split_at_checked(count)?;
        rest = others;
        Some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreKind;

    #[test]
    fn changes_of_callers_are_divided_between_them_and_never_within_one() {
        let lists = |lengths: &[usize]| -> Vec<Vec<u8>> {
            lengths.iter().map(|length| vec![0; *length]).collect()
        };
        for (lengths, most, expected) in [
            (&[3, 4, 2, 1][..], 7, &[2, 2][..]),
            (&[3, 4, 2, 1], usize::MAX, &[4]),
            (&[8, 1, 0, 9, 7], 7, &[1, 2, 1, 1]),
            (&[0], 1, &[1]),
            (&[], 7, &[]),
        ] {
            let all = lists(lengths);
            let groups = groups(&all, most).map(<[_]>::len);
            assert_eq!(groups.collect::<Vec<_>>(), expected, "{lengths:?}");
        }
    }

    const TEXTS: Records<u64, Cdr<String>> = Records::named("texts");

    /// Text with a number; an empty one cannot be stored.
    #[derive(Clone, Debug)]
    struct Text(u64, &'static str);

    impl Change for Text {
        fn write<'c>(
            mut changes: impl Iterator<Item = &'c Self>,
            batch: &Batch<'_>,
        ) -> Result<(), StoreError> {
            changes.try_for_each(|Text(number, text)| match text.is_empty() {
                true => Err(StoreError::NotStorable("it is empty".to_owned())),
                false => batch.put(TEXTS, number, &Cdr((*text).to_owned())),
            })
        }
    }

    #[test]
    fn changes_of_a_caller_that_cannot_be_stored_are_refused_and_those_of_others_are_made() {
        let folder = tempfile::tempdir().unwrap();
        let kind = StoreKind::new("changes", 1);
        let file = StoreFile::open(&folder.path().join("changes.redb"), kind).unwrap();
        let store = ChangeStore::new(file);
        let all = [
            vec![Text(1, "one")],
            vec![Text(2, "two"), Text(3, "")],
            vec![Text(4, "four")],
        ];
        let outcomes = store
            .commit(&all)
            .into_iter()
            .map(|outcome| outcome.is_ok());
        assert_eq!(outcomes.collect::<Vec<_>>(), [true, false, true]);
        let kept = store.file().read(|transaction| TEXTS.entries(transaction));
        let expected = [(1, "one".to_owned()), (4, "four".to_owned())];
        assert_eq!(kept.unwrap(), expected);
    }
}
