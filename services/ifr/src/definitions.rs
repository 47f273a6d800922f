//! Definitions: a tree of scopes, each definition with a number that is never reused.
//!
//! Invariants: each definition's container exists and lists it; a repository id names one
//! definition, a name (regardless of its case) one in each scope; definitions that others refer to
//! exist.

mod ancestry;
mod edit;
mod lookup;
mod uses;
mod validity;

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use punctual_host::store::to_cdr;

use crate::corba::DefinitionKind;
use crate::store::{Definition, Details, Number, Numbers};

use ancestry::Ancestry;
pub(crate) use lookup::Scope;
pub(crate) use validity::check_unnamed;

/// Number of the repository object itself, which is the outermost scope.
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
    /// Numbers by name in lower case, in all scopes.
    named: HashMap<String, BTreeSet<Number>>,
    /// Index of derived interfaces and valuetypes by the number of their direct base.
    derived: HashMap<Number, BTreeSet<Number>>,
    ancestry: Ancestry,
    /// Previous values of the definitions that have changed since they were last kept; `None` for
    /// new ones.
    changed: BTreeMap<Number, Option<Definition>>,
    /// Former values of the definitions that the current step has changed; `None` for new
    /// definitions.
    step: BTreeMap<Number, Option<Definition>>,
    /// Total length of all definition records when they were last stored, in bytes.
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

    /// Returns the number of definitions in the repository.
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

    /// Confirms the changes since the last confirmation, so that they can no longer be undone.
    pub(crate) fn keep(&mut self) {
        self.bytes = self.bytes();
        self.changed.clear();
        self.step.clear();
    }

    /// Begins a step: a group of changes that [`Definitions::undo_step`] undoes, and no earlier
    /// ones.
    pub(crate) fn begin_step(&mut self) {
        self.step.clear();
    }

    /// Undoes the changes of the last step; the numbers of its new definitions are not reused.
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

    /// Records the value of a definition before a change, for undoing it.
    fn note(&mut self, number: Number) {
        let before = || self.by_number.get(&number).cloned();
        self.changed.entry(number).or_insert_with(before);
        self.step.entry(number).or_insert_with(before);
    }

    fn insert(&mut self, number: Number, definition: Definition) {
        self.note(number);
        self.by_id.insert(definition.id.clone(), number);
        self.put_name(number, key(&definition));
        self.put_bases(number, &bases(&definition));
        self.contents
            .entry(definition.container)
            .or_default()
            .push(number);
        self.by_number.insert(number, definition);
        self.last = self.last.max(number);
    }
}

/// Maintenance of the indexes by name and by base.
impl Definitions {
    fn put_name(&mut self, number: Number, key: (Number, String)) {
        self.named.entry(key.1.clone()).or_default().insert(number);
        self.by_name.insert(key, number);
    }

    fn remove_name(&mut self, number: Number, key: &(Number, String)) {
        self.by_name.remove(key);
        take(&mut self.named, &key.1, number);
    }

    fn put_bases(&mut self, number: Number, bases: &[Number]) {
        for base in bases {
            self.derived.entry(*base).or_default().insert(number);
        }
    }

    fn remove_bases(&mut self, number: Number, bases: &[Number]) {
        for base in bases {
            take(&mut self.derived, base, number);
        }
    }
}

