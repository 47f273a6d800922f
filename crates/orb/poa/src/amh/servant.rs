//! Servants that answer later, in the form in which they are activated, and their skeletons.

use super::blocking::Blocking;
use std::fmt;
use std::sync::Arc;

/// Servant that answers later (AMH): of a type that implements `XAmhServant`, the trait that the
/// IDL compiler writes beside `XServant` (`Builder::amh(true)`, `punctual idl --amh`). Clones are
/// one servant.
///
/// ```ignore
/// impl ClerkAmhServant for Desk {
///     fn add(&self, response: Response<i32>, a: i32, b: i32) {
///         self.queue.push(move || { let _ = response.reply(a + b); });
///     }
/// }
/// let clerk: Clerk = poa.activate(Amh::new(Desk::new()))?;
/// ```
pub struct Amh<T: ?Sized>(Arc<T>);

impl<T> Amh<T> {
    /// Wraps a servant for asynchronous method handling.
    pub fn new(servant: T) -> Self {
        Self(Arc::new(servant))
    }
}

impl<T: ?Sized> Amh<T> {
    /// Wraps a shared servant for asynchronous method handling.
    pub fn shared(servant: Arc<T>) -> Self {
        Self(servant)
    }

    /// Returns the wrapped servant with asynchronous method handling.
    #[must_use]
    pub fn servant(&self) -> &Arc<T> {
        &self.0
    }

    /// Returns the synchronous view of this servant for callers in this process. For generated
    /// code.
    #[doc(hidden)]
    #[must_use]
    pub fn blocking(&self) -> Blocking<T> {
        Blocking::new(self.0.clone())
    }
}

impl<T: ?Sized> Clone for Amh<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: ?Sized> fmt::Debug for Amh<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Amh").finish_non_exhaustive()
    }
}

/// Defines the skeleton of `$interface` around a servant that answers later. `$view` lists the
/// servant traits of the interface and of all its bases.
#[doc(hidden)]
#[macro_export]
macro_rules! amh_skeleton {
    ($interface:ident, $skeleton:ident, $servant:ident, [$($view:path),* $(,)?]) => {
        struct $skeleton<__Servant> {
            servant: $crate::Amh<__Servant>,
            blocking: $crate::Blocking<__Servant>,
        }

        impl<__Servant: $servant> $crate::Implements<$crate::Amh<__Servant>> for $interface {
            fn servant(servant: $crate::Amh<__Servant>) -> ::std::sync::Arc<dyn $crate::Servant> {
                let blocking = servant.blocking();
                ::std::sync::Arc::new($skeleton { servant, blocking })
            }
        }

        impl<__Servant: $servant> $crate::Servant for $skeleton<__Servant> {
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
                match <$interface as $crate::Answers<$crate::Amh<__Servant>>>::find(call.operation()) {
                    ::core::option::Option::Some(answer) => answer(&self.servant, call),
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
                match <$interface as $crate::Answers<$crate::Amh<__Servant>>>::numbered(operation) {
                    ::core::option::Option::Some(answer) => answer(&self.servant, call),
                    ::core::option::Option::None => ::core::result::Result::Err(call.bad_operation()),
                }
            }

            fn identity(&self) -> $crate::Identity {
                $crate::Identity::of::<$interface, __Servant>(self.servant.servant())
            }

            fn implementation(&self) -> &(dyn ::core::any::Any + ::core::marker::Send + ::core::marker::Sync) {
                &self.servant
            }

            fn provide(&self) -> $crate::orb::Provided<'_> {
                $crate::orb::Provided::new(
                    &self.blocking,
                    const { $crate::orb::views![$crate::Blocking<__Servant> as $(dyn $view),*] },
                )
                .answering_later()
            }
        }
    };
}
