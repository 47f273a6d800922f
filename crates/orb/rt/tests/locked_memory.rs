//! Keeping the process's memory in memory: in a program of its own, as it holds for all of one.
#![allow(clippy::unwrap_used, missing_docs)]

use punctual_rt::{NativePolicy, RtConfig, RtError, RtOrb};

/// What the kernel says is locked, in KiB.
fn locked() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmLck:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn memory_is_locked_where_that_is_asked_for() {
    let config = |lock_memory| RtConfig {
        policy: NativePolicy::Other,
        lock_memory,
        ..RtConfig::default()
    };
    RtOrb::new(config(false)).unwrap();
    assert_eq!(locked(), 0);
    match RtOrb::new(config(true)) {
        Ok(_) => assert!(locked() > 0),
        Err(RtError::MemoryNotLocked(error)) => println!("skipped: memory is not locked: {error}"),
        Err(other) => panic!("{other}"),
    }
}
