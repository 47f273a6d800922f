//! Support for generated code: the parts that are the same for every value handle except for names.

/// Returns the sum of the lengths of several lists.
#[doc(hidden)]
#[must_use]
pub const fn length_of_all<T>(mut lists: &[&[T]]) -> usize {
    let mut length = 0;
    while let [list, others @ ..] = lists {
        length += list.len();
        lists = others;
    }
    length
}

/// Concatenates lists; `N` is their total length, and `filler` is overwritten.
///
/// # Panics
/// Where there are more than `N` elements; in a constant that is a compile-time error.
#[doc(hidden)]
#[must_use]
pub const fn one_of_all<T: Copy, const N: usize>(mut lists: &[&[T]], filler: T) -> [T; N] {
    let mut all = [filler; N];
    let mut free: &mut [T] = &mut all;
    while let [list, others @ ..] = lists {
        let (place, behind) = free.split_at_mut(list.len());
        place.copy_from_slice(list);
        free = behind;
        lists = others;
    }
    all
}

/// Implements the common part of a value handle, in addition to its members and operations, for
/// `struct $name($inner)`, where `$inner` is the first base or [`ValueRef`](crate::ValueRef).
///
/// The handle of a type with bases is also the first base's (by `Deref`), and can be widened to
/// each base. The first list has the first base and the bases of that, the second the bases that
/// other bases add, the third the supported abstract interfaces. After them follow the factory, if
/// values of exactly this type have one, and whether the type may be truncated to its first base.
#[doc(hidden)]
#[macro_export]
macro_rules! value_handle {
    ($name:ident, $id:literal, [], [], [$($either:ty),*] $(, factory $factory:expr)? $(,)?) => {
        $crate::value_handle!(
            @common $name, $id, $crate::ValueRef, [$($either),*], [], [$(, $factory)?]
            {
                const KINDS: &'static [::core::any::TypeId] = &[
                    ::core::any::TypeId::of::<$name>(),
                    $(::core::any::TypeId::of::<$either>(),)*
                ];
            }
        );

        impl ::core::convert::From<$name> for $crate::ValueRef {
            fn from(value: $name) -> Self {
                value.0
            }
        }
    };
    (
        $name:ident, $id:literal, [$first:ty $(, $further:ty)*], [$($other:ty),*], [$($either:ty),*]
        $(, factory $factory:expr)? $(, truncatable $to:ty)? $(,)?
    ) => {
        $crate::value_handle!(
            @common $name, $id, $first, [$($either),*], [$($further,)* $($other),*], [$(, $factory)?]
            {
                const KINDS: &'static [::core::any::TypeId] = {
                    const LISTS: &[&[::core::any::TypeId]] = &[
                        &[
                            ::core::any::TypeId::of::<$name>(),
                            $(::core::any::TypeId::of::<$other>(),)*
                            $(::core::any::TypeId::of::<$either>(),)*
                        ],
                        <$first as $crate::ValueType>::KINDS,
                    ];
                    const ALL: [::core::any::TypeId; $crate::length_of_all(LISTS)] =
                        $crate::one_of_all(LISTS, ::core::any::TypeId::of::<$name>());
                    &ALL
                };
                $(
                    const TRUNCATABLE_TO: &'static [&'static str] = {
                        const LISTS: &[&[&str]] = &[
                            &[<$to as $crate::ValueType>::REPOSITORY_ID],
                            <$to as $crate::ValueType>::TRUNCATABLE_TO,
                        ];
                        const ALL: [&str; $crate::length_of_all(LISTS)] = $crate::one_of_all(LISTS, "");
                        &ALL
                    };
                )?
            }
        );

        impl ::core::ops::Deref for $name {
            type Target = $first;

            #[inline]
            fn deref(&self) -> &$first {
                &self.0
            }
        }

        impl ::core::convert::From<$name> for $first {
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl ::core::convert::From<$name> for $crate::ValueRef {
            fn from(value: $name) -> Self {
                ::core::clone::Clone::clone($crate::ValueType::as_value(&value))
            }
        }
    };
    (
        @common $name:ident, $id:literal, $inner:ty, [$($either:ty),*], [$($base:ty),* $(,)?], [$(, $factory:expr)?]
        { $($constants:item)* }
    ) => {
        impl $crate::ValueType for $name {
            const REPOSITORY_ID: &'static str = $id;
            $($constants)*

            #[inline]
            fn from_value(value: $crate::ValueRef) -> Self {
                Self(<$inner as $crate::ValueType>::from_value(value))
            }

            #[inline]
            fn as_value(&self) -> &$crate::ValueRef {
                $crate::ValueType::as_value(&self.0)
            }

            $(
                fn default_factory()
                -> ::core::option::Option<::std::sync::Arc<dyn $crate::ValueFactory>> {
                    ::core::option::Option::Some(::std::sync::Arc::new($factory))
                }
            )?
        }

        $(
            impl ::core::convert::From<$name> for $base {
                fn from(value: $name) -> Self {
                    $crate::ValueType::from_value(::core::convert::Into::into(value))
                }
            }
        )*

        $(
            impl ::core::convert::From<$name> for $either {
                fn from(value: $name) -> Self {
                    <$either>::Value(::core::convert::Into::into(value))
                }
            }
        )*

        impl $crate::Marshal for $name {
            fn marshal(
                &self,
                out: &mut $crate::Encoder<'_>,
            ) -> ::core::result::Result<(), $crate::CdrError> {
                $crate::marshal_value(::core::option::Option::Some(self), out)
            }
        }

        impl $crate::Unmarshal for $name {
            const MIN_SIZE: usize = 4;

            fn unmarshal(
                input: &mut $crate::Decoder<'_>,
            ) -> ::core::result::Result<Self, $crate::CdrError> {
                $crate::unmarshal_value(input)?.ok_or($crate::CdrError::NilReference)
            }
        }

        impl $crate::Nilable for $name {
            fn marshal_nilable(
                this: ::core::option::Option<&Self>,
                out: &mut $crate::Encoder<'_>,
            ) -> ::core::result::Result<(), $crate::CdrError> {
                $crate::marshal_value(this, out)
            }

            fn unmarshal_nilable(
                input: &mut $crate::Decoder<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, $crate::CdrError> {
                $crate::unmarshal_value(input)
            }
        }

        impl $crate::HoldsValues for $name {
            fn adopt(&mut self, graph: &$crate::Graph) {
                $crate::HoldsValues::adopt(&mut self.0, graph);
            }
        }
    };
}

/// Returns, from a factory's `view`, the implementation of a type's operations, if it is requested
/// as one of a list of traits: its own and its bases'.
#[doc(hidden)]
#[macro_export]
macro_rules! as_operations {
    ($wanted:ident, $operations:ident, $own:path, [$($trait:path),*]) => {
        $(
            if $wanted == ::core::any::TypeId::of::<::std::sync::Arc<dyn $trait>>() {
                let operations: ::std::sync::Arc<dyn $trait> =
                    ::std::sync::Arc::<dyn $own>::clone($operations);
                return ::core::option::Option::Some(::std::boxed::Box::new(operations));
            }
        )*
    };
}
