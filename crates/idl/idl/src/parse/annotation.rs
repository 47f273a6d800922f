//! Annotations in the form of IDL 4: `@name`, `@name(value)`, `@name(a = 1, b = "x")`. Which
//! exist and what they mean is the reader's matter.

use super::Parser;
use crate::lexer::Kind;
use crate::model::{Annotation, AnnotationArgument, AnnotationValue};
use crate::session::Checked;

impl Parser<'_> {
    pub(super) fn annotations(&mut self) -> Checked<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.eat(Kind::At) {
            annotations.push(self.annotation()?);
        }
        Ok(annotations)
    }

    fn annotation(&mut self) -> Checked<Annotation> {
        let place = self.peek().place;
        let name = self.dotted_name()?;
        let location = self.session.location(place);
        let mut arguments = Vec::new();
        if self.eat(Kind::LParen) && !self.eat(Kind::RParen) {
            loop {
                let named = self.at(Kind::Ident) && self.peek_at(1).kind == Kind::Eq;
                let name = if named {
                    let token = self.bump();
                    self.bump();
                    Some(self.text(token).to_string())
                } else {
                    None
                };
                let value = self.annotation_value()?;
                arguments.push(AnnotationArgument { name, value });
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.expect(Kind::RParen)?;
        }
        Ok(Annotation {
            name,
            arguments,
            location,
        })
    }

    fn annotation_value(&mut self) -> Checked<AnnotationValue> {
        let token = self.peek();
        let is_constant = match token.kind {
            Kind::Ident => {
                let text = self.text(token);
                matches!(&*text, "TRUE" | "FALSE") || self.names_a_constant(&text)
            }
            _ => true,
        };
        if is_constant || token.kind == Kind::ColonColon {
            return Ok(AnnotationValue::Const(self.expression()?));
        }
        Ok(AnnotationValue::Name(self.dotted_name()?))
    }

    /// `a::b` with keywords allowed, as `@default` is an annotation.
    fn dotted_name(&mut self) -> Checked<String> {
        let mut name = String::new();
        loop {
            if !self.at(Kind::Ident) {
                return Err(self.expected("an annotation's name"));
            }
            let token = self.bump();
            name.push_str(&self.text(token));
            if !self.eat(Kind::ColonColon) {
                return Ok(name);
            }
            name.push_str("::");
        }
    }
}
