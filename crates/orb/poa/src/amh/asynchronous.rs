//! Servants with `async` operations, whose futures give the answers.

use super::response::Response;
use punctual_orb::{BoxFuture, OperationError, Orb};
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Executor of the futures of servants with `async` operations: it drives a future to its end. A
/// closure can be an executor.
///
/// ```ignore
/// let tokio = tokio::runtime::Handle::current();
/// let servant = Async::on(move |future| drop(tokio.spawn(future)), Clerk::default());
/// ```
pub trait Spawn: Send + Sync + 'static {
    /// Drives the future to its end, on any thread. A future that is dropped instead answers
    /// NO_RESPONSE.
    fn spawn(&self, future: BoxFuture);
}

impl<F: Fn(BoxFuture) + Send + Sync + 'static> Spawn for F {
    fn spawn(&self, future: BoxFuture) {
        self(future);
    }
}

/// Runs futures on the ORB's own threads ([`Orb::spawn`]).
impl Spawn for Orb {
    fn spawn(&self, future: BoxFuture) {
        self.spawn_boxed(future);
    }
}

/// Servant with `async` operations: of a type that implements `XAsyncServant`, the trait that the
/// IDL compiler writes beside `XServant` (`Builder::async_servants(true)`, `punctual idl
/// --async-servants`). Clones are one servant.
///
/// Each request makes a future, which answers when it is done. A future that panics answers
/// UNKNOWN, as other servants do. A future that awaits, for example another object's reply,
/// occupies no thread.
///
/// ```ignore
/// impl ClerkAsyncServant for Desk {
///     async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
///         self.backend.add_async(a, b).await
///     }
/// }
/// let clerk: Clerk = poa.activate(Async::on(orb.clone(), Desk::new()))?;
/// ```
pub struct Async<T: ?Sized> {
    executor: Arc<dyn Spawn>,
    is_abandoned: bool,
    servant: Arc<T>,
}

impl<T> Async<T> {
    /// Wraps a servant whose futures are driven by `executor`: a closure that spawns them, or an
    /// [`Orb`], whose own threads drive them.
    pub fn on(executor: impl Spawn, servant: T) -> Self {
        Self::shared(Arc::new(executor), Arc::new(servant))
    }
}

impl<T: ?Sized> Async<T> {
    /// Wraps a shared asynchronous servant, whose futures the given shared executor runs.
    pub fn shared(executor: Arc<dyn Spawn>, servant: Arc<T>) -> Self {
        Self {
            executor,
            is_abandoned: false,
            servant,
        }
    }

    /// Enables dropping the future of a request once its answer is no longer awaited: the client
    /// has cancelled the request, or its connection has ended. By default, the future runs to its
    /// end.
    #[must_use]
    pub fn abandoning(self) -> Self {
        Self {
            is_abandoned: true,
            ..self
        }
    }

    /// Returns the wrapped asynchronous servant.
    #[must_use]
    pub fn servant(&self) -> &Arc<T> {
        &self.servant
    }

    /// Runs a future that answers a request. For generated code.
    #[doc(hidden)]
    pub fn answer<R, E>(
        &self,
        response: Response<R, E>,
        future: impl Future<Output = Result<R, E>> + Send + 'static,
    ) where
        R: Send + 'static,
        E: OperationError + Send + 'static,
    {
        let is_abandoned = self.is_abandoned;
        self.executor.spawn(Box::pin(async move {
            let result = match is_abandoned {
                false => Some(future.await),
                true => while_awaited(&response, future).await,
            };
            if let Some(result) = result {
                // A failed answer is ignored: the client is gone.
                let _ = response.answer(result);
            }
        }));
    }

    /// Runs a future that serves a one-way. For generated code.
    #[doc(hidden)]
    pub fn run<E: OperationError + Send + 'static>(
        &self,
        future: impl Future<Output = Result<(), E>> + Send + 'static,
    ) {
        self.executor.spawn(Box::pin(async move {
            if let Err(error) = future.await {
                tracing::debug!("a one-way has ended with {error}");
            }
        }));
    }
}

/// Returns the future's result; `None` if the answer ceases to be awaited before the result is
/// ready.
async fn while_awaited<R, E: OperationError, F: Future>(
    response: &Response<R, E>,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut both = |context: &mut Context<'_>| {
        if !response.watch(context.waker()) {
            return Poll::Ready(None);
        }
        future.as_mut().poll(context).map(Some)
    };
    std::future::poll_fn(|context| both(context)).await
}

impl<T: ?Sized> Clone for Async<T> {
    fn clone(&self) -> Self {
        Self {
            executor: self.executor.clone(),
            is_abandoned: self.is_abandoned,
            servant: self.servant.clone(),
        }
    }
}

impl<T: ?Sized> fmt::Debug for Async<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Async").finish_non_exhaustive()
    }
}

/// Implements the activation of a servant with `async` operations, so that it need not be wrapped
/// as an [`super::Amh`].
#[doc(hidden)]
#[macro_export]
macro_rules! async_servant {
    ($interface:ident, $servant:ident) => {
        impl<__Servant: $servant> $crate::Implements<$crate::Async<__Servant>> for $interface {
            fn servant(servant: $crate::Async<__Servant>) -> ::std::sync::Arc<dyn $crate::Servant> {
                <Self as $crate::Implements<$crate::Amh<$crate::Async<__Servant>>>>::servant(
                    $crate::Amh::new(servant),
                )
            }
        }
    };
}
