//! Upcalls that are the main thread's.

use super::stack::{Serving, about_to_block, source};
use punctual_exec::{Errands, Refused};

/// Has the main thread do what the calling one would, for the request that it serves: another thread receives
/// on that request's connection meanwhile.
pub(crate) fn on_main_thread<R: Send>(
    errands: &Errands,
    work: impl FnOnce() -> R + Send,
) -> Result<R, Refused> {
    if errands.is_runner() {
        return Ok(work());
    }
    about_to_block();
    let source = source();
    errands.run(move || {
        let _serving = source.map(|(orb, source)| Serving::for_another(orb, source));
        work()
    })
}
