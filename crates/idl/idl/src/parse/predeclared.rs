//! Names of module CORBA that IDL uses without declaring them. The standard has them in `orb.idl`
//! (CORBA 3.3 part 1, §7.18); here they are declared at their first look-up unless the IDL has
//! declared them before, so that it can also include the `orb.idl` of another ORB.
//!
//! An interface or value type is only declared forward at first, as those of the Interface
//! Repository refer to each other in cycles. Its definition is read when something inherits from it
//! or looks into it, and else at the end, unless the file has defined it by then. The interfaces of
//! the Interface Repository stay undefined unless one of them is imported: a file that only passes
//! on a reference to one need not have the operations of all.

pub(super) mod declared;
mod library;

use std::path::Path;

use super::prefix::Prefix;
use super::{Name, Parser, Preamble};
use crate::lexer::{self, Kind};
use crate::model::{DeclId, DeclKind, Module, Primitive, Type};
use crate::names::{self, Entry, ScopeId, Target};
use crate::source::Place;

use library::Library;

impl Parser<'_> {
    /// Declares a name of module CORBA, or the module, if it is one of the standard's.
    pub(super) fn predeclare(&mut self, scope: ScopeId, name: &str) -> Option<Entry> {
        if scope == ScopeId::GLOBAL && name == "CORBA" {
            self.predeclare_module();
            return self.own_entry(ScopeId::GLOBAL, name);
        }
        let owner = self.scopes[scope.0 as usize].owner?;
        if self.spec[owner].scoped_name != ["CORBA"] {
            return None;
        }
        if name == "TypeCode" {
            return Some(Entry {
                spelling: name.into(),
                place: None,
                target: Target::Basic(Type::TypeCode),
            });
        }
        let library = self.predeclared.library.get_or_insert_with(Library::corba);
        let statement = library.find(name)?;
        self.predeclare_module();
        match statement.head {
            Some(head) => {
                self.read_builtin(scope, name, &format!("{head};"));
                if let Some(Target::Declaration(id)) =
                    self.own_entry(scope, name).map(|entry| entry.target)
                {
                    self.predeclared.ahead.push((id, statement.on_request));
                }
            }
            None => self.read_builtin(scope, name, statement.text),
        }
        self.forget_place(scope, name);
        self.own_entry(scope, name)
    }

    /// Clears the source position of an entry, so that a later declaration may replace it.
    fn forget_place(&mut self, scope: ScopeId, name: &str) {
        let key = names::key(name);
        let scope = &mut self.scopes[scope.0 as usize];
        let Some(target) = scope.entries.get(&key).map(|entry| entry.target.clone()) else {
            return;
        };
        // An enumerator comes with its enum and with all others of it.
        let enumeration = match target {
            Target::Enumerator(id, _) | Target::Declaration(id) => id,
            _ => return,
        };
        let enumerators = match &self.spec[enumeration].kind {
            DeclKind::Enum(e) => e.enumerators.iter().map(|e| names::key(&e.name)).collect(),
            _ => Vec::new(),
        };
        let own = names::key(&self.spec[enumeration].name);
        for key in enumerators.into_iter().chain([own]) {
            if let Some(entry) = scope.entries.get_mut(&key) {
                entry.place = None;
            }
        }
    }

    /// Reads the built-in definition of a forward declaration in module CORBA: on demand, or for a
    /// file that does not define it itself.
    pub(super) fn define_predeclared(&mut self, id: DeclId) {
        if self.facts[id.index()].defined {
            return;
        }
        let (module, name) = match self.spec[id].scoped_name.as_slice() {
            [module, name] if module == "CORBA" => (module.clone(), name.clone()),
            _ => return,
        };
        let library = self.predeclared.library.get_or_insert_with(Library::corba);
        let statement = library.find(&name).filter(|found| found.head.is_some());
        let module = self.own_entry(ScopeId::GLOBAL, &module);
        let (Some(statement), Some(Target::Declaration(module))) =
            (statement, module.map(|entry| entry.target))
        else {
            return;
        };
        let scope = self.scope_of(module);
        self.predeclare_module();
        self.read_builtin(scope, &name, statement.text);
        self.forget_place(scope, &name);
    }

    /// Requests the complete definition of an imported declaration.
    pub(super) fn request_predeclared(&mut self, id: DeclId) {
        let mut ahead = self.predeclared.ahead.iter();
        self.predeclared.repository_is_wanted |=
            ahead.any(|(other, on_request)| *other == id && *on_request);
    }

    /// Reads all missing definitions, with those that they require.
    pub(super) fn finish_predeclared(&mut self) {
        let mut next = 0;
        while let Some(&(id, on_request)) = self.predeclared.ahead.get(next) {
            if !on_request || self.predeclared.repository_is_wanted {
                self.define_predeclared(id);
            }
            next += 1;
        }
    }

    fn own_entry(&self, scope: ScopeId, name: &str) -> Option<Entry> {
        self.scopes[scope.0 as usize]
            .entries
            .get(&names::key(name))
            .cloned()
    }

    /// Makes the implicit part of module CORBA, and with it the module if needed.
    fn predeclare_module(&mut self) {
        if self.predeclared.part.is_some() {
            return;
        }
        let file = self
            .session
            .add_file(Path::new("<built in>/CORBA"), "module CORBA".to_owned());
        let name = Name {
            text: "CORBA".into(),
            place: Place {
                file,
                start: 7,
                end: 12,
            },
        };
        let outer = (
            std::mem::replace(&mut self.scope, ScopeId::GLOBAL),
            std::mem::take(&mut self.parts),
            std::mem::replace(&mut self.prefixes, vec![Prefix::file("omg.org/")]),
        );
        let first = self.own_declaration(&name);
        let module = Module {
            first_part: DeclId(0),
            body: Vec::new(),
        };
        let id = self.allocate(&name, Preamble::default(), DeclKind::Module(module));
        if let DeclKind::Module(module) = &mut self.spec.declarations[id.index()].kind {
            module.first_part = first.unwrap_or(id);
        }
        if first.is_none() {
            // No clash is possible: the name was just searched for and not found.
            let _ = self.enter_name(&name, Target::Declaration(id));
        }
        self.predeclared.part = Some(id);
        (self.scope, self.parts, self.prefixes) = outer;
    }

    /// Reads a declaration of module CORBA, whatever else is being read.
    fn read_builtin(&mut self, scope: ScopeId, name: &str, text: &str) {
        let Some(part) = self.predeclared.part else {
            return;
        };
        let aside = BuiltinTarget {
            path: format!("<built in>/CORBA::{name}"),
            scope,
            parts: vec![part],
            prefix: "omg.org/CORBA/",
        };
        let body = self.read_text(aside, text);
        if let DeclKind::Module(module) = &mut self.spec.declarations[part.index()].kind {
            module.body.extend(body);
        }
    }

    /// Reads the built-in IDL file of an imported module.
    pub(super) fn import_built_in(&mut self, module: &str) {
        let Some((_, text)) = MODULES.iter().find(|(name, _)| *name == module) else {
            return;
        };
        let aside = BuiltinTarget {
            path: format!("<built in>/{module}.idl"),
            scope: ScopeId::GLOBAL,
            parts: Vec::new(),
            prefix: "omg.org/",
        };
        // Its directives guard it and set the prefix, which is done here.
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let text: String = lines.flat_map(|line| [line, "\n"]).collect();
        let body = self.read_text(aside, &text);
        self.bodies[0].extend(body);
    }

    fn read_text(&mut self, aside: BuiltinTarget, text: &str) -> Vec<DeclId> {
        let file = self
            .session
            .add_file(Path::new(&aside.path), text.to_owned());
        let mut tokens = lexer::tokens(self.session, file, &[]);
        let is_space = |kind| matches!(kind, Kind::Newline | Kind::LineComment);
        tokens.retain(|token| !is_space(token.kind));
        let Some(mut end) = tokens.last().copied() else {
            return Vec::new();
        };
        end.kind = Kind::End;
        tokens.push(end);
        let outer = (
            std::mem::replace(&mut self.tokens, tokens),
            std::mem::replace(&mut self.next, 0),
            std::mem::replace(&mut self.events, Vec::new().into_iter().peekable()),
            std::mem::replace(&mut self.scope, aside.scope),
            std::mem::replace(&mut self.parts, aside.parts),
            std::mem::replace(&mut self.prefixes, vec![Prefix::file(aside.prefix)]),
            std::mem::take(&mut self.open_angles),
        );
        let (_, body) = self.collecting(|this| {
            this.definition_or_recover();
            Ok(())
        });
        (
            self.tokens,
            self.next,
            self.events,
            self.scope,
            self.parts,
            self.prefixes,
            self.open_angles,
        ) = outer;
        body
    }
}

