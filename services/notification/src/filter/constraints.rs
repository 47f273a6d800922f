//! Constraints of a filter, by id, each with a value of type `V`.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use punctual_constraint::{Budget, Constraint, Grammar};

use super::compiled::{Compiled, Given, Valued, bytes_of};
use super::exceptions::BadConstraints;
use super::record::Record;
use super::room::Room;
use super::usage::Usage;
use crate::cos_notify_filter::{ConstraintExp, ConstraintId};
use crate::kept;
use crate::refusal::Refusal;

/// Returns the steps that all filters of an object may take for one event: as many as one constraint may.
pub(super) const fn budget() -> Budget {
    Budget::new(punctual_constraint::Limits::DEFAULT.steps)
}

/// Most constraints of a filter, most types of a constraint, and most bytes of the constraints of all filters.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    pub(super) constraints: usize,
    pub(super) types: usize,
    pub(super) bytes: usize,
    /// Bytes that all filters have.
    pub(super) room: Room,
}

/// Constraints, which change all or none at a time.
#[derive(Debug)]
pub(super) struct Constraints<V> {
    grammar: Grammar,
    bounds: Bounds,
    record: Option<Record>,
    state: RwLock<State<V>>,
    /// States that the filter has been destroyed. Changes are made one at a time.
    is_destroyed: Mutex<bool>,
    pub(super) usage: Usage,
}

#[derive(Clone, Debug)]
struct State<V> {
    next: ConstraintId,
    constraints: BTreeMap<ConstraintId, Arc<Compiled<V>>>,
}

impl<V: Valued> Constraints<V> {
    pub(super) fn new(grammar: Grammar, bounds: Bounds, record: Option<Record>) -> Self {
        Self {
            grammar,
            bounds,
            record,
            is_destroyed: Mutex::new(false),
            usage: Usage::default(),
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
            .map(|given| self.compile(given, self.bounds.bytes));
        let compiled = compiled.collect::<Result<Vec<_>, _>>()?;
        self.change(|state| {
            let room = self.bounds.constraints;
            if compiled.len() > room.saturating_sub(state.constraints.len()) {
                return Err(BadConstraints::TooMany(room));
            }
            let added = compiled.into_iter().map(|one| state.add(one));
            Ok(added.collect())
        })
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
        let compiled = replaced.into_iter().map(|(id, expression, value)| {
            let compiled = self.compile((expression, value), self.bounds.bytes)?;
            Ok((id, compiled))
        });
        let compiled = compiled.collect::<Result<Vec<_>, BadConstraints>>()?;
        self.change(|state| {
            let mut ids = removed.iter().chain(compiled.iter().map(|(id, _)| id));
            if let Some(absent) = ids.find(|id| !state.constraints.contains_key(id)) {
                return Err(BadConstraints::NotFound(*absent));
            }
            for id in removed {
                state.constraints.remove(id);
            }
            state.constraints.extend(compiled);
            Ok(())
        })
    }

    /// Returns constraints by their ids.
    ///
    /// # Errors
    /// The first id that is not there.
    pub(super) fn get(&self, ids: &[ConstraintId]) -> Result<Vec<Given<V>>, ConstraintId> {
        self.usage.note();
        let state = self.state.read();
        let get = |id: &ConstraintId| {
            let compiled = state.constraints.get(id).ok_or(*id)?;
            Ok(compiled.given(*id))
        };
        ids.iter().map(get).collect()
    }

    /// Returns all constraints.
    pub(super) fn all(&self) -> Vec<Given<V>> {
        self.usage.note();
        let state = self.state.read();
        let all = state.constraints.iter();
        all.map(|(id, compiled)| compiled.given(*id)).collect()
    }

    /// Removes all constraints.
    ///
    /// # Errors
    /// The change cannot be stored.
    pub(super) fn clear(&self) -> Result<(), Refusal> {
        let cleared = self.change(|state| {
            state.constraints.clear();
            Ok(())
        });
        match cleared {
            Err(BadConstraints::Refused(refusal)) => Err(refusal),
            _ => Ok(()),
        }
    }

    /// Makes a change of the constraints durable, and then applies it.
    fn change<R>(
        &self,
        edit: impl FnOnce(&mut State<V>) -> Result<R, BadConstraints>,
    ) -> Result<R, BadConstraints> {
        self.usage.note();
        let is_destroyed = self.is_destroyed.lock();
        if *is_destroyed {
            return Err(Refusal::Destroyed("filter").into());
        }
        let mut state = self.state.read().clone();
        let result = edit(&mut state)?;
        self.put(&state, false)?;
        let before = std::mem::replace(&mut *self.state.write(), state);
        drop(before);
        Ok(result)
    }

    /// Makes the record of a new filter durable.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn keep(&self) -> Result<(), Refusal> {
        self.put(&self.state.read(), false)
    }

