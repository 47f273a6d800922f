//! Parts of skeletons: the numbers of an interface's operations, and the function that answers
//! each. Written by the IDL compiler once for each operation, however many interfaces inherit it.
//!
//! The operations that an interface itself declares have the first numbers. Those of its first base
//! follow, in the order of that base, and then those that further bases add.

use punctual_orb::{DispatchError, Dispatched, Interface, ServerCall};

/// Result of answering a request in a skeleton.
pub type Answered = Result<Dispatched, DispatchError>;

/// Function that unmarshals a request, calls an operation of the servant, and marshals the reply.
pub type Answer<T> = fn(&T, &mut ServerCall<'_>) -> Answered;

/// Operations of an interface, by their names on the wire.
pub trait Operations {
    /// Names of the operations that the interface itself declares.
    const OWN: &'static [&'static str];
    /// Names of all operations: its own, then those of its bases. The index of a name is the
    /// operation's number.
    const ALL: &'static [&'static str] = Self::OWN;

    /// Returns the repository id of the interface that declares an operation: this one, or one of its bases.
    fn declaring(operation: &str) -> Option<&'static str>
    where
        Self: Interface,
    {
        declaring_own::<Self>(operation)
    }
}

/// Returns the repository id of an interface if it declares an operation itself. For generated code.
#[doc(hidden)]
#[must_use]
pub fn declaring_own<I: Operations + Interface>(operation: &str) -> Option<&'static str> {
    I::OWN.contains(&operation).then_some(I::REPOSITORY_ID)
}

/// Functions by which a servant of type `T` answers requests for an interface.
pub trait Answers<T: 'static>: Operations {
    /// Functions for the operations that the interface itself declares, in order.
    const OWN_ANSWERS: &'static [Answer<T>];

    /// Returns the function for an operation that the interface itself declares. The search is by
    /// the length of the name, then by the bytes that distinguish it from others.
    fn find_own(operation: &str) -> Option<Answer<T>>;

    /// Returns the function for any operation of the interface, inherited ones included.
    #[inline]
    fn find(operation: &str) -> Option<Answer<T>> {
        Self::find_own(operation)
    }

    /// Returns the function for the operation with this number.
    fn numbered(number: usize) -> Option<Answer<T>> {
        Self::OWN_ANSWERS.get(number).copied()
    }
}

/// Defines the inherited part of [`Operations`] for an interface with bases. The first list has the
/// first base; the second has the interfaces that further bases add, each of which contributes only
/// the operations that it declares itself.
#[doc(hidden)]
#[macro_export]
macro_rules! inherited_operations {
    ($interface:path, [$first:path], [$($other:path),* $(,)?]) => {
        const ALL: &'static [&'static str] = $crate::joined!(
            <$interface as $crate::Operations>::OWN,
            <$first as $crate::Operations>::ALL
            $(, <$other as $crate::Operations>::OWN)*
        );

        fn declaring(operation: &str) -> ::core::option::Option<&'static str> {
            $crate::declaring_own::<$interface>(operation)
                .or_else(|| <$first as $crate::Operations>::declaring(operation))
                $(.or_else(|| $crate::declaring_own::<$other>(operation)))*
        }
    };
}

/// Defines the inherited part of [`Answers`] for interfaces with bases; see
/// [`inherited_operations`].
#[doc(hidden)]
#[macro_export]
macro_rules! inherited_answers {
    ($servant:ty, [$first:path], [$($other:path),* $(,)?]) => {
        fn find(operation: &str) -> ::core::option::Option<$crate::Answer<$servant>> {
            <Self as $crate::Answers<$servant>>::find_own(operation)
                .or_else(|| <$first as $crate::Answers<$servant>>::find(operation))
                $(.or_else(|| <$other as $crate::Answers<$servant>>::find_own(operation)))*
        }

        fn numbered(number: usize) -> ::core::option::Option<$crate::Answer<$servant>> {
            let own = <Self as $crate::Answers<$servant>>::OWN_ANSWERS;
            if let ::core::option::Option::Some(answer) = own.get(number) {
                return ::core::option::Option::Some(*answer);
            }
            let number = number - own.len();
            let of_first = <$first as $crate::Operations>::ALL.len();
            if number < of_first {
                return <$first as $crate::Answers<$servant>>::numbered(number);
            }
            let _number = number - of_first;
            $(
                let own = <$other as $crate::Answers<$servant>>::OWN_ANSWERS;
                if let ::core::option::Option::Some(answer) = own.get(_number) {
                    return ::core::option::Option::Some(*answer);
                }
                let _number = _number - own.len();
            )*
            ::core::option::Option::None
        }
    };
}

/// Defines the skeleton of `$interface` around an implementation of `$servant`. `$view` lists the
/// servant traits of the interface and of all its bases.
#[doc(hidden)]
#[macro_export]
macro_rules! skeleton {
    ($interface:ident, $skeleton:ident, $servant:ident, [$($view:path),* $(,)?]) => {
        struct $skeleton<__Implementation>(__Implementation);

        impl<__Implementation: $servant> $crate::Implements<__Implementation> for $interface {
            fn servant(servant: __Implementation) -> ::std::sync::Arc<dyn $crate::Servant> {
                ::std::sync::Arc::new($skeleton(servant))
            }
        }

        impl<__Implementation: $servant> $crate::Servant for $skeleton<__Implementation> {
            fn repository_ids(&self) -> &'static [&'static str] {
                <$interface as $crate::orb::Interface>::REPOSITORY_IDS
            }

            fn operation_types(
                &self,
                operation: &str,
            ) -> ::core::option::Option<&'static $crate::orb::OperationTypes> {
                <$interface as $crate::orb::Interface>::operation_types(operation)
            }

            fn dispatch(&self, call: &mut $crate::orb::ServerCall<'_>) -> $crate::Answered {
                match <$interface as $crate::Answers<__Implementation>>::find(call.operation()) {
                    ::core::option::Option::Some(answer) => answer(&self.0, call),
                    ::core::option::Option::None => ::core::result::Result::Err(call.bad_operation()),
                }
            }

            fn operations(&self) -> &'static [&'static str] {
                <$interface as $crate::Operations>::ALL
            }

            fn declaring_interface(&self, operation: &str) -> ::core::option::Option<&'static str> {
                <$interface as $crate::Operations>::declaring(operation)
            }

            fn upcall(&self, operation: usize, call: &mut $crate::orb::ServerCall<'_>) -> $crate::Answered {
                match <$interface as $crate::Answers<__Implementation>>::numbered(operation) {
                    ::core::option::Option::Some(answer) => answer(&self.0, call),
                    ::core::option::Option::None => ::core::result::Result::Err(call.bad_operation()),
                }
            }

            fn identity(&self) -> $crate::Identity {
                $servant::__identity(&self.0)
            }

            fn implementation(&self) -> &(dyn ::core::any::Any + ::core::marker::Send + ::core::marker::Sync) {
                &self.0
            }

            fn provide(&self) -> $crate::orb::Provided<'_> {
                $crate::orb::Provided::new(&self.0, const { $crate::orb::views![__Implementation as $(dyn $view),*] })
            }
        }
    };
}
