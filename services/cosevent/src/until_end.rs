//! Calls that are given up when their connection ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// End of a connection, for which calls without a time limit watch. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct End(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_ended: bool,
    /// Wakers of the calls that are open, by the places of their operations: one call of each is open at a time.
    wakers: Vec<Option<Waker>>,
}

impl End {
    /// Notes that the connection has ended, and gives up all calls.
    pub(crate) fn come(&self) {
        let wakers = {
            let mut state = self.0.lock();
            state.is_ended = true;
            std::mem::take(&mut state.wakers)
        };
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Returns a call of an operation that is dropped, and thus cancelled, when the connection ends.
    pub(crate) fn until<F: Future<Output = ()>>(&self, operation: usize, call: F) -> UntilEnd<F> {
        UntilEnd {
            call: Box::pin(call),
            end: self.clone(),
            operation,
        }
    }

    /// Returns whether the connection has ended; wakes the call when it does.
    fn watch(&self, operation: usize, waker: &Waker) -> bool {
        let mut state = self.0.lock();
        if state.is_ended {
            return true;
        }
        if state.wakers.len() <= operation {
            state.wakers.resize(operation + 1, None);
        }
        if let Some(place) = state.wakers.get_mut(operation) {
            *place = Some(waker.clone());
        }
        false
    }
}

/// Call that is given up when its connection ends.
pub(crate) struct UntilEnd<F> {
    call: Pin<Box<F>>,
    end: End,
    operation: usize,
}

impl<F: Future<Output = ()>> Future for UntilEnd<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match self.end.watch(self.operation, context.waker()) {
            true => Poll::Ready(()),
            false => self.call.as_mut().poll(context),
        }
    }
}