/// Scope and prefix with which a built-in IDL text is read.
struct BuiltinTarget {
    path: String,
    scope: ScopeId,
    parts: Vec<DeclId>,
    prefix: &'static str,
}

/// Modules that `import` finds without an `#include`, except CORBA, which is always there.
const MODULES: &[(&str, &str)] = &[("IOP", include_str!("../builtin/IOP.idl"))];

/// Returns the IDL 4 integer type called `name`. Names such as `int32` are not keywords here, so
/// that existing IDL with such names stays valid.
pub(super) fn sized_integer(name: &str) -> Option<Type> {
    let primitive = match name {
        "int8" => Primitive::Int8,
        "uint8" => Primitive::UInt8,
        "int16" => Primitive::Short,
        "uint16" => Primitive::UShort,
        "int32" => Primitive::Long,
        "uint32" => Primitive::ULong,
        "int64" => Primitive::LongLong,
        "uint64" => Primitive::ULongLong,
        _ => return None,
    };
    Some(Type::Primitive(primitive))
}

#[cfg(test)]
mod tests {
    use super::library::Library;
    use crate::diagnostic::render;
    use crate::{InMemory, Options, compile_source};

    #[test]
    fn each_predeclared_name_stands_for_something_when_it_is_used_alone() {
        for name in Library::corba().names() {
            let text = format!("import ::CORBA::_{name};\ntypedef long Used;\n");
            let result = compile_source("x.idl", text, &Options::default(), &InMemory::new());
            if let Err(failure) = result {
                panic!("{name}: {}", render(&failure.diagnostics, false));
            }
        }
    }

    #[test]
    fn all_predeclared_names_together_are_right() {
        let uses = Library::corba().names().into_iter();
        let text: String = uses
            .map(|name| format!("import ::CORBA::_{name};\n"))
            .collect();
        let text = format!("{text}typedef long Used;\n");
        let compiled = compile_source("x.idl", text, &Options::default(), &InMemory::new());
        let compiled =
            compiled.unwrap_or_else(|failure| panic!("{}", render(&failure.diagnostics, false)));
        assert!(compiled.warnings.is_empty());
        let repository = compiled.specification.find("CORBA::InterfaceDef").unwrap();
        assert_eq!(
            compiled.specification.all_operations(repository.id).len(),
            33
        );
    }
}
