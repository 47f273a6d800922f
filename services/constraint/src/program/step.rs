//! Steps from a value to a part of it.

use std::fmt;

/// Begin of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Root {
    /// Event itself: `$`.
    Event,
    /// Variable of this name: `$name`.
    Variable(Box<str>),
    /// Time of the evaluation: `$curtime`.
    CurrentTime,
}

/// Step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Member by its name: `.name`.
    Member(Box<str>),
    /// Member by its position: `.1`.
    Position(u32),
    /// Element of a sequence or array: `[1]`.
    Element(u32),
    /// Value of a named value in a list: `(name)`.
    Named(Box<str>),
    /// Member of a union, by the discriminator: `.(1)`.
    Union(i128),
    /// Member of a union by its name, or by the label or character of its discriminator: `.('name')`.
    UnionNamed(Box<str>),
    /// Default member of a union: `.()`.
    UnionDefault,
    /// Number of elements: `._length`.
    Length,
    /// Discriminator: `._d`.
    Discriminator,
    /// Name of the type: `._type_id`.
    TypeId,
    /// Repository id of the type: `._repos_id`.
    ReposId,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(name) if is_implied(name) => write!(f, ".\\{name}"),
            Self::Member(name) => write!(f, ".{name}"),
            Self::Position(at) => write!(f, ".{at}"),
            Self::Element(at) => write!(f, "[{at}]"),
            Self::Named(name) => write!(f, "({})", Name(name)),
            Self::Union(number) => write!(f, ".({number})"),
            Self::UnionNamed(name) => write!(f, ".({})", Quoted(name)),
            Self::UnionDefault => f.write_str(".()"),
            Self::Length => f.write_str("._length"),
            Self::Discriminator => f.write_str("._d"),
            Self::TypeId => f.write_str("._type_id"),
            Self::ReposId => f.write_str("._repos_id"),
        }
    }
}

/// Returns whether a name means something else than a member, unless it is escaped.
fn is_implied(name: &str) -> bool {
    matches!(name, "_length" | "_d" | "_type_id" | "_repos_id")
}

/// Name in parentheses, quoted unless it is an identifier.
struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |one: u8| one.is_ascii_alphanumeric() || one == b'_';
        let begins_well = self
            .0
            .starts_with(|one: char| one.is_ascii_alphabetic() || one == '_');
        match begins_well && self.0.bytes().all(is_plain) {
            true => f.write_str(self.0),
            false => fmt::Display::fmt(&Quoted(self.0), f),
        }
    }
}

/// Text as a constraint has it, between quotes.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}
