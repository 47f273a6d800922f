//! Inheritance of interfaces and value types (CORBA 3.3 part 1, §7.8.6 and §7.9).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{Name, Parser};
use crate::lexer::Kind;
use crate::model::{DeclId, DeclKind, InterfaceFlavour, ValueFlavour};
use crate::names::{self, ScopeId, Target};
use crate::session::Checked;
use crate::source::Place;

/// Upper bound of the number of bases, more than any interface has; checking them costs the square
/// of their number.
const MAX_ANCESTORS: usize = 1000;

impl Parser<'_> {
    /// Reads `Name, Name, …` of interfaces (or value types), each once, each defined.
    pub(super) fn base_list(&mut self, own: DeclId, values: bool) -> Checked<Vec<(DeclId, Place)>> {
        let mut bases: Vec<(DeclId, Place)> = Vec::new();
        loop {
            let name = self.scoped_name()?;
            if let Ok(target) = self.resolve(&name)
                && let Ok(id) = self.base(own, &name.text(), name.place, &target, values)
            {
                if let Some((_, first)) = bases.iter().find(|(base, _)| *base == id) {
                    let message = format!("`{}` is a base twice", name.text());
                    let error = self.session.error_at(name.place, message, "again here");
                    let error = self.session.and(error, *first, "first here");
                    self.session.report(error);
                } else {
                    bases.push((id, name.place));
                }
            }
            if !self.eat(Kind::Comma) {
                return Ok(bases);
            }
        }
    }

    fn base(
        &mut self,
        own: DeclId,
        text: &str,
        place: Place,
        target: &Target,
        values: bool,
    ) -> Checked<DeclId> {
        let target = self.behind_typedefs(target);
        let wanted = if values {
            "a value type"
        } else {
            "an interface"
        };
        let id = match target {
            Target::Declaration(id)
                if matches!(
                    (&self.spec[id].kind, values),
                    (DeclKind::Interface(_), false) | (DeclKind::ValueType(_), true)
                ) =>
            {
                id
            }
            _ => {
                let what = self.describe_target(&target);
                let message = format!("`{text}` is {what}, not {wanted}");
                return Err(self.error(place, message, "cannot be a base"));
            }
        };
        if id == own {
            return Err(self.error(
                place,
                format!("`{text}` inherits from itself"),
                "its own base",
            ));
        }
        self.define_predeclared(id);
        if !self.facts[id.index()].defined {
            let message = format!("`{text}` is a base before it is defined");
            let location = self.spec[id].location.clone();
            let file = self.session.file(location.file).clone();
            let error = self
                .session
                .error_at(place, message, "needs its definition")
                .with_label(file, location.span, "only declared here")
                .with_help("move the definition before this one");
            return Err(self.session.report(error));
        }
        Ok(id)
    }

    fn behind_typedefs(&self, target: &Target) -> Target {
        let mut target = target.clone();
        while let Target::Declaration(id) = target
            && let DeclKind::Typedef(typedef) = &self.spec[id].kind
            && let crate::model::Type::Named(named) = typedef.ty
        {
            target = Target::Declaration(named);
        }
        target
    }

    /// Makes a scope inherit from others, and checks that inherited names do not clash.
    pub(super) fn inherit(&mut self, id: DeclId, bases: &[(DeclId, Place)]) {
        let own = self.scope_of(id);
        let mut scopes: Vec<ScopeId> = Vec::new();
        for (base, _) in bases {
            let scope = self.scope_of(*base);
            scopes.push(scope);
        }
        self.scopes[own.0 as usize].bases = scopes;
        let Some((_, first_place)) = bases.first() else {
            return;
        };
        let ancestors = self.ancestor_scopes(own);
        if ancestors.len() > MAX_ANCESTORS {
            let message = format!("more than {MAX_ANCESTORS} direct and indirect bases");
            self.error(*first_place, message, "too many");
            self.scopes[own.0 as usize].bases.clear();
            return;
        }
        if self.session.spend(ancestors.len(), *first_place).is_ok() && bases.len() > 1 {
            self.check_operations_meet(&ancestors, bases);
        }
        self.scopes[own.0 as usize].ancestors = Some(ancestors.into_iter().collect());
    }

    /// Returns whether an ancestor of a scope may declare a name with the given key; also `true`
    /// where that is unknown. Most names are in few scopes, so that this costs less than searching
    /// all ancestors.
    pub(super) fn may_be_inherited(
        &mut self,
        scope: ScopeId,
        key: &str,
        place: Place,
    ) -> Checked<bool> {
        let scope = &self.scopes[scope.0 as usize];
        if scope.bases.is_empty() {
            return Ok(false);
        }
        let Some(ancestors) = &scope.ancestors else {
            return Ok(true);
        };
        let Some(declared_in) = self.declared_in.get(key) else {
            return Ok(false);
        };
        if declared_in.len() > ancestors.len() {
            return Ok(true);
        }
        let found = declared_in.iter().any(|scope| ancestors.contains(scope));
        let steps = declared_in.len();
        self.session.spend(steps, place)?;
        Ok(found)
    }

    fn ancestor_scopes(&self, scope: ScopeId) -> Vec<ScopeId> {
        let mut seen = HashSet::new();
        let mut ordered = Vec::new();
        let mut pending = self.scopes[scope.0 as usize].bases.clone();
        pending.reverse();
        while let Some(scope) = pending.pop() {
            if seen.insert(scope) {
                ordered.push(scope);
                pending.extend(self.scopes[scope.0 as usize].bases.iter().rev().copied());
            }
        }
        ordered
    }

    /// Checks that no two bases have an operation or attribute of the same name (§7.8.6.1).
    fn check_operations_meet(&mut self, ancestors: &[ScopeId], bases: &[(DeclId, Place)]) {
        let place = bases.last().map(|(_, place)| *place).unwrap_or_default();
        let mut seen: HashMap<Rc<str>, (ScopeId, Option<Place>, Rc<str>)> = HashMap::new();
        let lenient = self.session.lenient;
        let total: usize = ancestors
            .iter()
            .map(|s| self.scopes[s.0 as usize].order.len())
            .sum();
        if self.session.spend(total * 4, place).is_err() {
            return;
        }
        for scope in ancestors {
            let table = &self.scopes[scope.0 as usize];
            for spelling in &table.order {
                let key = names::key(spelling);
                let Some(entry) = table.entries.get(&key) else {
                    continue;
                };
                if !self.is_callable(&entry.target) {
                    continue;
                }
                match seen.get(&key) {
                    Some((other, _, own)) if other != scope && lenient && own != spelling => {}
                    Some((other, earlier, _)) if other != scope => {
                        let message =
                            format!("two bases have an operation or attribute `{spelling}`");
                        let mut error = self.session.error_at(place, message, "they meet here");
                        for at in [*earlier, entry.place].into_iter().flatten() {
                            error = self.session.and(error, at, "one of them");
                        }
                        self.session.report(error);
                        return;
                    }
                    _ => {
                        seen.insert(key, (*scope, entry.place, spelling.clone()));
                    }
                }
            }
        }
    }

    pub(super) fn is_callable(&self, target: &Target) -> bool {
        match target {
            Target::Declaration(id) => {
                matches!(
                    self.spec[*id].kind,
                    DeclKind::Operation(_) | DeclKind::Attribute(_)
                )
            }
            Target::Slot(what) => *what == "state member",
            _ => false,
        }
    }

    /// Checks that no inherited operation or attribute is redeclared (§7.8.6.1).
    pub(super) fn check_inherited_operation(&mut self, name: &Name, key: &Rc<str>) -> Checked<()> {
        if !self.may_be_inherited(self.scope, key, name.place)? {
            return Ok(());
        }
        let ancestors = self.ancestor_scopes(self.scope);
        self.session.spend(ancestors.len(), name.place)?;
        let inherited = ancestors.iter().find_map(|scope| {
            let entry = self.scopes[scope.0 as usize].entries.get(key)?;
            self.is_callable(&entry.target)
                .then(|| (entry.spelling.clone(), entry.place))
        });
        let Some((spelling, place)) = inherited else {
            return Ok(());
        };
        let message = format!("`{}` is inherited and cannot be declared again", name.text);
        let mut error = self
            .session
            .error_at(name.place, message, "declared again here");
        if let Some(place) = place {
            error = self
                .session
                .and(error, place, format!("`{spelling}` is inherited from here"));
        }
        if spelling != name.text {
            return self.session.report_leniently(error);
        }
        Err(self.session.report(error))
    }

    /// Checks which flavours of interface may inherit which (§7.8.6, §7.8.7). Returns the flavour
    /// that the interface has: one that inherits a local one cannot leave its process either.
    pub(super) fn check_interface_bases(
        &mut self,
        flavour: InterfaceFlavour,
        bases: &[(DeclId, Place)],
    ) -> InterfaceFlavour {
        let mut taken_as = flavour;
        for (base, place) in bases {
            let DeclKind::Interface(interface) = &self.spec[*base].kind else {
                continue;
            };
            let name = self.spec[*base].name.clone();
            match (flavour, interface.flavour) {
                (InterfaceFlavour::Abstract, InterfaceFlavour::Abstract) => {}
                (InterfaceFlavour::Abstract, _) => {
                    let message = "an abstract interface cannot inherit from one that is not";
                    self.error(*place, message, &format!("`{name}` is not abstract"));
                }
                (InterfaceFlavour::Plain, InterfaceFlavour::Local) => {
                    let message = "an interface cannot inherit from a local one";
                    let label = format!("`{name}` is local");
                    let help = match self.session.lenient {
                        true => "it is taken as a `local interface`, too",
                        false => "make it a `local interface` too",
                    };
                    let error = self
                        .session
                        .error_at(*place, message, label)
                        .with_help(help);
                    if self.session.report_leniently(error).is_ok() {
                        taken_as = InterfaceFlavour::Local;
                    }
                }
                _ => {}
            }
        }
        taken_as
    }

    /// Checks the bases and supported interfaces of a value type (§7.9.1).
    pub(super) fn check_value_bases(
        &mut self,
        flavour: ValueFlavour,
        truncatable: Option<Place>,
        bases: &[(DeclId, Place)],
        supports: &[(DeclId, Place)],
    ) {
        let mut concrete_first = false;
        for (index, (base, place)) in bases.iter().enumerate() {
            let DeclKind::ValueType(value) = &self.spec[*base].kind else {
                continue;
            };
            let concrete = value.flavour != ValueFlavour::Abstract;
            concrete_first |= concrete && index == 0;
            if concrete && flavour == ValueFlavour::Abstract {
                let message = "an abstract value type cannot inherit from one with state";
                self.error(*place, message, "has state");
            } else if concrete && index > 0 {
                let message = "only the first base of a value type can have state";
                self.error(*place, message, "has state, and is not the first");
            }
        }
        if let Some(place) = truncatable {
            if flavour != ValueFlavour::Plain {
                let message = "only a plain value type can be truncatable";
                self.error(place, message, "custom or abstract");
            } else if !concrete_first {
                let message = "`truncatable` needs a base that has state";
                self.error(place, message, "nothing to truncate to");
            }
        }
        let concrete: Vec<Place> = supports
            .iter()
            .filter(|(id, _)| {
                matches!(&self.spec[*id].kind,
                    DeclKind::Interface(i) if i.flavour != InterfaceFlavour::Abstract)
            })
            .map(|(_, place)| *place)
            .collect();
        if let [first, second, ..] = concrete.as_slice() {
            let message = "a value type can support one interface that is not abstract";
            let error = self.session.error_at(*second, message, "the second one");
            let error = self.session.and(error, *first, "the first one");
            self.session.report(error);
        }
    }
}
