//! Declaration of names in scopes: clashes, redefinitions, forward declarations.

use std::rc::Rc;

use super::prefix::IdParts;
use super::{Facts, Name, Parser, Preamble};
use crate::model::{DeclId, DeclKind, Declaration, ValueFlavour};
use crate::names::{self, Entry, Scope, ScopeId, Target, Use};
use crate::session::{Checked, Reported};
use crate::source::Place;

impl Parser<'_> {
    pub(super) fn scope_mut(&mut self) -> &mut Scope {
        &mut self.scopes[self.scope.0 as usize]
    }

    /// Makes a declaration, enters its name in the current scope and appends it to the body being
    /// read. A name that clashes is reported, and its declaration made all the same, so that its
    /// content is checked too.
    pub(super) fn declare(&mut self, name: &Name, preamble: Preamble, kind: DeclKind) -> DeclId {
        let id = self.allocate(name, preamble, kind);
        self.list(id);
        if self.enter_name(name, Target::Declaration(id)).is_err() {
            self.facts[id.index()].bad = true;
        }
        id
    }

    /// Appends a declaration to the innermost body that is being read.
    pub(super) fn list(&mut self, id: DeclId) {
        if let Some(body) = self.bodies.last_mut() {
            body.push(id);
        }
    }

    /// Makes a declaration without entering its name in a scope.
    pub(super) fn allocate(&mut self, name: &Name, preamble: Preamble, kind: DeclKind) -> DeclId {
        let id = DeclId(u32::try_from(self.spec.declarations.len()).unwrap_or(u32::MAX));
        let parent = self.part();
        let scoped_name = self.scoped(name);
        let length = scoped_name.iter().map(String::len).sum::<usize>() + self.prefix().len();
        // When it is too much, the parser stops by itself.
        let _ = self.session.spend(length / 4, name.place);
        self.spec.declarations.push(Declaration {
            id,
            name: name.text.to_string(),
            scoped_name,
            repository_id: String::new(),
            parent,
            doc: preamble.doc,
            annotations: preamble.annotations,
            location: self.session.location(name.place),
            in_main_file: name.place.file.index() == 0,
            kind,
        });
        self.facts.push(Facts {
            defined: true,
            local: false,
            bad: false,
            scope: None,
            id: IdParts::new(self.prefix()),
        });
        id
    }

    /// Returns the declaration whose inside is being read; of a module, the part.
    pub(super) fn part(&self) -> Option<DeclId> {
        self.parts.last().copied()
    }

    /// Returns the scoped name of `name` in the current scope: the names of the enclosing scopes,
    /// then the name.
    pub(super) fn scoped(&self, name: &Name) -> Vec<String> {
        let owner = self.scopes[self.scope.0 as usize].owner;
        let mut names = owner.map_or_else(Vec::new, |owner| self.spec[owner].scoped_name.clone());
        names.push(name.text.to_string());
        names
    }

    /// Enters a name with its meaning into the current scope.
    pub(super) fn enter_name(&mut self, name: &Name, target: Target) -> Checked<()> {
        let key = names::key(&name.text);
        let entry = Entry {
            spelling: name.text.clone(),
            place: Some(name.place),
            target,
        };
        let clash = self.check_clash(name, &key, &entry);
        let can_be_inherited = self.scopes[self.scope.0 as usize]
            .owner
            .is_some_and(|owner| {
                matches!(
                    self.spec[owner].kind,
                    DeclKind::Interface(_) | DeclKind::ValueType(_)
                )
            });
        if clash.is_ok() && can_be_inherited {
            let declared_in = self.declared_in.entry(key.clone()).or_default();
            declared_in.push(self.scope);
        }
        let scope = self.scope_mut();
        if clash.is_ok() {
            let differs = scope
                .entries
                .get(&key)
                .is_some_and(|old| old.place.is_some() && old.spelling != name.text);
            if differs {
                scope.spellings.insert(name.text.clone(), entry);
            } else {
                scope.entries.insert(key, entry);
            }
            scope.order.push(name.text.clone());
        }
        clash
    }

    fn check_clash(&mut self, name: &Name, key: &Rc<str>, entry: &Entry) -> Checked<()> {
        let scope = &self.scopes[self.scope.0 as usize];
        let text = &name.text;
        if let Some(old) = scope.find(key, text) {
            let Some(place) = old.place else {
                return Ok(());
            };
            if old.spelling != *text {
                let message = format!("`{text}` differs from `{}` only in case", old.spelling);
                let error = self
                    .session
                    .error_at(name.place, message, "the same name to IDL");
                let error = self
                    .session
                    .and(error, place, "first declared here")
                    .with_help("choose another name: CORBA has names differ in more than case");
                return self.session.report_leniently(error);
            }
            if self.is_same_text(name.place, place) {
                return Err(self.report_included_twice(name));
            }
            let message = format!("`{text}` is declared twice");
            let error = self
                .session
                .error_at(name.place, message, "declared again here");
            let error = self.session.and(error, place, "first declared here");
            return Err(self.session.report(error));
        }
        let slot = matches!(entry.target, Target::Slot(_));
        if let Some(used) = scope.uses.get(key).filter(|used| used.direct || !slot) {
            let used = used.clone();
            self.clash_with_use(name, &used)?;
        }
        let scope = &self.scopes[self.scope.0 as usize];
        if let Some(own) = scope
            .name
            .clone()
            .filter(|own| own.eq_ignore_ascii_case(text))
        {
            self.clash_with_scope(name, &own, &entry.target)?;
        }
        self.check_inherited_operation(name, key)
    }

    /// Reports a name that was used in its scope with another meaning (§7.20.3).
    fn clash_with_use(&mut self, name: &Name, used: &Use) -> Checked<()> {
        let text = &name.text;
        let message = format!("`{text}` gets another meaning after it was used in this scope");
        let error = self.session.error_at(name.place, message, "declared here");
        let label = format!("`{}` was used here", used.spelling);
        let error = self.session.and(error, used.place, label);
        let help = match self.find_text(&used.spelling) {
            Some(Target::Declaration(id)) => format!(
                "write `{}` where it is used: a scope keeps the meaning of a name that stands \
                 first or alone, whatever its case",
                self.spec[id].absolute_name()
            ),
            _ => "a name that a scope has used keeps its meaning there, whatever its case".into(),
        };
        let error = error.with_help(help);
        if used.spelling != *text {
            return self.session.report_leniently(error);
        }
        Err(self.session.report(error))
    }

    /// Reports a name that equals the name of its scope (§7.20.2).
    fn clash_with_scope(&mut self, name: &Name, own: &Rc<str>, target: &Target) -> Checked<()> {
        let text = &name.text;
        if own != text && (self.is_callable(target) || matches!(target, Target::Slot(_))) {
            // Published IDL does this (`struct Right { string right; }`), and nothing is ambiguous.
            let message = format!("`{text}` differs from the name of its scope only in case");
            let label = format!("inside `{own}`");
            let warning = self.session.warning_at(name.place, message, label);
            self.session.report(warning);
            return Ok(());
        }
        let message = format!("`{text}` has the name of the scope that it is declared in");
        let label = format!("directly inside `{own}`");
        let help = "names that differ only in case are the same to IDL; choose another one";
        let error = self
            .session
            .error_at(name.place, message, label)
            .with_help(help);
        if own != text {
            return self.session.report_leniently(error);
        }
        Err(self.session.report(error))
    }

    /// Returns whether two source positions are one in the text of one file, even if that file was
    /// found by two paths.
    fn is_same_text(&self, a: Place, b: Place) -> bool {
        let (one, other) = (self.session.file(a.file), self.session.file(b.file));
        a.span() == b.span() && (a.file == b.file || one.text() == other.text())
    }

    /// Reports once that a file is included twice, instead of reporting all of its declarations.
    fn report_included_twice(&mut self, name: &Name) -> Reported {
        let file = name.place.file;
        if !self.included_twice.insert(file) {
            return Reported;
        }
        let message = format!(
            "the file `{}` is included twice",
            self.session.file(file).name()
        );
        let place = self.included_at.last().copied().unwrap_or(name.place);
        let label = format!("`{}` is declared twice by it", name.text);
        let error = self.session.error_at(place, message, "included again here");
        let error = self.session.and(error, name.place, label).with_help(
            "put its text between `#ifndef NAME`, `#define NAME` and `#endif`, or write \
             `#pragma once` in it",
        );
        self.session.report(error)
    }

    /// Reads the inside of a declaration in a scope of its own.
    pub(super) fn inside<T>(
        &mut self,
        id: DeclId,
        read: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> Checked<T> {
        let scope = self.scope_of(id);
        let outer = std::mem::replace(&mut self.scope, scope);
        let name = self.spec[id].name.clone();
        self.enter_prefix(&name);
        self.renew_prefix();
        self.parts.push(id);
        let result = read(self);
        self.parts.pop();
        self.scopes[scope.0 as usize].ancestors = None;
        self.leave_prefix();
        self.scope = outer;
        result
    }

    /// Runs `read` and returns the declarations that it appends to the body.
    pub(super) fn collecting<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Checked<T>,
    ) -> (Checked<T>, Vec<DeclId>) {
        self.bodies.push(Vec::new());
        let result = read(self);
        (result, self.bodies.pop().unwrap_or_default())
    }

    /// Returns the scope that a declaration forms; made at the first call.
    pub(super) fn scope_of(&mut self, id: DeclId) -> ScopeId {
        let owner = match &self.spec[id].kind {
            DeclKind::Module(module) => module.first_part,
            _ => id,
        };
        if let Some(scope) = self.facts[owner.index()].scope {
            return scope;
        }
        // An operation's parameters may have its name.
        let named = !matches!(self.spec[owner].kind, DeclKind::Operation(_));
        let name = named.then(|| self.spec[owner].name.as_str().into());
        let scope = self.new_scope(Some(owner), name);
        self.facts[owner.index()].scope = Some(scope);
        scope
    }

    pub(super) fn new_scope(&mut self, owner: Option<DeclId>, name: Option<Rc<str>>) -> ScopeId {
        let scope = ScopeId(u32::try_from(self.scopes.len()).unwrap_or(u32::MAX));
        let parent = Some(self.scope);
        self.scopes.push(Scope {
            parent,
            owner,
            name,
            ..Scope::default()
        });
        scope
    }

    /// Returns the declaration called `name` in the current scope itself, if it has exactly that
    /// spelling.
    pub(super) fn own_declaration(&self, name: &Name) -> Option<DeclId> {
        let scope = &self.scopes[self.scope.0 as usize];
        let entry = scope.find(&names::key(&name.text), &name.text)?;
        match entry.target {
            Target::Declaration(id) if entry.spelling == name.text => Some(id),
            _ => None,
        }
    }

    /// Processes a forward declaration: the first one of a name, or a repeated one.
    pub(super) fn declare_forward(&mut self, name: &Name, preamble: Preamble, kind: DeclKind) {
        if let Some(earlier) = self.own_declaration(name)
            && self.is_same_kind(earlier, &kind)
        {
            self.check_flavour(earlier, name, &kind);
            return;
        }
        let id = self.allocate(name, preamble, kind);
        self.facts[id.index()].defined = false;
        if self.enter_name(name, Target::Declaration(id)).is_err() {
            self.facts[id.index()].bad = true;
        }
    }

    /// Declares an entity that has its definition here and may have been declared forward.
    pub(super) fn define(&mut self, name: &Name, preamble: Preamble, kind: DeclKind) -> DeclId {
        let forward = self
            .own_declaration(name)
            .filter(|id| !self.facts[id.index()].defined && self.is_same_kind(*id, &kind));
        let Some(id) = forward else {
            return self.declare(name, preamble, kind);
        };
        self.check_flavour(id, name, &kind);
        let parent = self.part();
        let location = self.session.location(name.place);
        let declaration = &mut self.spec.declarations[id.index()];
        declaration.parent = parent;
        declaration.location = location;
        declaration.in_main_file = name.place.file.index() == 0;
        declaration.kind = kind;
        if !preamble.doc.is_empty() {
            declaration.doc = preamble.doc;
        }
        declaration.annotations.extend(preamble.annotations);
        self.facts[id.index()].defined = true;
        self.facts[id.index()].id.prefix = self.prefix();
        if let Some(entry) = self.scope_mut().entries.get_mut(&names::key(&name.text)) {
            entry.place = Some(name.place);
        }
        self.list(id);
        id
    }

    fn is_same_kind(&self, id: DeclId, kind: &DeclKind) -> bool {
        std::mem::discriminant(&self.spec[id].kind) == std::mem::discriminant(kind)
    }

    /// Checks that the definition has the flavour of its forward declaration: abstract or local
    /// (§7.8.5).
    fn check_flavour(&mut self, id: DeclId, name: &Name, kind: &DeclKind) {
        let earlier = &self.spec[id].kind;
        let same = match (earlier, kind) {
            (DeclKind::Interface(a), DeclKind::Interface(b)) => a.flavour == b.flavour,
            (DeclKind::ValueType(a), DeclKind::ValueType(b)) => {
                let is_abstract = |flavour| flavour == ValueFlavour::Abstract;
                is_abstract(a.flavour) == is_abstract(b.flavour)
            }
            _ => true,
        };
        if same {
            return;
        }
        let (before, now) = (earlier.describe(), kind.describe());
        let message = format!("`{}` was declared as {before}, not as {now}", name.text);
        let location = self.spec[id].location.clone();
        let file = self.session.file(location.file).clone();
        let error = self
            .session
            .error_at(name.place, message, format!("declared as {now}"))
            .with_label(file, location.span, format!("declared as {before}"));
        self.session.report(error);
    }

    /// Checks that every struct or union that was declared forward is defined (§7.11.2.3); an
    /// interface or value type need not be (§7.8.4, §7.9.1.6).
    pub(super) fn finish_forward_declarations(&mut self) {
        for index in 0..self.facts.len() {
            if self.facts[index].defined || self.facts[index].bad {
                continue;
            }
            let declaration = &self.spec.declarations[index];
            let (id, parent, what) = (
                declaration.id,
                declaration.parent,
                declaration.kind.describe(),
            );
            let message = format!("the {what} `{}` is never defined", declaration.name);
            let place = Place::from(&declaration.location);
            match &mut self.spec.declarations[index].kind {
                DeclKind::Interface(interface) => interface.forward_only = true,
                DeclKind::ValueType(value) => {
                    value.forward_only = true;
                    value.flavour = ValueFlavour::Abstract;
                }
                _ => {
                    self.error(place, message, "only declared ahead, here");
                    continue;
                }
            }
            let label = "only declared ahead, here";
            let warning = self.session.warning_at(place, message, label);
            self.session.report(warning);
            self.list_at_end(parent, id);
        }
    }

    /// Appends a declaration to the end of its scope's list.
    fn list_at_end(&mut self, parent: Option<DeclId>, id: DeclId) {
        match parent.map(|parent| &mut self.spec.declarations[parent.index()].kind) {
            None => self.bodies[0].push(id),
            Some(DeclKind::Module(module)) => module.body.push(id),
            Some(_) => {}
        }
    }
}
