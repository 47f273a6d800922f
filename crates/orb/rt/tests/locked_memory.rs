//! Test of locking the process's memory, in a program of its own, as the lock applies to the whole
//! process.
#![allow(clippy::unwrap_used, missing_docs)]

use punctual_rt::{NativePolicy, RtConfig, RtError, RtOrb};

/// Returns the locked memory in KiB, as the kernel reports it.
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
