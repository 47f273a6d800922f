//! One constraint of a filter, with a value of type `V`.

use punctual::Any;
use punctual_constraint::{Budget, Constraint, Grammar, Limits};

use super::room::Taken;
use crate::cos_notification::EventType;
use crate::cos_notify_filter::{ConstraintExp, ConstraintId};
use crate::kept;
use crate::types;

/// Type name of events that are Anys, in which constraints find no name of a type.
const ANY: &str = "%ANY";

/// Bytes that a constraint counts for besides its contents.
const OVERHEAD: usize = 64;

/// Value of a constraint, as it is kept.
pub(super) trait Valued: Clone {
    fn to_any(&self) -> Any;

    fn of_any(any: Any) -> Self;
}

/// Constraints of `Filter` have no value.
impl Valued for () {
    fn to_any(&self) -> Any {
        Any::default()
    }

    fn of_any(_: Any) -> Self {}
}

impl Valued for Any {
    fn to_any(&self) -> Any {
        self.clone()
    }

    fn of_any(any: Any) -> Self {
        any
    }
}

/// Constraint as it was given, with its value.
#[derive(Clone, Debug)]
pub(super) struct Given<V> {
    pub(super) id: ConstraintId,
    pub(super) expression: ConstraintExp,
    pub(super) value: V,
}

/// Constraint as it is tried on events.
#[derive(Debug)]
pub(super) struct Compiled<V> {
    pub(super) constraint: Constraint,
    pub(super) expression: ConstraintExp,
    pub(super) value: V,
    /// Its part of the memory of all constraints.
    pub(super) _taken: Taken,
}

/// Returns the number of bytes that a constraint counts for.
pub(super) fn bytes_of(expression: &ConstraintExp, value: &impl Valued) -> usize {
    let types = expression.event_types.iter();
    let types = types.map(|one| size_of_val(one) + one.domain_name.len() + one.type_name.len());
    let value = punctual_events::bytes_of(&value.to_any());
    OVERHEAD + expression.constraint_expr.len() + types.sum::<usize>() + value
}

impl<V: Valued> Compiled<V> {
    /// Returns the constraint with its id.
    pub(super) fn given(&self, id: ConstraintId) -> Given<V> {
        Given {
            id,
            expression: self.expression.clone(),
            value: self.value.clone(),
        }
    }

    /// Returns whether an event meets the constraint, as far as the budget goes.
    pub(super) fn is_met(
        &self,
        event: &dyn punctual_constraint::Event,
        budget: &mut Budget,
    ) -> bool {
        budget.take(1 + self.expression.event_types.len())
            && self.is_of_type(event)
            && self.constraint.matches_within(event, budget)
    }

    /// Returns constraints of which one has to be true for an event that meets this one: the constraint itself, or equalities
    /// of the type's name if it needs no other, and is for single types.
    pub(super) fn needs(&self) -> Vec<Constraint> {
        let types = &self.expression.event_types;
        let of_types = || types.iter().map(is_of_name).collect::<Option<Vec<_>>>();
        match self.constraint.keys().is_empty() && !types.is_empty() {
            true => of_types().unwrap_or_else(|| vec![self.constraint.clone()]),
            false => vec![self.constraint.clone()],
        }
    }

    /// Returns whether the event is of one of the constraint's types; without types, it is.
    fn is_of_type(&self, event: &dyn punctual_constraint::Event) -> bool {
        let types = &self.expression.event_types;
        let includes = |one: &EventType| {
            let pattern = (one.domain_name.as_str(), one.type_name.as_str());
            types::matches(pattern, event.domain_name(), event.type_name())
        };
        types.is_empty() || types.iter().any(includes)
    }

    /// Returns the constraint as it is kept.
    pub(super) fn to_kept(&self, id: ConstraintId) -> kept::Constraint {
        kept::Constraint {
            id,
            types: self.expression.event_types.clone(),
            expression: self.expression.constraint_expr.clone(),
            value: self.value.to_any(),
        }
    }
}

/// Returns the constraint that the event's type has the name of a single type; `None` for a pattern.
fn is_of_name(one: &EventType) -> Option<Constraint> {
    let pattern = (one.domain_name.clone(), one.type_name.clone());
    let is_single = !types::is_wild(&pattern) && !types::is_all(&pattern.0, &pattern.1);
    if !is_single || one.type_name == ANY {
        return None;
    }
    let name = one.type_name.replace('\\', "\\\\").replace('\'', "\\'");
    let text = format!("$type_name == '{name}'");
    Constraint::compile(Grammar::ExtendedTcl, &text, &Limits::DEFAULT).ok()
}
