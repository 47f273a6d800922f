//! IDL types of Rust types.

use punctual_cdr::{Char, Fixed, LongDouble, Nilable, ValueRef};

use super::arena::Arena;
use super::{TypeBuilder, TypeCode, TypeIndex, ValueDescription, ValueModifier};
use crate::kind::TypeKind;

/// Rust type that has a TypeCode. The IDL compiler implements it for all generated types.
pub trait Typed {
    /// Adds the description of the type to a builder.
    fn describe(types: &mut TypeBuilder) -> TypeIndex;

    /// Returns the type's TypeCode. Generated types make theirs once.
    #[must_use]
    fn type_code() -> TypeCode {
        TypeBuilder::of::<Self>()
    }
}

impl TypeBuilder {
    /// Makes a new TypeCode for a Rust type.
    #[must_use]
    pub fn of<T: Typed + ?Sized>() -> TypeCode {
        Self::described(T::describe)
    }
}

/// Implements [`Typed`] for a generated type, whose TypeCode is made once.
#[doc(hidden)]
#[macro_export]
macro_rules! typed {
    ($name:ident, |$types:ident| $description:expr $(,)?) => {
        impl $crate::Typed for $name {
            fn describe($types: &mut $crate::TypeBuilder) -> $crate::TypeIndex {
                $description
            }

            fn type_code() -> $crate::TypeCode {
                static TYPE_CODE: ::std::sync::OnceLock<$crate::TypeCode> =
                    ::std::sync::OnceLock::new();
                match TYPE_CODE.get() {
                    ::core::option::Option::Some(made) => made.clone(),
                    ::core::option::Option::None => {
                        $crate::TypeBuilder::once(&TYPE_CODE, <Self as $crate::Typed>::describe)
                    }
                }
            }
        }
    };
}

macro_rules! simple {
    ($($rust:ty => $kind:ident;)*) => {$(
        impl Typed for $rust {
            fn describe(types: &mut TypeBuilder) -> TypeIndex {
                types.primitive(TypeKind::$kind)
            }

            #[inline]
            fn type_code() -> TypeCode {
                TypeCode::simple(TypeKind::$kind)
            }
        }
    )*};
}

simple! {
    () => Void;
    bool => Boolean;
    u8 => Octet;
    i16 => Short;
    u16 => UShort;
    i32 => Long;
    u32 => ULong;
    i64 => LongLong;
    u64 => ULongLong;
    f32 => Float;
    f64 => Double;
    LongDouble => LongDouble;
    Char => Char;
    char => WChar;
    str => String;
    String => String;
    TypeCode => TypeCode;
}

/// Describes IDL's `int8`, for which CORBA 3.3 has no kind: an octet under another name.
impl Typed for i8 {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        types.alias("IDL:omg.org/CORBA/Int8:1.0", "int8", |types| {
            types.primitive(TypeKind::Octet)
        })
    }
}

/// Describes the TypeCode of `CORBA::ValueBase`.
impl Typed for ValueRef {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        types.value(
            "IDL:omg.org/CORBA/ValueBase:1.0",
            "ValueBase",
            ValueModifier::None,
            |_| ValueDescription {
                concrete_base: None,
                members: Vec::<(&str, _, _)>::new(),
            },
        )
    }
}

impl<T: Typed> Typed for [T] {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        let element = T::describe(types);
        types.sequence(element, 0)
    }

    fn type_code() -> TypeCode {
        T::type_code().kept_sequence(TypeBuilder::of::<Self>)
    }
}

impl<T: Typed> Typed for Vec<T> {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        <[T]>::describe(types)
    }

    fn type_code() -> TypeCode {
        <[T]>::type_code()
    }
}

impl<T: Typed, const N: usize> Typed for [T; N] {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        let element = T::describe(types);
        types.array(element, u32::try_from(N).unwrap_or(u32::MAX))
    }

    fn type_code() -> TypeCode {
        let length = u32::try_from(N).unwrap_or(u32::MAX);
        T::type_code().kept_array(length, TypeBuilder::of::<Self>)
    }
}

/// TypeCodes made of others: those are kept with the elements' TypeCode, as Rust has no place for
/// them in a type with parameters.
impl TypeCode {
    /// Returns the unbounded sequence of this type, which `make` makes.
    fn kept_sequence(&self, make: impl FnOnce() -> Self) -> Self {
        let place = match &self.arena {
            Some(arena) if arena.root() == self.at => Some(arena.sequence()),
            Some(_) => None,
            None => Arena::simple_sequence(self.at),
        };
        match place {
            Some(place) => place.get_or_init(make).clone(),
            None => make(),
        }
    }

    /// Returns the array of this type of a length, which `make` makes.
    fn kept_array(&self, length: u32, make: impl FnOnce() -> Self) -> Self {
        let own = self.own_arena().filter(|arena| arena.root() == self.at);
        match own.and_then(|arena| arena.array().get()) {
            Some((kept, array)) if *kept == length => array.clone(),
            Some(_) => make(),
            None => {
                let made = make();
                if let Some(arena) = own {
                    // Another thread may have been first, with the same or another length.
                    let _ = arena.array().set((length, made.clone()));
                }
                made
            }
        }
    }
}

impl<T: Typed + ?Sized> Typed for Box<T> {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        T::describe(types)
    }

    fn type_code() -> TypeCode {
        T::type_code()
    }
}

impl<T: Typed + ?Sized> Typed for &T {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        T::describe(types)
    }

    fn type_code() -> TypeCode {
        T::type_code()
    }
}

/// Describes a type that may be nil, by the same TypeCode as without nil.
impl<T: Typed + Nilable> Typed for Option<T> {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        T::describe(types)
    }

    fn type_code() -> TypeCode {
        T::type_code()
    }
}

impl<const D: u16, const S: i16> Typed for Fixed<D, S> {
    fn describe(types: &mut TypeBuilder) -> TypeIndex {
        types.fixed(D, S)
    }
}
