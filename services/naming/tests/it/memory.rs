//! Memory cost of a text that is not a name. The test needs a process of its own, as it measures
//! the peak memory of the process.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

use crate::support;

use punctual_naming::cos_naming::{
    NamingContextExtResolveStrError, NamingContextExtToNameError, NamingContextExtToUrlError,
};
use support::Served;

const MIB: usize = 1 << 20;

/// Returns the peak memory of this process so far, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<usize>().unwrap() << 10
}

#[test]
fn a_text_of_millions_of_components_costs_about_its_bytes() {
    crate::alone::alone(|| {
        let served = Served::in_memory();
        let text = format!("{}a", "a/".repeat(4 * MIB));
        // What this process needs for whatever is so long, on both sides of the connection.
        let refused = served.root.to_url(&text, "a").unwrap_err();
        assert!(
            matches!(refused, NamingContextExtToUrlError::InvalidAddress(_)),
            "{refused}"
        );
        let before = peak();
        let refused = served.root.to_name(&text).unwrap_err();
        assert!(
            matches!(refused, NamingContextExtToNameError::InvalidName(_)),
            "{refused}"
        );
        let refused = served.root.resolve_str(&text).unwrap_err();
        assert!(
            matches!(refused, NamingContextExtResolveStrError::InvalidName(_)),
            "{refused}"
        );
        let refused = served.root.to_url(":h", &text).unwrap_err();
        assert!(
            matches!(refused, NamingContextExtToUrlError::InvalidName(_)),
            "{refused}"
        );
        let grown = peak() - before;
        // Split, it takes more than 300 MiB.
        assert!(grown < 64 * MIB, "it took {grown} octets");
    });
}
