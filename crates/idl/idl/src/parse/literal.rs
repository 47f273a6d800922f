//! Literals to values (CORBA 3.3 part 1, §7.2.5).

use super::Parser;
use crate::fixed;
use crate::lexer::{Kind, Token};
use crate::model::ConstValue;
use crate::session::{Checked, Reported};

/// Description of what is wrong with a literal.
struct Flaw(String);

impl Parser<'_> {
    /// Returns the value of the literal token that was just taken. String literals that follow it
    /// directly are taken too.
    pub(super) fn literal(&mut self, token: Token) -> Checked<ConstValue> {
        let text = self.text(token);
        let value = match token.kind {
            Kind::Number => number(&text),
            Kind::Char => character(&text, false).and_then(|c| {
                u8::try_from(u32::from(c))
                    .map(ConstValue::Char)
                    .map_err(|_| {
                        Flaw("a `char` holds characters of ISO 8859-1 only; use a `wchar`".into())
                    })
            }),
            Kind::WChar => character(&text[1..], true).map(ConstValue::WChar),
            _ => return self.string_literals(token),
        };
        value.map_err(|flaw| self.flawed(token, &flaw))
    }

    fn flawed(&mut self, token: Token, flaw: &Flaw) -> Reported {
        self.error(token.place, flaw.0.clone(), "in this literal")
    }

    /// Reads adjacent string literals as one string (§7.2.5.5).
    fn string_literals(&mut self, first: Token) -> Checked<ConstValue> {
        let wide = first.kind == Kind::WString;
        let mut whole = String::new();
        let mut token = first;
        loop {
            let text = self.text(token);
            let inner = if wide { &text[1..] } else { &text[..] };
            match string(inner, wide) {
                Ok(part) => whole.push_str(&part),
                Err(flaw) => return Err(self.flawed(token, &flaw)),
            }
            let next = self.peek();
            if !matches!(next.kind, Kind::String | Kind::WString) {
                break;
            }
            if next.kind != first.kind {
                let message = "a string and a wide string cannot be joined";
                return Err(self.error(next.place, message, "of the other kind"));
            }
            token = self.bump();
        }
        Ok(if wide {
            ConstValue::WString(whole)
        } else {
            ConstValue::String(whole)
        })
    }
}

fn number(text: &str) -> Result<ConstValue, Flaw> {
    if let Some(digits) = text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        return integer(digits, 16, "a hexadecimal number");
    }
    if text.ends_with(['d', 'D']) {
        let flaw = || Flaw("a fixed-point number has at most 31 digits, and one point".into());
        let plain = text[..text.len() - 1]
            .chars()
            .all(|c| c.is_ascii_digit() || c == '.');
        return fixed::parse(text)
            .filter(|_| plain)
            .map(ConstValue::Fixed)
            .ok_or_else(flaw);
    }
    if text.contains(['.', 'e', 'E']) {
        let flaw = || Flaw(format!("`{text}` is not a floating-point number"));
        let plain = text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
        let value: f64 = Some(text)
            .filter(|_| plain)
            .and_then(|t| t.parse().ok())
            .ok_or_else(flaw)?;
        if !value.is_finite() {
            return Err(Flaw(
                "this number is too large for any floating-point type".into(),
            ));
        }
        return Ok(ConstValue::Float(value));
    }
    match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => integer(digits, 8, "an octal number"),
        _ => integer(text, 10, "a number"),
    }
}

fn integer(digits: &str, radix: u32, what: &str) -> Result<ConstValue, Flaw> {
    if let Some(bad) = digits.chars().find(|c| !c.is_digit(radix)) {
        return Err(Flaw(format!("`{bad}` is not a digit of {what}")));
    }
    if digits.is_empty() {
        return Err(Flaw(format!("the digits of {what} are missing")));
    }
    match u64::from_str_radix(digits, radix) {
        Ok(value) => Ok(ConstValue::Integer(value.into())),
        Err(_) => Err(Flaw("this number is too large for any integer type".into())),
    }
}

/// Returns the character that a quoted character literal contains.
fn character(quoted: &str, wide: bool) -> Result<char, Flaw> {
    let inner = quoted
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''));
    let mut rest = inner.unwrap_or("");
    let Some(c) = next_character(&mut rest, wide)? else {
        return Err(Flaw("a character is missing between the quotes".into()));
    };
    if rest.is_empty() {
        Ok(c)
    } else {
        Err(Flaw("more than one character between the quotes".into()))
    }
}

fn string(quoted: &str, wide: bool) -> Result<String, Flaw> {
    let inner = quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let mut rest = inner.unwrap_or("");
    let mut text = String::with_capacity(rest.len());
    while let Some(c) = next_character(&mut rest, wide)? {
        if c == '\0' {
            return Err(Flaw("a string cannot hold the character 0".into()));
        }
        if !wide && u32::from(c) > 0xFF {
            let flaw = format!("`{c}` is not a character of ISO 8859-1; use a `wstring`");
            return Err(Flaw(flaw));
        }
        text.push(c);
    }
    Ok(text)
}

/// Takes a character or an escape sequence off the front.
fn next_character(rest: &mut &str, wide: bool) -> Result<Option<char>, Flaw> {
    let mut characters = rest.chars();
    let Some(first) = characters.next() else {
        return Ok(None);
    };
    *rest = characters.as_str();
    if first != '\\' {
        return Ok(Some(first));
    }
    let Some(escape) = characters.next() else {
        return Err(Flaw("an escape sequence is missing after `\\`".into()));
    };
    *rest = characters.as_str();
    let plain = match escape {
        'n' => '\n',
        't' => '\t',
        'v' => '\x0B',
        'b' => '\x08',
        'r' => '\r',
        'f' => '\x0C',
        'a' => '\x07',
        '\\' | '?' | '\'' | '"' => escape,
        '0'..='7' => {
            let digits = take_digits(rest, 2, 8);
            return code(&format!("{escape}{digits}"), 8).map(Some);
        }
        'x' => return code(take_digits(rest, 2, 16), 16).map(Some),
        'u' if wide => return code(take_digits(rest, 4, 16), 16).map(Some),
        'u' => return Err(Flaw("`\\u` is for wide characters and strings only".into())),
        other => return Err(Flaw(format!("`\\{other}` is not an escape sequence"))),
    };
    Ok(Some(plain))
}

fn take_digits<'t>(rest: &mut &'t str, most: usize, radix: u32) -> &'t str {
    let length = rest
        .chars()
        .take(most)
        .take_while(|c| c.is_digit(radix))
        .count();
    let (digits, after) = rest.split_at(length);
    *rest = after;
    digits
}

fn code(digits: &str, radix: u32) -> Result<char, Flaw> {
    let value = u32::from_str_radix(digits, radix)
        .map_err(|_| Flaw("an escape sequence lacks its digits".into()))?;
    if radix == 8 && value > 0xFF {
        return Err(Flaw("an octal escape sequence goes up to `\\377`".into()));
    }
    char::from_u32(value)
        .ok_or_else(|| Flaw("a surrogate is not a character; write the character itself".into()))
}
