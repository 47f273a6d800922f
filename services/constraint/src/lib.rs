//! Constraints on events: the extended Trader Constraint Language of the Notification Service
//! (formal/04-10-11, §2.4) and the plain one of the Trading Service (formal/00-06-27, annex B).
//!
//! - [`Constraint::compile`] parses a text in a [`Grammar`]; a mistake is a [`Diagnostic`] that points at it.
//! - [`Constraint::matches`] evaluates the program over an [`Event`]. It reads what the constraint names from the
//!   encoded values, and skips everything else undecoded.
//!
//! Both the text and the event may be hostile: [`Limits`] bound what either costs. Nothing recurses along a text, and
//! what skips a value recurses along its type only to the limit on nesting of what was received.
//!
//! # The language
//! Operators, those that bind tightest first: `( )`, `exist`, `default`, unary `+` and `-`; `not`; `*` and `/`; `+` and
//! `-`; `~`; `in`; `==`, `!=`, `<`, `<=`, `>`, `>=`; `and`; `or`. Comparisons do not chain. `and` and `or` evaluate their
//! right side only if the left one leaves the result open.
//!
//! Anything that cannot be evaluated makes the whole constraint false: a member that the event lacks, operands of types
//! that do not go together, a division by zero, an integer of more than 127 bits. `exist` asks first:
//! `exist $.x and $.x > 5`.
#![warn(unnameable_types)]
#![deny(clippy::indexing_slicing, clippy::cast_possible_truncation)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing))]

mod budget;
mod constraint;
mod diagnostic;
mod evaluate;
mod event;
mod grammar;
mod limits;
mod parse;
mod program;
mod set;

pub use budget::Budget;
pub use constraint::Constraint;
pub use diagnostic::Diagnostic;
pub use evaluate::Failure;
pub use event::{Event, FieldValue, List};
pub use grammar::Grammar;
pub use limits::Limits;
pub use program::{Key, Literal};
pub use set::{ConstraintId, ConstraintSet};
