//! Unknown names: the error, and suggestions.

use std::rc::Rc;

use super::lookup::ScopedName;
use super::{Name, Parser};
use crate::model::DeclKind;
use crate::names::{self, ScopeId};

impl Parser<'_> {
    pub(super) fn not_found(
        &mut self,
        name: &ScopedName,
        part: &Name,
        scope: Option<ScopeId>,
    ) -> crate::session::Reported {
        if !self.unknown.insert(name.text()) {
            return crate::session::Reported;
        }
        let text = &part.text;
        let (message, near) = match scope {
            Some(scope) => {
                let owner = self.scopes[scope.0 as usize].owner;
                let owner = owner.map_or_else(String::new, |owner| self.spec[owner].name.clone());
                (
                    format!("`{owner}` has no `{text}`"),
                    self.nearest_in(text, scope, false),
                )
            }
            None => {
                let scope = if name.absolute {
                    ScopeId::GLOBAL
                } else {
                    self.scope
                };
                {
                    let near = self
                        .nearest_in(text, scope, true)
                        .or_else(|| Self::nearest_type(text));
                    (format!("cannot find `{text}`"), near)
                }
            }
        };
        let mut error = self
            .session
            .error_at(part.place, message, "not declared before here");
        if let Some(near) = near {
            error = error.with_help(format!("did you mean `{near}`?"));
        } else if let Some(qualified) = self.elsewhere(text) {
            error = error.with_help(format!("it is declared in another scope: `{qualified}`"));
        }
        self.session.report(error)
    }

    /// Returns the type keyword most similar to a name.
    fn nearest_type(name: &str) -> Option<Rc<str>> {
        const TYPES: &[&str] = &[
            "any",
            "boolean",
            "char",
            "double",
            "fixed",
            "float",
            "long",
            "Object",
            "octet",
            "sequence",
            "short",
            "string",
            "unsigned",
            "ValueBase",
            "void",
            "wchar",
            "wstring",
        ];
        names::nearest(name, TYPES.iter().copied()).map(Into::into)
    }

    /// Returns the most similar name in a scope, in its ancestors and, with `outwards`, in the
    /// enclosing scopes.
    fn nearest_in(&self, name: &str, scope: ScopeId, outwards: bool) -> Option<Rc<str>> {
        let mut scopes = vec![scope];
        let mut index = 0;
        while index < scopes.len() && index < 1000 {
            let current = &self.scopes[scopes[index].0 as usize];
            scopes.extend(
                current
                    .bases
                    .iter()
                    .chain(current.parent.iter().filter(|_| outwards)),
            );
            index += 1;
        }
        let names = scopes.iter().flat_map(|scope| {
            let scope = &self.scopes[scope.0 as usize];
            scope.order.iter().take(10_000).map(|name| &**name)
        });
        names::nearest(name, names).map(Into::into)
    }

    /// Returns the absolute name of a declaration in another scope that has exactly this name.
    fn elsewhere(&self, name: &str) -> Option<String> {
        let mut declarations = self.spec.declarations.iter();
        let found = declarations.find_map(|declaration| match &declaration.kind {
            DeclKind::Operation(_) | DeclKind::Attribute(_) => None,
            DeclKind::Enum(e) => {
                let enumerator = e
                    .enumerators
                    .iter()
                    .find(|enumerator| enumerator.name == name);
                let own = || (declaration.name == name).then_some(&declaration.scoped_name);
                enumerator
                    .map(|enumerator| &enumerator.scoped_name)
                    .or_else(own)
            }
            _ => (declaration.name == name).then_some(&declaration.scoped_name),
        });
        found.map(|scoped| format!("::{}", scoped.join("::")))
    }
}
