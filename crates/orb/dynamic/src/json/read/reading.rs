//! State of reading JSON.

use punctual_any::TypeCode;
use punctual_cdr::{CdrError, ValueRef};

use super::super::error::JsonError;
use super::super::known::KnownTypes;
use super::super::names::Names;
use super::super::type_name::parse_type;
use super::misfit::error;
use super::paths::{Paths, Step};
use super::text::Text;

pub(super) struct Reading<'n, 't> {
    pub(super) names: &'n dyn Names,
    pub(super) text: Text<'t>,
    /// Paths of the valuetypes to which `$ref` members of the JSON text refer.
    pub(super) paths: Paths<'t>,
    /// One of the valuetypes made so far; the others are made in the same graph.
    pub(super) graph: Option<ValueRef>,
    pub(super) known: KnownTypes,
    /// Cache of the types that the text has named.
    pub(super) named: Vec<(String, TypeCode)>,
    /// Positions of the members of all structs that are being read, in one vector.
    pub(super) places: Vec<usize>,
    /// Buffer for the digits of a JSON number.
    pub(super) number: String,
    /// Set if Anys are also read into values first: after reading into octets has failed because
    /// the code set lacks a character.
    pub(super) by_values: bool,
}

/// Reason why a part cannot be read into a [`Target`].
pub(super) enum ReadFailure {
    /// The JSON is not a value of the expected type.
    Json(JsonError),
    /// Error in marshaling the value that was read.
    Cdr(CdrError),
}

impl From<JsonError> for ReadFailure {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl From<CdrError> for ReadFailure {
    fn from(error: CdrError) -> Self {
        Self::Cdr(error)
    }
}

impl Reading<'_, '_> {
    pub(super) fn type_named(&mut self, name: &str) -> Result<TypeCode, JsonError> {
        /// Upper bound of the cached types: more than the named types of module CORBA.
        const MOST: usize = 32;
        let named = self.named.iter().find(|(known, _)| known == name);
        if let Some((_, type_code)) = named {
            return Ok(type_code.clone());
        }
        let type_code = parse_type(name, self.names);
        let type_code = type_code.ok_or_else(|| error(format!("unknown type `{name}`")))?;
        if self.named.len() < MOST {
            self.named.push((name.to_owned(), type_code.clone()));
        }
        Ok(type_code)
    }

    /// Runs `visit` for a part one step into the current value; an error gets that step in its
    /// path.
    pub(super) fn at<R>(
        &mut self,
        step: Step<'_>,
        visit: impl FnOnce(&mut Self) -> Result<R, ReadFailure>,
    ) -> Result<R, ReadFailure> {
        let outer = self.paths.enter(step);
        let result = visit(self);
        self.paths.go_back(outer);
        result.map_err(|failed| match failed {
            ReadFailure::Json(error) => error.within(step).into(),
            failed => failed,
        })
    }
}
