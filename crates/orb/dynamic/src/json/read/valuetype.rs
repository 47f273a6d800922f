//! Valuetypes, which may occur more than once.

use std::rc::Rc;
use std::sync::Arc;

use punctual_any::{DynamicFactory, TypeCode, TypeKind, Value};

use super::misfit::{error, wrong};
use super::paths::Step;
use super::reading::{ReadFailure, Reading};
use super::target::Target;
use super::text::{Text, Token};

type Known = (Rc<[(String, TypeCode)]>, Arc<DynamicFactory>);

impl<'t> Reading<'_, 't> {
    pub(super) fn valuetype<T: Target>(
        &mut self,
        type_code: &TypeCode,
        json: Token<'t>,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        if matches!(json, Token::Null) {
            return Ok(out.simple(type_code, Value::Valuetype(None))?);
        }
        if type_code.kind() == TypeKind::ValueBox {
            return self.boxed(type_code, json, out);
        }
        let Token::Object = json else {
            return Err(wrong(type_code, &json).into());
        };
        let begin = self.text;
        let (earlier, named) = self.marks();
        if let Some(Token::Text(path)) = earlier {
            let earlier = self.paths.begun_at(&path);
            return match earlier {
                Some(value) => Ok(out.again(type_code, value)?),
                None => {
                    let message = format!("no valuetype has begun at `{path}` before this");
                    Err(error(message).into())
                }
            };
        }
        let own = match named {
            Some(Token::Text(name)) => self.value_type_named(type_code, &name)?,
            Some(other) => {
                return self.at(Step::Member("$type"), |_| {
                    Err(wrong(&TypeCode::TYPE_CODE, &other).into())
                });
            }
            None => type_code.clone(),
        };
        let (members, factory) = self.known(&own)?;
        // The value is recorded before its members, as one of them may be the value itself.
        let (value, begun) = out.begin_value(self, type_code, &factory)?;
        self.paths.note(begun);
        self.text = begin;
        let members = self.members(&*members, Some("$type"), out)?;
        Ok(out.end_value(value, members)?)
    }

    /// Returns the values of `$ref` and `$type` in an object.
    fn marks(&mut self) -> (Option<Token<'t>>, Option<Token<'t>>) {
        let (mut earlier, mut named) = (None, None);
        while self.text.more(b'}') {
            let name = self.text.name();
            let place = match &*name {
                "$ref" => &mut earlier,
                "$type" => &mut named,
                _ => {
                    self.text.pass();
                    continue;
                }
            };
            let at = self.text;
            self.text.pass();
            *place = Some(at);
        }
        let seen = |place: Option<Text<'t>>| place.map(|mut at| at.next_token());
        (seen(earlier), seen(named))
    }

    fn value_type_named(&mut self, formal: &TypeCode, name: &str) -> Result<TypeCode, ReadFailure> {
        if formal.to_string() == name || formal.id() == Ok(name) {
            return Ok(formal.clone());
        }
        self.at(Step::Member("$type"), |this| {
            let own = this.type_named(name)?.original_type();
            let is_value = matches!(own.kind(), TypeKind::Value | TypeKind::Event);
            let error = || error(format!("`{name}` is not a valuetype")).into();
            is_value.then_some(own).ok_or_else(error)
        })
    }

    /// Returns the members of a type, and the factory of its values.
    fn known(&mut self, type_code: &TypeCode) -> Result<Known, ReadFailure> {
        let known = self.known.latest(type_code);
        let known = known.map_err(|why| error(why.to_string()))?;
        Ok((Rc::clone(&known.members), Arc::clone(&known.factory)))
    }

    fn boxed<T: Target>(
        &mut self,
        type_code: &TypeCode,
        json: Token<'t>,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        let of = type_code.content_type();
        let of = of.map_err(|why| error(why.to_string()))?;
        let (_, factory) = self.known(type_code)?;
        let (value, _) = out.begin_value(self, type_code, &factory)?;
        let mut members = out.members(1);
        let content = self.seen(&of, json, out)?;
        out.add(&mut members, content);
        Ok(out.end_value(value, members)?)
    }
}
