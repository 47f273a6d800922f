//! Definitions and modules (CORBA 3.3 part 1, §7.5 and §7.7), and the small declarations.

use super::{Name, Parser, Preamble};
use crate::advice::Advice;
use crate::lexer::Kind;
use crate::model::{Const, DeclId, DeclKind, Module, Typedef};
use crate::names::{self, Target};
use crate::session::{Checked, Reported};

/// Words that a definition can begin with, for suggestions.
const BEGINNINGS: &[&str] = &[
    "module",
    "interface",
    "abstract",
    "local",
    "valuetype",
    "custom",
    "typedef",
    "struct",
    "union",
    "enum",
    "bitmask",
    "bitset",
    "const",
    "exception",
    "native",
    "typeid",
    "typeprefix",
    "import",
    "readonly",
    "attribute",
    "oneway",
    "factory",
    "public",
    "private",
    "case",
    "default",
];

impl Parser<'_> {
    pub(super) fn definition_or_recover(&mut self) {
        let before = self.next;
        if self.definition().is_err() {
            self.recover();
            if self.next == before && !self.at(Kind::RBrace) {
                self.bump();
            }
        }
    }

    fn definition(&mut self) -> Checked<()> {
        if self.begins_annotation_definition() {
            return self.annotation_definition();
        }
        let preamble = self.preamble()?;
        let token = self.peek();
        if token.kind == Kind::Semicolon {
            let label = "nothing stands before it";
            self.error_with_help(token.place, "unexpected `;`", label, "remove it");
            self.bump();
            return Ok(());
        }
        if token.kind != Kind::Ident {
            return Err(self.expected("a definition"));
        }
        let text = self.text(token);
        match &*text {
            "module" => self.module(preamble),
            "interface" | "local" => self.interface(preamble),
            "abstract" if self.is_word(self.peek_at(1), "valuetype") => self.value(preamble),
            "abstract" => self.interface(preamble),
            "valuetype" | "custom" => self.value(preamble),
            "typeid" => self.since_corba_3(Self::type_id),
            "typeprefix" => self.since_corba_3(Self::type_prefix),
            "import" => self.since_corba_3(Self::import),
            _ => match self.type_or_constant(preamble) {
                Some(result) => result,
                None => Err(self.not_a_definition(&text, "a definition")),
            },
        }
    }

    /// Reads a definition that is allowed in any scope: types, constants, exceptions. Returns
    /// `None` for any other.
    pub(super) fn type_or_constant(&mut self, preamble: Preamble) -> Option<Checked<()>> {
        let text = self.text(self.peek());
        let result = match &*text {
            "typedef" => self.typedef(preamble),
            "const" => self.constant_definition(preamble),
            "exception" => self.exception(preamble),
            "native" => self.native(preamble),
            "struct" => self.structure(preamble).and_then(|_| self.semicolon()),
            "union" => self.union(preamble).and_then(|_| self.semicolon()),
            "enum" => self.enumeration(preamble).and_then(|_| self.semicolon()),
            // These are not keywords in CORBA, where types and operations may have such names.
            "bitmask" | "bitset" if self.begins_bits() => self.bits(preamble),
            _ => return None,
        };
        Some(result)
    }

    /// Reports why a word cannot begin the expected definition.
    pub(super) fn not_a_definition(&mut self, text: &str, what: &str) -> Reported {
        let place = self.peek().place;
        if matches!(
            text,
            "component"
                | "home"
                | "eventtype"
                | "porttype"
                | "connector"
                | "provides"
                | "uses"
                | "emits"
                | "publishes"
                | "consumes"
                | "finder"
        ) {
            let message = format!("`{text}` of the component model is not supported");
            let error = self.session.error_at(place, message, "not supported");
            return self.advised(Advice::LeaveOut(place), |this| this.session.report(error));
        }
        let found = self.describe(self.peek());
        let message = format!("expected {what}, found {found}");
        let mut error = self
            .session
            .error_at(place, message, format!("expected {what}"));
        if let Some(keyword) = names::colliding_keyword(text).filter(|keyword| *keyword != text) {
            error = error.with_help(format!("keywords are written as `{keyword}`"));
        } else if let Some(near) = names::nearest(text, BEGINNINGS.iter().copied()) {
            error = error.with_help(format!("did you mean `{near}`?"));
        }
        self.session.report(error)
    }

    fn module(&mut self, preamble: Preamble) -> Checked<()> {
        self.bump();
        let name = self.identifier("the module's name")?;
        let earlier = self
            .own_declaration(&name)
            .filter(|id| matches!(self.spec[*id].kind, DeclKind::Module(_)));
        // A module's first part is known only once it has an id.
        let kind = DeclKind::Module(Module {
            first_part: DeclId(0),
            body: Vec::new(),
        });
        let id = match earlier {
            Some(first) => {
                self.check_module_prefix(first, &name);
                let id = self.allocate(&name, preamble, kind);
                self.list(id);
                id
            }
            None => self.declare(&name, preamble, kind),
        };
        self.set_module(id, |module| module.first_part = earlier.unwrap_or(id));
        let open = self.peek().place;
        let is_empty = self.peek_at(1).kind == Kind::RBrace;
        let (result, body) = self.collecting(|this| {
            this.inside(id, |this| {
                this.braced(|this| {
                    this.definition_or_recover();
                    Ok(())
                })
            })
        });
        if is_empty && result.is_ok() && !self.session.has_errors() {
            let warning = self.session.warning_at(
                name.place.to(open),
                format!("the module `{}` is empty", name.text),
                "CORBA requires at least one definition in it",
            );
            self.session.report(warning);
        }
        self.set_module(id, |module| module.body = body);
        result?;
        self.semicolon()
    }

    fn set_module(&mut self, id: DeclId, change: impl FnOnce(&mut Module)) {
        if let DeclKind::Module(module) = &mut self.spec.declarations[id.index()].kind {
            change(module);
        }
    }

    /// Reads `import ::Scope;` or `import "repository id";` (§7.6): the imported scope has to come
    /// from a file that is included.
    fn import(&mut self) -> Checked<()> {
        self.bump();
        let token = self.peek();
        if self.eat(Kind::String) {
            let id = self.text(token).trim_matches('"').to_owned();
            self.session.spend(self.facts.len() * 8, token.place)?;
            if (0..self.facts.len()).all(|index| self.repository_id(index) != id) {
                let message = format!("cannot import `{id}`: nothing has this repository id");
                let help = "`#include` the file that declares it";
                return Err(self.error_with_help(token.place, message, "not declared", help));
            }
        } else {
            let name = self.scoped_name()?;
            if self.find_text(&name.text()).is_none() {
                self.import_built_in(name.first());
            }
            let include = Advice::Help("`#include` the file that declares it");
            let target = self.advised(include, |this| this.resolve(&name))?;
            if let Target::Declaration(id) = target {
                self.request_predeclared(id);
            }
        }
        self.semicolon()
    }

    fn typedef(&mut self, preamble: Preamble) -> Checked<()> {
        self.bump();
        let ty = self.constructed_or_type_spec()?;
        loop {
            let (name, ty) = self.declarator(ty.clone(), "the new type's name")?;
            let local = self.is_local(&ty);
            let id = self.declare(&name, preamble.clone(), DeclKind::Typedef(Typedef { ty }));
            self.facts[id.index()].local = local;
            if !self.eat(Kind::Comma) {
                return self.semicolon();
            }
        }
    }

    fn native(&mut self, preamble: Preamble) -> Checked<()> {
        self.bump();
        let name = self.identifier("the native type's name")?;
        self.declare(&name, preamble, DeclKind::Native);
        self.semicolon()
    }

    fn constant_definition(&mut self, preamble: Preamble) -> Checked<()> {
        self.bump();
        let ty = self.const_type();
        if ty.is_err() && !self.at(Kind::Ident) {
            return Err(Reported);
        }
        let name = self.identifier("the constant's name")?;
        self.expect(Kind::Eq)?;
        let value = match &ty {
            Ok(ty) => self.constant(ty),
            Err(Reported) => Err(Reported),
        };
        let bad = value.is_err() || ty.is_err();
        let value = value.unwrap_or(crate::model::ConstValue::Integer(0));
        let ty = match (ty.unwrap_or(crate::model::Type::Any), &value) {
            // `fixed` gets its digits from the value (§7.10.1).
            (crate::model::Type::Fixed { digits: 0, .. }, crate::model::ConstValue::Fixed(f)) => {
                let digits = u16::try_from(f.digits.len()).unwrap_or(u16::MAX);
                crate::model::Type::Fixed {
                    digits,
                    scale: f.scale,
                }
            }
            (ty, _) => ty,
        };
        let id = self.declare(&name, preamble, DeclKind::Const(Const { ty, value }));
        self.facts[id.index()].bad |= bad;
        if bad {
            return Err(Reported);
        }
        self.semicolon()
    }

    /// Enters the name of a member, parameter, factory or state member in the current scope.
    pub(super) fn enter_slot(&mut self, name: &Name, what: &'static str) {
        // A clash was reported; the slot stays in its list all the same.
        let _ = self.enter_name(name, Target::Slot(what));
    }
}
