//! Constant expressions (CORBA 3.3 part 1, §7.10.2), evaluated while they are read.

use super::arithmetic::{Width, floats, integers, precedence};
use super::{Name, Parser};
use crate::fixed;
use crate::lexer::{Kind, Token};
use crate::model::{ConstValue, DeclKind, Primitive, Type};
use crate::names::Target;
use crate::session::{Checked, Reported};
use crate::source::Place;

impl Parser<'_> {
    /// Reads a constant expression whose value has to be of the given type.
    pub(super) fn constant(&mut self, ty: &Type) -> Checked<ConstValue> {
        let resolved = self.spec.resolve(ty).clone();
        let start = self.peek().place;
        let value = self.binary(0, Width::of(&resolved))?;
        let place = start.to(self.previous());
        self.coerce(value, &resolved, place)
    }

    /// Reads a constant expression of any type.
    pub(super) fn expression(&mut self) -> Checked<ConstValue> {
        self.binary(
            0,
            Width {
                bits: 64,
                signed: true,
            },
        )
    }

    /// Reads operators of at least the given precedence, by precedence climbing. Chains are read in
    /// a loop.
    fn binary(&mut self, strength: u8, width: Width) -> Checked<ConstValue> {
        let start = self.peek().place;
        let mut left = self.unary(width)?;
        loop {
            let operator = self.peek();
            let own = match precedence(operator.kind) {
                Some(own) if own >= strength => own,
                _ => return Ok(left),
            };
            // `sequence<sequence<long, 4>>`: two brackets are open, so this closes them.
            if operator.kind == Kind::Shr && self.open_angles > 1 {
                return Ok(left);
            }
            self.bump();
            let right = self.binary(own + 1, width)?;
            let place = start.to(self.previous());
            left = self.apply(operator, left, right, width, place)?;
        }
    }

    fn unary(&mut self, width: Width) -> Checked<ConstValue> {
        let mut operators: Vec<Token> = Vec::new();
        while matches!(self.peek().kind, Kind::Minus | Kind::Plus | Kind::Tilde) {
            operators.push(self.bump());
        }
        let mut value = self.primary(width)?;
        while let Some(operator) = operators.pop() {
            let place = operator.place.to(self.previous());
            value = match (operator.kind, value) {
                (Kind::Minus, ConstValue::Integer(n)) => ConstValue::Integer(-n),
                (Kind::Minus, ConstValue::Float(x)) => ConstValue::Float(-x),
                (Kind::Minus, ConstValue::Fixed(f)) => ConstValue::Fixed(fixed::negate(&f)),
                (
                    Kind::Plus,
                    v @ (ConstValue::Integer(_) | ConstValue::Float(_) | ConstValue::Fixed(_)),
                ) => v,
                (Kind::Tilde, ConstValue::Integer(n)) => ConstValue::Integer(width.complement(n)),
                (_, other) => {
                    let what = describe(&other);
                    let message =
                        format!("{} cannot be applied to {what}", self.describe(operator));
                    return Err(self.error(place, message, &format!("{what} here")));
                }
            };
        }
        Ok(value)
    }

    fn primary(&mut self, width: Width) -> Checked<ConstValue> {
        let token = self.peek();
        match token.kind {
            Kind::Number | Kind::Char | Kind::WChar | Kind::String | Kind::WString => {
                self.bump();
                self.literal(token)
            }
            Kind::LParen => self.nested(token.place, |this| {
                this.bump();
                let angles = std::mem::take(&mut this.open_angles);
                let value = this.binary(0, width);
                this.open_angles = angles;
                let value = value?;
                this.expect(Kind::RParen)?;
                Ok(value)
            }),
            Kind::Ident if self.at_word("TRUE") || self.at_word("FALSE") => {
                self.bump();
                Ok(ConstValue::Boolean(&*self.text(token) == "TRUE"))
            }
            Kind::Ident | Kind::ColonColon => self.named_constant(),
            _ => Err(self.expected("a constant")),
        }
    }

    fn named_constant(&mut self) -> Checked<ConstValue> {
        let name = self.scoped_name()?;
        let target = self.resolve(&name)?;
        match &target {
            Target::Enumerator(id, index) => return Ok(ConstValue::Enumerator(*id, *index)),
            Target::Declaration(id) => {
                if let DeclKind::Const(constant) = &self.spec[*id].kind {
                    if self.facts[id.index()].bad {
                        return Err(Reported);
                    }
                    let value = constant.value.clone();
                    if let ConstValue::String(text) | ConstValue::WString(text) = &value {
                        self.session.spend(text.len() / 4, name.place)?;
                    }
                    return Ok(value);
                }
            }
            _ => {}
        }
        let what = self.describe_target(&target);
        let message = format!("`{}` is {what}, not a constant", name.text());
        let mut error = self
            .session
            .error_at(name.place, message, "expected a constant");
        if let Some(simple) = name.simple()
            && simple.eq_ignore_ascii_case("true")
        {
            error = error.with_help("the boolean constants are `TRUE` and `FALSE`");
        }
        Err(self.session.report(error))
    }

    fn apply(
        &mut self,
        operator: Token,
        left: ConstValue,
        right: ConstValue,
        width: Width,
        place: Place,
    ) -> Checked<ConstValue> {
        let result = match (&left, &right) {
            (ConstValue::Integer(a), ConstValue::Integer(b)) => {
                integers(operator.kind, *a, *b, width).map(ConstValue::Integer)
            }
            (ConstValue::Float(a), ConstValue::Float(b)) => {
                floats(operator.kind, *a, *b).map(ConstValue::Float)
            }
            (ConstValue::Fixed(a), ConstValue::Fixed(b)) => match operator.kind {
                Kind::Plus => fixed::add(a, b),
                Kind::Minus => fixed::subtract(a, b),
                Kind::Star => fixed::multiply(a, b),
                Kind::Slash if b.digits.bytes().all(|digit| digit == b'0') => {
                    return Err(self.error(place, "division by zero", "the divisor is 0"));
                }
                Kind::Slash => fixed::divide(a, b),
                _ => return Err(self.inapplicable(operator, &left, &right, place)),
            }
            .map(ConstValue::Fixed)
            .ok_or("this has more than 31 digits"),
            _ => return Err(self.inapplicable(operator, &left, &right, place)),
        };
        match result {
            Ok(value) => Ok(value),
            Err("") => Err(self.inapplicable(operator, &left, &right, place)),
            Err(flaw) => Err(self.error(place, flaw, "in this expression")),
        }
    }

    fn inapplicable(
        &mut self,
        operator: Token,
        left: &ConstValue,
        right: &ConstValue,
        place: Place,
    ) -> Reported {
        let (left, right) = (describe(left), describe(right));
        let operator = self.describe(operator);
        let message = format!("{operator} cannot be applied to {left} and {right}");
        self.error(
            place,
            message,
            "both operands have to be integers, floats or fixed",
        )
    }

    /// Converts a value to a type that is not a typedef. The value has to be in range.
    pub(super) fn coerce(
        &mut self,
        value: ConstValue,
        ty: &Type,
        place: Place,
    ) -> Checked<ConstValue> {
        match (ty, value) {
            (Type::Primitive(primitive), value) => self.coerce_primitive(value, *primitive, place),
            (Type::String { bound }, ConstValue::String(text)) => {
                self.check_bound(text.chars().count(), *bound, place)?;
                Ok(ConstValue::String(text))
            }
            (Type::WString { bound }, ConstValue::WString(text)) => {
                self.check_bound(text.chars().count(), *bound, place)?;
                Ok(ConstValue::WString(text))
            }
            (Type::Fixed { digits: 0, .. }, value @ ConstValue::Fixed(_)) => Ok(value),
            (Type::Fixed { digits, scale }, ConstValue::Fixed(value)) => {
                match fixed::fit(&value, *digits, *scale) {
                    Some(value) => Ok(ConstValue::Fixed(value)),
                    None => {
                        let message =
                            format!("the value does not fit in `fixed<{digits}, {scale}>`");
                        Err(self.error(place, message, "too many digits before the point"))
                    }
                }
            }
            (Type::Named(id), ConstValue::Enumerator(of, index)) if *id == of => {
                Ok(ConstValue::Enumerator(of, index))
            }
            (ty, value) => Err(self.mismatch(ty, &value, place)),
        }
    }

    fn coerce_primitive(
        &mut self,
        value: ConstValue,
        primitive: Primitive,
        place: Place,
    ) -> Checked<ConstValue> {
        match (primitive, value) {
            (Primitive::Boolean, value @ ConstValue::Boolean(_))
            | (Primitive::Char, value @ ConstValue::Char(_))
            | (Primitive::WChar, value @ ConstValue::WChar(_)) => Ok(value),
            (float, ConstValue::Integer(value)) if float.is_floating() => {
                let warning = self
                    .session
                    .warning_at(
                        place,
                        "an integer for a floating-point constant",
                        "an integer",
                    )
                    .with_help(format!("write `{value}.0`"));
                self.session.report(warning);
                #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
                self.coerce_primitive(ConstValue::Float(value as f64), float, place)
            }
            (Primitive::Float, ConstValue::Float(value)) => {
                #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
                let rounded = value as f32;
                if rounded.is_infinite() {
                    return Err(self.error(
                        place,
                        "the value does not fit in `float`",
                        "too large",
                    ));
                }
                Ok(ConstValue::Float(rounded.into()))
            }
            (float, value @ ConstValue::Float(_)) if float.is_floating() => Ok(value),
            (integer, value) => match (integer.integer_range(), value) {
                (Some((least, most)), ConstValue::Integer(value)) => {
                    if (least..=most).contains(&value) {
                        return Ok(ConstValue::Integer(value));
                    }
                    let name = integer.idl_name();
                    let message = format!("{value} does not fit in `{name}`");
                    let label = format!("`{name}` holds {least} to {most}");
                    Err(self.error(place, message, &label))
                }
                (_, value) => Err(self.mismatch(&Type::Primitive(integer), &value, place)),
            },
        }
    }

    fn check_bound(&mut self, length: usize, bound: Option<u32>, place: Place) -> Checked<()> {
        match bound {
            Some(bound) if length > bound as usize => {
                let message = format!("the string has {length} characters, of {bound} allowed");
                Err(self.error(place, message, "too long"))
            }
            _ => Ok(()),
        }
    }

    fn mismatch(&mut self, ty: &Type, value: &ConstValue, place: Place) -> Reported {
        let wanted = self.describe_type(ty);
        let found = match value {
            ConstValue::Enumerator(id, _) => format!("a value of `{}`", self.spec[*id].name),
            other => describe(other).to_owned(),
        };
        let label = format!("expected {wanted}");
        let message = format!("expected {wanted}, found {found}");
        let mut error = self.session.error_at(place, message, label);
        let help = match (ty, value) {
            (Type::Primitive(Primitive::Char), ConstValue::String(text)) if text.len() == 1 => {
                Some("a character stands in single quotes")
            }
            (Type::Primitive(Primitive::WChar), ConstValue::Char(_))
            | (Type::WString { .. }, ConstValue::String(_)) => {
                Some("a wide literal has an `L` in front")
            }
            (Type::Fixed { .. }, ConstValue::Integer(_) | ConstValue::Float(_)) => {
                Some("a fixed-point literal has a `d` at its end")
            }
            (Type::Primitive(Primitive::Boolean), ConstValue::Integer(_)) => {
                Some("the boolean constants are `TRUE` and `FALSE`")
            }
            _ => None,
        };
        if let Some(help) = help {
            error = error.with_help(help);
        }
        self.session.report(error)
    }

    pub(super) fn describe_type(&self, ty: &Type) -> String {
        match ty {
            Type::Primitive(primitive) => format!("a value of `{}`", primitive.idl_name()),
            Type::String { .. } => "a string".to_owned(),
            Type::WString { .. } => "a wide string".to_owned(),
            Type::Fixed { .. } => "a fixed-point number".to_owned(),
            Type::Named(id) => format!("a value of `{}`", self.spec[*id].name),
            _ => "another type".to_owned(),
        }
    }

    /// Returns the text of a value, for messages about duplicate labels.
    pub(super) fn show(&self, value: &ConstValue) -> String {
        match value {
            ConstValue::Integer(value) => value.to_string(),
            ConstValue::Boolean(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
            ConstValue::Char(c) => format!("'{}'", char::from(*c).escape_default()),
            ConstValue::WChar(c) => format!("L'{}'", c.escape_default()),
            ConstValue::Enumerator(id, index) => match &self.spec[*id].kind {
                DeclKind::Enum(e) => e.enumerators[*index].name.clone(),
                _ => index.to_string(),
            },
            other => describe(other).to_owned(),
        }
    }

    /// Enters an enumerator's name in the scope that contains its enum (§7.20.2).
    pub(super) fn enter_enumerator(&mut self, name: &Name, id: crate::model::DeclId, index: usize) {
        // A clash was reported; the enumerator keeps its position.
        let _ = self.enter_name(name, Target::Enumerator(id, index));
    }
}

fn describe(value: &ConstValue) -> &'static str {
    match value {
        ConstValue::Integer(_) => "an integer",
        ConstValue::Float(_) => "a floating-point number",
        ConstValue::Boolean(_) => "a boolean",
        ConstValue::Char(_) => "a character",
        ConstValue::WChar(_) => "a wide character",
        ConstValue::String(_) => "a string",
        ConstValue::WString(_) => "a wide string",
        ConstValue::Enumerator(..) => "an enumerator",
        ConstValue::Fixed(_) => "a fixed-point number",
    }
}
