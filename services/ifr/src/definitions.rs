//! Definitions: a tree of scopes, each definition with a number that is never reused.
//!
//! Invariants: each definition's container exists and lists it; a repository id names one
//! definition, a name (regardless of its case) one in each scope; definitions that others refer to
//! exist.

mod edit;
mod lookup;
mod uses;
mod validity;

use std::collections::{BTreeMap, HashMap};

use punctual_host::store::to_cdr;

use crate::corba::DefinitionKind;
use crate::store::{Definition, Details, Number, Numbers};

pub(crate) use lookup::Scope;
pub(crate) use validity::check_unnamed;

/// Number of the repository itself, the outermost scope.
pub(crate) const ROOT: Number = 0;

/// All definitions of a repository, with indexes by number, id and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions {
    by_number: BTreeMap<Number, Definition>,
    by_id: HashMap<String, Number>,
    contents: HashMap<Number, Vec<Number>>,
    /// Numbers of definitions by scope and by name in lower case, as names that differ only in case
    /// collide.
    by_name: HashMap<(Number, String), Number>,
    /// Former values of the definitions that have changed since changes were last kept; `None` for
    /// new definitions.
    changed: BTreeMap<Number, Option<Definition>>,
    /// Former values of the definitions that the current step has changed; `None` for new
    /// definitions.
    step: BTreeMap<Number, Option<Definition>>,
    /// Total length of the records kept, in bytes.
    bytes: usize,
    last: Number,
}

impl Definitions {
    /// Returns the definitions of stored records, in the order of their numbers.
    pub(crate) fn of(stored: impl IntoIterator<Item = (Number, Definition)>) -> Self {
        let mut definitions = Definitions::default();
        for (number, definition) in stored {
            definitions.insert(number, definition);
        }
        definitions.keep();
        definitions
    }

    pub(crate) fn get(&self, number: Number) -> Option<&Definition> {
        self.by_number.get(&number)
    }

    /// Returns the number of definitions.
    pub(crate) fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Returns all definitions, in the order in which they were made.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Number, &Definition)> {
        self.by_number.iter().map(|(number, d)| (*number, d))
    }

    pub(crate) fn by_id(&self, id: &str) -> Option<Number> {
        self.by_id.get(id).copied()
    }

    /// Returns the kind of the definition with this number.
    pub(crate) fn kind(&self, number: Number) -> Option<DefinitionKind> {
        match number {
            ROOT => Some(DefinitionKind::DkRepository),
            _ => self.get(number).map(|d| d.what.discriminator()),
        }
    }

    /// Returns the definition of this name in a scope itself, without inherited ones.
    pub(crate) fn by_name(&self, container: Number, name: &str) -> Option<Number> {
        let key = (container, name.to_ascii_lowercase());
        self.by_name.get(&key).copied()
    }

    /// Returns the definitions directly in a scope, in the order in which they were made.
    pub(crate) fn own_contents(&self, container: Number) -> &[Number] {
        self.contents.get(&container).map_or(&[], Vec::as_slice)
    }

    /// Returns the definitions that have changed since changes were last made permanent, each with
    /// its new value.
    pub(crate) fn changes(&self) -> Vec<(Number, Option<Definition>)> {
        let now = |&number| (number, self.get(number).cloned());
        self.changed.keys().map(now).collect()
    }

    /// Returns the total length of all records, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let mut bytes = self.bytes;
        for (&number, before) in &self.changed {
            bytes += self.get(number).map_or(0, length);
            bytes -= before.as_ref().map_or(0, length);
        }
        bytes
    }

    /// Makes the changes up to now permanent.
    pub(crate) fn keep(&mut self) {
        self.bytes = self.bytes();
        self.changed.clear();
        self.step.clear();
    }

    /// Begins a step, which can be undone separately.
    pub(crate) fn begin_step(&mut self) {
        self.step.clear();
    }

    /// Undoes the last step. Numbers are not reused.
    pub(crate) fn undo_step(&mut self) {
        let step = std::mem::take(&mut self.step);
        let changed = std::mem::take(&mut self.changed);
        let (last, bytes) = (self.last, self.bytes);
        *self = Definitions::of(restored(std::mem::take(&mut self.by_number), step));
        (self.changed, self.last, self.bytes) = (changed, last, bytes);
    }

    /// Undoes all changes since changes were last made permanent. Numbers are not reused.
    pub(crate) fn undo(&mut self) {
        let changed = std::mem::take(&mut self.changed);
        let last = self.last;
        *self = Definitions::of(restored(std::mem::take(&mut self.by_number), changed));
        self.last = last;
    }

    /// Records a definition's value before a change.
    fn note(&mut self, number: Number) {
        let before = || self.by_number.get(&number).cloned();
        self.changed.entry(number).or_insert_with(before);
        self.step.entry(number).or_insert_with(before);
    }

    fn insert(&mut self, number: Number, definition: Definition) {
        self.note(number);
        self.by_id.insert(definition.id.clone(), number);
        self.by_name.insert(key(&definition), number);
        self.contents
            .entry(definition.container)
            .or_default()
            .push(number);
        self.by_number.insert(number, definition);
        self.last = self.last.max(number);
    }
}

