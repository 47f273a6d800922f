//! Scopes and their entries (CORBA 3.3 part 1, §7.20).
//!
//! Names that differ only in case are the same name; every use has to spell it as its declaration
//! does. So tables are keyed by the lower-case name and keep the spelling.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::model::{DeclId, Type};
use crate::source::Place;

/// Identifier of a scope. The first one is the global scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ScopeId(pub(crate) u32);

impl ScopeId {
    pub(crate) const GLOBAL: ScopeId = ScopeId(0);
}

/// Entity that a name denotes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    Declaration(DeclId),
    /// Enum, and the position of one of its enumerators.
    Enumerator(DeclId, usize),
    /// Member, parameter, factory or state member: it occupies its name, and nothing more.
    Slot(&'static str),
    /// Name of module CORBA that stands for a basic type.
    Basic(Type),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) spelling: Rc<str>,
    /// Source position of the declaration; `None` for a declaration that the compiler itself made.
    pub(crate) place: Option<Place>,
    pub(crate) target: Target,
}

/// Use of a name that was declared in another scope: it may not get another meaning here.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) spelling: Rc<str>,
    pub(crate) place: Place,
    /// `true` if the name was used in this scope itself rather than in one inside it.
    pub(crate) direct: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) parent: Option<ScopeId>,
    /// Declaration that the scope belongs to; `None` for the global scope.
    pub(crate) owner: Option<DeclId>,
    /// Name of the owner, which may not be redeclared directly inside.
    pub(crate) name: Option<Rc<str>>,
    pub(crate) entries: HashMap<Rc<str>, Entry>,
    /// Names, as spelt, that differ from one of `entries` only in case, where this is no error.
    pub(crate) spellings: HashMap<Rc<str>, Entry>,
    /// Names as spelt, in the order of declaration, for suggestions in diagnostics.
    pub(crate) order: Vec<Rc<str>>,
    pub(crate) uses: HashMap<Rc<str>, Use>,
    /// Repository id prefix that a `typeprefix` statement sets for the scope.
    pub(crate) prefix: Option<Rc<str>>,
    /// Scopes of the direct bases and supported interfaces.
    pub(crate) bases: Vec<ScopeId>,
    /// Scopes that an interface or value type inherits from, while its body is read.
    pub(crate) ancestors: Option<HashSet<ScopeId>>,
}

impl Scope {
    /// Returns the entry of a name: preferably with that spelling, else with another.
    pub(crate) fn find(&self, key: &str, name: &str) -> Option<&Entry> {
        let entry = self.entries.get(key)?;
        if &*entry.spelling == name {
            return Some(entry);
        }
        self.spellings.get(name).or(Some(entry))
    }
}

/// Returns the key of a name in the tables of entries: the name in lower case.
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

/// Returns the keyword that a name collides with, whatever its case (§7.2.4).
pub(crate) fn colliding_keyword(name: &str) -> Option<&'static str> {
    KEYWORDS
        .iter()
        .copied()
        .find(|keyword| keyword.eq_ignore_ascii_case(name))
}

/// Returns whether a keyword was added to IDL after its first versions, so that older IDL may use
/// it as a name.
pub(crate) fn is_recent_keyword(keyword: &str) -> bool {
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

/// Returns whether a keyword is one only where a statement can begin with it, so that IDL which has
/// it as a name stays valid: the component model's, which CORBA 3 brought, with `import`, `typeid`
/// and the like. Components are not supported, so that nothing else is meant.
pub(crate) fn is_contextual_keyword(keyword: &str) -> bool {
    matches!(
        keyword,
        "component"
            | "consumes"
            | "emits"
            | "eventtype"
            | "finder"
            | "getraises"
            | "home"
            | "import"
            | "multiple"
            | "primarykey"
            | "provides"
            | "publishes"
            | "setraises"
            | "typeid"
            | "typeprefix"
            | "uses"
    )
}

/// Returns whether a word is a keyword that cannot be used as a name.
pub(crate) fn is_reserved(word: &str) -> bool {
    colliding_keyword(word)
        .is_some_and(|keyword| keyword == word && !is_contextual_keyword(keyword))
}

/// Returns the candidate most similar to `name`, if it is similar enough for a suggestion.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // Names of one or two letters are all similar.
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

/// Returns the number of single-character edits, where a swap of two neighbours counts as one, and
/// a change of case as none.
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
