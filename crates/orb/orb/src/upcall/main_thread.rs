//! Upcalls that must run on the main thread.

use super::stack::{Serving, about_to_block, source};
use punctual_exec::{MainThreadQueue, Refused};

/// Runs `work` on the main thread, for the request that the calling thread serves. Another thread
/// receives on that request's connection meanwhile.
pub(crate) fn on_main_thread<R: Send>(
    main_thread: &MainThreadQueue,
    work: impl FnOnce() -> R + Send,
) -> Result<R, Refused> {
    if main_thread.is_main_thread() {
        return Ok(work());
    }
    about_to_block();
    let source = source();
    main_thread.call(move || {
        let _serving = source.map(|(orb, source)| Serving::for_another(orb, source));
        work()
    })
}
