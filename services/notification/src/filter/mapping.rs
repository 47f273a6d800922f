//! `MappingFilter`: maps an event to the value of the first constraint that is true.

use std::sync::Arc;

use punctual::{Any, SystemException, TypeCode};
use punctual_constraint::Grammar;

use super::compiled::Given;
use super::constraints::{Constraints, budget};
use super::exceptions::BadConstraints;
use super::forwarding::bounds;
use super::record::Record;
use super::removal::Removal;
use super::room::Taken;
use crate::common::Common;
use crate::cos_notification::{Property, StructuredEvent};
use crate::cos_notify_filter::{
    ConstraintExp, ConstraintId, ConstraintNotFound, InvalidValue, MappingConstraintInfo,
    MappingConstraintPair, MappingFilterAddMappingConstraintsError,
    MappingFilterGetMappingConstraintsError, MappingFilterMatchError,
    MappingFilterMatchStructuredError, MappingFilterMatchTypedError,
    MappingFilterModifyMappingConstraintsError, MappingFilterServant,
};
use crate::event::Event;

/// Mapping filter of this service.
#[derive(Debug)]
pub(crate) struct Mapping {
    removal: Removal,
    pub(super) constraints: Constraints<Any>,
    default: Any,
    /// Part of the default value in the memory of all constraints.
    _taken: Taken,
}

impl Mapping {
    pub(super) fn new(
        common: &Arc<Common>,
        removal: Removal,
        number: u64,
        (grammar, default): (Grammar, &Any),
        taken: Taken,
    ) -> Self {
        let record = Record::new(common.clone(), number, grammar, Some(default.clone()));
        let constraints = Constraints::new(grammar, bounds(common), Some(record));
        Self {
            removal,
            constraints,
            default: default.clone(),
            _taken: taken,
        }
    }

    /// Returns the number of the filter.
    pub(crate) fn number(&self) -> u64 {
        self.constraints.number()
    }

    /// Returns the value for an event: that of a constraint, or else the default.
    pub(crate) fn value_for(&self, event: &Event) -> Any {
        let met = self.constraints.first_met(event, &mut budget());
        met.unwrap_or_else(|| self.default.clone())
    }

    fn matched(&self, event: &Event) -> (bool, Any) {
        match self.constraints.first_met(event, &mut budget()) {
            Some(value) => (true, value),
            None => (false, self.default.clone()),
        }
    }

    /// Checks the type of a constraint's value.
    ///
    /// # Errors
    /// It is another one than that of the default value.
    fn check(&self, constraint: &ConstraintExp, value: &Any) -> Result<(), InvalidValue> {
        match value.type_code().equivalent(self.default.type_code()) {
            true => Ok(()),
            false => Err(InvalidValue {
                constr: constraint.clone(),
                value: value.clone(),
            }),
        }
    }
}

fn info(given: Given<Any>) -> MappingConstraintInfo {
    MappingConstraintInfo {
        constraint_expression: given.expression,
        constraint_id: given.id,
        value: given.value,
    }
}

fn infos(given: Vec<Given<Any>>) -> Vec<MappingConstraintInfo> {
    given.into_iter().map(info).collect()
}

impl MappingFilterServant for Mapping {
    fn constraint_grammar(&self) -> Result<String, SystemException> {
        Ok(self.constraints.grammar().name().to_owned())
    }

    fn value_type(&self) -> Result<TypeCode, SystemException> {
        Ok(self.default.type_code().clone())
    }

    fn default_value(&self) -> Result<Any, SystemException> {
        Ok(self.default.clone())
    }

    fn add_mapping_constraints(
        &self,
        pair_list: &[MappingConstraintPair],
    ) -> Result<Vec<MappingConstraintInfo>, MappingFilterAddMappingConstraintsError> {
        for pair in pair_list {
            self.check(&pair.constraint_expression, &pair.result_to_set)?;
        }
        let given = pair_list.iter().map(|pair| {
            (
                pair.constraint_expression.clone(),
                pair.result_to_set.clone(),
            )
        });
        let added = self.constraints.add(given.collect());
        added.map(infos).map_err(BadConstraints::of_adding)
    }

    fn modify_mapping_constraints(
        &self,
        del_list: &[ConstraintId],
        modify_list: &[MappingConstraintInfo],
    ) -> Result<(), MappingFilterModifyMappingConstraintsError> {
        for one in modify_list {
            self.check(&one.constraint_expression, &one.value)?;
        }
        let replaced = modify_list.iter().map(|one| {
            let expression = one.constraint_expression.clone();
            (one.constraint_id, expression, one.value.clone())
        });
        let modified = self.constraints.modify(del_list, replaced.collect());
        modified.map_err(BadConstraints::of_changing)
    }

    fn get_mapping_constraints(
        &self,
        id_list: &[ConstraintId],
    ) -> Result<Vec<MappingConstraintInfo>, MappingFilterGetMappingConstraintsError> {
        let found = self.constraints.get(id_list);
        found
            .map(infos)
            .map_err(|id| ConstraintNotFound { id }.into())
    }

    fn get_all_mapping_constraints(&self) -> Result<Vec<MappingConstraintInfo>, SystemException> {
        Ok(infos(self.constraints.all()))
    }

    fn remove_all_mapping_constraints(&self) -> Result<(), SystemException> {
        Ok(self.constraints.clear()?)
    }

    fn destroy(&self) -> Result<(), SystemException> {
        Ok((self.removal.0)()?)
    }

    fn r#match(&self, filterable_data: &Any) -> Result<(bool, Any), MappingFilterMatchError> {
        Ok(self.matched(&Event::of_any(filterable_data)))
    }

    fn match_structured(
        &self,
        filterable_data: &StructuredEvent,
    ) -> Result<(bool, Any), MappingFilterMatchStructuredError> {
        Ok(self.matched(&Event::of_structured(filterable_data.clone())))
    }

    fn match_typed(
        &self,
        filterable_data: &[Property],
    ) -> Result<(bool, Any), MappingFilterMatchTypedError> {
        Ok(self.matched(&Event::of_typed(filterable_data)))
    }
}
