//! Expressions of `#if` and `#elif`: C's constant expressions over 64-bit integers, in which
//! `defined` is an operator and any other identifier is 0.

use super::Preprocessor;
use crate::lexer::{Kind, Token};
use crate::session::{Checked, Reported};
use crate::source::Place;

impl Preprocessor<'_> {
    /// Evaluates the condition of an `#if` or `#elif` directive.
    pub(super) fn condition(&mut self, directive: Token, line: &[Token]) -> Checked<bool> {
        let tokens = self.replace_defined(directive, line)?;
        let tokens = self.expand_list(tokens, 0)?;
        let end = tokens
            .last()
            .map_or(directive.place, |token| token.place)
            .after();
        let nesting = self.limits().nesting;
        let mut evaluation = Evaluation {
            owner: self,
            tokens: &tokens,
            next: 0,
            end,
            nesting,
        };
        let value = evaluation.ternary(0)?;
        match tokens.get(evaluation.next) {
            None => Ok(value != 0),
            Some(extra) => Err(evaluation.fail(extra.place, "unexpected after the condition")),
        }
    }

    /// Evaluates `defined X` and `defined(X)` before macros are expanded.
    fn replace_defined(&mut self, directive: Token, line: &[Token]) -> Checked<Vec<Token>> {
        let mut result = Vec::with_capacity(line.len());
        let mut index = 0;
        while let Some(token) = line.get(index) {
            index += 1;
            if token.kind != Kind::Ident || &**self.session.names.text(token.text) != "defined" {
                result.push(*token);
                continue;
            }
            let parenthesis = line.get(index).is_some_and(|t| t.kind == Kind::LParen);
            index += usize::from(parenthesis);
            let name = self.macro_name(directive, line.get(index..).unwrap_or_default())?;
            index += 1;
            if parenthesis {
                if line.get(index).is_none_or(|t| t.kind != Kind::RParen) {
                    let error = self.session.error_at(
                        name.place.after(),
                        "expected `)` after `defined(NAME`",
                        "",
                    );
                    return Err(self.session.report(error));
                }
                index += 1;
            }
            let digit = if self.macros.contains_key(&name.text) {
                "1"
            } else {
                "0"
            };
            let text = self.session.names.intern(digit);
            result.push(Token {
                kind: Kind::Number,
                text,
                ..*token
            });
        }
        Ok(result)
    }
}

struct Evaluation<'p, 'a, 't> {
    owner: &'p mut Preprocessor<'a>,
    tokens: &'t [Token],
    next: usize,
    end: Place,
    nesting: usize,
}

