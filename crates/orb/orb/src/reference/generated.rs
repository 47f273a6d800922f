//! Support for generated code: functions and macros for the code that all references and all
//! exceptions have in common, except for names.

/// Returns the total number of names in the lists.
#[doc(hidden)]
#[must_use]
pub const fn count_of(lists: &[&[&str]]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < lists.len() {
        count += lists[at].len();
        at += 1;
    }
    count
}

/// Returns the names of the lists, one list after the other; `N` is their count.
///
/// # Panics
/// If there are more than `N`; in a constant that is a compiler error.
#[doc(hidden)]
#[must_use]
pub const fn joined_names<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut list, mut to) = (0, 0);
    while list < lists.len() {
        let mut from = 0;
        while from < lists[list].len() {
            names[to] = lists[list][from];
            from += 1;
            to += 1;
        }
        list += 1;
    }
    names
}

/// Joins constant lists of names into one constant list.
#[doc(hidden)]
#[macro_export]
macro_rules! joined {
    ($($list:expr),* $(,)?) => {{
        const LISTS: &[&[&str]] = &[$($list),*];
        const ALL: [&str; $crate::count_of(LISTS)] = $crate::joined_names(LISTS);
        &ALL
    }};
}

/// Implements the members that typed references have beside their operations, for `struct
/// $name($inner)`. `$inner` is the reference type of the first base interface, or
/// [`ObjectRef`](crate::ObjectRef) if there is no base.
///
/// The reference of an interface with bases dereferences to the first base's reference, and can be
/// converted to each base. The first list has the first base and its bases, the second list those
/// that the other bases add, most derived first. The word `described` is the last argument if the
/// interface is [`DescribedOperations`](crate::DescribedOperations).
#[doc(hidden)]
#[macro_export]
macro_rules! reference {
    ($name:ident, $id:literal $(, $described:ident)? $(,)?) => {
        $crate::reference!(@common $name, $id, &[$id], $crate::ObjectRef, [], [], [$($described)?]);

        impl ::core::convert::From<$name> for $crate::ObjectRef {
            fn from(reference: $name) -> Self {
                reference.0
            }
        }
    };
    ($name:ident, $id:literal, [$first:path $(, $further:path)*], [$($other:path),*] $(, $described:ident)? $(,)?) => {
        $crate::reference!(
            @common $name,
            $id,
            $crate::joined!(
                &[$id],
                $(&[<$other as $crate::Interface>::REPOSITORY_ID],)*
                <$first as $crate::Interface>::REPOSITORY_IDS
            ),
            $first,
            [$($further),*],
            [$($other),*],
            [$($described)?]
        );

        impl ::core::ops::Deref for $name {
            type Target = $first;

            #[inline]
            fn deref(&self) -> &$first {
                &self.0
            }
        }

        impl ::core::convert::From<$name> for $first {
            fn from(reference: $name) -> Self {
                reference.0
            }
        }

        impl ::core::convert::From<$name> for $crate::ObjectRef {
            fn from(reference: $name) -> Self {
                ::core::convert::Into::into(reference.0)
            }
        }
    };
    (@types described, $operation:ident) => {
        $crate::OperationTypes::find(<Self as $crate::DescribedOperations>::OWN_TYPES, $operation)
    };
    (@types , $operation:ident) => {
        ::core::option::Option::None
    };
    (
        @common $name:ident, $id:literal, $ids:expr, $inner:path,
        [$($further:path),*], [$($other:path),*], [$($described:ident)?]
    ) => {
        impl $crate::Interface for $name {
            const REPOSITORY_ID: &'static str = $id;
            const REPOSITORY_IDS: &'static [&'static str] = $ids;

            fn operation_types(operation: &str) -> ::core::option::Option<&'static $crate::OperationTypes> {
                let own: ::core::option::Option<&'static $crate::OperationTypes> =
                    $crate::reference!(@types $($described)?, operation);
                own.or_else(|| <$inner as $crate::Interface>::operation_types(operation))
                    $(.or_else(|| <$other as $crate::Interface>::operation_types(operation)))*
            }

            #[inline]
            fn from_object(object: $crate::ObjectRef) -> Self {
                Self(<$inner as $crate::Interface>::from_object(object))
            }

            #[inline]
            fn as_object(&self) -> &$crate::ObjectRef {
                <$inner as $crate::Interface>::as_object(&self.0)
            }
        }

        $(
            impl ::core::convert::From<$name> for $further {
                fn from(reference: $name) -> Self {
                    $crate::Interface::from_object(::core::convert::Into::into(reference))
                }
            }
        )*

        $(
            impl ::core::convert::From<$name> for $other {
                fn from(reference: $name) -> Self {
                    $crate::Interface::from_object(::core::convert::Into::into(reference))
                }
            }
        )*

        impl $crate::cdr::Marshal for $name {
            fn marshal(&self, out: &mut $crate::cdr::Encoder<'_>) -> ::core::result::Result<(), $crate::cdr::CdrError> {
                $crate::cdr::Marshal::marshal($crate::Interface::as_object(self), out)
            }
        }

        impl $crate::cdr::Unmarshal for $name {
            const MIN_SIZE: usize = <$crate::ObjectRef as $crate::cdr::Unmarshal>::MIN_SIZE;

            fn unmarshal(
                input: &mut $crate::cdr::Decoder<'_>,
            ) -> ::core::result::Result<Self, $crate::cdr::CdrError> {
                <$crate::ObjectRef as $crate::cdr::Unmarshal>::unmarshal(input).map($crate::Interface::from_object)
            }
        }

        impl $crate::cdr::Nilable for $name {
            fn marshal_nilable(
                this: ::core::option::Option<&Self>,
                out: &mut $crate::cdr::Encoder<'_>,
            ) -> ::core::result::Result<(), $crate::cdr::CdrError> {
                $crate::cdr::Nilable::marshal_nilable(this.map($crate::Interface::as_object), out)
            }

            fn unmarshal_nilable(
                input: &mut $crate::cdr::Decoder<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, $crate::cdr::CdrError> {
                let object = <$crate::ObjectRef as $crate::cdr::Nilable>::unmarshal_nilable(input)?;
                ::core::result::Result::Ok(object.map($crate::Interface::from_object))
            }
        }
    };
}

