//! One-way requests that wait to be sent together (paper 000, figure 6: delayed buffering).

use std::time::Duration;

/// When one-way requests that are buffered go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffering {
    /// At the latest when this many wait. At least 1.
    pub messages: usize,
    /// At the latest when this many octets of them wait.
    pub octets: usize,
    /// At the latest after this time; `None` waits for the others.
    pub delay: Option<Duration>,
}

impl Buffering {
    /// # Errors
    /// Why nothing can be kept so.
    pub(crate) fn check(self) -> Result<(), String> {
        if self.messages == 0 || self.octets == 0 {
            return Err("requests are to wait for others, and none may".to_owned());
        }
        Ok(())
    }
}

impl Default for Buffering {
    /// 64 requests or 32 KiB or 5 ms.
    fn default() -> Self {
        Self {
            messages: 64,
            octets: 32 * 1024,
            delay: Some(Duration::from_millis(5)),
        }
    }
}
