//! Constraints of a filter, by id, each with a value of type `V`.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use punctual_constraint::{Constraint, Grammar};

use crate::cos_notification::EventType;
use crate::cos_notify_filter::{ConstraintExp, ConstraintId};
use crate::types;

/// Constraint as it was given, with its value.
#[derive(Clone, Debug)]
pub(super) struct Given<V> {
    pub(super) id: ConstraintId,
    pub(super) expression: ConstraintExp,
    pub(super) value: V,
}

/// Action that removes a filter from the service.
pub(super) struct Removal(pub(super) Box<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Removal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Removal")
    }
}

/// Reason for which constraints are not taken.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BadConstraints {
    /// This one is wrong; the reason is logged.
    Invalid(Box<ConstraintExp>),
    NotFound(ConstraintId),
    /// There would be more than this many.
    TooMany(usize),
}

/// Most constraints of a filter, and most types of a constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) constraints: usize,
    pub(super) types: usize,
}

/// Constraints, which change all or none at a time.
#[derive(Debug)]
pub(super) struct Constraints<V> {
    grammar: Grammar,
    bounds: Bounds,
    state: RwLock<State<V>>,
}

#[derive(Clone, Debug)]
struct State<V> {
    next: ConstraintId,
    constraints: BTreeMap<ConstraintId, Arc<Compiled<V>>>,
}

#[derive(Debug)]
struct Compiled<V> {
    constraint: Constraint,
    expression: ConstraintExp,
    value: V,
}

impl<V: Clone> Constraints<V> {
    pub(super) fn new(grammar: Grammar, bounds: Bounds) -> Self {
        Self {
            grammar,
            bounds,
            state: RwLock::new(State {
                next: 1,
                constraints: BTreeMap::new(),
            }),
        }
    }

    pub(super) fn grammar(&self) -> Grammar {
        self.grammar
    }

    /// Adds constraints; returns them with their ids.
    ///
    /// # Errors
    /// One is wrong, or there would be too many; then none is added.
    pub(super) fn add(
        &self,
        given: Vec<(ConstraintExp, V)>,
    ) -> Result<Vec<Given<V>>, BadConstraints> {
        let compiled = given
            .into_iter()
            .map(|(expression, value)| self.compile(expression, value));
        let compiled = compiled.collect::<Result<Vec<_>, _>>()?;
        let mut state = self.state.write();
        let room = self
            .bounds
            .constraints
            .saturating_sub(state.constraints.len());
        if compiled.len() > room {
            return Err(BadConstraints::TooMany(self.bounds.constraints));
        }
        let added = compiled.into_iter().map(|compiled| {
            let id = state.next;
            state.next = state.next.wrapping_add(1).max(1);
            state.constraints.insert(id, compiled.clone());
            compiled.given(id)
        });
        Ok(added.collect())
    }

    /// Removes constraints, and replaces others.
    ///
    /// # Errors
    /// An id is not there, or a constraint is wrong; then nothing is changed.
    pub(super) fn modify(
        &self,
        removed: &[ConstraintId],
        replaced: Vec<(ConstraintId, ConstraintExp, V)>,
    ) -> Result<(), BadConstraints> {
        let compiled = replaced
            .into_iter()
            .map(|(id, expression, value)| Ok((id, self.compile(expression, value)?)));
        let compiled = compiled.collect::<Result<Vec<_>, BadConstraints>>()?;
        let mut state = self.state.write();
        let ids = removed.iter().chain(compiled.iter().map(|(id, _)| id));
        for id in ids {
            if !state.constraints.contains_key(id) {
                return Err(BadConstraints::NotFound(*id));
            }
        }
        for id in removed {
            state.constraints.remove(id);
        }
        state.constraints.extend(compiled);
        Ok(())
    }

    /// Returns constraints by their ids.
    ///
    /// # Errors
    /// The first id that is not there.
    pub(super) fn get(&self, ids: &[ConstraintId]) -> Result<Vec<Given<V>>, ConstraintId> {
        let state = self.state.read();
        let get = |id: &ConstraintId| {
            let compiled = state.constraints.get(id).ok_or(*id)?;
            Ok(compiled.given(*id))
        };
        ids.iter().map(get).collect()
    }

    /// Returns all constraints.
    pub(super) fn all(&self) -> Vec<Given<V>> {
        let state = self.state.read();
        let all = state.constraints.iter();
        all.map(|(id, compiled)| compiled.given(*id)).collect()
    }

    /// Removes all constraints.
    pub(super) fn clear(&self) {
        let removed = std::mem::take(&mut self.state.write().constraints);
        drop(removed);
    }