/// Returns the definitions with those in `before` restored to their previous values.
fn restored(
    mut now: BTreeMap<Number, Definition>,
    before: BTreeMap<Number, Option<Definition>>,
) -> BTreeMap<Number, Definition> {
    for (number, definition) in before {
        match definition {
            Some(definition) => now.insert(number, definition),
            None => now.remove(&number),
        };
    }
    now
}

/// Returns the length of a definition's record, in bytes.
fn length(definition: &Definition) -> usize {
    // A definition that cannot be encoded cannot be stored, and is refused then.
    to_cdr(definition).map_or(0, |record| record.len())
}

/// Returns the key of a definition among the names of its scope.
fn key(definition: &Definition) -> (Number, String) {
    (definition.container, definition.name.to_ascii_lowercase())
}

/// Returns the direct bases of an interface, or of a value with state or without.
pub(crate) fn bases(definition: &Definition) -> Numbers {
    match &definition.what {
        Details::Interface(bases)
        | Details::AbstractInterface(bases)
        | Details::LocalInterface(bases) => bases.clone(),
        Details::Value(value) => {
            let all = value.base.iter().chain(&value.abstract_bases);
            all.copied().collect()
        }
        _ => Numbers::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(id: &str, container: Number) -> Definition {
        Definition {
            id: id.to_owned(),
            name: format!("m{id}"),
            version: "1.0".to_owned(),
            container,
            what: Details::Unlabeled(DefinitionKind::DkModule),
        }
    }

    /// Returns the results of all queries about the definitions, as text.
    fn shown(definitions: &Definitions) -> String {
        let all: Vec<_> = definitions.iter().collect();
        let named: Vec<_> = ["ma", "mb", "mc", "md", "other"]
            .map(|name| definitions.by_name(ROOT, name))
            .into();
        let by_id: Vec<_> = ["a", "b", "c", "d", "e"]
            .map(|id| definitions.by_id(id))
            .into();
        let contents = definitions.own_contents(ROOT);
        format!("{all:?} {named:?} {by_id:?} {contents:?}")
    }

    #[test]
    fn changes_that_are_not_kept_are_taken_back_whole() {
        let mut definitions = Definitions::default();
        let a = definitions.create(module("a", ROOT)).unwrap();
        let b = definitions.create(module("b", ROOT)).unwrap();
        definitions.create(module("c", a)).unwrap();
        definitions.keep();
        assert!(definitions.changes().is_empty());
        let before = shown(&definitions);
        let d = definitions.create(module("d", ROOT)).unwrap();
        definitions.set_id(b, "e").unwrap();
        definitions.set_version(b, "2.0").unwrap();
        definitions.relocate(b, ROOT, "other").unwrap();
        definitions.destroy(a).unwrap();
        assert_eq!(definitions.changes().len(), 4);
        definitions.undo();
        assert_eq!(shown(&definitions), before);
        assert!(definitions.changes().is_empty());
        let next = definitions.create(module("d", ROOT)).unwrap();
        assert!(next > d, "a number is never used again");
    }

    #[test]
    fn a_step_is_taken_back_without_the_changes_before_it() {
        let mut definitions = Definitions::default();
        let a = definitions.create(module("a", ROOT)).unwrap();
        definitions.keep();
        definitions.begin_step();
        definitions.set_version(a, "2.0").unwrap();
        definitions.create(module("b", ROOT)).unwrap();
        let (before, bytes) = (shown(&definitions), definitions.bytes());
        definitions.begin_step();
        definitions.set_version(a, "3.0").unwrap();
        definitions.create(module("c", ROOT)).unwrap();
        definitions.undo_step();
        assert_eq!(shown(&definitions), before);
        assert_eq!(definitions.bytes(), bytes);
        definitions.undo();
        assert_eq!(definitions.get(a).unwrap().version, "1.0");
        assert_eq!(definitions.len(), 1);
    }
}
