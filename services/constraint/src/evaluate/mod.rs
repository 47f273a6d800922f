//! Evaluation of programs over events.

mod arithmetic;
mod compare;
mod failure;
mod found;
mod list;
mod machine;
mod operand;
mod reach;
mod steps;
mod variable;
mod walk;

pub use failure::Failure;
pub(crate) use machine::evaluate;
pub(crate) use operand::Operand;
pub(crate) use reach::read;
