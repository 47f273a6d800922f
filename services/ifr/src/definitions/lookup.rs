//! Finding definitions: by scoped name, by name, by kind, through inheritance.

use std::collections::HashSet;

use super::{Definitions, ROOT, bases};
use crate::corba::DefinitionKind;
use crate::store::{Definition, Details, Number};

/// Selection of definitions in a scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) container: Number,
    /// Kind of the definitions; `DkAll` for all.
    pub(crate) limit: DefinitionKind,
    pub(crate) exclude_inherited: bool,
}

impl Definitions {
    /// Returns the contents of a scope, including inherited ones, each once (§14.5.4.1).
    pub(crate) fn contents(&self, scope: Scope) -> Vec<Number> {
        let mut scopes = vec![scope.container];
        if !scope.exclude_inherited {
            scopes.extend(self.ancestors(scope.container));
        }
        let all = scopes.into_iter().flat_map(|one| self.own_contents(one));
        all.copied()
            .filter(|&number| self.is_of(number, scope.limit))
            .collect()
    }

    /// Returns the definitions with a name in a scope and, up to `levels` levels deep, in nested
    /// scopes (§14.5.4.1). A negative number of levels means all.
    pub(crate) fn lookup_name(&self, name: &str, levels: i32, scope: Scope) -> Vec<Number> {
        let mut found = Vec::new();
        let mut pending = vec![(scope.container, 1)];
        let everything = |container| Scope {
            container,
            limit: DefinitionKind::DkAll,
            ..scope
        };
        while let Some((container, level)) = pending.pop() {
            for number in self.contents(everything(container)) {
                let is_named = |d: &Definition| d.name.eq_ignore_ascii_case(name);
                if self.get(number).is_some_and(is_named) && self.is_of(number, scope.limit) {
                    found.push(number);
                }
                let is_inside = self.get(number).is_some_and(|d| d.container == container);
                if is_inside && (levels < 0 || level < levels) {
                    pending.push((number, level + 1));
                }
            }
        }
        found
    }

    /// Returns the definition with a scoped name: `A::B` is searched from a scope on, `::A::B` from
    /// the outermost one.
    pub(crate) fn lookup(&self, container: Number, scoped_name: &str) -> Option<Number> {
        let absolute = scoped_name.strip_prefix("::");
        let mut at = if absolute.is_some() { ROOT } else { container };
        for name in absolute.unwrap_or(scoped_name).split("::") {
            at = self.find(at, name)?;
        }
        Some(at)
    }

    /// Returns the definition of a name in a scope, its own or inherited.
    fn find(&self, container: Number, name: &str) -> Option<Number> {
        let own = self.by_name(container, name);
        let inherited = || self.ancestors(container).into_iter();
        own.or_else(|| inherited().find_map(|scope| self.by_name(scope, name)))
    }

    /// Returns the names from the outermost scope down: `::A::B`.
    pub(crate) fn absolute_name(&self, number: Number) -> String {
        let chain = std::iter::successors(self.get(number), |d| self.get(d.container));
        let names: Vec<&str> = chain.map(|definition| definition.name.as_str()).collect();
        names.iter().rev().fold(String::new(), |mut text, name| {
            text.push_str("::");
            text.push_str(name);
            text
        })
    }

    /// Returns all definitions that an interface or value inherits from, each once, nearest first.
    pub(crate) fn ancestors(&self, number: Number) -> Vec<Number> {
        let mut seen = HashSet::from([number]);
        let mut ordered = Vec::new();
        let mut next = vec![number];
        while !next.is_empty() {
            let level = next.iter().filter_map(|&one| self.get(one));
            let found: Vec<Number> = level.flat_map(bases).collect();
            next = found.into_iter().filter(|&one| seen.insert(one)).collect();
            ordered.extend(&next);
        }
        ordered
    }

    /// Returns `true` if an interface or value has that repository id, or inherits from or supports
    /// one that has it.
    pub(crate) fn is_a(&self, number: Number, id: &str) -> bool {
        if id == "IDL:omg.org/CORBA/Object:1.0" {
            return matches!(
                self.kind(number),
                Some(DefinitionKind::DkInterface | DefinitionKind::DkLocalInterface)
            );
        }
        if id == "IDL:omg.org/CORBA/ValueBase:1.0" {
            return self.kind(number) == Some(DefinitionKind::DkValue);
        }
        let mut all = self.ancestors(number);
        all.push(number);
        let supported: Vec<Number> = all
            .iter()
            .filter_map(|&one| self.get(one))
            .flat_map(|d| match &d.what {
                Details::Value(value) => value.supported.clone(),
                _ => Vec::new(),
            })
            .collect();
        for one in supported {
            all.push(one);
            all.extend(self.ancestors(one));
        }
        let has_id = |one: &Number| self.get(*one).is_some_and(|d| d.id == id);
        all.iter().any(has_id)
    }

    /// Returns `true` if a definition is of a kind; `DkTypedef` means all named types that are not
    /// interfaces or values.
    fn is_of(&self, number: Number, limit: DefinitionKind) -> bool {
        use DefinitionKind as Kind;
        let Some(kind) = self.kind(number) else {
            return false;
        };
        match limit {
            Kind::DkAll => true,
            Kind::DkTypedef => matches!(
                kind,
                Kind::DkAlias
                    | Kind::DkStruct
                    | Kind::DkUnion
                    | Kind::DkEnum
                    | Kind::DkNative
                    | Kind::DkValueBox
            ),
            limit => kind == limit,
        }
    }
}
