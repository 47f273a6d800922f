//! Servant with `async` operations, which may await another object's replies.

use super::generated::asynchronous::{Clerk, ClerkAsyncServant, ClerkCopiesError, Refused};
use punctual::SystemException;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::task::Poll;

/// Servant with `async` operations that awaits the replies of another clerk, `behind`, for the slow
/// ones.
#[derive(Default)]
pub(super) struct Front {
    pub(super) behind: Option<Clerk>,
    pub(super) rate: AtomicI32,
    /// Number of futures of the operation `wait_at` that have not been dropped.
    pub(super) waiting: Arc<AtomicUsize>,
}

/// Guard that counts a future, until it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Yields the processor to other tasks once.
async fn yielding() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl ClerkAsyncServant for Front {
    async fn rate(&self) -> Result<i32, SystemException> {
        Ok(self.rate.load(Ordering::Relaxed))
    }

    async fn set_rate(&self, value: i32) -> Result<(), SystemException> {
        yielding().await;
        self.rate.store(value, Ordering::Relaxed);
        Ok(())
    }

    async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        match &self.behind {
            Some(behind) => behind.add_async(a, b).await,
            None => Ok(a + b),
        }
    }

    async fn copies(
        &self,
        text: String,
        number: i32,
    ) -> Result<(String, i32, bool), ClerkCopiesError> {
        yielding().await;
        let times = usize::try_from(number).unwrap_or_default();
        if times == 0 {
            let why = format!("no copies of {text}");
            return Err(Refused { why }.into());
        }
        Ok((text.repeat(times), 0, times > 1))
    }

    async fn back(&self, data: Vec<u8>) -> Result<Vec<u8>, SystemException> {
        yielding().await;
        Ok(data)
    }

    async fn wait_at(&self, gate: String) -> Result<i32, SystemException> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let _counted = Counted(self.waiting.clone());
        // The rest runs on the thread that drives futures.
        yielding().await;
        match &self.behind {
            Some(behind) => behind.wait_at_async(&gate).await,
            None => std::future::pending().await,
        }
    }

    async fn open(&self, gate: String) -> Result<(), SystemException> {
        yielding().await;
        match &self.behind {
            Some(behind) => behind.open_async(&gate).await,
            None => Ok(()),
        }
    }

    async fn self_or_nil(&self, other: Option<Clerk>) -> Result<Option<Clerk>, SystemException> {
        Ok(other)
    }

    async fn stumble(&self) -> Result<(), SystemException> {
        yielding().await;
        panic!("on purpose")
    }

    async fn note(&self, _: String) -> Result<(), SystemException> {
        Ok(())
    }
}
