//! Compiled constraints: flat instructions over a stack of operands.

mod builder;
mod keys;
mod path;
mod place;
mod print;
mod step;

pub(crate) use builder::Builder;
pub use keys::Key;
pub(crate) use path::Path;
pub(crate) use place::{Part, Place};
pub(crate) use step::{Root, Step};

use std::fmt;

use step::Quoted;

/// Value that is written in a constraint.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `TRUE` or `FALSE`.
    Boolean(bool),
    /// Whole number without point and exponent.
    Integer(i128),
    /// Any other number.
    Real(f64),
    /// String.
    Text(Box<str>),
}

/// Formats the literal as it is written in a constraint.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(true) => f.write_str("TRUE"),
            Self::Boolean(false) => f.write_str("FALSE"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Real(number) => write!(f, "{number:?}"),
            Self::Text(text) => fmt::Display::fmt(&Quoted(text), f),
        }
    }
}

/// Instruction. Operands come from the stack, the right one on top; the result goes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Pushes a literal.
    Literal(u32),
    /// Pushes the value at a path.
    Load(u32),
    /// Pushes how the value at a path compares with a literal.
    Test(Comparison, u32, u32),
    /// Pushes whether there is a value at a path.
    Exist(u32),
    /// Pushes whether the default member of the union at a path is selected.
    Default(u32),
    /// Replaces a value by whether an element of the list at a path is equal to it.
    In(u32),
    Not,
    Negate,
    /// Checks that the value is a number.
    Affirm,
    Compare(Comparison),
    Compute(Arithmetic),
    /// Replaces two strings by whether the left one is part of the right one.
    Contains,
    /// Goes on at the instruction with this number if the value is `FALSE`, otherwise drops it.
    And(u32),
    /// Goes on at the instruction with this number if the value is `TRUE`, otherwise drops it.
    Or(u32),
    /// Checks that the right side of `and` or `or` is a boolean.
    Joined,
}

/// Comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// Compiled constraint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) ops: Box<[Op]>,
    pub(crate) literals: Box<[Literal]>,
    pub(crate) paths: Box<[Path]>,
    /// Most operands on the stack at a time.
    pub(crate) depth: usize,
}

impl Program {
    pub(crate) fn path(&self, at: u32) -> Option<&Path> {
        self.paths.get(usize::try_from(at).ok()?)
    }

    pub(crate) fn literal(&self, at: u32) -> Option<&Literal> {
        self.literals.get(usize::try_from(at).ok()?)
    }
}