    /// Returns the value of the first constraint that an event meets.
    pub(super) fn first_met(&self, event: &dyn punctual_constraint::Event) -> Option<V> {
        let state = self.state.read();
        let met = state.constraints.values().find(|one| one.is_met(event));
        met.map(|compiled| compiled.value.clone())
    }

    fn compile(
        &self,
        expression: ConstraintExp,
        value: V,
    ) -> Result<Arc<Compiled<V>>, BadConstraints> {
        let limits = punctual_constraint::Limits::default();
        let compiled = Constraint::compile(self.grammar, &expression.constraint_expr, &limits);
        let is_too_long = expression.event_types.len() > self.bounds.types;
        match compiled {
            Ok(constraint) if !is_too_long => Ok(Arc::new(Compiled {
                constraint,
                expression,
                value,
            })),
            Ok(_) => Err(BadConstraints::Invalid(Box::new(expression))),
            Err(diagnostic) => {
                tracing::info!("a constraint is refused: {diagnostic}");
                Err(BadConstraints::Invalid(Box::new(expression)))
            }
        }
    }
}

impl<V: Clone> Compiled<V> {
    fn given(&self, id: ConstraintId) -> Given<V> {
        Given {
            id,
            expression: self.expression.clone(),
            value: self.value.clone(),
        }
    }

    fn is_met(&self, event: &dyn punctual_constraint::Event) -> bool {
        self.is_of_type(event) && self.constraint.matches(event)
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cos_notification::{Property, StructuredEvent};
    use crate::event::Event;
    use punctual::Any;

    const BOUNDS: Bounds = Bounds {
        constraints: 3,
        types: 2,
    };

    fn expression(types: &[(&str, &str)], text: &str) -> ConstraintExp {
        let types = types.iter().map(|(domain, name)| EventType {
            domain_name: (*domain).to_owned(),
            type_name: (*name).to_owned(),
        });
        ConstraintExp {
            event_types: types.collect(),
            constraint_expr: text.to_owned(),
        }
    }

    fn alarm(severity: i32) -> Event {
        let mut event = StructuredEvent::default();
        event.header.fixed_header.event_type.domain_name = "Telecom".to_owned();
        event.header.fixed_header.event_type.type_name = "Alarm".to_owned();
        event.filterable_data.push(Property {
            name: "severity".to_owned(),
            value: Any::new(&severity).unwrap(),
        });
        Event::of_structured(event)
    }

    #[test]
    fn the_first_constraint_that_an_event_meets_decides() {
        let constraints = Constraints::new(Grammar::ExtendedTcl, BOUNDS);
        assert_eq!(constraints.first_met(&alarm(5)), None);
        let added = constraints.add(vec![
            (expression(&[("Telecom", "Call")], ""), 1),
            (expression(&[("Tele*", "%ALL")], "$severity > 4"), 2),
            (expression(&[], "$severity > 3"), 3),
        ]);
        assert_eq!(added.unwrap().len(), 3);
        assert_eq!(constraints.first_met(&alarm(5)), Some(2));
        assert_eq!(constraints.first_met(&alarm(4)), Some(3));
        assert_eq!(constraints.first_met(&alarm(3)), None);
    }

    #[test]
    fn changes_are_made_all_or_none() {
        let constraints = Constraints::new(Grammar::ExtendedTcl, BOUNDS);
        let wrong = expression(&[], "$severity >");
        let both = vec![(expression(&[], ""), 1), (wrong.clone(), 2)];
        let bad = constraints.add(both).unwrap_err();
        assert_eq!(bad, BadConstraints::Invalid(Box::new(wrong)));
        assert!(constraints.all().is_empty());
        let four = vec![(expression(&[], ""), 1); 4];
        assert_eq!(
            constraints.add(four).unwrap_err(),
            BadConstraints::TooMany(3)
        );
        let two = constraints.add(vec![(expression(&[], ""), 1); 2]).unwrap();
        let ids = [two[0].id, two[1].id];
        let replaced = vec![(99, expression(&[], ""), 7)];
        assert_eq!(
            constraints.modify(&ids[..1], replaced),
            Err(BadConstraints::NotFound(99))
        );
        let replaced = vec![(ids[1], expression(&[], "1 == 1"), 7)];
        constraints.modify(&ids[..1], replaced).unwrap();
        assert_eq!(constraints.get(&ids).unwrap_err(), ids[0]);
        assert_eq!(constraints.get(&ids[1..]).unwrap()[0].value, 7);
        constraints.clear();
        assert!(constraints.all().is_empty());
    }
}
