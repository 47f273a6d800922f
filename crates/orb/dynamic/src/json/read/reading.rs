//! What is known while JSON is read.

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
    /// Valuetypes that are mentioned again.
    pub(super) paths: Paths<'t>,
    /// One of the valuetypes: the others are made in its graph.
    pub(super) graph: Option<ValueRef>,
    pub(super) known: KnownTypes,
    /// Types that were named.
    pub(super) named: Vec<(String, TypeCode)>,
    /// Where the members of the structs that are being read begin in the text, all in one vector.
    pub(super) places: Vec<usize>,
    /// A number as text.
    pub(super) number: String,
    /// Whether Anys are made of values, too: reading into octets was tried, and the code set does not have all characters.
    pub(super) by_values: bool,
}

/// Why a part cannot be read into a [`Target`].
pub(super) enum Failed {
    /// It is no value of its type.
    Json(JsonError),
    /// It is one, but has no octets.
    Cdr(CdrError),
}

impl From<JsonError> for Failed {
    fn from(error: JsonError) -> Self {
        Self::Json(error)
    }
}

impl From<CdrError> for Failed {
    fn from(error: CdrError) -> Self {
        Self::Cdr(error)
    }
}

impl Reading<'_, '_> {
    pub(super) fn type_named(&mut self, name: &str) -> Result<TypeCode, JsonError> {
        /// As many as module CORBA names, and some.
        const MOST: usize = 32;
        let named = self.named.iter().find(|(known, _)| known == name);
        if let Some((_, type_code)) = named {
            return Ok(type_code.clone());
        }
        let type_code = parse_type(name, self.names);
        let type_code = type_code.ok_or_else(|| error(format!("there is no type `{name}`")))?;
        if self.named.len() < MOST {
            self.named.push((name.to_owned(), type_code.clone()));
        }
        Ok(type_code)
    }

    /// Does something one step further in.
    pub(super) fn at<R>(
        &mut self,
        step: Step<'_>,
        visit: impl FnOnce(&mut Self) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        let outer = self.paths.enter(step);
        let result = visit(self);
        self.paths.go_back(outer);
        result.map_err(|failed| match failed {
            Failed::Json(error) => error.within(step).into(),
            failed => failed,
        })
    }
}
