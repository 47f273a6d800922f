//! Repository ids (CORBA 3.3 part 1, §14.7).
//!
//! An id is `IDL:` + prefix + names + `:` + version. A prefix pragma holds to the end of its
//! scope or file, for the names relative to the scope that it stands in (§14.7.5.4); an included
//! file begins without one, and its end restores the includer's (§14.7.5.2).

use std::rc::Rc;

use super::prefix::Prefix;
use super::{Name, Parser};
use crate::lexer::Kind;
use crate::model::{DeclId, DeclKind};
use crate::names::{ScopeId, Target};
use crate::preprocess::Event;
use crate::session::Checked;
use crate::source::Place;

impl Parser<'_> {
    pub(super) fn prefix(&self) -> Rc<str> {
        self.prefixes
            .last()
            .map(|prefix| prefix.text.clone())
            .unwrap_or_default()
    }

    pub(super) fn enter_prefix(&mut self, scope_name: &str) {
        let text = format!("{}{scope_name}/", self.prefix()).into();
        self.prefixes.push(Prefix {
            is_file: false,
            text,
        });
    }

    pub(super) fn leave_prefix(&mut self) {
        if self.prefixes.last().is_some_and(|prefix| !prefix.is_file) {
            self.prefixes.pop();
        }
    }

    pub(super) fn run_event(&mut self, event: Event) {
        match event {
            Event::EnterFile(place) => {
                self.included_at.push(place);
                let path = self.scope_path(self.scope);
                self.prefixes.push(Prefix::file(&path));
            }
            Event::LeaveFile => {
                self.included_at.pop();
                while self.prefixes.len() > 1 {
                    if self.prefixes.pop().is_some_and(|prefix| prefix.is_file) {
                        break;
                    }
                }
            }
            Event::Prefix(text) => {
                if let Some(last) = self.prefixes.last_mut() {
                    last.text = with_slash(&text).into();
                }
            }
            Event::Id { name, id, place } => {
                if let Some(decl) = self.named_by_pragma(&name, place) {
                    self.set_id(decl, id, place);
                }
            }
            Event::Version {
                name,
                version,
                place,
            } => {
                if let Some(decl) = self.named_by_pragma(&name, place) {
                    self.set_version(decl, version, place);
                }
            }
        }
    }

    /// Returns the names of a scope as a repository id's path: `A::B::` as `A/B/`.
    fn scope_path(&self, scope: ScopeId) -> String {
        let owner = self.scopes[scope.0 as usize].owner;
        owner.map_or_else(String::new, |owner| {
            self.spec[owner].scoped_name.join("/") + "/"
        })
    }

    fn named_by_pragma(&mut self, name: &str, place: Place) -> Option<DeclId> {
        match self.find_text(name) {
            Some(Target::Declaration(id)) => Some(id),
            Some(_) => {
                self.error(
                    place,
                    format!("`{name}` has no repository id"),
                    "not a declaration",
                );
                None
            }
            None => {
                let message = format!("cannot find `{name}`, which this pragma is about");
                let help = "the pragma has to follow the declaration, in the same scope";
                self.error_with_help(place, message, "not declared before here", help);
                None
            }
        }
    }

    fn set_id(&mut self, decl: DeclId, id: String, place: Place) {
        let decl = self.identity(decl);
        let (format, rest) = id.split_once(':').unwrap_or(("", ""));
        if rest.is_empty() || !format.chars().all(|c| c.is_ascii_alphanumeric()) {
            let warning = self.session.warning_at(
                place,
                format!("`{id}` does not have the form of a repository id"),
                "expected a format and a colon, such as `IDL:`, in front",
            );
            self.session.report(warning);
        }
        match &self.facts[decl.index()].id.explicit {
            Some(old) if *old != id => {
                let message = format!("this has the repository id `{old}` already");
                self.error(place, message, "a second, different id");
            }
            _ => self.facts[decl.index()].id.explicit = Some(id),
        }
    }

    fn set_version(&mut self, decl: DeclId, version: String, place: Place) {
        let decl = self.identity(decl);
        let parts = &self.facts[decl.index()].id;
        let clash = match (&parts.explicit, &parts.version) {
            (Some(id), _) => (!id.ends_with(&format!(":{version}"))).then(|| id.clone()),
            (None, Some(old)) => (*old != version).then(|| old.clone()),
            (None, None) => None,
        };
        if let Some(old) = clash {
            self.error(
                place,
                format!("this has the version `{old}` already"),
                "another version",
            );
            return;
        }
        self.facts[decl.index()].id.version = Some(version);
    }

    /// Returns the declaration that holds the id: of a module, the first part.
    fn identity(&self, decl: DeclId) -> DeclId {
        match &self.spec[decl].kind {
            DeclKind::Module(module) => module.first_part,
            _ => decl,
        }
    }

    /// Reads a repository id declaration: `typeid name "id";` (§7.15.1).
    pub(super) fn type_id(&mut self) -> Checked<()> {
        self.bump();
        let (decl, place) = self.declared_name()?;
        let id = self.plain_string("a repository id in quotes")?;
        self.semicolon()?;
        self.set_id(decl, id, place);
        Ok(())
    }

    /// Reads `typeprefix name "prefix";` (§7.15.2): for the scope that is named and all inside it.
    pub(super) fn type_prefix(&mut self) -> Checked<()> {
        self.bump();
        let (decl, place) = self.declared_name()?;
        let text = with_slash(&self.plain_string("a prefix in quotes")?);
        self.semicolon()?;
        let decl = self.identity(decl);
        if matches!(self.spec[decl].kind, DeclKind::Module(_)) {
            // One that was declared on demand has none yet, and is global.
            let outer = std::mem::replace(&mut self.scope, ScopeId::GLOBAL);
            self.scope_of(decl);
            self.scope = outer;
        }
        let Some(scope) = self.facts[decl.index()].scope else {
            let label = "forms no scope";
            return Err(self.error(place, "`typeprefix` is for modules and other scopes", label));
        };
        self.session.spend(self.facts.len(), place)?;
        let names = self.spec[decl].scoped_name.clone();
        for index in 0..self.facts.len() {
            if self.spec.declarations[index]
                .scoped_name
                .starts_with(&names)
            {
                let path = self.spec.declarations[index].scoped_name.split_last();
                let path = path
                    .map(|(_, parents)| parents.join("/"))
                    .unwrap_or_default();
                self.facts[index].id.prefix = format!("{text}{}", with_slash(&path)).into();
            }
        }
        self.scopes[scope.0 as usize].prefix = Some(text.as_str().into());
        if self.scope == scope
            && let Some(last) = self.prefixes.last_mut()
        {
            last.text = format!("{text}{}/", names.join("/")).into();
        }
        Ok(())
    }

    /// Applies the prefix of a scope that `typeprefix` has named.
    pub(super) fn renew_prefix(&mut self) {
        let Some(text) = self.scopes[self.scope.0 as usize].prefix.clone() else {
            return;
        };
        let path = self.scope_path(self.scope);
        if let Some(last) = self.prefixes.last_mut() {
            last.text = format!("{text}{path}").into();
        }
    }

    fn declared_name(&mut self) -> Checked<(DeclId, Place)> {
        let name = self.scoped_name()?;
        match self.resolve(&name)? {
            Target::Declaration(id) => Ok((id, name.place)),
            _ => Err(self.error(name.place, "this has no repository id", "not a declaration")),
        }
    }

    fn plain_string(&mut self, what: &str) -> Checked<String> {
        if !self.at(Kind::String) {
            return Err(self.expected(what));
        }
        let token = self.bump();
        Ok(self.text(token).trim_matches('"').to_owned())
    }

    /// Checks that a reopened module keeps its id (§14.7.8).
    pub(super) fn check_module_prefix(&mut self, first: DeclId, name: &Name) {
        let parts = &self.facts[first.index()].id;
        let renamed = self.facts[first.index()]
            .scope
            .is_some_and(|scope| self.scopes[scope.0 as usize].prefix.is_some());
        if renamed || parts.explicit.is_some() || parts.prefix == self.prefix() {
            return;
        }
        let (old, new) = (parts.prefix.clone(), self.prefix());
        let shown = |prefix: &str| format!("`IDL:{prefix}{}:1.0`", name.text);
        let message = format!("the module `{}` gets a second repository id", name.text);
        let label = format!("{} here", shown(&new));
        let warning = self.session.warning_at(name.place, message, label);
        let location = &self.spec[first].location;
        let file = self.session.file(location.file).clone();
        let warning = warning
            .with_label(file, location.span.clone(), format!("{} here", shown(&old)))
            .with_help("use the same `#pragma prefix` for all parts of a module");
        self.session.report(warning);
    }

    /// Returns the repository id that a declaration has according to what has been read so far.
    pub(super) fn repository_id(&self, index: usize) -> String {
        let declaration = &self.spec.declarations[index];
        let parts = &self.facts[self.identity(declaration.id).index()].id;
        if let Some(explicit) = &parts.explicit {
            return explicit.clone();
        }
        let version = parts.version.as_deref().unwrap_or("1.0");
        format!("IDL:{}{}:{version}", parts.prefix, declaration.name)
    }

    pub(super) fn finish_repository_ids(&mut self) {
        for index in 0..self.facts.len() {
            let id = self.repository_id(index);
            self.spec.declarations[index].repository_id = id;
        }
    }
}

fn with_slash(text: &str) -> String {
    let text = text.trim_end_matches('/');
    if text.is_empty() {
        String::new()
    } else {
        format!("{text}/")
    }
}
