//! Reading of Anys: JSON values that name their type, or whose type follows from their form.

use punctual_any::{Any, TypeCode, TypeKind, Value};
use punctual_cdr::{CdrError, Marshal, NarrowCodeSet};

use super::super::error::JsonError;
use super::misfit::error;
use super::paths::Step;
use super::reading::{ReadFailure, Reading};
use super::target::{Octets, Target, Tree};
use super::text::Token;

/// Type and value found in the JSON text of an Any.
struct Content<'t> {
    type_code: TypeCode,
    json: Token<'t>,
    /// Set if the Any is an object, `{"type": …, "value": …}`: the value is then at the reading
    /// position.
    is_within: bool,
}

impl<'t> Reading<'_, 't> {
    /// Reads an Any that is not part of octets being written.
    pub(super) fn any(&mut self, json: Token<'t>) -> Result<Any, ReadFailure> {
        let begin = self.text;
        let Some((content, end)) = self.content(json.clone())? else {
            return Ok(Any::default());
        };
        let type_code = content.type_code.clone();
        if !self.by_values && self.paths.is_empty() && type_code.check().is_ok() {
            match self.octets(&type_code, |this, out| this.within(&content, out)) {
                Ok(any) => {
                    self.text.go_to(end);
                    return Ok(any);
                }
                Err(ReadFailure::Json(error)) => return Err(error.into()),
                Err(ReadFailure::Cdr(_)) => self.by_values = true,
            }
            self.text = begin;
            return self.any(json);
        }
        let value = self.within(&content, &mut Tree)?;
        self.text.go_to(end);
        let made = Any::of_value(&type_code, &value);
        Ok(made.map_err(|why| error(why.to_string()))?)
    }

    /// Reads an Any and marshals it, its type and then its value, into the octets being written.
    pub(super) fn put_any(
        &mut self,
        json: Token<'t>,
        out: &mut Octets<'_, '_>,
    ) -> Result<(), ReadFailure> {
        let Some((content, end)) = self.content(json)? else {
            return Ok(Any::default().marshal(out.0)?);
        };
        let type_code = &content.type_code;
        if self.is_written_here(type_code) {
            type_code.marshal(out.0)?;
            let original = type_code.original_type();
            if original.kind() == TypeKind::Except {
                // The id stands before the members (CORBA 3.3 part 2, §9.3.5.5), in ISO 8859-1.
                let id = original.id().unwrap_or_default();
                out.0.put_string_in(NarrowCodeSet::Iso8859_1, id)?;
            }
            self.within(&content, out)?;
        } else {
            let value = self.within(&content, &mut Tree)?;
            Any::of_value(type_code, &value)?.marshal(out.0)?;
        }
        self.text.go_to(end);
        Ok(())
    }

    /// Reads the elements of an array as octets, which are unmarshaled when they are used. Returns
    /// `None`, with the reading position unchanged, if they contain valuetypes or cannot be
    /// marshaled.
    pub(super) fn many(&mut self, type_code: &TypeCode) -> Result<Option<Value>, ReadFailure> {
        let is_apart = type_code.holds_values() == Ok(false) && self.paths.is_empty();
        if self.by_values || !is_apart {
            return Ok(None);
        }
        let begin = self.text;
        match self.octets(type_code, |this, out| this.array(type_code, out)) {
            Ok(any) => {
                if let Ok(value) = any.value() {
                    return Ok(Some(value));
                }
            }
            Err(ReadFailure::Json(error)) => return Err(error.into()),
            Err(ReadFailure::Cdr(_)) => {}
        }
        self.by_values = true;
        self.text = begin;
        Ok(None)
    }

    /// Makes an Any of a type from the octets that `write` writes. If they cannot be written in the
    /// first code set, the text is read again for another.
    pub(super) fn octets(
        &mut self,
        type_code: &TypeCode,
        mut write: impl FnMut(&mut Self, &mut Octets<'_, '_>) -> Result<(), ReadFailure>,
    ) -> Result<Any, ReadFailure> {
        let begin = self.text;
        let mut failed = None;
        let made = Any::written(type_code, |out| {
            self.text = begin;
            write(self, &mut Octets(out)).map_err(|why| match why {
                ReadFailure::Cdr(why) => {
                    self.by_values |= why == CdrError::CharacterNotInCodeSet;
                    why
                }
                ReadFailure::Json(why) => {
                    failed = Some(why);
                    CdrError::Invalid("the JSON is not a value of the type")
                }
            })
        });
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(made?),
        }
    }

    /// Returns whether the contents of an Any can be marshaled directly into the octets being
    /// written. Contents with valuetypes that occur again are read into a value first, as
    /// references from within an Any cannot lead out of it.
    fn is_written_here(&self, type_code: &TypeCode) -> bool {
        match type_code.holds_values() {
            Ok(holds_values) => !holds_values || self.paths.is_empty(),
            // The error is reported by the writer of the Any, after the contents were read.
            Err(_) => false,
        }
    }

    /// Returns the contents of an Any, with the position at which the Any ends; `None` for JSON
    /// `null`.
    fn content(&mut self, json: Token<'t>) -> Result<Option<(Content<'t>, usize)>, ReadFailure> {
        let type_code = match &json {
            Token::Null => return Ok(None),
            Token::Bool(_) => TypeCode::BOOLEAN,
            Token::Text(_) => TypeCode::STRING,
            Token::Number(number) if number.is_f64() => TypeCode::DOUBLE,
            Token::Number(number) => match number.as_i64().map(i32::try_from) {
                Some(Ok(_)) => TypeCode::LONG,
                Some(Err(_)) => TypeCode::LONG_LONG,
                None => TypeCode::ULONG_LONG,
            },
            Token::Object => return self.said().map(Some),
            Token::Array => return Err(no_type().into()),
        };
        let content = Content {
            type_code,
            json,
            is_within: false,
        };
        Ok(Some((content, self.text.at())))
    }

    /// Reads an Any in the form `{"type": "…", "value": …}`.
    fn said(&mut self) -> Result<(Content<'t>, usize), ReadFailure> {
        let (mut of, mut value) = (None, None);
        while self.text.more(b'}') {
            match &*self.text.name() {
                "type" => of = Some(self.text.at()),
                "value" => value = Some(self.text.at()),
                _ => {}
            }
            self.text.pass();
        }
        let end = self.text.at();
        let of = of.map(|at| {
            self.text.go_to(at);
            self.text.next_token()
        });
        let Some(Token::Text(name)) = of else {
            return Err(no_type().into());
        };
        let type_code = self.at(Step::Member("type"), |this| Ok(this.type_named(&name)?))?;
        let json = match value {
            Some(at) => {
                self.text.go_to(at);
                self.text.next_token()
            }
            None => Token::Null,
        };
        let content = Content {
            type_code,
            json,
            is_within: true,
        };
        Ok((content, end))
    }

    fn within<T: Target>(
        &mut self,
        content: &Content<'t>,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        let Content {
            type_code, json, ..
        } = content;
        if content.is_within {
            self.at(Step::Member("value"), |this| {
                this.seen(type_code, json.clone(), out)
            })
        } else {
            self.seen(type_code, json.clone(), out)
        }
    }
}

fn no_type() -> JsonError {
    let help = r#"write {"type": "sequence<long>", "value": [1, 2]}"#;
    error("the type of this any has to be given").with_help(Some(help.to_owned()))
}
