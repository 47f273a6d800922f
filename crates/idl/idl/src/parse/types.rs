//! Types at their point of use (CORBA 3.3 part 1, §7.11).

use super::predeclared::sized_integer;
use super::{Name, Parser, Preamble};
use crate::lexer::Kind;
use crate::model::{DeclId, DeclKind, Primitive, Type};
use crate::names::Target;
use crate::session::Checked;
use crate::source::Place;

impl Parser<'_> {
    /// Reads the type of a member or typedef. A `struct`, `union` or `enum` may be defined in its
    /// place.
    pub(super) fn constructed_or_type_spec(&mut self) -> Checked<Type> {
        self.annotations_of_a_type()?;
        let token = self.peek();
        let text = self.text(token);
        let declared = match &*text {
            "struct" => self.nested(token.place, |this| this.structure(Preamble::default())),
            "union" => self.nested(token.place, |this| this.union(Preamble::default())),
            "enum" => self.enumeration(Preamble::default()),
            _ => return self.type_spec(),
        };
        let id = declared?;
        self.complete(&Type::Named(id), token.place)?;
        Ok(Type::Named(id))
    }

    /// Reads the use of a type, which must be complete. A `struct`, `union` or `enum` cannot be
    /// defined in its place.
    pub(super) fn type_spec(&mut self) -> Checked<Type> {
        let place = self.peek().place;
        let ty = self.any_type_spec()?;
        self.complete(&ty, place.to(self.previous()))?;
        Ok(ty)
    }

    /// Checks that a type is not an undefined struct or union (§7.11.2.3).
    fn complete(&mut self, ty: &Type, place: Place) -> Checked<()> {
        let Type::Named(id) = ty else { return Ok(()) };
        let incomplete = matches!(
            self.spec[*id].kind,
            DeclKind::Struct(_) | DeclKind::Union(_)
        );
        if !incomplete || self.facts[id.index()].defined {
            return Ok(());
        }
        let declaration = &self.spec[*id];
        let name = declaration.name.clone();
        let message = format!("`{name}` is not yet complete here");
        let help = format!("only `sequence<{name}>` can refer to it before its definition ends");
        Err(self.error_with_help(place, message, "would contain itself or nothing", help))
    }

    pub(super) fn any_type_spec(&mut self) -> Checked<Type> {
        self.annotations_of_a_type()?;
        let token = self.peek();
        if token.kind == Kind::ColonColon {
            return self.named_type();
        }
        if token.kind != Kind::Ident {
            return Err(self.expected("a type"));
        }
        let text = self.text(token);
        match &*text {
            "string" => {
                self.bump();
                Ok(Type::String {
                    bound: self.string_bound()?,
                })
            }
            "wstring" => {
                self.bump();
                Ok(Type::WString {
                    bound: self.string_bound()?,
                })
            }
            "sequence" => self.nested(token.place, Self::sequence),
            // This is not a keyword in CORBA, where types may have such names.
            "map" if self.peek_at(1).kind == Kind::Lt => self.nested(token.place, Self::map),
            "fixed" => self.fixed(),
            "any" => self.simple(Type::Any),
            "Object" => self.simple(Type::Object),
            "ValueBase" => self.simple(Type::ValueBase),
            "void" => {
                let label = "not a type of values";
                self.bump();
                Err(self.error(
                    token.place,
                    "`void` can only be what an operation returns",
                    label,
                ))
            }
            "struct" | "union" | "enum" => {
                let message = format!("a `{text}` cannot be declared here");
                let help = "declare it before, and use its name";
                Err(self.error_with_help(token.place, message, "declared on the spot", help))
            }
            _ => match self.primitive(&text) {
                Some(primitive) => Ok(Type::Primitive(primitive?)),
                None => self.named_type(),
            },
        }
    }

    fn simple(&mut self, ty: Type) -> Checked<Type> {
        self.bump();
        Ok(ty)
    }

    /// Reads a basic type that begins with the word `text`; returns `None` when no basic type does.
    fn primitive(&mut self, text: &str) -> Option<Checked<Primitive>> {
        let primitive = match text {
            "boolean" => Primitive::Boolean,
            "octet" => Primitive::Octet,
            "char" => Primitive::Char,
            "wchar" => Primitive::WChar,
            "float" => Primitive::Float,
            "double" => Primitive::Double,
            "short" => Primitive::Short,
            "long" => {
                self.bump();
                return Some(Ok(if self.eat_word("long") {
                    Primitive::LongLong
                } else if self.eat_word("double") {
                    Primitive::LongDouble
                } else {
                    Primitive::Long
                }));
            }
            "unsigned" => {
                self.bump();
                return Some(self.unsigned());
            }
            _ => return None,
        };
        self.bump();
        Some(Ok(primitive))
    }

    fn unsigned(&mut self) -> Checked<Primitive> {
        if self.eat_word("short") {
            return Ok(Primitive::UShort);
        }
        if !self.eat_word("long") {
            return Err(self.expected("`short` or `long` after `unsigned`"));
        }
        Ok(if self.eat_word("long") {
            Primitive::ULongLong
        } else {
            Primitive::ULong
        })
    }

    fn named_type(&mut self) -> Checked<Type> {
        if let Some(ty) = self.sized_integer() {
            self.bump();
            return Ok(ty);
        }
        let name = self.scoped_name()?;
        let target = self.resolve(&name)?;
        match &target {
            Target::Basic(ty) => return Ok(ty.clone()),
            Target::Declaration(id) if self.is_type(*id) => return Ok(Type::Named(*id)),
            _ => {}
        }
        let what = self.describe_target(&target);
        let message = format!("`{}` is {what}, not a type", name.text());
        let mut error = self
            .session
            .error_at(name.place, message, "expected a type");
        if let Target::Declaration(id) = target
            && matches!(self.spec[id].kind, DeclKind::Exception(_))
        {
            error = error.with_help("exceptions can only be raised; use a struct for a value");
        }
        Err(self.session.report(error))
    }

    /// Reads a type such as `int32`, unless something else has that name.
    fn sized_integer(&mut self) -> Option<Type> {
        let text = self.text(self.peek());
        let ty = sized_integer(&text)?;
        let other = self.peek_at(1).kind == Kind::ColonColon || self.find_text(&text).is_some();
        (!other).then_some(ty)
    }

    fn is_type(&self, id: DeclId) -> bool {
        matches!(
            self.spec[id].kind,
            DeclKind::Interface(_)
                | DeclKind::Typedef(_)
                | DeclKind::Struct(_)
                | DeclKind::Union(_)
                | DeclKind::Enum(_)
                | DeclKind::Bitmask(_)
                | DeclKind::Bitset(_)
                | DeclKind::Native
                | DeclKind::ValueType(_)
                | DeclKind::ValueBox(_)
        )
    }

    /// Reads the type of a parameter, result or attribute (§7.14.2); anonymous sequences, maps and
    /// fixed-point types are errors.
    pub(super) fn param_type(&mut self) -> Checked<Type> {
        let start = self.peek().place;
        let ty = self.type_spec()?;
        let what = match ty {
            Type::Sequence { .. } => "sequence",
            Type::Map { .. } => "map",
            Type::Fixed { .. } => "fixed",
            _ => return Ok(ty),
        };
        let place = start.to(self.previous());
        let message = format!("a `{what}` needs a name of its own here");
        let help = format!(
            "write `typedef {} Name;` before, and use the name",
            self.session.excerpt(place)
        );
        self.error_with_help(place, message, "an anonymous type", help);
        Ok(ty)
    }

    /// Reads the type of a constant (§7.10.1). `fixed` has no digits yet.
    pub(super) fn const_type(&mut self) -> Checked<Type> {
        let start = self.peek().place;
        if self.at_word("fixed") && self.peek_at(1).kind != Kind::Lt {
            self.bump();
            return Ok(Type::Fixed {
                digits: 0,
                scale: 0,
            });
        }
        let ty = self.type_spec()?;
        let resolved = self.spec.resolve(&ty);
        let fits = match resolved {
            Type::Primitive(_) | Type::String { .. } | Type::WString { .. } => true,
            Type::Fixed { .. } => matches!(ty, Type::Named(_)),
            Type::Named(id) => matches!(self.spec[*id].kind, DeclKind::Enum(_)),
            _ => false,
        };
        if fits {
            return Ok(ty);
        }
        let place = start.to(self.previous());
        let message = "a constant cannot have this type";
        let label = "expected a basic type, a string, `fixed` or an enum";
        Err(self.error(place, message, label))
    }

    /// Reads a name, maybe with dimensions that make the type an array.
    pub(super) fn declarator(&mut self, ty: Type, what: &str) -> Checked<(Name, Type)> {
        let name = self.identifier(what)?;
        let mut dimensions = Vec::new();
        while self.eat(Kind::LBracket) {
            dimensions.push(self.positive("the length of an array")?);
            self.expect(Kind::RBracket)?;
            if dimensions.len() > self.session.limits.nesting {
                let error = self.session.error_at(name.place, "too many dimensions", "");
                return Err(self.session.report_fatal(error));
            }
        }
        if dimensions.is_empty() {
            return Ok((name, ty));
        }
        Ok((
            name,
            Type::Array {
                element: Box::new(ty),
                dimensions,
            },
        ))
    }

    /// Returns whether a value of the type may hold a reference to a local object.
    pub(super) fn is_local(&self, ty: &Type) -> bool {
        let mut ty = ty;
        loop {
            match ty {
                Type::Sequence { element, .. } | Type::Array { element, .. } => ty = element,
                // A key contains no references.
                Type::Map { value, .. } => ty = value,
                Type::Named(id) => return self.facts[id.index()].local,
                _ => return false,
            }
        }
    }
}
