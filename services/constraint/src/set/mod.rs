//! Many constraints, of which only those are tried that can be true.

mod field;

use std::collections::HashMap;
use std::fmt;

use slab::Slab;

use crate::constraint::Constraint;
use crate::event::Event;
use crate::program::{Key, Path};

use field::{Field, Value};

/// Set of constraints, each with a tag of the caller's.
///
/// Constraints that need equalities ([`Constraint::keys`]) stand in hash tables by field and value: an event costs one
/// look-up for each field that constraints are kept by, and the evaluation of those whose value it has. All other
/// constraints are evaluated one by one.
///
/// ```
/// use punctual_constraint::{Constraint, ConstraintSet, Grammar, Limits};
///
/// # fn main() -> Result<(), punctual_constraint::Diagnostic> {
/// let text = "$type_name == 'LinkDown' and $severity > 3";
/// let constraint = Constraint::compile(Grammar::ExtendedTcl, text, &Limits::DEFAULT)?;
/// let mut set = ConstraintSet::new();
/// let id = set.insert(constraint, "operator's console");
/// assert_eq!(set.remove(id), Some("operator's console"));
/// # Ok(())
/// # }
/// ```
pub struct ConstraintSet<T> {
    entries: Slab<Entry<T>>,
    /// Fields by which constraints are kept.
    fields: Slab<Field>,
    by_path: HashMap<Path, usize>,
    /// Constraints that need no equality.
    others: Vec<usize>,
}

struct Entry<T> {
    constraint: Constraint,
    tag: T,
    /// Field and value that the constraint is kept by.
    place: Option<(usize, Value)>,
}

/// Number of a constraint in a [`ConstraintSet`], which may get another one with this number after it was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstraintId(usize);

impl<T> ConstraintSet<T> {
    /// Makes an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self {
            entries: Slab::new(),
            fields: Slab::new(),
            by_path: HashMap::new(),
            others: Vec::new(),
        }
    }

    /// Returns the number of constraints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is no constraint in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a constraint.
    pub fn insert(&mut self, constraint: Constraint, tag: T) -> ConstraintId {
        let id = self.entries.vacant_key();
        let place = self.place(&constraint);
        match &place {
            Some((at, value)) => self.field_mut(*at, |field| field.insert(value, id)),
            None => self.others.push(id),
        }
        self.entries.insert(Entry {
            constraint,
            tag,
            place,
        });
        ConstraintId(id)
    }

    /// Removes a constraint, and returns its tag.
    pub fn remove(&mut self, id: ConstraintId) -> Option<T> {
        let entry = self.entries.try_remove(id.0)?;
        match &entry.place {
            Some((at, value)) => self.field_mut(*at, |field| field.remove(value, id.0)),
            None => self.others.retain(|other| *other != id.0),
        }
        self.forget_if_empty(entry.place);
        Some(entry.tag)
    }

    /// Returns a constraint and its tag.
    #[must_use]
    pub fn get(&self, id: ConstraintId) -> Option<(&Constraint, &T)> {
        self.entries
            .get(id.0)
            .map(|entry| (&entry.constraint, &entry.tag))
    }

    /// Calls `each` for all constraints that are true for an event, in no order.
    pub fn for_each_match(&self, event: &dyn Event, mut each: impl FnMut(ConstraintId, &T)) {
        self.for_each_candidate(event, |id, constraint, tag| {
            if constraint.matches(event) {
                each(id, tag);
            }
        });
    }

    /// Calls `each` for all constraints that can be true for an event, in no order: those whose value of the field by which
    /// they are kept the event has, and those that are kept by none. None is evaluated.
    pub fn for_each_candidate<'s>(
        &'s self,
        event: &dyn Event,
        mut each: impl FnMut(ConstraintId, &'s Constraint, &'s T),
    ) {
        let mut tried = |id: &usize| {
            if let Some(entry) = self.entries.get(*id) {
                each(ConstraintId(*id), &entry.constraint, &entry.tag);
            }
        };
        for (_, field) in &self.fields {
            field.candidates(event, &mut tried);
        }
        self.others.iter().for_each(tried);
    }

    /// Returns the field and value that a constraint is to be kept by: of its keys that with the fewest constraints.
    fn place(&mut self, constraint: &Constraint) -> Option<(usize, Value)> {
        let keys = constraint.keys().iter();
        let best = keys.min_by_key(|key| self.crowd(constraint, key))?;
        let path = constraint.path(best)?;
        let at = match self.by_path.get(path) {
            Some(at) => *at,
            None => self.add_field(path),
        };
        Some((at, Value::of(best.value())))
    }

    fn add_field(&mut self, path: &Path) -> usize {
        let at = self.fields.insert(Field::new(path.clone()));
        self.by_path.insert(path.clone(), at);
        at
    }

    /// Returns the number of constraints that are kept by a key already, and whether its field would be a new one.
    fn crowd(&self, constraint: &Constraint, key: &Key) -> (usize, bool) {
        let at = constraint.path(key).and_then(|path| self.by_path.get(path));
        match at.and_then(|at| self.fields.get(*at)) {
            Some(field) => (field.count(&Value::of(key.value())), false),
            None => (0, true),
        }
    }

    fn field_mut(&mut self, at: usize, change: impl FnOnce(&mut Field)) {
        if let Some(field) = self.fields.get_mut(at) {
            change(field);
        }
    }

    fn forget_if_empty(&mut self, place: Option<(usize, Value)>) {
        let Some((at, _)) = place else { return };
        if self.fields.get(at).is_some_and(Field::is_empty) {
            let field = self.fields.remove(at);
            self.by_path.remove(field.path());
        }
    }
}

impl<T> Default for ConstraintSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for ConstraintSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConstraintSet")
            .field("constraints", &self.entries.len())
            .field("fields", &self.fields.len())
            .field("tried_always", &self.others.len())
            .finish()
    }
}
