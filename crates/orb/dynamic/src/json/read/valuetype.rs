//! Valuetypes, which may be mentioned more than once.

use std::rc::Rc;

use punctual_any::{DynamicValue, TypeCode, TypeKind};
use punctual_cdr::{CdrError, ValueRef};

use super::paths::Step;
use super::target::{Branch, Tree};
use super::text::{Seen, Text};
use super::{Failed, Reading, error, wrong};

impl<'t> Reading<'_, 't> {
    /// A valuetype; `None` for null.
    pub(super) fn valuetype(
        &mut self,
        type_code: &TypeCode,
        json: Seen<'t>,
    ) -> Result<Option<ValueRef>, Failed> {
        if matches!(json, Seen::Null) {
            return Ok(None);
        }
        if type_code.kind() == TypeKind::ValueBox {
            return self.boxed(type_code, json).map(Some);
        }
        let Seen::Object = json else {
            return Err(wrong(type_code, &json).into());
        };
        let begin = self.text;
        let (earlier, named) = self.marks();
        if let Some(Seen::Text(path)) = earlier {
            let earlier = self.paths.begun_at(&path);
            return match earlier {
                Some(value) => Ok(Some(value)),
                None => {
                    let message = format!("no valuetype has begun at `{path}` before this");
                    Err(error(message).into())
                }
            };
        }
        let own = match named {
            Some(Seen::Text(name)) => self.value_type_named(type_code, &name)?,
            Some(other) => {
                return self.at(Step::Member("$type"), |_| {
                    Err(wrong(&TypeCode::TYPE_CODE, &other).into())
                });
            }
            None => type_code.clone(),
        };
        // It is there before its members are: one of them may be itself.
        let (value, members) = self.begin(&own)?;
        self.paths.note(&value);
        self.text = begin;
        let members = self.members(&*members, Some("$type"), &mut Tree)?;
        if let Branch::Elements(members) = members {
            let assigned = DynamicValue::assign(&value, members);
            assigned.map_err(|why| error(why.to_string()))?;
        }
        Ok(Some(value))
    }

    /// What an object says by `$ref`, and by `$type`.
    fn marks(&mut self) -> (Option<Seen<'t>>, Option<Seen<'t>>) {
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
        let seen = |place: Option<Text<'t>>| place.map(|mut at| at.see());
        (seen(earlier), seen(named))
    }

    fn value_type_named(&mut self, formal: &TypeCode, name: &str) -> Result<TypeCode, Failed> {
        if formal.to_string() == name || formal.id() == Ok(name) {
            return Ok(formal.clone());
        }
        self.at(Step::Member("$type"), |this| {
            let own = this.type_named(name)?.original_type();
            let is_value = matches!(own.kind(), TypeKind::Value | TypeKind::Event);
            let error = || error(format!("`{name}` is no valuetype")).into();
            is_value.then_some(own).ok_or_else(error)
        })
    }

    /// A value whose members come later, and their names and types.
    fn begin(
        &mut self,
        type_code: &TypeCode,
    ) -> Result<(ValueRef, Rc<[(String, TypeCode)]>), Failed> {
        let failed = |why: CdrError| error(why.to_string());
        let known = self.known.latest(type_code).map_err(failed)?;
        let beside = known.value.as_ref().or(self.graph.as_ref());
        let value = DynamicValue::begin(type_code, beside).map_err(failed)?;
        self.graph.get_or_insert_with(|| value.clone());
        known.value.get_or_insert_with(|| value.clone());
        Ok((value, Rc::clone(&known.members)))
    }

    fn boxed(&mut self, type_code: &TypeCode, json: Seen<'t>) -> Result<ValueRef, Failed> {
        let of = type_code.content_type();
        let of = of.map_err(|why| error(why.to_string()))?;
        let content = self.seen(&of, json, &mut Tree)?;
        let (value, _) = self.begin(type_code)?;
        let assigned = DynamicValue::assign(&value, vec![content]);
        assigned.map_err(|why| error(why.to_string()))?;
        Ok(value)
    }
}
