//! Sequences, arrays and maps.

use punctual_any::{TypeCode, TypeKind, Value};

use super::super::error::JsonError;
use super::super::{kinds, octets};
use super::misfit::{error, wrong};
use super::paths::Step;
use super::reading::{ReadFailure, Reading};
use super::target::Target;
use super::text::Token;

impl<'t> Reading<'_, 't> {
    pub(super) fn elements<T: Target>(
        &mut self,
        type_code: &TypeCode,
        json: &Token<'t>,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        match json {
            Token::Text(text) if kinds::is_octets(type_code) => {
                let octets = octets::octets(text).map_err(error)?;
                check_count(type_code, octets.len())?;
                Ok(out.simple(type_code, Value::Octets(octets))?)
            }
            Token::Object => match kinds::map(type_code) {
                Some((key, value)) => self.map(type_code, &key, &value, out),
                None => Err(wrong(type_code, json).into()),
            },
            Token::Array => self.array(type_code, out),
            _ => Err(wrong(type_code, json).into()),
        }
    }

    pub(super) fn array<T: Target>(
        &mut self,
        type_code: &TypeCode,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        let element = type_code.content_type();
        let element = element.map_err(|why| error(why.to_string()))?;
        let is_bounded = type_code.length() != Ok(0);
        let mut count = 0;
        if T::COUNTS || is_bounded {
            count = self.text.count(b']');
            check_count(type_code, count)?;
        }
        if let Some(made) = out.at_once(self, type_code, count)? {
            return Ok(made);
        }
        let mut parts = out.elements(type_code, count);
        let mut index = 0;
        while self.text.more(b']') {
            let made = self.at(Step::Element(index), |this| this.value(&element, out))?;
            out.add(&mut parts, made);
            index += 1;
        }
        Ok(out.end_elements(parts, index)?)
    }

    /// Reads a map in the order of its keys as text; of equal keys the last one counts.
    fn map<T: Target>(
        &mut self,
        type_code: &TypeCode,
        key_type: &TypeCode,
        value_type: &TypeCode,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        let mut pairs = Vec::with_capacity(self.text.count(b'}'));
        while self.text.more(b'}') {
            let key = self.text.name();
            pairs.push((key, self.text.at()));
            self.text.pass();
        }
        let end = self.text.at();
        pairs.sort_unstable();
        pairs.dedup_by(|(key, at), (first, place)| {
            let is_same = key == first;
            if is_same {
                *place = *at;
            }
            is_same
        });
        check_count(type_code, pairs.len())?;
        let is_text = matches!(
            key_type.original_type().kind(),
            TypeKind::String | TypeKind::WString | TypeKind::Enum
        );
        let mut parts = out.elements(type_code, pairs.len());
        let count = pairs.len();
        for (key, at) in pairs {
            self.text.go_to(at);
            let pair = self.at(Step::Member(&key), |this| {
                let key = match serde_json::from_str(&key) {
                    Ok(number) if !is_text => Token::Number(number),
                    _ => Token::Text(key.clone()),
                };
                let mut pair = out.members(2);
                let key = this.seen(key_type, key, out)?;
                out.add(&mut pair, key);
                let value = this.value(value_type, out)?;
                out.add(&mut pair, value);
                Ok(out.end_members(pair))
            })?;
            out.add(&mut parts, pair);
        }
        self.text.go_to(end);
        Ok(out.end_elements(parts, count)?)
    }
}

fn check_count(type_code: &TypeCode, count: usize) -> Result<(), JsonError> {
    let length = type_code.length().unwrap_or(0) as usize;
    let wanted = match type_code.kind() {
        TypeKind::Array if count != length => length.to_string(),
        TypeKind::Sequence if length != 0 && count > length => format!("up to {length}"),
        _ => return Ok(()),
    };
    Err(error(format!(
        "expected {wanted} elements ({type_code}), found {count}"
    )))
}
