//! Attributes of records, which clients may change.

use std::collections::HashSet;

use super::Log;
use crate::ds_log_admin::{InvalidAttribute, NvPair, RecordId};
use crate::kept::Content;
use crate::record::Stored;
use crate::refusal::Refusal;
use crate::storage::{Change, RecordsChange};

/// Most records that one commit changes.
const SLICE: usize = 100;

impl Log {
    /// Checks attributes of records.
    ///
    /// # Errors
    /// The first whose name is empty or there already, or that is one too many.
    pub(crate) fn check_attributes(&self, attributes: &[NvPair]) -> Result<(), InvalidAttribute> {
        let mut names = HashSet::new();
        let most = self.common.limits.attributes;
        let mut bad = attributes.iter().enumerate().filter(|(at, one)| {
            one.name.is_empty() || *at >= most || !names.insert(one.name.as_str())
        });
        match bad.next() {
            Some((_, one)) => Err(InvalidAttribute {
                attr_name: one.name.clone(),
                value: one.value.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Returns the attributes of a record; `None` if it does not exist.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn attributes(&self, id: RecordId) -> Result<Option<Vec<NvPair>>, Refusal> {
        let stored = self.stored(id)?;
        Ok(stored.map(|stored| stored.content.attr_list))
    }

    fn stored(&self, id: RecordId) -> Result<Option<Stored>, Refusal> {
        if self.current().entry(id).is_none() {
            return Ok(None);
        }
        let mut found = self.common.storage.read(self.number, &[id])?;
        Ok(found.pop().map(|(_, stored)| stored))
    }

    /// Replaces the attributes of records, which [`check_attributes`](Self::check_attributes) has accepted, durably, and
    /// returns how many of the records exist. Many are changed by several commits.
    ///
    /// # Errors
    /// The peer may not; there is no room; a commit has failed: records of commits before are changed.
    pub(crate) fn set_attributes(
        &self,
        ids: &[RecordId],
        attributes: &[NvPair],
    ) -> Result<usize, Refusal> {
        self.common.check_access()?;
        let _changing = self.changing.lock();
        let mut changed = 0;
        for slice in ids.chunks(SLICE) {
            changed += self.set_attributes_of(slice, attributes)?;
        }
        self.tell_alarms();
        Ok(changed)
    }

    fn set_attributes_of(&self, ids: &[RecordId], attributes: &[NvPair]) -> Result<usize, Refusal> {
        let stored = self.common.storage.read(self.number, ids)?;
        let encoded = stored.into_iter().map(|(id, before)| {
            let content = Content {
                attr_list: attributes.to_vec(),
                info: before.content.info,
            };
            Ok((id, self.encoded(before.time, content)?))
        });
        let changed = encoded.collect::<Result<Vec<_>, Refusal>>()?;
        let sizes: Vec<_> = changed
            .iter()
            .map(|(id, bytes)| (*id, bytes.len() as u64))
            .collect();
        let reserved = self.reserve_growth(&sizes)?;
        let change = RecordsChange {
            changed,
            ..RecordsChange::of(self.number)
        };
        let stored = self.common.storage.change(Change::Records(change));
        let sizes = if stored.is_ok() { sizes } else { Vec::new() };
        let resized = self.resize(&sizes, reserved);
        stored?;
        Ok(resized)
    }

    /// Takes room for what records get larger by, and returns it.
    fn reserve_growth(&self, sizes: &[(RecordId, u64)]) -> Result<u64, Refusal> {
        let mut state = self.current();
        let grown = sizes.iter().map(|(id, size)| {
            let before = state.entry(*id).map_or(*size, |entry| entry.bytes);
            size.saturating_sub(before)
        });
        let grown = grown.sum();
        if !state.fits(grown) || !self.common.usage.take(0, grown) {
            return Err(Refusal::NoRoom);
        }
        state.reserve(grown);
        Ok(grown)
    }

    /// Notes the new sizes of records, within the room that was reserved, and returns how many exist.
    fn resize(&self, sizes: &[(RecordId, u64)], reserved: u64) -> usize {
        let mut state = self.state.lock();
        let (mut grown, mut shrunk, mut count) = (0, 0, 0);
        for (id, size) in sizes {
            if let Some(before) = state.resize(*id, *size) {
                grown += size.saturating_sub(before);
                shrunk += before.saturating_sub(*size);
                count += 1;
            }
        }
        let freed = reserved.saturating_sub(grown) + shrunk;
        if freed > 0 {
            state.free(freed);
            self.common.usage.give_back(0, freed);
        } else {
            state.measure();
        }
        count
    }
}
