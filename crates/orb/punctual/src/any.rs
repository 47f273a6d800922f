//! Contents of Anys and construction of TypeCodes.
//!
//! A program needs this module to read a value whose type it does not know when it is compiled, or to make such types;
//! to put values of IDL's types into an [`Any`](crate::Any) and to take them out, the root of the crate is enough.
//!
//! ```
//! use punctual::any::Value;
//! use punctual::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let any = Any::new(&7_i32)?;
//! assert!(matches!(any.value()?, Value::Long(7)));
//! # Ok(()) }
//! ```

pub use punctual_any::{
    AnyError, Cursor, DynamicFactory, DynamicValue, Elements, Label, PassedAnys, Scalar,
    TypeBuilder, TypeCodeError, TypeIndex, TypeKind, UnionDescription, UnionValue, Value,
    ValueDescription, ValueModifier, Visibility,
};
