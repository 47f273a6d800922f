//! Check that a text is JSON, and collection of the `$ref` paths in it.
//!
//! serde parses the whole text as for a `serde_json` value, so that its error messages are the
//! usual ones; only the paths of valuetypes that occur again are kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Returns the paths in all `{"$ref": "…"}`.
///
/// # Errors
/// The reason why the text is no JSON.
pub(super) fn check(text: &str) -> serde_json::Result<Vec<Cow<'_, str>>> {
    let mut paths = Vec::new();
    let mut input = serde_json::Deserializer::from_str(text);
    let whole = Part {
        paths: &mut paths,
        is_path: false,
    };
    whole.deserialize(&mut input)?;
    input.end()?;
    Ok(paths)
}

/// JSON value within a text whose syntax is being checked.
struct Part<'p, 't> {
    paths: &'p mut Vec<Cow<'t, str>>,
    /// Set if it is the value of a `$ref` member, and so a path.
    is_path: bool,
}

impl<'t> DeserializeSeed<'t> for Part<'_, 't> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for Part<'_, 't> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_borrowed_str<E>(self, text: &'t str) -> Result<(), E> {
        if self.is_path {
            self.paths.push(Cow::Borrowed(text));
        }
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if self.is_path {
            self.paths.push(Cow::Owned(text.to_owned()));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut elements: A) -> Result<(), A::Error> {
        loop {
            let element = Part {
                paths: &mut *self.paths,
                is_path: false,
            };
            if elements.next_element_seed(element)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'t>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(is_path) = members.next_key_seed(Name)? {
            let paths = &mut *self.paths;
            members.next_value_seed(Part { paths, is_path })?;
        }
        Ok(())
    }
}

/// Deserializer of a JSON member name, which tells whether the name is `$ref`.
struct Name;

impl<'t> DeserializeSeed<'t> for Name {
    type Value = bool;

    fn deserialize<D: Deserializer<'t>>(self, input: D) -> Result<bool, D::Error> {
        input.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string key")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(name == "$ref")
    }
}
