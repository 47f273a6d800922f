//! Definitions `@annotation name { … };` (IDL 4.2, §7.4.15.4.1) of annotations and their arguments.

use crate::lexer::Kind;
use crate::model::{AnnotationDefinition, AnnotationMember, AnnotationValue, DeclKind, Type};
use crate::names::Target;
use crate::parse::{Name, Parser, Preamble};
use crate::session::Checked;

use super::parameter::{AllowedValues, key};

impl Parser<'_> {
    pub(in crate::parse) fn begins_annotation_definition(&self) -> bool {
        self.at(Kind::At)
            && self.is_word(self.peek_at(1), "annotation")
            && self.peek_at(2).kind == Kind::Ident
            && self.peek_at(3).kind == Kind::LBrace
    }

    pub(in crate::parse) fn annotation_definition(&mut self) -> Checked<()> {
        let doc = self.doc_of(self.peek());
        self.bump();
        self.bump();
        // A keyword may be the name, as `@default` is an annotation.
        let token = self.bump();
        let name = Name {
            text: self.text(token),
            place: token.place,
        };
        let kind = |members, nested| DeclKind::Annotation(AnnotationDefinition { members, nested });
        let preamble = Preamble {
            doc,
            annotations: Vec::new(),
        };
        let id = self.allocate(&name, preamble, kind(Vec::new(), Vec::new()));
        self.list(id);
        let filed = Name {
            text: key(&name.text).into(),
            place: name.place,
        };
        if self.enter_name(&filed, Target::Declaration(id)).is_err() {
            self.facts[id.index()].bad = true;
        }
        let mut members = Vec::new();
        let (result, nested) = self.collecting(|this| {
            this.inside(id, |this| {
                this.braced(|this| this.annotation_item(&mut members))
            })
        });
        self.spec.declarations[id.index()].kind = kind(members, nested);
        result?;
        self.semicolon()
    }

    fn annotation_item(&mut self, members: &mut Vec<AnnotationMember>) -> Checked<()> {
        let preamble = self.preamble()?;
        match &*self.text(self.peek()) {
            "enum" => self.enumeration(preamble).and_then(|_| self.semicolon()),
            "const" | "typedef" => match self.type_or_constant(preamble) {
                Some(result) => result,
                None => Ok(()),
            },
            _ => self.annotation_member(members),
        }
    }

    /// Reads `long priority;`, `boolean value default TRUE;`, `any value;`.
    fn annotation_member(&mut self, members: &mut Vec<AnnotationMember>) -> Checked<()> {
        let ty = if self.eat_word("any") {
            Type::Any
        } else {
            self.const_type()?
        };
        let name = self.identifier("the name of an annotation's member")?;
        self.enter_slot(&name, "annotation member");
        let default = match self.eat_word("default") {
            true => Some(self.default_of_member(&ty)?),
            false => None,
        };
        members.push(AnnotationMember {
            name: name.text.to_string(),
            ty,
            default,
            location: self.session.location(name.place),
        });
        self.semicolon()
    }

    fn default_of_member(&mut self, ty: &Type) -> Checked<AnnotationValue> {
        let start = self.peek().place;
        let mut value = self.annotation_value()?;
        let place = start.to(self.previous());
        let wanted = match ty {
            Type::Any => AllowedValues::Anything,
            ty => AllowedValues::Of(ty.clone()),
        };
        self.check_argument(&mut value, &wanted, place)?;
        Ok(value)
    }
}
