//! Value types and boxed values (CORBA 3.3 part 1, §7.9).

use super::{Name, Parser, Preamble};
use crate::lexer::Kind;
use crate::model::{DeclId, DeclKind, Factory, StateMember, ValueBox, ValueFlavour, ValueType};
use crate::session::Checked;
use crate::source::Place;

/// Base or supported interface, and the source position where it is named.
type Named = (DeclId, Place);

impl Parser<'_> {
    pub(super) fn value(&mut self, preamble: Preamble) -> Checked<()> {
        let flavour = if self.eat_word("abstract") {
            ValueFlavour::Abstract
        } else if self.eat_word("custom") {
            ValueFlavour::Custom
        } else {
            ValueFlavour::Plain
        };
        if !self.eat_word("valuetype") {
            let text = self.text(self.peek());
            return Err(self.not_a_definition(&text, "`valuetype`"));
        }
        let name = self.identifier("the value type's name")?;
        let token = self.peek();
        let has_body = matches!(token.kind, Kind::LBrace | Kind::Colon) || self.at_word("supports");
        if token.kind == Kind::Semicolon {
            if flavour == ValueFlavour::Custom {
                let message = "a forward declaration is never `custom`";
                self.error(name.place, message, "declared ahead");
            }
            self.declare_forward(&name, preamble, DeclKind::ValueType(empty(flavour)));
            return self.semicolon();
        }
        if !has_body && flavour == ValueFlavour::Plain {
            return self.value_box(&name, preamble);
        }
        self.value_definition(&name, preamble, flavour)
    }

    /// Reads a boxed value type: `valuetype Name Type;` (§7.9.3).
    fn value_box(&mut self, name: &Name, preamble: Preamble) -> Checked<()> {
        let start = self.peek().place;
        let ty = self.constructed_or_type_spec()?;
        let place = start.to(self.previous());
        let boxes_value = self.spec.resolve_named(&ty).is_some_and(|declaration| {
            matches!(
                declaration.kind,
                DeclKind::ValueType(_) | DeclKind::ValueBox(_)
            )
        });
        if boxes_value {
            let message = "a value type cannot be boxed";
            self.error(place, message, "is a value type already");
        }
        self.declare(name, preamble, DeclKind::ValueBox(ValueBox { ty }));
        self.semicolon()
    }

    fn value_definition(
        &mut self,
        name: &Name,
        preamble: Preamble,
        flavour: ValueFlavour,
    ) -> Checked<()> {
        let id = self.define(name, preamble, DeclKind::ValueType(empty(flavour)));
        let (truncatable, bases) = if self.eat(Kind::Colon) {
            let place = self.peek().place;
            let truncatable = self.eat_word("truncatable").then_some(place);
            (truncatable, self.base_list(id, true)?)
        } else {
            (None, Vec::new())
        };
        let supports = if self.eat_word("supports") {
            self.base_list(id, false)?
        } else {
            Vec::new()
        };
        self.check_value_bases(flavour, truncatable, &bases, &supports);
        let inherited: Vec<Named> = bases.iter().chain(&supports).copied().collect();
        self.inherit(id, &inherited);
        let ids = |named: &[Named]| named.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        let mut value = ValueType {
            truncatable: truncatable.is_some(),
            bases: ids(&bases),
            supports: ids(&supports),
            ..empty(flavour)
        };
        // Its own members may already refer to its bases.
        self.spec.declarations[id.index()].kind = DeclKind::ValueType(value.clone());
        if !self.at(Kind::LBrace) {
            return Err(self.expected("`{`"));
        }
        let (result, body) = self.collecting(|this| {
            this.inside(id, |this| {
                this.braced(|this| this.value_element(&mut value))
            })
        });
        value.body = body;
        self.spec.declarations[id.index()].kind = DeclKind::ValueType(value);
        result?;
        self.semicolon()
    }

    fn value_element(&mut self, value: &mut ValueType) -> Checked<()> {
        let preamble = self.preamble()?;
        let token = self.peek();
        match &*self.text(token) {
            "public" | "private" => {
                if value.flavour == ValueFlavour::Abstract {
                    let message = "an abstract value type has no state";
                    self.error(token.place, message, "a state member");
                }
                self.state(preamble, value)
            }
            "factory" => {
                if value.flavour == ValueFlavour::Abstract {
                    let message = "an abstract value type has no factories";
                    self.error(token.place, message, "nothing to make");
                }
                self.factory(preamble, value)
            }
            _ => self.shared_export(preamble),
        }
    }

    fn state(&mut self, preamble: Preamble, value: &mut ValueType) -> Checked<()> {
        let public = &*self.text(self.peek()) == "public";
        self.bump();
        let start = self.peek().place;
        let ty = self.constructed_or_type_spec()?;
        if self.is_local(&ty) {
            let message = "a state member cannot hold a local interface";
            self.error(start.to(self.previous()), message, "local");
        }
        loop {
            let (name, ty) = self.declarator(ty.clone(), "the state member's name")?;
            self.enter_slot(&name, "state member");
            let mut annotations = preamble.annotations.clone();
            self.settle(&mut annotations, &ty);
            let member = crate::model::Member {
                name: name.text.to_string(),
                ty,
                doc: preamble.doc.clone(),
                annotations,
                location: self.session.location(name.place),
            };
            value.state.push(StateMember { public, member });
            if !self.eat(Kind::Comma) {
                return self.semicolon();
            }
        }
    }

    /// Reads a value type's initializer: `factory name(in long x) raises (E);` (§7.9.1.5).
    fn factory(&mut self, preamble: Preamble, value: &mut ValueType) -> Checked<()> {
        self.bump();
        let name = self.identifier("the factory's name")?;
        self.enter_slot(&name, "factory");
        // Parameters are named in a scope of their own, as an operation's are.
        let owner = self.scopes[self.scope.0 as usize].owner;
        let inner = self.new_scope(owner, None);
        let outer = std::mem::replace(&mut self.scope, inner);
        let parameters = self.parameters(true);
        self.scope = outer;
        let parameters = parameters?;
        let raises = if self.eat_word("raises") {
            self.exceptions()?
        } else {
            Vec::new()
        };
        value.factories.push(Factory {
            name: name.text.to_string(),
            parameters,
            raises,
            doc: preamble.doc,
            annotations: preamble.annotations,
            location: self.session.location(name.place),
        });
        self.semicolon()
    }
}

fn empty(flavour: ValueFlavour) -> ValueType {
    ValueType {
        flavour,
        truncatable: false,
        bases: Vec::new(),
        supports: Vec::new(),
        state: Vec::new(),
        factories: Vec::new(),
        body: Vec::new(),
        forward_only: false,
    }
}
