//! `Filter`: lets an event through if one of its constraints is true.

use std::collections::BTreeSet;
use std::sync::Arc;

use punctual::{Any, SystemException};
use punctual_constraint::{Budget, Constraint, Grammar};

use super::callbacks::{Callbacks, not_nil, types_of};
use super::compiled::Given;
use super::constraints::{Bounds, Constraints, budget};
use super::exceptions::BadConstraints;
use super::record::Record;
use super::removal::Removal;
use crate::common::Common;
use crate::cos_notification::{Property, StructuredEvent};
use crate::cos_notify_comm::NotifySubscribe;
use crate::cos_notify_filter::{
    CallbackId, CallbackNotFound, ConstraintExp, ConstraintId, ConstraintInfo, ConstraintNotFound,
    FilterAddConstraintsError, FilterDetachCallbackError, FilterGetConstraintsError,
    FilterMatchError, FilterMatchStructuredError, FilterMatchTypedError,
    FilterModifyConstraintsError, FilterServant,
};
use crate::event::Event;
use crate::punctual_notify::FilterState;
use crate::types::Pattern;

/// Filter of this service.
#[derive(Debug)]
pub(crate) struct Forwarding {
    common: Arc<Common>,
    removal: Removal,
    pub(super) constraints: Constraints<()>,
    pub(super) callbacks: Callbacks,
}

impl Forwarding {
    pub(super) fn new(
        common: Arc<Common>,
        removal: Removal,
        number: u64,
        grammar: Grammar,
    ) -> Self {
        let record = Record::new(common.clone(), number, grammar, None);
        let constraints = Constraints::new(grammar, bounds(&common), Some(record));
        Self {
            common,
            removal,
            constraints,
            callbacks: Callbacks::default(),
        }
    }

    /// Returns whether the filter lets an event through.
    pub(super) fn lets_through(&self, event: &Event, budget: &mut Budget) -> bool {
        self.constraints.first_met(event, budget).is_some()
    }

    /// Returns constraints of which one has to be true for an event that the filter lets through.
    pub(super) fn needs(&self) -> Vec<Constraint> {
        self.constraints.needs()
    }

    /// Returns the filter with its constraints, as tools see it.
    pub(super) fn state(&self) -> FilterState {
        let constraints = self.constraints.all().into_iter();
        FilterState {
            grammar: self.constraints.grammar().name().to_owned(),
            constraints: constraints.map(|one| one.expression).collect(),
        }
    }

    /// Returns whether the filter lets an event through, with a budget of its own.
    pub(super) fn matches(&self, event: &Event) -> bool {
        self.lets_through(event, &mut budget())
    }

    /// Returns the number of the filter.
    pub(crate) fn number(&self) -> u64 {
        self.constraints.number()
    }

    /// Makes a change, and tells callbacks how it changed the types.
    fn change<R>(&self, change: impl FnOnce() -> R) -> R {
        let before = self.types();
        let changed = change();
        self.common.selections.change();
        self.callbacks.tell(&self.common, &before, &self.types());
        changed
    }

    fn types(&self) -> BTreeSet<Pattern> {
        let all = self.constraints.all();
        types_of(all.iter().map(|given| &given.expression))
    }
}

pub(super) fn bounds(common: &Common) -> Bounds {
    Bounds {
        constraints: common.limits.constraints,
        types: common.limits.types,
        bytes: common.limits.constraint_bytes,
        room: common.constraints.clone(),
    }
}

fn info(given: Given<()>) -> ConstraintInfo {
    ConstraintInfo {
        constraint_expression: given.expression,
        constraint_id: given.id,
    }
}

fn infos(given: Vec<Given<()>>) -> Vec<ConstraintInfo> {
    given.into_iter().map(info).collect()
}

impl FilterServant for Forwarding {
    fn constraint_grammar(&self) -> Result<String, SystemException> {
        Ok(self.constraints.grammar().name().to_owned())
    }

    fn add_constraints(
        &self,
        constraint_list: &[ConstraintExp],
    ) -> Result<Vec<ConstraintInfo>, FilterAddConstraintsError> {
        let given = constraint_list
            .iter()
            .map(|one| (one.clone(), ()))
            .collect();
        let added = self.change(|| self.constraints.add(given));
        added.map(infos).map_err(BadConstraints::of_adding)
    }

    fn modify_constraints(
        &self,
        del_list: &[ConstraintId],
        modify_list: &[ConstraintInfo],
    ) -> Result<(), FilterModifyConstraintsError> {
        let replaced = modify_list
            .iter()
            .map(|one| (one.constraint_id, one.constraint_expression.clone(), ()));
        let replaced = replaced.collect();
        let modified = self.change(|| self.constraints.modify(del_list, replaced));
        modified.map_err(BadConstraints::of_changing)
    }

    fn get_constraints(
        &self,
        id_list: &[ConstraintId],
    ) -> Result<Vec<ConstraintInfo>, FilterGetConstraintsError> {
        let found = self.constraints.get(id_list);
        found
            .map(infos)
            .map_err(|id| ConstraintNotFound { id }.into())
    }

    fn get_all_constraints(&self) -> Result<Vec<ConstraintInfo>, SystemException> {
        Ok(infos(self.constraints.all()))
    }

    fn remove_all_constraints(&self) -> Result<(), SystemException> {
        Ok(self.change(|| self.constraints.clear())?)
    }

    fn destroy(&self) -> Result<(), SystemException> {
        (self.removal.0)()?;
        self.callbacks.forget(&self.common);
        Ok(())
    }

    fn r#match(&self, filterable_data: &Any) -> Result<bool, FilterMatchError> {
        Ok(self.matches(&Event::of_any(filterable_data)))
    }

    fn match_structured(
        &self,
        filterable_data: &StructuredEvent,
    ) -> Result<bool, FilterMatchStructuredError> {
        Ok(self.matches(&Event::of_structured(filterable_data.clone())))
    }

    fn match_typed(&self, filterable_data: &[Property]) -> Result<bool, FilterMatchTypedError> {
        Ok(self.matches(&Event::of_typed(filterable_data)))
    }

    fn attach_callback(
        &self,
        callback: Option<&NotifySubscribe>,
    ) -> Result<CallbackId, SystemException> {
        let callback = not_nil(callback)?;
        Ok(self
            .callbacks
            .attach(&self.common, self.number(), callback)?)
    }

    fn detach_callback(&self, callback: CallbackId) -> Result<(), FilterDetachCallbackError> {
        let detached = self.callbacks.detach(&self.common, callback);
        match detached.map_err(SystemException::from)? {
            true => Ok(()),
            false => Err(CallbackNotFound.into()),
        }
    }

    fn get_callbacks(&self) -> Result<Vec<CallbackId>, SystemException> {
        Ok(self.callbacks.ids())
    }
}
