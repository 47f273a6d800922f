//! Members of structs and valuetypes, by their names.

use std::borrow::Cow;

use punctual_any::TypeCode;

use super::super::error::JsonError;
use super::super::kinds;
use super::super::near::nearest;
use super::misfit::{error, wanted, wrong};
use super::paths::Step;
use super::reading::{ReadFailure, Reading};
use super::simple::listed;
use super::target::Target;
use super::text::Token;

/// Members of a type: those of a struct, or a valuetype's, those of its bases first.
pub(super) trait Members {
    fn count(&self) -> usize;
    fn name(&self, index: usize) -> &str;
    fn type_code(&self, index: usize) -> TypeCode;
    /// Returns the index of the first member with a name.
    fn index(&self, name: &str) -> Option<usize>;

    fn names(&self) -> Vec<&str> {
        (0..self.count()).map(|index| self.name(index)).collect()
    }
}

/// Members of a struct type, read from the type code.
impl Members for TypeCode {
    fn count(&self) -> usize {
        self.member_count().unwrap_or(0)
    }

    fn name(&self, index: usize) -> &str {
        self.member_name(index).unwrap_or_default()
    }

    fn type_code(&self, index: usize) -> TypeCode {
        self.member_type(index).unwrap_or_default()
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.member_index(name)
    }
}

/// Members of a valuetype, as pairs of a name and a type.
impl Members for [(String, TypeCode)] {
    fn count(&self) -> usize {
        self.len()
    }

    fn name(&self, index: usize) -> &str {
        self.get(index).map_or("", |(name, _)| name)
    }

    fn type_code(&self, index: usize) -> TypeCode {
        self.get(index)
            .map_or(TypeCode::NULL, |(_, type_code)| type_code.clone())
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.iter().position(|(own, _)| own == name)
    }
}

/// Placeholder for the position of a member that the JSON leaves out.
const NOWHERE: usize = usize::MAX;

impl<'t> Reading<'_, 't> {
    pub(super) fn structure<T: Target>(
        &mut self,
        type_code: &TypeCode,
        json: &Token<'_>,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        let Token::Object = json else {
            return Err(wrong(type_code, json).into());
        };
        let members = self.members(type_code, None, out)?;
        Ok(out.end_members(members))
    }

    /// Reads the members of an object, in the order of the type. The object may also have the
    /// member `also`.
    pub(super) fn members<T: Target>(
        &mut self,
        members: &(impl Members + ?Sized),
        also: Option<&str>,
        out: &mut T,
    ) -> Result<T::Parts, ReadFailure> {
        let count = members.count();
        let begin = self.places.len();
        self.places.resize(begin + count, NOWHERE);
        if let Some(name) = self.find(members, also, begin) {
            let given = |index: &usize| self.place(begin + index) != NOWHERE;
            let missing = (0..count).filter(|index| !given(index));
            let missing = missing.map(|index| members.name(index));
            return Err(unknown(&name, missing, &members.names()).into());
        }
        let end = self.text.at();
        let mut parts = out.members(count);
        for index in 0..count {
            let (name, type_code) = (members.name(index), members.type_code(index));
            let mut place = self.place(begin + index);
            if place == NOWHERE {
                // In a compact TypeCode all names are the same.
                place = members
                    .index(name)
                    .map_or(NOWHERE, |first| self.place(begin + first));
            }
            let made = if place == NOWHERE {
                self.left_out(name, &type_code, out)?
            } else {
                self.text.go_to(place);
                self.at(Step::Member(name), |this| this.value(&type_code, out))?
            };
            out.add(&mut parts, made);
        }
        self.places.truncate(begin);
        self.text.go_to(end);
        Ok(parts)
    }

    fn place(&self, index: usize) -> usize {
        self.places.get(index).copied().unwrap_or(NOWHERE)
    }

    /// Records the position at which each member of an object begins; of duplicates the last one
    /// counts. Returns the first unknown name, in alphabetical order.
    fn find(
        &mut self,
        members: &(impl Members + ?Sized),
        also: Option<&str>,
        begin: usize,
    ) -> Option<Cow<'t, str>> {
        let mut unknown: Option<Cow<'_, str>> = None;
        let mut next = 0;
        while self.text.more(b'}') {
            let name = self.text.name();
            // Most objects have them in order.
            let is_next = next < members.count() && *members.name(next) == *name;
            let index = if is_next {
                Some(next)
            } else {
                members.index(&name)
            };
            if let Some(index) = index {
                let at = self.text.at();
                if let Some(place) = self.places.get_mut(begin + index) {
                    *place = at;
                }
                next = index + 1;
            } else if also != Some(&*name) && unknown.as_ref().is_none_or(|first| name < *first) {
                unknown = Some(name);
            }
            self.text.pass();
        }
        unknown
    }

    fn left_out<T: Target>(
        &mut self,
        name: &str,
        type_code: &TypeCode,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        if kinds::optional(&type_code.original_type()).is_some() {
            return self.seen(type_code, Token::Null, out);
        }
        let what = wanted(type_code);
        Err(error(format!("the member `{name}` is missing: {what}")).into())
    }
}

/// Returns the error for a member that the type does not have.
pub(super) fn unknown<'n>(
    name: &str,
    missing: impl Iterator<Item = &'n str>,
    names: &[&str],
) -> JsonError {
    let near = nearest(name, missing).or_else(|| nearest(name, names.iter().copied()));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the members are {}", listed(names)),
    };
    let error = error("unknown member").within(Step::Member(name));
    error.with_help(Some(help))
}
