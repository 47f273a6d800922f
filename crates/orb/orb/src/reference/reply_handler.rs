//! Reply handlers: receivers of the reply of an asynchronous call (CORBA 3.3 part 1, §17.8).
//!
//! A `sendc_` method accepts three kinds of handlers: a closure; a servant of the handler interface
//! that the IDL implies (`Arc<T>` or `Arc<dyn AmiClerkHandlerServant>`), which needs no POA; a
//! reference to an object of that interface, in this or another process. All are converted to a
//! [`ReplyHandler`], which the ORB calls once.

use super::exception_holder::ExceptionHolder;
use super::interface::Interface;
use super::object::ObjectRef;
use crate::exception::{OperationError, SystemException};
use crate::orb::Orb;
use std::fmt;

/// Receiver of the reply of an asynchronous call: it is called once, with the results or the error,
/// on a thread of the ORB that reads replies. Handlers of one lane are called one after the other;
/// a handler that takes long delays the next ones.
pub struct ReplyHandler<R, E = SystemException>(pub(super) Box<dyn FnOnce(Result<R, E>) + Send>);

impl<R, E, F: FnOnce(Result<R, E>) + Send + 'static> From<F> for ReplyHandler<R, E> {
    fn from(handler: F) -> Self {
        Self(Box::new(handler))
    }
}

impl<R, E> fmt::Debug for ReplyHandler<R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyHandler")
    }
}

/// Interface of reply handlers, such as `AMI_ClerkHandler`. Implemented by generated code.
pub trait HandlerInterface: Interface {
    /// Trait object type of the servants of the reply handler interface.
    type Servant: ?Sized + 'static;
}

/// Function that delivers a reply to an object or a servant.
type Deliver<T, R, E> = fn(&T, Result<R, E>, &Orb) -> Result<(), SystemException>;

/// Functions that deliver the reply to one operation to objects of a handler interface. For
/// generated code.
#[doc(hidden)]
pub struct Delivery<H: HandlerInterface, R, E> {
    /// Function that delivers the reply to a handler object through a reference.
    pub to_object: Deliver<H, R, E>,
    /// Function that delivers the reply to a servant, without a POA.
    pub to_servant: Deliver<H::Servant, R, E>,
}

impl<H: HandlerInterface, R, E> fmt::Debug for Delivery<H, R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Delivery")
    }
}

/// Conversion into the reply handler of a call whose handler interface is `H`, with results `R` and
/// error `E`: for closures, references to `H`, and servants of `H` in an `Arc`.
pub trait IntoReplyHandler<H: HandlerInterface, R, E> {
    /// Returns the reply handler for a call of this object.
    #[doc(hidden)]
    fn into_reply_handler(
        self,
        delivery: Delivery<H, R, E>,
        called: &ObjectRef,
    ) -> ReplyHandler<R, E>;
}

impl<H, R, E, F> IntoReplyHandler<H, R, E> for F
where
    H: HandlerInterface,
    F: FnOnce(Result<R, E>) + Send + 'static,
{
    fn into_reply_handler(self, _: Delivery<H, R, E>, _: &ObjectRef) -> ReplyHandler<R, E> {
        self.into()
    }
}

impl<H: HandlerInterface, R, E> IntoReplyHandler<H, R, E> for ReplyHandler<R, E> {
    fn into_reply_handler(self, _: Delivery<H, R, E>, _: &ObjectRef) -> ReplyHandler<R, E> {
        self
    }
}

/// Logs the failed delivery of a reply to a handler object (§17.8.1), as no caller waits for its
/// result.
#[doc(hidden)]
pub fn delivered(result: Result<(), SystemException>, interface: &str) {
    if let Err(exception) = result {
        tracing::warn!("a reply handler of {interface} failed: {exception}");
    }
}

/// Returns an exception holder with the error, to be passed to a handler's `…_excep` operation. For
/// generated code.
///
/// # Errors
/// The reason why the error cannot be marshaled.
#[doc(hidden)]
pub fn held<E: OperationError>(error: &E, orb: &Orb) -> Result<ExceptionHolder, SystemException> {
    ExceptionHolder::new(error, orb)
}

/// Implements the conversions by which references and servants of a handler interface can be passed
/// as reply handlers.
#[doc(hidden)]
#[macro_export]
macro_rules! handler_interface {
    ($name:ident) => {
        $crate::handler_interface!(@object $name, ::core::convert::Infallible);
    };
    ($name:ident, $servant:ident) => {
        $crate::handler_interface!(@object $name, dyn $servant);

        impl<__Results: 'static, __Error: 'static, __Servant: $servant + ?Sized>
            $crate::IntoReplyHandler<$name, __Results, __Error> for ::std::sync::Arc<__Servant>
        {
            fn into_reply_handler(
                self,
                delivery: $crate::Delivery<$name, __Results, __Error>,
                called: &$crate::ObjectRef,
            ) -> $crate::ReplyHandler<__Results, __Error> {
                let orb = ::core::clone::Clone::clone(called.orb());
                $crate::ReplyHandler::from(move |reply| {
                    // The handle of a servant is a servant itself.
                    let result = (delivery.to_servant)(&self, reply, &orb);
                    $crate::delivered(result, <$name as $crate::Interface>::REPOSITORY_ID);
                })
            }
        }
    };
    (@object $name:ident, $servant:ty) => {
        impl $crate::HandlerInterface for $name {
            type Servant = $servant;
        }

        impl<__Results: 'static, __Error: 'static>
            $crate::IntoReplyHandler<$name, __Results, __Error> for $name
        {
            fn into_reply_handler(
                self,
                delivery: $crate::Delivery<$name, __Results, __Error>,
                called: &$crate::ObjectRef,
            ) -> $crate::ReplyHandler<__Results, __Error> {
                let orb = ::core::clone::Clone::clone(called.orb());
                $crate::ReplyHandler::from(move |reply| {
                    let result = (delivery.to_object)(&self, reply, &orb);
                    $crate::delivered(result, <$name as $crate::Interface>::REPOSITORY_ID);
                })
            }
        }

        impl<__Results: 'static, __Error: 'static>
            $crate::IntoReplyHandler<$name, __Results, __Error> for &$name
        {
            fn into_reply_handler(
                self,
                delivery: $crate::Delivery<$name, __Results, __Error>,
                called: &$crate::ObjectRef,
            ) -> $crate::ReplyHandler<__Results, __Error> {
                $crate::IntoReplyHandler::into_reply_handler(::core::clone::Clone::clone(self), delivery, called)
            }
        }
    };
}
