//! Delegates: types that hold a servant and implement its servant trait through it.

use super::{Identity, Tie};
use std::sync::Arc;

/// Type that holds a servant and delegates its operations to it: an `Arc`, a `Box`, or a [`Tie`] to
/// a part of an object. The IDL compiler implements each servant trait for these delegates.
pub trait Delegate: Send + Sync + 'static {
    /// Type of the servant that the delegate holds.
    type Servant: ?Sized;

    /// Set if clones of the delegate share one servant, and so count as one object. A `Box` counts
    /// as an object of its own.
    const IS_SHARED: bool;

    /// Returns the servant that performs the delegated operations.
    fn servant(&self) -> &Self::Servant;
}

impl<S: Send + Sync + ?Sized + 'static> Delegate for Arc<S> {
    type Servant = S;
    const IS_SHARED: bool = true;

    #[inline]
    fn servant(&self) -> &S {
        self
    }
}

impl<S: Send + Sync + ?Sized + 'static> Delegate for Box<S> {
    type Servant = S;
    const IS_SHARED: bool = false;

    #[inline]
    fn servant(&self) -> &S {
        self
    }
}

impl<T, S> Delegate for Tie<T, S>
where
    T: Send + Sync + ?Sized + 'static,
    S: ?Sized + 'static,
{
    type Servant = S;
    const IS_SHARED: bool = true;

    #[inline]
    fn servant(&self) -> &S {
        self
    }
}

impl Identity {
    /// Returns the identity of a delegate as an implementation of interface `I`. For generated
    /// code.
    #[doc(hidden)]
    pub fn of_delegate<I, D>(delegate: &D, of_servant: fn(&D::Servant) -> Self) -> Self
    where
        I: ?Sized + 'static,
        D: Delegate,
    {
        match D::IS_SHARED {
            true => of_servant(delegate.servant()),
            false => Self::of::<I, D>(delegate),
        }
    }
}

/// Implements `$servant` for its delegates: `Arc`, `Box` and `Tie`.
#[doc(hidden)]
#[macro_export]
macro_rules! delegate {
    ($servant:ident, $interface:ident, $operations:tt) => {
        $crate::delegate!(
            @of [__S: $servant + ?Sized], ::std::sync::Arc<__S>, $servant, $interface, $operations
        );
        $crate::delegate!(
            @of [__S: $servant + ?Sized], ::std::boxed::Box<__S>, $servant, $interface, $operations
        );
        $crate::delegate!(
            @of [
                __T: ::core::marker::Send + ::core::marker::Sync + ?Sized + 'static,
                __S: $servant + ?Sized
            ],
            $crate::Tie<__T, __S>, $servant, $interface, $operations
        );
    };
    (@of [$($generics:tt)*], $holder:ty, $servant:ident, $interface:ident, {
        $(
            $(#[$about:meta])*
            fn $operation:ident(&self $(, $argument:ident: $type:ty)* $(,)?) -> $result:ty;
        )*
    }) => {
        impl<$($generics)*> $servant for $holder {
            $(
                $(#[$about])*
                fn $operation(&self $(, $argument: $type)*) -> $result {
                    $servant::$operation(<$holder as $crate::Delegate>::servant(self) $(, $argument)*)
                }
            )*

            fn __identity(&self) -> $crate::Identity {
                $crate::Identity::of_delegate::<$interface, $holder>(self, $servant::__identity)
            }
        }
    };
}
