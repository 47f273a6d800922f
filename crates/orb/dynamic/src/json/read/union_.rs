//! Unions, and optional members.

use std::borrow::Cow;

use punctual_any::{Label, TypeCode};

use super::super::kinds;
use super::members::unknown;
use super::misfit::{error, wrong};
use super::paths::Step;
use super::reading::{ReadFailure, Reading};
use super::simple::listed;
use super::target::{Target, Tree};
use super::text::Token;

const DISCRIMINATOR: &str = "$discriminator";

/// Members found in the JSON object of a union.
#[derive(Default)]
struct Given<'t> {
    /// Position in the JSON text of the value of `$discriminator`.
    discriminator: Option<usize>,
    /// Name and position of the JSON member that gives the union's active member. If there are
    /// several, that whose name is the first in alphabetical order.
    member: Option<(Cow<'t, str>, usize)>,
    /// Name of the next such member in alphabetical order, if there is one: an error, as a union
    /// has one active member.
    more: Option<Cow<'t, str>>,
}

impl<'t> Reading<'_, 't> {
    pub(super) fn union<T: Target>(
        &mut self,
        type_code: &TypeCode,
        json: Token<'t>,
        out: &mut T,
    ) -> Result<T::Made, ReadFailure> {
        if let Some(of) = kinds::optional(type_code) {
            let is_there = !matches!(json, Token::Null);
            out.discriminator(type_code, is_there.into())?;
            let member = match json {
                Token::Null => None,
                json => Some(self.seen(&of, json, out)?),
            };
            return Ok(out.end_union(is_there.into(), member));
        }
        let Token::Object = json else {
            return Err(wrong(type_code, &json).into());
        };
        let given = self.given();
        let end = self.text.at();
        let discriminator = match given.discriminator {
            Some(at) => Some(self.discriminator(type_code, at)?),
            None => None,
        };
        if let Some(name) = given.more {
            return Err(error(format!(
                "a union has one member at a time; `{name}` is a second one"
            ))
            .into());
        }
        let made = match (given.member, discriminator) {
            (Some((name, at)), discriminator) => {
                let (member, number) = chosen(type_code, discriminator, &name)?;
                let of = type_code.member_type(member);
                let of = of.map_err(|why| error(why.to_string()))?;
                out.discriminator(type_code, number)?;
                self.text.go_to(at);
                let made = self.at(Step::Member(&name), |this| this.value(&of, out))?;
                out.end_union(number, Some(made))
            }
            (None, Some(number)) if type_code.member_chosen(number) == Ok(None) => {
                out.discriminator(type_code, number)?;
                out.end_union(number, None)
            }
            _ => {
                let names = listed(&all_names(type_code));
                return Err(error(format!("a member is missing: {names}")).into());
            }
        };
        self.text.go_to(end);
        Ok(made)
    }

    fn given(&mut self) -> Given<'t> {
        let mut given = Given::default();
        while self.text.more(b'}') {
            let name = self.text.name();
            let at = self.text.at();
            self.text.pass();
            if name == DISCRIMINATOR {
                given.discriminator = Some(at);
                continue;
            }
            match &mut given.member {
                // The last one of a name counts.
                Some((first, place)) if *first == name => *place = at,
                Some((first, _)) if *first < name => {
                    if given.more.as_ref().is_none_or(|more| name < *more) {
                        given.more = Some(name);
                    }
                }
                member => given.more = member.replace((name, at)).map(|(first, _)| first),
            }
        }
        given
    }

    fn discriminator(&mut self, type_code: &TypeCode, at: usize) -> Result<i128, ReadFailure> {
        let of = type_code.discriminator_type();
        let of = of.map_err(|why| error(why.to_string()))?;
        self.text.go_to(at);
        self.at(Step::Member(DISCRIMINATOR), |this| {
            let json = this.text.next_token();
            let value = this.seen(&of, json.clone(), &mut Tree)?;
            kinds::number(&value).ok_or_else(|| wrong(&of, &json).into())
        })
    }
}

/// Returns the index of the member with a name, and the discriminator that selects it.
fn chosen(
    type_code: &TypeCode,
    discriminator: Option<i128>,
    name: &str,
) -> Result<(usize, i128), ReadFailure> {
    let Some(first) = type_code.member_index(name) else {
        let all = all_names(type_code);
        return Err(unknown(name, all.iter().copied(), &all).into());
    };
    let Some(number) = discriminator else {
        return match type_code.member_label(first) {
            Ok(Label::Value(number)) => Ok((first, number)),
            _ => Ok((first, free_discriminator(type_code, first)?)),
        };
    };
    let chosen = type_code.member_chosen(number).ok().flatten();
    let chosen = chosen.and_then(|index| type_code.member_name(index).ok());
    if chosen != Some(name) {
        return Err(error(format!(
            "the discriminator chooses {}, not `{name}`",
            chosen.map_or("no member".to_owned(), |name| format!("`{name}`"))
        ))
        .into());
    }
    Ok((first, number))
}

/// Returns a discriminator value that is not the label of any member.
fn free_discriminator(type_code: &TypeCode, default: usize) -> Result<i128, ReadFailure> {
    let is_free = |number: &i128| {
        type_code.member_chosen(*number) == Ok(Some(default))
            && kinds::discriminator(type_code, *number).is_some()
    };
    let count = type_code.member_count().unwrap_or(0) as i128;
    let found = (0..=count).find(is_free);
    found.ok_or_else(|| error("a `$discriminator` is needed for the default member").into())
}

fn all_names(type_code: &TypeCode) -> Vec<&str> {
    let count = type_code.member_count().unwrap_or(0);
    let names = (0..count).filter_map(|index| type_code.member_name(index).ok());
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    names
}
