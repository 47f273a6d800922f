//! Types with parameters: `sequence<…>`, `map<…>`, `string<…>`, `fixed<…>` (CORBA 3.3 part 1,
//! §7.11.4).

use super::Parser;
use crate::lexer::{Kind, Token};
use crate::model::{ConstValue, DeclKind, Primitive, Type};
use crate::session::{Checked, Reported};

impl Parser<'_> {
    pub(super) fn string_bound(&mut self) -> Checked<Option<u32>> {
        if !self.eat(Kind::Lt) {
            return Ok(None);
        }
        self.open_angles += 1;
        let bound = self.positive("the bound of a string");
        self.open_angles -= 1;
        let bound = bound?;
        self.close_angle()?;
        Ok(Some(bound))
    }

    pub(super) fn sequence(&mut self) -> Checked<Type> {
        self.bump();
        self.expect(Kind::Lt)?;
        self.open_angles += 1;
        let inner = self.sequence_inner();
        self.open_angles -= 1;
        let (element, bound) = inner?;
        self.close_angle()?;
        Ok(Type::Sequence {
            element: Box::new(element),
            bound,
        })
    }

    fn sequence_inner(&mut self) -> Checked<(Type, Option<u32>)> {
        let element = self.any_type_spec()?;
        let bound = match self.eat(Kind::Comma) {
            true => Some(self.positive("the bound of a sequence")?),
            false => None,
        };
        Ok((element, bound))
    }

    /// Reads `map<key, value>`, `map<key, value, bound>` (IDL 4.2, §7.4.13.4.3.1).
    pub(super) fn map(&mut self) -> Checked<Type> {
        let start = self.bump().place;
        self.expect(Kind::Lt)?;
        self.open_angles += 1;
        let inner = self.map_inner();
        self.open_angles -= 1;
        let (key, value, bound) = inner?;
        self.close_angle()?;
        let place = start.to(self.previous());
        if let Some(flaw) = self.unfit_for_a_key(&key) {
            let message = "a `map` cannot have such keys";
            let help =
                "keys are compared and ordered: take numbers, text, enums, or structs of them";
            self.error_with_help(place, message, flaw, help);
        }
        Ok(Type::Map {
            key: Box::new(key),
            value: Box::new(value),
            bound,
        })
    }

    fn map_inner(&mut self) -> Checked<(Type, Type, Option<u32>)> {
        let key = self.type_spec()?;
        self.expect(Kind::Comma)?;
        // An incomplete type may be held by reference, as in a sequence.
        let value = self.any_type_spec()?;
        let bound = match self.eat(Kind::Comma) {
            true => Some(self.positive("the bound of a map")?),
            false => None,
        };
        Ok((key, value, bound))
    }

    /// Returns why values of a type cannot be keys: they have no order, or are not equal to
    /// themselves.
    fn unfit_for_a_key(&self, key: &Type) -> Option<&'static str> {
        let mut flaw = None;
        self.spec.contains(key, |part| {
            flaw = match part {
                Type::Primitive(p) if p.is_floating() => {
                    Some("the key holds a floating-point number")
                }
                Type::Any | Type::TypeCode => Some("the key holds an `any` or a TypeCode"),
                Type::Object | Type::ValueBase => Some("the key holds a reference"),
                Type::Map { .. } => Some("the key holds a map"),
                Type::Named(id) => match self.spec[*id].kind {
                    DeclKind::Interface(_) => Some("the key holds a reference"),
                    DeclKind::ValueType(_) | DeclKind::ValueBox(_) => Some("the key holds a value"),
                    DeclKind::Native => Some("the key holds a native type"),
                    DeclKind::Union(_) => Some("the key holds a union"),
                    _ => None,
                },
                _ => None,
            };
            flaw.is_some()
        });
        flaw
    }

    /// Reads `>`, also as the first half of `>>`.
    fn close_angle(&mut self) -> Checked<()> {
        if self.at(Kind::Shr) {
            let token: &mut Token = &mut self.tokens[self.next];
            token.kind = Kind::Gt;
            token.place.start = (token.place.start + 1).min(token.place.end);
            token.text = self.session.names.intern(">");
            return Ok(());
        }
        self.expect(Kind::Gt).map(|_| ())
    }

    pub(super) fn fixed(&mut self) -> Checked<Type> {
        let start = self.bump().place;
        self.expect(Kind::Lt)?;
        self.open_angles += 1;
        let parameters = self.fixed_parameters();
        self.open_angles -= 1;
        let (digits, scale) = parameters?;
        self.close_angle()?;
        let place = start.to(self.previous());
        if digits > 31 || digits == 0 {
            return Err(self.error(place, "`fixed` has 1 to 31 digits", "out of range"));
        }
        if scale > digits {
            let message = "the scale of `fixed` is at most its number of digits";
            return Err(self.error(place, message, "out of range"));
        }
        let narrow = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
        Ok(Type::Fixed {
            digits: narrow(digits),
            scale: narrow(scale),
        })
    }

    fn fixed_parameters(&mut self) -> Checked<(u32, u32)> {
        let digits = self.positive("the number of digits")?;
        self.expect(Kind::Comma)?;
        let place = self.peek().place;
        let scale = self.constant(&Type::Primitive(Primitive::Long))?;
        match scale {
            ConstValue::Integer(value) if value >= 0 => {
                Ok((digits, u32::try_from(value).unwrap_or(u32::MAX)))
            }
            _ => Err(self.error(place, "the scale of `fixed` cannot be negative", "below 0")),
        }
    }

    /// Reads a constant above 0 (§7.10.2, positive integer constants).
    pub(super) fn positive(&mut self, what: &str) -> Checked<u32> {
        let start = self.peek().place;
        let value = self.constant(&Type::Primitive(Primitive::ULong))?;
        let place = start.to(self.previous());
        match value {
            ConstValue::Integer(value) if value > 0 => u32::try_from(value).map_err(|_| Reported),
            _ => Err(self.error(place, format!("{what} has to be above 0"), "this is 0")),
        }
    }
}
