//! Types and values that are known at run time only: TypeCode and Any (CORBA 3.3 part 1, §8.11; part 2,
//! §9.3.5).
//!
//! - [`TypeCode`] describes a type, [`Typed`] is a Rust type that has one, [`TypeBuilder`] makes them.
//! - [`Any`] is a value of any type, as octets with a TypeCode. One that only passes through is copied,
//!   not read, unless it holds valuetypes.
//! - [`Value`] is a value taken apart by its TypeCode.
//!
//! Whatever comes from a peer may be hostile: no type and no value makes this crate panic, recurse beyond the
//! limit on nesting, or hold more memory than in proportion to what was sent.
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
mod description;
mod kind;
mod shape;
mod type_code;
mod value;
mod walk;

pub use any::{Any, AnyError};
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