impl Evaluation<'_, '_, '_> {
    fn peek(&self) -> Option<Kind> {
        self.tokens.get(self.next).map(|token| token.kind)
    }

    fn fail(&mut self, place: Place, label: &str) -> Reported {
        let error = self
            .owner
            .session
            .error_at(place, "malformed condition", label);
        self.owner.session.report(error)
    }

    fn ternary(&mut self, depth: usize) -> Checked<i64> {
        if depth > self.nesting {
            let place = self
                .tokens
                .get(self.next)
                .map_or(self.end, |token| token.place);
            let error = self
                .owner
                .session
                .error_at(place, "this condition nests too deep", "");
            return Err(self.owner.session.report_fatal(error));
        }
        let condition = self.binary(0, depth)?;
        if self.peek() != Some(Kind::Question) {
            return Ok(condition);
        }
        self.next += 1;
        let yes = self.ternary(depth + 1)?;
        if self.peek() != Some(Kind::Colon) {
            let place = self
                .tokens
                .get(self.next)
                .map_or(self.end, |token| token.place);
            return Err(self.fail(place, "expected `:` of `?:`"));
        }
        self.next += 1;
        let no = self.ternary(depth + 1)?;
        Ok(if condition != 0 { yes } else { no })
    }

    /// Reads operators of at least the given precedence, by precedence climbing.
    fn binary(&mut self, strength: u8, depth: usize) -> Checked<i64> {
        let mut left = self.unary(depth)?;
        while let Some((operator, own)) = self.peek().and_then(|k| Some((k, precedence(k)?))) {
            if own < strength {
                break;
            }
            let place = self.tokens[self.next].place;
            self.next += 1;
            let right = self.binary(own + 1, depth + 1)?;
            left = match apply(operator, left, right) {
                Some(value) => value,
                // Also where `&&` or `||` would not evaluate it: it is never intended.
                None => return Err(self.fail(place, "division by zero")),
            };
        }
        Ok(left)
    }

    fn unary(&mut self, depth: usize) -> Checked<i64> {
        let mut operators = Vec::new();
        while let Some(kind @ (Kind::Bang | Kind::Minus | Kind::Plus | Kind::Tilde)) = self.peek() {
            operators.push(kind);
            self.next += 1;
        }
        let mut value = self.primary(depth)?;
        for operator in operators.into_iter().rev() {
            value = match operator {
                Kind::Bang => i64::from(value == 0),
                Kind::Minus => value.wrapping_neg(),
                Kind::Tilde => !value,
                _ => value,
            };
        }
        Ok(value)
    }

    fn primary(&mut self, depth: usize) -> Checked<i64> {
        let Some(token) = self.tokens.get(self.next).copied() else {
            return Err(self.fail(self.end, "an operand is missing"));
        };
        self.next += 1;
        match token.kind {
            Kind::Ident => Ok(i64::from(
                &**self.owner.session.names.text(token.text) == "true",
            )),
            Kind::Number => {
                let text = self.owner.session.names.text(token.text).clone();
                integer(&text).ok_or_else(|| self.fail(token.place, "not an integer"))
            }
            Kind::Char => {
                let text = self.owner.session.names.text(token.text).clone();
                let mut inner = text.trim_matches('\'').chars();
                match (inner.next(), inner.next()) {
                    (Some(c), None) if c != '\\' => Ok(i64::from(u32::from(c))),
                    _ => Err(self.fail(token.place, "not a plain character")),
                }
            }
            Kind::LParen => {
                let value = self.ternary(depth + 1)?;
                if self.peek() != Some(Kind::RParen) {
                    let place = self
                        .tokens
                        .get(self.next)
                        .map_or(self.end, |token| token.place);
                    return Err(self.fail(place, "expected `)`"));
                }
                self.next += 1;
                Ok(value)
            }
            _ => Err(self.fail(token.place, "expected an integer, a name or `(`")),
        }
    }
}

fn integer(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    value.ok().map(u64::cast_signed)
}

fn precedence(operator: Kind) -> Option<u8> {
    Some(match operator {
        Kind::OrOr => 0,
        Kind::AndAnd => 1,
        Kind::Pipe => 2,
        Kind::Caret => 3,
        Kind::Amp => 4,
        Kind::EqEq | Kind::NotEq => 5,
        Kind::Lt | Kind::Gt | Kind::LtEq | Kind::GtEq => 6,
        Kind::Shl | Kind::Shr => 7,
        Kind::Plus | Kind::Minus => 8,
        Kind::Star | Kind::Slash | Kind::Percent => 9,
        _ => return None,
    })
}

fn apply(operator: Kind, a: i64, b: i64) -> Option<i64> {
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    Some(match operator {
        Kind::OrOr => i64::from(a != 0 || b != 0),
        Kind::AndAnd => i64::from(a != 0 && b != 0),
        Kind::Pipe => a | b,
        Kind::Caret => a ^ b,
        Kind::Amp => a & b,
        Kind::EqEq => i64::from(a == b),
        Kind::NotEq => i64::from(a != b),
        Kind::Lt => i64::from(a < b),
        Kind::Gt => i64::from(a > b),
        Kind::LtEq => i64::from(a <= b),
        Kind::GtEq => i64::from(a >= b),
        Kind::Shl => a.checked_shl(shift).unwrap_or(0),
        Kind::Shr => a.checked_shr(shift).unwrap_or(0),
        Kind::Plus => a.wrapping_add(b),
        Kind::Minus => a.wrapping_sub(b),
        Kind::Star => a.wrapping_mul(b),
        Kind::Slash if b == 0 => return None,
        Kind::Slash => a.wrapping_div(b),
        Kind::Percent if b == 0 => return None,
        _ => a.wrapping_rem(b),
    })
}
