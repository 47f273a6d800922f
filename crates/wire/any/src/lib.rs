//! Types and values that are known only at run time: TypeCode and Any (CORBA 3.3 part 1, §8.11;
//! part 2, §9.3.5).
//!
//! - [`TypeCode`] describes a type, [`Typed`] is a Rust type that has one, [`TypeBuilder`] makes
//!   them.
//! - [`Any`] is a value of any type, in encoded form with a TypeCode. One that only passes through
//!   is copied,
//!   not read, unless it holds valuetypes.
//! - [`Value`] is a value decoded by its TypeCode.
//! - [`Cursor`] is a place in an encoded value, which finds a part of it without decoding the rest.
//!
//! Peers may be hostile: no type and no value causes a panic, recursion beyond the limit on
//! nesting, or memory out of proportion to the bytes received.
#![warn(unnameable_types)]
#![deny(clippy::indexing_slicing, clippy::cast_possible_truncation)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )
)]

mod any;
mod cursor;
mod description;
mod kind;
mod shape;
mod type_code;
mod value;
mod walk;

pub use any::{Any, AnyError, PassedAnys};
pub use cursor::{Cursor, Scalar};
pub use description::{
    AttributeDescription, ExceptionDescription, InterfaceDescription, OperationDescription,
    ParameterDescription, ParameterMode,
};
pub use kind::TypeKind;
pub use type_code::{
    Label, TypeBuilder, TypeCode, TypeCodeError, TypeIndex, Typed, UnionDescription,
    ValueDescription, ValueModifier, Visibility,
};
pub use value::{DynamicFactory, DynamicValue, Elements, FormalType, UnionValue, Value};
