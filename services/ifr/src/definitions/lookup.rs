//! Finding definitions: by scoped name, by name, by kind, through inheritance.

use std::collections::HashSet;

use super::{Definitions, ROOT, bases, parents};
use crate::corba::DefinitionKind;
use crate::store::Number;

/// Selection of the definitions in a scope by kind and inheritance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) container: Number,
    /// Kind of the selected definitions; `DkAll` for all kinds.
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
        let named = self.named.get(&name.to_ascii_lowercase());
        let is_there = |number: &Number| {
            let container = self.get(*number).map(|d| d.container);
            self.is_of(*number, scope.limit)
                && container.is_some_and(|it| self.is_searched(it, levels, scope))
        };
        let named = named.into_iter().flatten().copied();
        named.filter(is_there).collect()
    }

    /// Returns `true` if the contents of `container` are searched, because it lies in the scope, or a
    /// definition in the scope inherits from it.
    fn is_searched(&self, container: Number, levels: i32, scope: Scope) -> bool {
        let mut seen = HashSet::from([container]);
        let mut next = vec![container];
        while let Some(one) = next.pop() {
            if self.is_within(one, levels, scope.container) {
                return true;
            }
            if !scope.exclude_inherited {
                let derived = self.derived.get(&one).into_iter().flatten();
                next.extend(derived.copied().filter(|&heir| seen.insert(heir)));
            }
        }
        false
    }

    /// Returns `true` if a scope is another, or lies in it less than `levels` levels deep.
    fn is_within(&self, inner: Number, levels: i32, outer: Number) -> bool {
        let mut around = std::iter::successors(Some(inner), |&one| Some(self.get(one)?.container));
        match around.position(|one| one == outer) {
            Some(0) => true,
            Some(distance) => {
                usize::try_from(levels).is_ok_and(|levels| distance < levels) || levels < 0
            }
            None => false,
        }
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
        let Some(wanted) = self.by_id(id) else {
            return false;
        };
        wanted == number
            || self
                .ancestry
                .has(number, wanted, || self.ancestors_and_supported(number))
    }

    /// Returns all definitions that an interface or value inherits from or supports, each once.
    fn ancestors_and_supported(&self, number: Number) -> Vec<Number> {
        let mut seen = HashSet::from([number]);
        let mut found = Vec::new();
        let mut next = vec![number];
        while let Some(one) = next.pop() {
            let Some(definition) = self.get(one) else {
                continue;
            };
            let new = parents(definition).filter(|&parent| seen.insert(parent));
            let known = found.len();
            found.extend(new);
            next.extend(&found[known..]);
        }
        found
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
