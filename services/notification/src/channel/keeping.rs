//! Changes of a channel, and its record in the store.

use std::sync::Arc;

use punctual::SystemException;

use super::core::{Channel, Properties};
use crate::group::Group;
use crate::kept;
use crate::refusal::Refusal;
use crate::stated::{Stating, forget_all};
use crate::storage::Change;

impl Channel {
    /// Makes a change: what a function makes of the properties is stored, and then applied. Blocks.
    pub(super) fn change<E: From<SystemException>>(
        &self,
        edit: impl FnOnce(&mut Properties) -> Result<(), E>,
    ) -> Result<(), E> {
        let _order = self.record.order();
        let mut draft = self.properties();
        edit(&mut draft)?;
        self.store(&draft).map_err(SystemException::from)?;
        self.quality.replace(draft.settings);
        *self.administration.write() = draft.administration;
        Ok(())
    }

    /// Makes the record of a new channel durable. Blocks.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(crate) fn keep(&self) -> Result<(), Refusal> {
        let _order = self.record.order();
        self.store(&self.properties())
    }

    /// Returns the properties of the channel.
    pub(crate) fn properties(&self) -> Properties {
        Properties {
            settings: self.quality.settings(),
            administration: *self.administration.read(),
        }
    }

    fn store(&self, draft: &Properties) -> Result<(), Refusal> {
        if !self.common.is_stored {
            return Ok(());
        }
        // Another service keeps its channels whatever happens to their connections.
        match self.common.is_embedded || draft.settings.has_persistent_connections() {
            true => self.put(draft),
            false if self.record.is_there() => self.take_out(),
            false => Ok(()),
        }
    }

    /// Writes the record, and those of the default administrators if it was not there.
    fn put(&self, draft: &Properties) -> Result<(), Refusal> {
        let channel = kept::Channel {
            id: self.id,
            quality: draft.settings.to_properties(),
            administration: draft.administration.to_properties(),
        };
        let mut changes = vec![Change::Channel(self.number, Some(channel))];
        let defaults = match self.record.is_there() {
            true => Vec::new(),
            false => self.members.defaults(),
        };
        let _orders: Vec<_> = defaults
            .iter()
            .map(|group| group.stated.record.order())
            .collect();
        let record = |group: &Arc<Group>| group.record_in(true, &group.stated.draft());
        changes.extend(defaults.iter().filter_map(record));
        self.common.keep(changes)?;
        self.record.note(true);
        for group in &defaults {
            group.stated.record.note(true);
        }
        Ok(())
    }

    /// Removes the record. Those of administrators and proxies count for nothing without it.
    fn take_out(&self) -> Result<(), Refusal> {
        self.common.keep(vec![Change::Channel(self.number, None)])?;
        self.record.note(false);
        Ok(())
    }

    /// Ends the channel and all in it, durably. Blocks.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(crate) fn remove(&self) -> Result<(), Refusal> {
        self.prepare_end()?;
        self.leave();
        Ok(())
    }

    /// Ends the channel and all in it, whose end is durable.
    pub(crate) fn leave(&self) {
        if let Some(home) = self.home.upgrade() {
            home.remove(self.id);
        }
        self.end();
        self.remove_log();
    }

    /// Makes the end of the channel and of all in it durable. Blocks.
    ///
    /// # Errors
    /// It cannot be stored.
    pub(crate) fn prepare_end(&self) -> Result<(), Refusal> {
        let _order = self.record.order();
        let own = Change::Channel(self.number, None);
        let own = self.record.is_there().then_some(own);
        let (groups, outlets, inlets) = (self.members.groups(), self.outlets(), self.inlets());
        let mut all: Vec<&dyn Stating> = Vec::new();
        all.extend(groups.iter().map(|group| &**group as &dyn Stating));
        all.extend(outlets.iter().map(|one| &one.base as &dyn Stating));
        all.extend(inlets.iter().map(|one| &one.base as &dyn Stating));
        forget_all(&self.common, own.as_slice(), all)?;
        self.record.note(false);
        Ok(())
    }
}
