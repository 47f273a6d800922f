//! Part of `cargo xtask layers`: check that no wait depends on the time-of-day clock.
//!
//! A step of `CLOCK_REALTIME` must end no wait early and none late, so that time-outs are counted
//! on the monotonic clock. Files that need the time of day for something else stand in [`EXEMPT`],
//! with the purpose. The soak steps the clock under load (docs/soak.md).

use crate::run::Result;
use crate::sources;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Identifiers by which code reads the time-of-day clock.
const NAMES: [&str; 6] = [
    "SystemTime",
    "UNIX_EPOCH",
    "Realtime",
    "RealtimeCoarse",
    "CLOCK_REALTIME",
    "FUTEX_CLOCK_REALTIME",
];

/// Files that may read the clock, and their purpose.
const EXEMPT: [(&str, &str); 17] = [
    (
        "crates/orb/fault_tolerance/src/time.rs",
        "the same; a test compares it with the time of day",
    ),
    (
        "crates/run/sys/src/time_of_day.rs",
        "the time at which requests to object groups expire is a moment, which travels between hosts",
    ),
    (
        "crates/orb/orb/src/timeline/recorder.rs",
        "readings of the time of day beside the clock of a timeline, for joining timelines of several hosts",
    ),
    (
        "crates/orb/orb/src/messaging/frames.rs",
        "the time stamp of a frame, for its receivers",
    ),
    (
        "crates/orb/orb/src/messaging/protocol.rs",
        "the same, of a request that waits to be sent with others",
    ),
    (
        "crates/orb/orb/src/lane/outgoing/buffering/queue.rs",
        "the same, where it is taken",
    ),
    (
        "crates/orb/orb/src/policy/any_policy.rs",
        "RequestEndTime and ReplyEndTime are moments",
    ),
    (
        "crates/orb/orb/src/policy/terms.rs",
        "RequestStartTime and ReplyStartTime are moments, of which each call makes deadlines when it begins",
    ),
    (
        "crates/orb/orb/src/policy/ends.rs",
        "the same, of which each call makes time-outs when it begins",
    ),
    (
        "crates/orb/orb/src/invocation_policies.rs",
        "the same, as they travel",
    ),
    (
        "services/durable/src/contract/clock.rs",
        "events expire at moments, which outlive processes and travel between hosts",
    ),
    (
        "services/log/src/clock.rs",
        "records have the time of day at which they were written, and schedules of logs are such",
    ),
    (
        "services/notification/src/qos/value.rs",
        "StartTime and StopTime of events are times of day",
    ),
    (
        "services/rtevent/service/src/clock.rs",
        "the time stamps of events, which suppliers and consumers of several hosts compare",
    ),
    (
        "crates/link/tls/src/files.rs",
        "certificates are valid from a day to a day",
    ),
    (
        "crates/link/tls/src/validity/mod.rs",
        "certificates are valid from a day to a day",
    ),
    (
        "crates/run/sys/src/pi_mutex/raw.rs",
        "kernels before 5.14 know no other clock for a lock that inherits priorities",
    ),
];

pub(crate) fn check() -> Result<()> {
    let sources = sources::of_the_product()?;
    let mistakes = mistakes(&sources)?;
    if mistakes.is_empty() {
        println!(
            "clocks: {} files, no wait by the time-of-day clock",
            sources.len()
        );
        return Ok(());
    }
    Err(format!(
        "the time-of-day clock is read (add the file with its purpose to xtask/src/clocks.rs, or use the monotonic clock):\n  {}",
        mistakes.join("\n  ")
    ))
}

fn mistakes(sources: &BTreeMap<PathBuf, String>) -> Result<Vec<String>> {
    let mut mistakes = Vec::new();
    for (path, text) in sources {
        let is_exempt = EXEMPT.iter().any(|(place, _)| path == Path::new(place));
        let tokens: TokenStream = text
            .parse()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if let Some(name) = named(tokens).filter(|_| !is_exempt) {
            mistakes.push(format!("{}: {name}", path.display()));
        }
    }
    Ok(mistakes)
}

/// Returns the first identifier in the code that reads the time-of-day clock.
fn named(tokens: TokenStream) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(name) => {
            let name = name.to_string();
            NAMES.contains(&name.as_str()).then_some(name)
        }
        TokenTree::Group(group) => named(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::run::root;

    fn mistakes_of(path: &str, text: &str) -> Vec<String> {
        let sources = BTreeMap::from([(path.into(), text.to_owned())]);
        mistakes(&sources).unwrap()
    }

    #[test]
    fn a_planted_look_at_the_time_of_day_is_refused() {
        let path = "crates/run/exec/src/deadline.rs";
        for (planted, told) in [
            (
                "fn f() { g(|| std::time::SystemTime::now()) }",
                "SystemTime",
            ),
            ("fn f() { clock_gettime(ClockId::Realtime) }", "Realtime"),
        ] {
            assert_eq!(mistakes_of(path, planted), [format!("{path}: {told}")]);
        }
        let others = "// SystemTime\nfn f() { let realtime = \"SystemTime\"; Instant::now() }";
        assert_eq!(mistakes_of(path, others), [""; 0]);
    }

    #[test]
    fn schedules_and_measurements_are_looked_at_without_exemption() {
        let sources = sources::of_the_product().unwrap();
        for folder in [
            "services/scheduling",
            "services/scheduler",
            "tools/cli/src/schedule",
            "crates/orb/orb/src/measurement",
            "crates/orb/orb/src/timeline",
            "crates/run/sys/src/clock",
        ] {
            let is_in = |path: &Path| path.to_string_lossy().starts_with(folder);
            assert!(sources.keys().any(|path| is_in(path)), "{folder}");
            let mut exempt = EXEMPT.iter().filter(|(path, _)| {
                // Readings beside a timeline's own clock, by which nothing is timed.
                is_in(Path::new(path)) && *path != "crates/orb/orb/src/timeline/recorder.rs"
            });
            assert_eq!(exempt.next(), None, "{folder}");
        }
    }

    #[test]
    fn where_the_time_of_day_may_be_asked_for_it_is() {
        for (place, what_for) in EXEMPT {
            let text = std::fs::read_to_string(root().join(place)).unwrap();
            assert!(
                named(text.parse().unwrap()).is_some(),
                "{place}: {what_for}"
            );
        }
    }
}
