//! Structs, exceptions, unions and enums (CORBA 3.3 part 1, §7.11.2 and §7.13).

use std::collections::BTreeMap;

use super::{Parser, Preamble};
use crate::lexer::Kind;
use crate::model::{
    Annotation, Case, ConstValue, DeclId, DeclKind, Enum, Enumerator, Exception, Label, Member,
    Primitive, Struct, Type, Union,
};
use crate::session::{Checked, Reported};
use crate::source::Place;

/// Key by which a union's label values are sorted and compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LabelKey(i128);

impl Parser<'_> {
    /// Reads a `struct`, up to its `}`; or a forward declaration, up to before its `;`.
    pub(super) fn structure(&mut self, preamble: Preamble) -> Checked<DeclId> {
        self.bump();
        let name = self.identifier("the struct's name")?;
        let kind = DeclKind::Struct(Struct {
            members: Vec::new(),
            nested: Vec::new(),
        });
        if self.at(Kind::Semicolon) {
            self.declare_forward(&name, preamble, kind);
            return self.own_declaration(&name).ok_or(Reported);
        }
        if self.at(Kind::Colon) {
            let place = self.peek().place;
            let message = "structs do not inherit in CORBA";
            return Err(self.error(place, message, "unexpected base"));
        }
        let id = self.define(&name, preamble, kind);
        // It is incomplete until its `}`.
        self.facts[id.index()].defined = false;
        let mut members = Vec::new();
        let (result, nested) = self.collecting(|this| {
            this.inside(id, |this| this.braced(|this| this.member(&mut members)))
        });
        self.facts[id.index()].defined = true;
        self.facts[id.index()].local = self.any_local(&members);
        let empty = members.is_empty();
        self.spec.declarations[id.index()].kind = DeclKind::Struct(Struct { members, nested });
        result?;
        if empty && !self.session.has_errors() {
            let message = format!("the struct `{}` has no members", name.text);
            self.error(name.place, message, "CORBA requires at least one");
        }
        Ok(id)
    }

    pub(super) fn exception(&mut self, preamble: Preamble) -> Checked<()> {
        self.bump();
        let name = self.identifier("the exception's name")?;
        let kind = DeclKind::Exception(Exception {
            members: Vec::new(),
            nested: Vec::new(),
        });
        let id = self.declare(&name, preamble, kind);
        let mut members = Vec::new();
        let (result, nested) = self.collecting(|this| {
            this.inside(id, |this| this.braced(|this| this.member(&mut members)))
        });
        self.facts[id.index()].local = self.any_local(&members);
        self.spec.declarations[id.index()].kind =
            DeclKind::Exception(Exception { members, nested });
        result?;
        self.semicolon()
    }

    fn any_local(&self, members: &[Member]) -> bool {
        members.iter().any(|member| self.is_local(&member.ty))
    }

    /// Reads a member declaration: `type name, name[2];`.
    pub(super) fn member(&mut self, members: &mut Vec<Member>) -> Checked<()> {
        let preamble = self.preamble()?;
        let ty = self.constructed_or_type_spec()?;
        loop {
            let (name, ty) = self.declarator(ty.clone(), "the member's name")?;
            self.enter_slot(&name, "member");
            let mut annotations = preamble.annotations.clone();
            self.settle(&mut annotations, &ty);
            members.push(Member {
                name: name.text.to_string(),
                ty,
                doc: preamble.doc.clone(),
                annotations,
                location: self.session.location(name.place),
            });
            if !self.eat(Kind::Comma) {
                return self.semicolon();
            }
        }
    }

    pub(super) fn enumeration(&mut self, preamble: Preamble) -> Checked<DeclId> {
        self.bump();
        let name = self.identifier("the enum's name")?;
        let id = self.declare(
            &name,
            preamble,
            DeclKind::Enum(Enum {
                enumerators: Vec::new(),
            }),
        );
        let mut enumerators: Vec<Enumerator> = Vec::new();
        let result = self.enumerators(id, &mut enumerators);
        self.check_default_literals(&enumerators);
        self.spec.declarations[id.index()].kind = DeclKind::Enum(Enum { enumerators });
        result?;
        Ok(id)
    }

    fn enumerators(&mut self, id: DeclId, enumerators: &mut Vec<Enumerator>) -> Checked<()> {
        self.expect(Kind::LBrace)?;
        loop {
            if self.at(Kind::RBrace) {
                let place = self.previous();
                if enumerators.is_empty() {
                    let message = "an enum has one enumerator at least";
                    self.error(self.peek().place, message, "expected an enumerator's name");
                } else {
                    let message = "an enumerator is missing after `,`";
                    self.error_with_help(place, message, "", "remove it");
                }
                self.bump();
                return Ok(());
            }
            let preamble = self.preamble()?;
            let name = self.identifier("an enumerator's name")?;
            self.enter_enumerator(&name, id, enumerators.len());
            let scoped_name = self.scoped(&name);
            let length: usize = scoped_name.iter().map(String::len).sum();
            self.session.spend(length / 4, name.place)?;
            enumerators.push(Enumerator {
                name: name.text.to_string(),
                scoped_name,
                doc: preamble.doc,
                annotations: preamble.annotations,
                location: self.session.location(name.place),
            });
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if self.eat(Kind::RBrace) {
            return Ok(());
        }
        Err(self.expected("`,` or `}`"))
    }

    /// Checks that at most one enumerator is the default (IDL 4.2, §8.3.2.3).
    fn check_default_literals(&mut self, enumerators: &[Enumerator]) {
        let mut defaults = enumerators
            .iter()
            .filter(|e| Annotation::is_set(&e.annotations, "default_literal"));
        if let (Some(first), Some(second)) = (defaults.next(), defaults.next()) {
            let message = "two enumerators are `@default_literal`";
            let (first, second) = (Place::from(&first.location), Place::from(&second.location));
            let error = self.session.error_at(second, message, "again here");
            let error = self.session.and(error, first, "first here");
            self.session.report(error);
        }
    }

    /// Reads a `union`, up to its `}`; or a forward declaration, up to before its `;`.
    pub(super) fn union(&mut self, preamble: Preamble) -> Checked<DeclId> {
        self.bump();
        let name = self.identifier("the union's name")?;
        let empty = |discriminator, cases, implicit_default, nested| {
            DeclKind::Union(Union {
                discriminator,
                cases,
                implicit_default,
                nested,
            })
        };
        let kind = empty(
            Type::Primitive(Primitive::Long),
            Vec::new(),
            false,
            Vec::new(),
        );
        if self.at(Kind::Semicolon) {
            self.declare_forward(&name, preamble, kind);
            return self.own_declaration(&name).ok_or(Reported);
        }
        let id = self.define(&name, preamble, kind);
        self.facts[id.index()].defined = false;
        let mut reading = Reading::default();
        let (result, nested) =
            self.collecting(|this| this.inside(id, |this| this.union_inside(&mut reading)));
        self.facts[id.index()].defined = true;
        self.facts[id.index()].local = reading.cases.iter().any(|c| self.is_local(&c.member.ty));
        let discriminator = reading
            .discriminator
            .unwrap_or(Type::Primitive(Primitive::Long));
        let covered = self.all_covered(&discriminator, reading.labels.len());
        if let Some(default) = reading.default.filter(|_| covered && result.is_ok()) {
            let message = "`default` is never reached: the labels cover all values";
            let error = self
                .session
                .error_at(default, message, "for no value")
                .with_help("remove it");
            // It was reported; the case stays, for no value.
            let _ = self.session.report_leniently(error);
        }
        let implicit_default = reading.default.is_none() && !covered;
        let no_cases = reading.cases.is_empty();
        self.spec.declarations[id.index()].kind =
            empty(discriminator, reading.cases, implicit_default, nested);
        result?;
        if no_cases && !self.session.has_errors() {
            let message = format!("the union `{}` has no cases", name.text);
            self.error(name.place, message, "CORBA requires at least one");
        }
        Ok(id)
    }

    fn union_inside(&mut self, reading: &mut Reading) -> Checked<()> {
        if !self.eat_word("switch") {
            return Err(self.expected("`switch`"));
        }
        self.expect(Kind::LParen)?;
        let start = self.peek().place;
        let ty = self.constructed_or_type_spec()?;
        let place = start.to(self.previous());
        if self.can_discriminate(&ty) {
            reading.discriminator = Some(ty);
        } else {
            let message = "a union cannot switch over this type";
            let label = "expected an integer, `char`, `wchar`, `boolean` or enum type";
            self.error(place, message, label);
        }
        self.expect(Kind::RParen)?;
        self.braced(|this| this.case(reading))
    }

    fn can_discriminate(&self, ty: &Type) -> bool {
        match self.spec.resolve(ty) {
            Type::Primitive(primitive) => !primitive.is_floating(),
            Type::Named(id) => matches!(self.spec[*id].kind, DeclKind::Enum(_)),
            _ => false,
        }
    }

    fn case(&mut self, reading: &mut Reading) -> Checked<()> {
        let mut labels = Vec::new();
        let first = self.peek();
        let doc = self.doc_of(first);
        loop {
            let place = self.peek().place;
            if self.eat_word("case") {
                match self.case_label(reading) {
                    Ok(label) => labels.push(label),
                    Err(Reported) if self.at(Kind::Colon) => {}
                    Err(Reported) => return Err(Reported),
                }
            } else if self.eat_word("default") {
                if let Some(earlier) = reading.default {
                    let error = self
                        .session
                        .error_at(place, "a second `default`", "again here");
                    let error = self.session.and(error, earlier, "first here");
                    self.session.report(error);
                }
                reading.default = Some(place);
                labels.push(Label::Default);
            } else {
                break;
            }
            self.expect(Kind::Colon)?;
        }
        if labels.is_empty() && self.next_is_no_type() {
            let text = self.text(self.peek());
            return Err(self.not_a_definition(&text, "`case` or `default`"));
        }
        if labels.is_empty() && !self.session.has_errors() {
            return Err(self.expected("`case` or `default`"));
        }
        let mut preamble = self.preamble()?;
        if preamble.doc.is_empty() {
            preamble.doc = doc;
        }
        let ty = self.constructed_or_type_spec()?;
        let (name, ty) = self.declarator(ty, "the member's name")?;
        self.enter_slot(&name, "member");
        let location = self.session.location(name.place);
        let Preamble {
            doc,
            mut annotations,
        } = preamble;
        self.settle(&mut annotations, &ty);
        let member = Member {
            name: name.text.to_string(),
            ty,
            doc,
            annotations,
            location,
        };
        reading.cases.push(Case { labels, member });
        self.semicolon()
    }

    /// Detects a misspelt `case`: a word, and later a colon, but no type.
    fn next_is_no_type(&self) -> bool {
        self.peek_at(2).kind == Kind::Colon
    }

    fn case_label(&mut self, reading: &mut Reading) -> Checked<Label> {
        let start = self.peek().place;
        let Some(ty) = reading.discriminator.clone() else {
            self.expression()?;
            return Err(Reported);
        };
        let value = self.constant(&ty)?;
        let place = start.to(self.previous());
        let key = label_key(&value).ok_or(Reported)?;
        if let Some(earlier) = reading.labels.insert(key, place) {
            let message = format!("the label `{}` is used twice", self.show(&value));
            let error = self.session.error_at(place, message, "again here");
            let error = self.session.and(error, earlier, "first here");
            self.session.report(error);
        }
        Ok(Label::Value(value))
    }

    /// Returns whether `labels` different labels cover all values of the discriminator.
    fn all_covered(&self, discriminator: &Type, labels: usize) -> bool {
        let values: u128 = match self.spec.resolve(discriminator) {
            Type::Primitive(Primitive::Boolean) => 2,
            Type::Primitive(Primitive::Char) => 256,
            // All characters that a `wchar` constant can be.
            Type::Primitive(Primitive::WChar) => 0x11_0000 - 0x800,
            Type::Primitive(primitive) => match primitive.integer_range() {
                Some((least, most)) => most.abs_diff(least) + 1,
                None => u128::MAX,
            },
            Type::Named(id) => match &self.spec[*id].kind {
                DeclKind::Enum(e) => e.enumerators.len() as u128,
                _ => u128::MAX,
            },
            _ => u128::MAX,
        };
        labels as u128 >= values
    }
}

/// Parts of a union declaration that have been read so far.
#[derive(Default)]
struct Reading {
    discriminator: Option<Type>,
    cases: Vec<Case>,
    labels: BTreeMap<LabelKey, Place>,
    default: Option<Place>,
}

fn label_key(value: &ConstValue) -> Option<LabelKey> {
    Some(LabelKey(match value {
        ConstValue::Integer(value) => *value,
        ConstValue::Boolean(value) => i128::from(*value),
        ConstValue::Char(c) => i128::from(*c),
        ConstValue::WChar(c) => i128::from(u32::from(*c)),
        ConstValue::Enumerator(_, index) => i128::try_from(*index).ok()?,
        _ => return None,
    }))
}