    fn put(&self, state: &State<V>, is_destroyed: bool) -> Result<(), Refusal> {
        match &self.record {
            Some(record) => record.put(|| state.to_kept(), is_destroyed),
            None => Ok(()),
        }
    }

    /// Ends all changes. The record of a filter that is attached stays as long as it may be.
    ///
    /// # Errors
    /// The change cannot be stored.
    pub(super) fn destroy(&self, is_attached: bool) -> Result<(), Refusal> {
        let mut is_destroyed = self.is_destroyed.lock();
        match &self.record {
            Some(_) if is_attached => self.put(&self.state.read(), true)?,
            Some(record) => record.remove()?,
            None => {}
        }
        *is_destroyed = true;
        Ok(())
    }

    /// Takes the constraints that a store has kept.
    ///
    /// # Errors
    /// One of them is wrong.
    pub(super) fn restore(&self, filter: &kept::Filter) -> Result<(), BadConstraints> {
        *self.is_destroyed.lock() = filter.is_destroyed;
        let mut state = self.state.write();
        for one in &filter.constraints {
            let expression = ConstraintExp {
                event_types: one.types.clone(),
                constraint_expr: one.expression.clone(),
            };
            // Those that were kept are there whatever the limit.
            let value = V::of_any(one.value.clone());
            let compiled = self.compile((expression, value), usize::MAX)?;
            state.constraints.insert(one.id, compiled);
        }
        state.next = filter.next_constraint;
        Ok(())
    }

    /// Returns the number of the filter.
    pub(super) fn number(&self) -> u64 {
        self.record.as_ref().map_or(0, Record::number)
    }

    /// Returns constraints of which one has to be true for an event that meets one of these.
    pub(super) fn needs(&self) -> Vec<Constraint> {
        let state = self.state.read();
        state
            .constraints
            .values()
            .flat_map(|one| one.needs())
            .collect()
    }

    /// Returns the value of the first constraint that an event meets, as far as the budget goes.
    pub(super) fn first_met(
        &self,
        event: &dyn punctual_constraint::Event,
        budget: &mut Budget,
    ) -> Option<V> {
        self.usage.note();
        let state = self.state.read();
        let mut constraints = state.constraints.values();
        let met = constraints.find(|one| one.is_met(event, budget));
        met.map(|compiled| compiled.value.clone())
    }

    /// Compiles a constraint, if the constraints of all filters have no more than so many bytes then.
    fn compile(
        &self,
        (expression, value): (ConstraintExp, V),
        most: usize,
    ) -> Result<Arc<Compiled<V>>, BadConstraints> {
        let taken = self.bounds.room.take(bytes_of(&expression, &value), most)?;
        let limits = punctual_constraint::Limits::default();
        let compiled = Constraint::compile(self.grammar, &expression.constraint_expr, &limits);
        let is_too_long = expression.event_types.len() > self.bounds.types;
        match compiled {
            Ok(constraint) if !is_too_long => Ok(Arc::new(Compiled {
                constraint,
                expression,
                value,
                _taken: taken,
            })),
            Ok(_) => Err(BadConstraints::Invalid(Box::new(expression))),
            Err(diagnostic) => {
                tracing::info!("a constraint is refused: {diagnostic}");
                Err(BadConstraints::Invalid(Box::new(expression)))
            }
        }
    }
}

impl<V: Valued> State<V> {
    fn add(&mut self, compiled: Arc<Compiled<V>>) -> Given<V> {
        let id = self.next;
        self.next = self.next.wrapping_add(1).max(1);
        self.constraints.insert(id, compiled.clone());
        compiled.given(id)
    }

    /// Returns the constraints as they are kept, and the next id.
    fn to_kept(&self) -> (Vec<kept::Constraint>, ConstraintId) {
        let constraints = self.constraints.iter();
        let kept = constraints.map(|(id, compiled)| compiled.to_kept(*id));
        (kept.collect(), self.next)
    }
}

#[cfg(test)]
mod tests;
