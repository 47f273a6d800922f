//! Scopes and what is in them (CORBA 3.3 part 1, §7.20).
//!
//! Names that differ only in case are the same name; every use has to spell it as its
//! declaration does. So tables are keyed by the lower-case name and keep the spelling.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::model::{DeclId, Type};
use crate::source::Place;

/// Identifies a scope. The first one is the global scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(pub(crate) u32);

impl ScopeId {
    pub(crate) const GLOBAL: ScopeId = ScopeId(0);
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    Declaration(DeclId),
    /// An enum and the position of the enumerator.
    Enumerator(DeclId, usize),
    /// A member, parameter, factory or state member: it takes up its name, and no more.
    Slot(&'static str),
    /// A name of module CORBA that stands for a basic type.
    Basic(Type),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) spelling: Rc<str>,
    /// `None` for what the compiler itself declared.
    pub(crate) place: Option<Place>,
    pub(crate) target: Target,
}

/// A use of a name that was declared in another scope: it may not get another meaning here.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) spelling: Rc<str>,
    pub(crate) place: Place,
    /// Used in this scope itself rather than in one inside it.
    pub(crate) direct: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) parent: Option<ScopeId>,
    /// What it is the inside of; `None` for the global scope.
    pub(crate) owner: Option<DeclId>,
    /// The owner's name, which may not be declared anew directly inside.
    pub(crate) name: Option<Rc<str>>,
    pub(crate) entries: HashMap<Rc<str>, Entry>,
    /// Where this is no error: names that differ from one of `entries` only in case, as spelt.
    pub(crate) spellings: HashMap<Rc<str>, Entry>,
    /// Spellings in the order of declaration, for suggestions.
    pub(crate) order: Vec<Rc<str>>,
    pub(crate) uses: HashMap<Rc<str>, Use>,
    /// What `typeprefix` says of it.
    pub(crate) prefix: Option<Rc<str>>,
    /// Scopes of the direct bases and supported interfaces.
    pub(crate) bases: Vec<ScopeId>,
    /// While the inside of an interface or value type is read: all that it inherits from.
    pub(crate) ancestors: Option<HashSet<ScopeId>>,
}

impl Scope {
    /// What is declared under a name: best under that spelling, else under another.
    pub(crate) fn find(&self, key: &str, name: &str) -> Option<&Entry> {
        let entry = self.entries.get(key)?;
        if &*entry.spelling == name {
            return Some(entry);
        }
        self.spellings.get(name).or(Some(entry))
    }
}

/// The key under which a name is filed.
pub(crate) fn key(name: &str) -> Rc<str> {
    name.to_ascii_lowercase().into()
}

const KEYWORDS: &[&str] = &[
    "abstract",
    "any",
    "attribute",
    "boolean",
    "case",
    "char",
    "component",
    "const",
    "consumes",
    "context",
    "custom",
    "default",
    "double",
    "emits",
    "enum",
    "eventtype",
    "exception",
    "factory",
    "FALSE",
    "finder",
    "fixed",
    "float",
    "getraises",
    "home",
    "import",
    "in",
    "inout",
    "interface",
    "local",
    "long",
    "module",
    "multiple",
    "native",
    "Object",
    "octet",
    "oneway",
    "out",
    "primarykey",
    "private",
    "provides",
    "public",
    "publishes",
    "raises",
    "readonly",
    "sequence",
    "setraises",
    "short",
    "string",
    "struct",
    "supports",
    "switch",
    "TRUE",
    "truncatable",
    "typedef",
    "typeid",
    "typeprefix",
    "union",
    "unsigned",
    "uses",
    "ValueBase",
    "valuetype",
    "void",
    "wchar",
    "wstring",
];

/// The keyword that a name collides with, whatever its case (§7.2.4).
pub(crate) fn colliding_keyword(name: &str) -> Option<&'static str> {
    KEYWORDS
        .iter()
        .copied()
        .find(|keyword| keyword.eq_ignore_ascii_case(name))
}

/// Whether a keyword is younger than much of the IDL in use, which has names like it.
pub(crate) fn is_young_keyword(keyword: &str) -> bool {
    matches!(
        keyword,
        "abstract"
            | "component"
            | "consumes"
            | "custom"
            | "emits"
            | "eventtype"
            | "factory"
            | "finder"
            | "getraises"
            | "home"
            | "import"
            | "local"
            | "multiple"
            | "native"
            | "primarykey"
            | "private"
            | "provides"
            | "public"
            | "publishes"
            | "setraises"
            | "supports"
            | "truncatable"
            | "typeid"
            | "typeprefix"
            | "uses"
            | "ValueBase"
            | "valuetype"
    )
}

/// The candidate that is most like `name`, if one is like enough to be what was meant.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // Of one or two letters, all are alike.
    let allowed = if name.len() < 3 {
        0
    } else {
        (name.len() / 3).min(3)
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate.len().abs_diff(name.len()) > allowed || candidate.len() > 64 {
            continue;
        }
        let distance = distance(name, candidate);
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
        .filter(|candidate| *candidate != name)
}

/// Single-character edits, where a swap of two neighbours counts as one, and case as nothing.
fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_ascii_lowercase(), &b.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_nearest_neighbour_and_a_strange_one_none() {
        let names = ["Foo", "interface", "struct"];
        assert_eq!(nearest("interfcae", names.into_iter()), Some("interface"));
        assert_eq!(nearest("strcut", names.into_iter()), Some("struct"));
        assert_eq!(nearest("banana", names.into_iter()), None);
    }
}
