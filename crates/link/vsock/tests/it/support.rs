//! Search for what the tests need of the kernel, and the reason for which they are skipped.

use punctual_exec::Deadline;
use punctual_link::{Address, Link, Properties};
use punctual_vsock::{NAME, Vsock};
use std::sync::LazyLock;
use std::time::Duration;

/// Environment variable that makes tests fail instead of being skipped.
const REQUIRED: &str = "PUNCTUAL_REQUIRE_VSOCK";

/// Returns the reason for which this machine has no loopback, if it has none.
pub(crate) fn absent() -> Option<String> {
    static ABSENT: LazyLock<Option<String>> = LazyLock::new(|| {
        let absent = try_loopback();
        let required = std::env::var_os(REQUIRED).is_some();
        assert!(
            !(required && absent.is_some()),
            "{REQUIRED} is set, and {absent:?}"
        );
        absent
    });
    ABSENT.clone()
}

/// Connects to itself, as a kernel may have the sockets and no loopback.
fn try_loopback() -> Option<String> {
    let link = Vsock::default();
    let tried = link
        .listen(&Address::new(NAME, "local:0"), &Properties::NONE)
        .and_then(|acceptor| {
            let limit = Deadline::after(Duration::from_secs(60));
            link.connect(acceptor.address(), &Properties::NONE, limit)
        });
    tried.err().map(|error| error.to_string())
}
