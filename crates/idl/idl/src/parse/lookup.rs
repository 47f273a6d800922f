//! Scoped names and their resolution (CORBA 3.3 part 1, §7.20.2 and §7.20.3).

use std::rc::Rc;

use super::{Name, Parser};
use crate::lexer::Kind;
use crate::model::{DeclId, DeclKind};
use crate::names::{self, Entry, ScopeId, Target, Use};
use crate::session::Checked;
use crate::source::Place;

/// Scoped name: `A::B`, or `::A::B`.
#[derive(Clone, Debug)]
pub(super) struct ScopedName {
    pub(super) absolute: bool,
    parts: Vec<Name>,
    pub(super) place: Place,
}

impl ScopedName {
    /// Returns the scoped name as written, without spaces.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|part| &*part.text).collect();
        format!(
            "{}{}",
            if self.absolute { "::" } else { "" },
            texts.join("::")
        )
    }

    /// Returns the first identifier of the scoped name.
    pub(super) fn first(&self) -> &str {
        self.parts.first().map_or("", |part| &part.text)
    }

    /// Returns the name, when it is a plain identifier.
    pub(super) fn simple(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [only] if !self.absolute => Some(&only.text),
            _ => None,
        }
    }
}

/// Result of looking up a name in a scope.
enum Found {
    Nothing,
    One(Entry),
    /// Ambiguous: several different entities of that name are inherited.
    Several(Vec<Entry>),
}

