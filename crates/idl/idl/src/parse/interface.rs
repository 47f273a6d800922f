//! Interfaces (CORBA 3.3 part 1, §7.8) and their common parts with value types.

use super::{Parser, Preamble};
use crate::lexer::Kind;
use crate::model::{DeclKind, Interface, InterfaceFlavour};
use crate::session::Checked;

impl Parser<'_> {
    pub(super) fn interface(&mut self, preamble: Preamble) -> Checked<()> {
        let flavour = if self.eat_word("abstract") {
            InterfaceFlavour::Abstract
        } else if self.eat_word("local") {
            InterfaceFlavour::Local
        } else {
            InterfaceFlavour::Plain
        };
        if !self.eat_word("interface") {
            let wanted = match flavour {
                InterfaceFlavour::Abstract => "`interface` or `valuetype`",
                _ => "`interface`",
            };
            let text = self.text(self.peek());
            return Err(self.not_a_definition(&text, wanted));
        }
        let name = self.identifier("the interface's name")?;
        let kind = |flavour, bases, body| {
            DeclKind::Interface(Interface {
                flavour,
                bases,
                body,
                forward_only: false,
            })
        };
        if self.at(Kind::Semicolon) {
            self.declare_forward(&name, preamble, kind(flavour, Vec::new(), Vec::new()));
            if let Some(id) = self.own_declaration(&name) {
                self.facts[id.index()].local = flavour == InterfaceFlavour::Local;
            }
            return self.semicolon();
        }
        let id = self.define(&name, preamble, kind(flavour, Vec::new(), Vec::new()));
        self.facts[id.index()].local = flavour == InterfaceFlavour::Local;
        if self.at(Kind::Colon) {
            self.bump();
            let bases = self.base_list(id, false)?;
            let flavour = self.check_interface_bases(flavour, &bases);
            self.facts[id.index()].local = flavour == InterfaceFlavour::Local;
            self.inherit(id, &bases);
            let bases = bases.into_iter().map(|(base, _)| base).collect();
            self.spec.declarations[id.index()].kind = kind(flavour, bases, Vec::new());
        }
        if !self.at(Kind::LBrace) {
            return Err(self.expected("`{`, `:` or `;`"));
        }
        let (result, exports) =
            self.collecting(|this| this.inside(id, |this| this.braced(Self::export)));
        if let DeclKind::Interface(interface) = &mut self.spec.declarations[id.index()].kind {
            interface.body = exports;
        }
        result?;
        self.semicolon()
    }

    /// Reads one declaration in the body of an interface.
    fn export(&mut self) -> Checked<()> {
        let preamble = self.preamble()?;
        if self.at(Kind::Semicolon) {
            let place = self.bump().place;
            let label = "nothing stands before it";
            self.error_with_help(place, "unexpected `;`", label, "remove it");
            return Ok(());
        }
        let text = self.text(self.peek());
        match &*text {
            "public" | "private" | "factory" if self.peek_at(1).kind == Kind::Ident => {
                let place = self.peek().place;
                let message = format!("`{text}` belongs into a value type");
                Err(self.error(place, message, "not in an interface"))
            }
            "module" | "interface" | "valuetype" => {
                let place = self.peek().place;
                let article = if &*text == "interface" { "an" } else { "a" };
                let message = format!("{article} `{text}` cannot be declared inside an interface");
                Err(self.error(place, message, "not here"))
            }
            _ => self.shared_export(preamble),
        }
    }

    /// Reads an item that interfaces and value types can both contain.
    pub(super) fn shared_export(&mut self, preamble: Preamble) -> Checked<()> {
        let text = self.text(self.peek());
        match &*text {
            "readonly" | "attribute" => self.attribute(preamble),
            "typeid" if self.begins_id() => self.since_corba_3(Self::type_id),
            "typeprefix" if self.begins_id() => self.since_corba_3(Self::type_prefix),
            _ => match self.type_or_constant(preamble.clone()) {
                Some(result) => result,
                None => self.operation(preamble),
            },
        }
    }

    /// Returns whether `typeid` or `typeprefix` is meant as the keyword: `typeid name "id"`. An
    /// operation may have a type of that name.
    fn begins_id(&self) -> bool {
        let mut ahead = 1;
        while matches!(self.peek_at(ahead).kind, Kind::Ident | Kind::ColonColon) {
            ahead += 1;
        }
        self.peek_at(ahead).kind != Kind::LParen
    }

    /// Returns whether the declaration being read can be called from another process, so that no
    /// local type may be passed (§7.8.7).
    pub(super) fn is_remote_scope(&self) -> bool {
        let Some(part) = self.part() else {
            return false;
        };
        matches!(
            &self.spec[part].kind,
            DeclKind::Interface(interface) if interface.flavour != InterfaceFlavour::Local
        )
    }
}
