//! Processes that a demonstration starts.

use std::process::Child;

/// Process that is ended when this is dropped.
pub(super) struct Owned(pub(super) Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // The process has ended already if all went well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