impl Parser<'_> {
    pub(super) fn scoped_name(&mut self) -> Checked<ScopedName> {
        let start = self.peek().place;
        let absolute = self.eat(Kind::ColonColon);
        let mut parts = vec![self.identifier_used("a name")?];
        while self.at(Kind::ColonColon) {
            self.bump();
            parts.push(self.identifier_used("a name")?);
        }
        Ok(ScopedName {
            absolute,
            parts,
            place: start.to(self.previous()),
        })
    }

    /// Resolves a name. An unknown name is reported once.
    pub(super) fn resolve(&mut self, name: &ScopedName) -> Checked<Target> {
        let (target, found_in) = self.resolve_from(name)?;
        if !name.absolute {
            let first = &name.parts[0];
            self.introduce(&first.text, first.place, found_in);
        }
        Ok(target)
    }

    /// Resolves a name as `resolve` does, without fixing its meaning in the scope: for the name of
    /// an exception.
    fn resolve_without_use(&mut self, name: &ScopedName) -> Checked<Target> {
        self.resolve_from(name).map(|(target, _)| target)
    }

    /// Resolves a name; also returns the scope in which its first part was found.
    fn resolve_from(&mut self, name: &ScopedName) -> Checked<(Target, ScopeId)> {
        let first = &name.parts[0];
        let Some((mut entry, at)) = self.find_first(name.absolute, first)? else {
            return Err(self.not_found(name, first, None));
        };
        self.check_spelling(first, &entry)?;
        for part in &name.parts[1..] {
            let Some(scope) = self.scope_behind(&entry.target) else {
                let message = format!("`{}` is not a scope with names", entry.spelling);
                return Err(self.error(part.place, message, "cannot be looked up"));
            };
            entry = match self.find_in(scope, &part.text, part.place)? {
                Found::Nothing => return Err(self.not_found(name, part, Some(scope))),
                Found::One(entry) => entry,
                Found::Several(entries) => return Err(self.ambiguous(part, &entries)),
            };
            self.check_spelling(part, &entry)?;
        }
        Ok((entry.target, at))
    }

    /// Records a use of a name, which fixes its meaning in the scope that used it, and around that
    /// up to the innermost module (§7.20.3).
    fn introduce(&mut self, spelling: &Rc<str>, place: Place, found_in: ScopeId) {
        let key = names::key(spelling);
        let mut next = Some(self.scope);
        while let Some(scope) = next.filter(|scope| *scope != found_in) {
            let direct = scope == self.scope;
            let used = Use {
                spelling: spelling.clone(),
                place,
                direct,
            };
            let uses = &mut self.scopes[scope.0 as usize].uses;
            uses.entry(key.clone()).or_insert(used).direct |= direct;
            next = self.scopes[scope.0 as usize].parent;
            if next.is_some_and(|outer| self.is_module_scope(outer)) {
                break;
            }
        }
    }

    fn is_module_scope(&self, scope: ScopeId) -> bool {
        let owner = self.scopes[scope.0 as usize].owner;
        owner.is_none_or(|owner| matches!(self.spec[owner].kind, DeclKind::Module(_)))
    }

    /// Searches for the first part of a name, from the present scope outwards.
    fn find_first(&mut self, absolute: bool, name: &Name) -> Checked<Option<(Entry, ScopeId)>> {
        let mut next = Some(if absolute {
            ScopeId::GLOBAL
        } else {
            self.scope
        });
        let mut other_spelling = None;
        while let Some(scope) = next {
            match self.find_in(scope, &name.text, name.place)? {
                Found::Nothing => {}
                // Where names may differ only in case, one further out may be meant.
                Found::One(entry) if self.session.lenient && entry.spelling != name.text => {
                    other_spelling.get_or_insert((entry, scope));
                }
                Found::One(entry) => return Ok(Some((entry, scope))),
                Found::Several(entries) => return Err(self.ambiguous(name, &entries)),
            }
            next = self.scopes[scope.0 as usize].parent;
        }
        Ok(other_spelling)
    }

    /// Searches a scope itself, then its bases: the nearest on each path counts.
    fn find_in(&mut self, scope: ScopeId, name: &str, place: Place) -> Checked<Found> {
        let key = names::key(name);
        if let Some(entry) = self.scopes[scope.0 as usize].find(&key, name) {
            return Ok(Found::One(entry.clone()));
        }
        let mut found: Vec<Entry> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut pending: Vec<ScopeId> = Vec::new();
        if self.may_be_inherited(scope, &key, place)? {
            pending.clone_from(&self.scopes[scope.0 as usize].bases);
        }
        pending.reverse();
        let mut steps = 1 + name.len() / 16;
        while let Some(base) = pending.pop() {
            steps += 1;
            if !seen.insert(base) {
                continue;
            }
            let base = &self.scopes[base.0 as usize];
            match base.find(&key, name) {
                Some(entry) if found.iter().all(|f| f.target != entry.target) => {
                    found.push(entry.clone());
                }
                Some(_) => {}
                None => pending.extend(base.bases.iter().rev().copied()),
            }
        }
        self.session.spend(steps, place)?;
        Ok(match (found.len(), found.pop()) {
            (1, Some(entry)) => Found::One(entry),
            (_, Some(last)) => {
                found.push(last);
                Found::Several(found)
            }
            _ => match self.predeclare(scope, name) {
                Some(entry) => Found::One(entry),
                None => Found::Nothing,
            },
        })
    }

    /// Returns the scope that a name's `::` leads into.
    fn scope_behind(&mut self, target: &Target) -> Option<ScopeId> {
        let Target::Declaration(id) = target else {
            return None;
        };
        let mut id = *id;
        // A typedef of an interface is a name for it.
        while let DeclKind::Typedef(typedef) = &self.spec[id].kind {
            match typedef.ty {
                crate::model::Type::Named(named) => id = named,
                _ => return None,
            }
        }
        self.define_predeclared(id);
        match self.spec[id].kind {
            DeclKind::Module(_)
            | DeclKind::Interface(_)
            | DeclKind::ValueType(_)
            | DeclKind::Struct(_)
            | DeclKind::Union(_)
            | DeclKind::Exception(_) => Some(self.scope_of(id)),
            _ => None,
        }
    }

    fn check_spelling(&mut self, name: &Name, entry: &Entry) -> Checked<()> {
        if name.text == entry.spelling {
            return Ok(());
        }
        let message = format!("`{}` is declared as `{}`", name.text, entry.spelling);
        let help = format!("spell it as its declaration does: `{}`", entry.spelling);
        let mut error = self
            .session
            .error_at(name.place, message, "spelt differently")
            .with_help(help);
        if let Some(place) = entry.place {
            error = self.session.and(error, place, "declared here");
        }
        self.session.report_leniently(error)
    }

    fn ambiguous(&mut self, name: &Name, entries: &[Entry]) -> crate::session::Reported {
        let message = format!(
            "`{}` is ambiguous: it is inherited more than once",
            name.text
        );
        let mut error = self.session.error_at(name.place, message, "which one?");
        for entry in entries.iter().take(4) {
            if let Some(place) = entry.place {
                error = self.session.and(error, place, "could be this");
            }
        }
        self.session
            .report(error.with_help("qualify it with the interface that it comes from"))
    }

    /// Returns whether a name is a constant or an enumerator here; reports nothing.
    pub(super) fn names_a_constant(&mut self, name: &str) -> bool {
        match self.find_text(name) {
            Some(Target::Declaration(id)) => matches!(self.spec[id].kind, DeclKind::Const(_)),
            Some(Target::Enumerator(..)) => true,
            _ => false,
        }
    }

    /// Resolves a name given as a string rather than as tokens of the parser; reports nothing.
    pub(super) fn find_text(&mut self, name: &str) -> Option<Target> {
        let absolute = name.starts_with("::");
        let mut parts = name.trim_start_matches("::").split("::");
        let mut next = Some(if absolute {
            ScopeId::GLOBAL
        } else {
            self.scope
        });
        let first = parts.next()?;
        let mut target = None;
        while let (Some(scope), None) = (next, &target) {
            if let Ok(Found::One(entry)) = self.find_in(scope, first, Place::default()) {
                target = Some(entry.target);
            }
            next = self.scopes[scope.0 as usize].parent;
        }
        for part in parts {
            let scope = self.scope_behind(&target?)?;
            target = match self.find_in(scope, part, Place::default()) {
                Ok(Found::One(entry)) => Some(entry.target),
                _ => None,
            };
        }
        target
    }

    /// Reads a name of a `raises` clause: an exception, or a native type (§7.14.3), as Messaging
    /// uses `UserExceptionBase`.
    pub(super) fn exception_name(&mut self) -> Checked<(DeclId, Place)> {
        let name = self.scoped_name()?;
        match self.resolve_without_use(&name)? {
            Target::Declaration(id) if self.is_system_exception(id) => {
                let message = format!("`{}` is a system exception", name.text());
                let help = "every operation can raise the system exceptions: leave it out";
                Err(self.error_with_help(name.place, message, "never named in `raises`", help))
            }
            Target::Declaration(id)
                if matches!(
                    self.spec[id].kind,
                    DeclKind::Exception(_) | DeclKind::Native
                ) =>
            {
                Ok((id, name.place))
            }
            target => {
                let what = self.describe_target(&target);
                let message = format!("`{}` is {what}, not an exception", name.text());
                Err(self.error(name.place, message, "only exceptions can be raised"))
            }
        }
    }

    /// Returns whether an exception is one of module CORBA with the members that system exceptions
    /// have.
    fn is_system_exception(&self, id: DeclId) -> bool {
        let DeclKind::Exception(exception) = &self.spec[id].kind else {
            return false;
        };
        let members = exception.members.iter().map(|member| member.name.as_str());
        matches!(self.spec[id].scoped_name.as_slice(), [module, _] if module == "CORBA")
            && members.eq(["minor", "completed"])
    }

    pub(super) fn describe_target(&self, target: &Target) -> String {
        let what = match target {
            Target::Declaration(id) => self.spec[*id].kind.describe(),
            Target::Enumerator(..) => "enumerator",
            Target::Slot(what) => what,
            Target::Basic(_) => "basic type",
        };
        let vowel = what.starts_with(['a', 'e', 'i', 'o', 'u']) && !what.starts_with("union");
        format!("{} {what}", if vowel { "an" } else { "a" })
    }
}