/// Implements the members that exceptions have beside their fields and their marshaling: a
/// repository id, `Display`, and `Error`.
#[doc(hidden)]
#[macro_export]
macro_rules! user_exception {
    ($name:ident, $id:literal, $($text:tt)*) => {
        impl $crate::UserException for $name {
            const REPOSITORY_ID: &'static str = $id;
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::user_exception!(@text self, f, $($text)*)
            }
        }

        impl ::std::error::Error for $name {}
    };
    (@text $this:ident, $f:ident, $text:literal) => {
        $f.write_str($text)
    };
    // Text with the members.
    (@text $this:ident, $f:ident, $text:literal, members) => {
        ::core::write!($f, ::core::concat!($text, ": {:?}"), $this)
    };
}

/// Implements the members that the error of an operation has beside its variants: one for each
/// exception, and `System`. The second list has exceptions that are native types, which are never
/// marshaled.
#[doc(hidden)]
#[macro_export]
macro_rules! operation_error {
    ($name:ident, [$($variant:ident($exception:path)),* $(,)?] $(, [$($native:ident($of:ty)),* $(,)?])?) => {
        impl $crate::OperationError for $name {
            fn system(&self) -> ::core::option::Option<&$crate::SystemException> {
                match self {
                    Self::System(exception) => ::core::option::Option::Some(exception),
                    #[allow(unreachable_patterns, reason = "an operation raises only its declared exceptions")]
                    _ => ::core::option::Option::None,
                }
            }

            fn exception_id(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => <$exception as $crate::UserException>::REPOSITORY_ID,)*
                    #[allow(unreachable_patterns, reason = "an operation raises only its declared exceptions")]
                    _ => "",
                }
            }

            fn raised(
                id: &str,
                reply: &mut $crate::cdr::Decoder<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, $crate::cdr::CdrError> {
                $(
                    if id == <$exception as $crate::UserException>::REPOSITORY_ID {
                        let exception = <$exception as $crate::cdr::Unmarshal>::unmarshal(reply)?;
                        return ::core::result::Result::Ok(::core::option::Option::Some(Self::$variant(exception)));
                    }
                )*
                let _ = (id, reply);
                ::core::result::Result::Ok(::core::option::Option::None)
            }

            fn marshal_raised(
                &self,
                body: &mut $crate::cdr::Encoder<'_>,
            ) -> ::core::result::Result<bool, $crate::cdr::CdrError> {
                match self {
                    $(
                        Self::$variant(exception) => {
                            body.put_string(<$exception as $crate::UserException>::REPOSITORY_ID)?;
                            $crate::cdr::Marshal::marshal(exception, body)?;
                            ::core::result::Result::Ok(true)
                        }
                    )*
                    #[allow(unreachable_patterns, reason = "an operation raises only its declared exceptions")]
                    _ => {
                        let _ = body;
                        ::core::result::Result::Ok(false)
                    }
                }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $(Self::$variant(exception) => ::core::fmt::Display::fmt(exception, f),)*
                    $($(Self::$native(exception) => ::core::fmt::Display::fmt(exception, f),)*)?
                    Self::System(exception) => ::core::fmt::Display::fmt(exception, f),
                }
            }
        }

        /// Shows the error as `Display` does, for a `main` that returns it.
        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(self, f)
            }
        }

        impl ::std::error::Error for $name {}

        impl ::core::convert::From<$crate::SystemException> for $name {
            fn from(exception: $crate::SystemException) -> Self {
                Self::System(exception)
            }
        }

        $(
            impl ::core::convert::From<$exception> for $name {
                fn from(exception: $exception) -> Self {
                    Self::$variant(exception)
                }
            }
        )*

        $($(
            impl ::core::convert::From<$of> for $name {
                fn from(exception: $of) -> Self {
                    Self::$native(exception)
                }
            }
        )*)?
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists_of_names_are_joined_in_their_order() {
        const BASE: &[&str] = crate::joined!(&["b", "c"], &[]);
        const ALL: &[&str] = crate::joined!(&["a"], BASE, &["d"]);
        assert_eq!(ALL, ["a", "b", "c", "d"]);
    }
}
