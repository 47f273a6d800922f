//! Methods for members that a handle has itself, and their names.
//!
//! A derived handle dereferences to the handle of its first base. So it only has methods for
//! members that the base lacks, and for members whose method in the base's handle is hidden by an
//! operation of the derived type; the latter get another name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use punctual_idl::model::{DeclId, ValueFlavour};

use super::lineage::{concrete_chain, own_calls};
use super::state::State;
use crate::interface::bases::{Bases, HIDDEN};
use crate::names::ident;
use crate::parallel::Shared;
use crate::scope::Scope;

/// Reading or setting of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Access {
    /// Type that declares the member.
    pub(super) owner: DeclId,
    /// Index of the member within the type that declares it.
    pub(super) member: usize,
    pub(super) is_setter: bool,
}

/// Methods for members that a type's handle defines itself, in addition to those of its first
/// base's handle.
#[derive(Debug, Default)]
pub(crate) struct Accessors {
    first: Option<Arc<Accessors>>,
    /// Methods by their names.
    own: BTreeMap<String, Access>,
    /// Names of the handle's other methods.
    operations: BTreeSet<String>,
}

/// Cache of the accessors of each type.
pub(crate) type Known = Shared<BTreeMap<DeclId, Arc<Accessors>>>;

impl Accessors {
    pub(super) fn of(scope: &Scope<'_>, id: DeclId) -> Arc<Accessors> {
        let spec = scope.generator.spec;
        let known = |id: DeclId| scope.generator.accessors.lock().get(&id).map(Arc::clone);
        let mut unknown = Vec::new();
        let mut next = Some(id);
        let mut first = None;
        while let Some(id) = next {
            first = known(id);
            if first.is_some() {
                break;
            }
            unknown.push(id);
            next = spec.bases(id).first().copied();
        }
        for id in unknown.into_iter().rev() {
            let accessors = Arc::new(Accessors::new(scope, id, first.take()));
            let all = &scope.generator.accessors;
            all.lock().insert(id, Arc::clone(&accessors));
            first = Some(accessors);
        }
        first.unwrap_or_default()
    }

    fn new(scope: &Scope<'_>, id: DeclId, first: Option<Arc<Accessors>>) -> Self {
        let (generator, spec) = (scope.generator, scope.generator.spec);
        let bases = Bases::of(spec, id);
        let added = bases.others.iter().copied().chain([id]);
        let operations = added.flat_map(|owner| own_calls(generator, owner));
        let mut accessors = Accessors {
            first,
            own: BTreeMap::new(),
            operations: operations.map(|call| call.method).collect(),
        };
        for (name, access) in accessors.to_write_again() {
            accessors.add(&name, access);
        }
        for owner in concrete_chain(spec, id) {
            let is_abstract = matches!(&spec[owner].kind,
                punctual_idl::model::DeclKind::ValueType(v) if v.flavour == ValueFlavour::Abstract);
            if is_abstract || !bases.adds(&spec[owner]) {
                continue;
            }
            for (at, member) in State::new(scope, &spec[owner]).members().iter().enumerate() {
                let name = member.field.to_string();
                let name = name.strip_prefix("r#").unwrap_or(&name);
                for (name, is_setter) in [(name.to_owned(), false), (format!("set_{name}"), true)] {
                    let access = Access {
                        owner,
                        member: at,
                        is_setter,
                    };
                    accessors.add(&name, access);
                }
            }
        }
        accessors
    }

    /// Returns the base's methods that are hidden by methods of those names in this handle, so that
    /// they are generated again under other names.
    fn to_write_again(&self) -> Vec<(String, Access)> {
        let Some(first) = &self.first else {
            return Vec::new();
        };
        let operations = self.operations.iter().map(String::as_str);
        // Each handle itself has the hidden methods, so that the first base has them.
        let names = operations.chain(HIDDEN.iter().copied());
        let found = names.filter_map(|name| Some((name.to_owned(), first.find(name)?)));
        let mut found: Vec<_> = found.collect();
        found.sort_unstable_by_key(|(_, access)| *access);
        found.dedup();
        found
    }

    fn add(&mut self, preferred: &str, access: Access) {
        let mut name = preferred.to_owned();
        let is_again = self.first.as_ref().and_then(|first| first.find(&name)) == Some(access);
        while self.operations.contains(&name)
            || self.own.contains_key(&name)
            || (!(is_again && name == preferred) && self.is_taken_in_bases(&name))
        {
            name.push('_');
        }
        self.own.insert(name, access);
    }

    fn is_taken_in_bases(&self, name: &str) -> bool {
        self.line()
            .skip(1)
            .any(|one| one.own.contains_key(name) || one.operations.contains(name))
    }

    fn find(&self, name: &str) -> Option<Access> {
        for one in self.line() {
            if one.operations.contains(name) {
                return None;
            }
            if let Some(access) = one.own.get(name) {
                return Some(*access);
            }
        }
        None
    }

    /// Returns the accessors of the type and of all its bases along the chain of first bases, from
    /// the type on.
    fn line(&self) -> impl Iterator<Item = &Accessors> {
        std::iter::successors(Some(self), |one| one.first.as_deref())
    }

    /// Returns the methods, in the order of the members.
    pub(super) fn to_write(&self) -> Vec<(&str, Access)> {
        let own = self.own.iter();
        let mut own: Vec<_> = own.map(|(name, access)| (name.as_str(), *access)).collect();
        own.sort_unstable_by_key(|(_, access)| (access.owner, access.member, access.is_setter));
        own
    }

    /// Returns a name for a method that no operation and no member has.
    pub(super) fn fresh(&self, preferred: &str) -> proc_macro2::Ident {
        let mut name = preferred.to_owned();
        while self.operations.contains(&name)
            || self.own.contains_key(&name)
            || self.is_taken_in_bases(&name)
        {
            name.push('_');
        }
        ident(&name)
    }
}

impl Drop for Accessors {
    /// Drops a long chain without recursion.
    fn drop(&mut self) {
        let mut next = self.first.take();
        while let Some(mut one) = next.and_then(Arc::into_inner) {
            next = one.first.take();
        }
    }
}