/// Removes a definition's number from the index entry of a key.
fn take<K, Q>(index: &mut HashMap<K, BTreeSet<Number>>, key: &Q, number: Number)
where
    K: Borrow<Q> + Hash + Eq,
    Q: Hash + Eq + ?Sized,
{
    let Some(numbers) = index.get_mut(key) else {
        return;
    };
    numbers.remove(&number);
    if numbers.is_empty() {
        index.remove(key);
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
    let [first, others, _] = heritage(definition);
    first.iter().chain(others).copied().collect()
}

/// Returns the direct bases, and the interfaces that a value supports directly.
fn parents(definition: &Definition) -> impl Iterator<Item = Number> {
    heritage(definition).into_iter().flatten().copied()
}

/// Returns what an interface or value inherits from: a value's base with state, all other bases, and
/// the interfaces that a value supports.
fn heritage(definition: &Definition) -> [&[Number]; 3] {
    match &definition.what {
        Details::Interface(bases)
        | Details::AbstractInterface(bases)
        | Details::LocalInterface(bases) => [&[], bases, &[]],
        Details::Value(value) => [&value.base, &value.abstract_bases, &value.supported],
        _ => [&[]; 3],
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

    fn interface(name: &str, container: Number, bases: &[Number]) -> Definition {
        Definition {
            name: name.to_owned(),
            what: Details::Interface(bases.to_vec()),
            ..module(&format!("{name}{container}"), container)
        }
    }

    /// Returns the expected result of a search through all nested scopes.
    fn searched(definitions: &Definitions, name: &str, levels: i32, scope: Scope) -> Vec<Number> {
        let mut found = BTreeSet::new();
        let mut pending = vec![(scope.container, 1)];
        while let Some((container, level)) = pending.pop() {
            let contents = definitions.contents(Scope { container, ..scope });
            for number in contents {
                let definition = definitions.get(number).unwrap();
                if definition.name.eq_ignore_ascii_case(name) {
                    found.insert(number);
                }
                if definition.container == container && (levels < 0 || level < levels) {
                    pending.push((number, level + 1));
                }
            }
        }
        found.into_iter().collect()
    }

    fn assert_as_searched(definitions: &Definitions) {
        let containers = || definitions.iter().map(|(number, _)| number).chain([ROOT]);
        for name in ["a", "b", "c", "F", "unknown"] {
            for (container, levels) in containers().flat_map(|one| [-1, 0, 1, 2].map(|l| (one, l)))
            {
                for exclude_inherited in [false, true] {
                    let scope = Scope {
                        container,
                        limit: DefinitionKind::DkAll,
                        exclude_inherited,
                    };
                    let found = definitions.lookup_name(name, levels, scope);
                    let wanted = searched(definitions, name, levels, scope);
                    assert_eq!(found, wanted, "{name} in {scope:?}, {levels} levels");
                }
            }
        }
    }

    #[test]
    fn the_index_of_names_finds_what_a_search_of_every_scope_does_after_all_changes() {
        let mut definitions = Definitions::default();
        let outer = definitions.create(module("outer", ROOT)).unwrap();
        let inner = definitions.create(module("inner", outer)).unwrap();
        let base = definitions.create(interface("a", ROOT, &[])).unwrap();
        let derived = definitions.create(interface("b", inner, &[base])).unwrap();
        let last = definitions
            .create(interface("c", outer, &[derived]))
            .unwrap();
        let alone = definitions.create(interface("a", inner, &[])).unwrap();
        let mut labels = module("f", base);
        labels.name = "f".to_owned();
        labels.what = Details::Enum(vec!["x".to_owned()]);
        let labels = definitions.create(labels).unwrap();
        assert_as_searched(&definitions);
        assert!(definitions.is_a(last, "a0") && !definitions.is_a(alone, "a0"));
        definitions.keep();
        definitions
            .set_details(alone, Details::Interface(vec![base]))
            .unwrap();
        definitions
            .set_details(last, Details::Interface(vec![alone]))
            .unwrap();
        assert_as_searched(&definitions);
        assert!(definitions.is_a(alone, "a0"));
        definitions.undo();
        assert_as_searched(&definitions);
        assert!(!definitions.is_a(alone, "a0"));
        definitions.relocate(labels, alone, "F").unwrap();
        assert_as_searched(&definitions);
        definitions.destroy(last).unwrap();
        definitions.destroy(alone).unwrap();
        assert_as_searched(&definitions);
        definitions.undo_step();
        assert_as_searched(&definitions);
    }

    #[test]
    fn bases_are_walked_once_for_all_questions_until_they_change() {
        let mut definitions = Definitions::default();
        let base = definitions.create(interface("a", ROOT, &[])).unwrap();
        let alone = definitions.create(interface("b", ROOT, &[])).unwrap();
        let derived = definitions.create(interface("c", ROOT, &[base])).unwrap();
        assert!(!definitions.is_a(derived, "b0"));
        let all = std::mem::take(&mut definitions.by_number);
        assert!(definitions.is_a(derived, "a0") && !definitions.is_a(derived, "b0"));
        definitions.by_number = all;
        let other = Details::Interface(vec![alone]);
        definitions.set_details(derived, other).unwrap();
        assert!(definitions.is_a(derived, "b0") && !definitions.is_a(derived, "a0"));
        definitions.undo_step();
        assert!(!definitions.is_a(derived, "b0"));
    }
}
