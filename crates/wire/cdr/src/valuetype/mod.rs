//! Valuetypes (CORBA 3.3 part 1, §9; part 2, §9.3.4): values that are passed with their state, and
//! shared.
//!
//! Values form graphs: one may be held by several others, or indirectly by itself. On the wire the
//! second mention of a value is an *indirection* to the first. Here the values of one message live
//! in one [`Graph`], which a [`ValueRef`] from outside holds. Links between values of a graph do
//! not hold it, so that the last handle frees all of it, cycles included; and dropping never
//! recurses, however long a list is.
//!
//! Generated code implements three traits:
//!
//! - [`ValueState`] is the state: read and written in *steps*, each some plain members, or one
//!   member that is
//!   a value. The loop over them stands here and keeps its own stack, so that a list of any length is read
//!   and written without recursion. Values in sequences, structs and unions do recurse, and count towards
//!   [`Limits::nesting`](crate::Limits::nesting).
//! - [`ValueFactory`] makes states, and knows the type: its repository id, the types it may be
//!   truncated to, the
//!   implementation of its operations.
//! - [`ValueType`] is a typed handle.
//!
//! | layout of a value | |
//! |---|---|
//! | null | `long` 0 |
//! | indirection | `long` -1, `long` offset from itself back to the tag of the value |
//! | value | tag `0x7fff_ff00` + 1 codebase, + 2 one id or + 6 a list of them, + 8 chunked; codebase; ids; state |
//! | state in chunks | any of: `long` size and as many octets; a value; at the end `long` -level, which also ends all values within |
//!
//! Ids, lists and codebases that were written before are indirections, too. Null and indirections
//! within a chunked value stand in its chunks: outside they could not be told from end tags.

mod abstract_interface;
mod chunks;
mod cold_option;
mod custom;
mod generated;
mod graph;
mod header;
mod holds;
mod marshal;
mod read;
mod read_values;
mod state;
mod tag;
mod write;
mod written_values;

use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::sync::Arc;

pub use abstract_interface::{Supports, marshal_abstract, unmarshal_abstract};
pub(crate) use cold_option::ColdOption;
pub use custom::{CustomMarshal, DataInputStream, DataOutputStream};
#[doc(hidden)]
pub use generated::{length_of_all, one_of_all};
pub use graph::{Graph, ValueRef};
pub use holds::HoldsValues;
pub use marshal::{marshal_value, unmarshal_value};
pub(crate) use read_values::ReadValues;
pub use state::{ReadStep, ValueState, WriteStep};
pub use write::OpenValue;
pub(crate) use written_values::WrittenValues;

/// Factory of values of one type, with all information about the type. CORBA's `ValueFactory`.
pub trait ValueFactory: Send + Sync + 'static {
    /// Returns the repository id of the valuetype.
    fn repository_id(&self) -> &str;

    /// Returns, by index, the ids of the types that a receiver without this one may truncate a
    /// value to: those of its bases as far as it is `truncatable`, nearest first.
    fn truncatable_to(&self, _at: usize) -> Option<&str> {
        None
    }

    /// Returns whether values of this type have the state of the type with that repository id: their
    /// own, or inherited. `None` where the factory does not know its bases.
    fn has_state_of(&self, _id: &str) -> Option<bool> {
        None
    }

    /// Returns whether user code marshals the state. Such values travel in chunks.
    fn is_custom(&self) -> bool {
        false
    }

    /// Returns the handle types of a value of this type: its own, and its bases'.
    fn kinds(&self) -> &[TypeId];

    /// Makes the state of a value that is about to be read. CORBA's `create_for_unmarshal`.
    fn create(&self) -> Box<dyn ValueState>;

    /// Returns the value viewed as something else: its operations, a servant of an interface that
    /// it supports. The box holds a value of type `wanted`.
    fn view(&self, _wanted: TypeId, _value: &ValueRef) -> Option<Box<dyn Any>> {
        None
    }
}

/// Typed handle to values of one valuetype.
pub trait ValueType: Clone + Send + Sync + 'static {
    /// Repository id of the valuetype; empty for `CORBA::ValueBase`.
    const REPOSITORY_ID: &'static str;

    /// Handle types of a value of this type; [`ValueFactory::kinds`] returns them for factories.
    #[doc(hidden)]
    const KINDS: &'static [TypeId] = &[];

    /// Types that a value of this type may be truncated to, nearest first.
    #[doc(hidden)]
    const TRUNCATABLE_TO: &'static [&'static str] = &[];

    /// Makes the handle to a value, which must be of this type.
    #[doc(hidden)]
    fn from_value(value: ValueRef) -> Self;

    /// Returns the untyped handle to the value, CORBA's `ValueBase`.
    fn as_value(&self) -> &ValueRef;

    /// Returns the factory of values of exactly this type that serves where none is registered: for
    /// types with state and without operations. `None` for abstract types.
    #[must_use]
    fn default_factory() -> Option<Arc<dyn ValueFactory>> {
        None
    }

    /// Converts the value to this type.
    ///
    /// # Errors
    /// The value itself, if it is of another type.
    fn downcast(value: ValueRef) -> Result<Self, ValueRef> {
        if Formal::<Self>::new().admits(&*value.factory()) {
            Ok(Self::from_value(value))
        } else {
            Err(value)
        }
    }
}

/// Formal type of a value: the type that the IDL states for the member, parameter or result.
pub trait FormalValue {
    /// Returns the formal type's repository id; empty where any value is allowed.
    fn repository_id(&self) -> &str;

    /// Returns the factory of values of exactly the formal type, for when none is registered.
    fn factory(&self) -> Option<Arc<dyn ValueFactory>>;

    /// Returns whether values made by a factory are allowed for this formal type.
    fn admits(&self, factory: &dyn ValueFactory) -> bool;
}

/// Formal type of a member, parameter or result whose IDL type is that of `T`.
#[derive(Debug)]
pub struct Formal<T>(PhantomData<fn() -> T>);

impl<T> Formal<T> {
    /// Makes the formal type for values of a valuetype.
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Default for Formal<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ValueType> FormalValue for Formal<T> {
    fn repository_id(&self) -> &str {
        T::REPOSITORY_ID
    }

    fn factory(&self) -> Option<Arc<dyn ValueFactory>> {
        T::default_factory()
    }

    fn admits(&self, factory: &dyn ValueFactory) -> bool {
        T::REPOSITORY_ID.is_empty() || factory.kinds().contains(&TypeId::of::<T>())
    }
}
