//! Tests of threads as they are specified, and of what the machine refuses.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_exec::thread::{
    Policy, Processors, Requirement, Scheduling, SpawnError, ThreadSpec, native_priorities,
};
use punctual_exec::{Deadline, ThreadGroup};
use punctual_sys::{processor, scheduling};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn spec() -> ThreadSpec {
    ThreadSpec::named("specified")
}

/// Starts the thread; returns `None` if this process lacks the privilege.
fn granted<T: Send + 'static>(
    spec: &ThreadSpec,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    match spec.clone().start(work) {
        Ok(thread) => Some(thread.join().unwrap()),
        Err(SpawnError::Refused { error, .. })
            if error.kind() == io::ErrorKind::PermissionDenied =>
        {
            eprintln!("skipped: this process may not have {spec:?}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_thread_with_a_name_alone_is_like_the_one_that_starts_it() {
    let here = (scheduling::own().unwrap(), processor::allowed().unwrap());
    let thread = spec().start(|| {
        let name = std::thread::current().name().unwrap().to_owned();
        (
            name,
            (scheduling::own().unwrap(), processor::allowed().unwrap()),
        )
    });
    assert_eq!(
        thread.unwrap().join().unwrap(),
        ("specified".to_owned(), here)
    );
}

#[test]
fn policy_and_priority_are_set_before_the_work_begins() {
    let fifo = *native_priorities(Policy::Fifo).unwrap().end();
    for scheduling in [
        Scheduling::Fifo { priority: fifo },
        Scheduling::RoundRobin { priority: 1 },
        Scheduling::Batch,
    ] {
        let work = || scheduling::own().unwrap();
        if let Some(found) = granted(&spec().scheduling(scheduling), work) {
            assert_eq!(found, scheduling);
        }
    }
}

#[test]
fn a_thread_runs_on_its_processors_with_all_of_its_stack() {
    #[inline(never)]
    fn use_stack() -> u8 {
        let mut used = [1u8; 4 << 20];
        std::hint::black_box(&mut used)[4 << 10]
    }
    let last = *processor::allowed().unwrap().last().unwrap();
    let spec = spec()
        .processors(Processors::of(&[last]).unwrap())
        .stack_size(8 << 20)
        .prefault_stack(true);
    let thread = spec.start(|| (processor::allowed().unwrap(), use_stack()));
    assert_eq!(thread.unwrap().join().unwrap(), (vec![last], 1));
}

#[test]
fn what_the_machine_refuses_is_told_whoever_starts_and_the_work_does_not_begin() {
    let beyond = Scheduling::Fifo {
        priority: *native_priorities(Policy::Fifo).unwrap().end() + 1,
    };
    let nowhere = Processors::of(&[1023]).unwrap();
    for (spec, expected) in [
        (spec().scheduling(beyond), Requirement::Scheduling(beyond)),
        (spec().processors(nowhere), Requirement::Processors),
    ] {
        let group = ThreadGroup::new(1);
        let began = Arc::new(AtomicBool::new(false));
        let begins = began.clone();
        let error = group
            .spawn(&spec, move || begins.store(true, Ordering::SeqCst))
            .unwrap_err();
        let SpawnError::Refused { requirement, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(*requirement, expected);
        assert!(error.to_string().contains(&expected.to_string()));
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
        // Its place in the group is free by then, and the work is dropped.
        assert!(group.is_empty());
        assert_eq!(Arc::strong_count(&began), 1);
        assert!(!began.load(Ordering::SeqCst));
        group.spawn("as usual", || {}).unwrap();
        assert!(group.wait_until_at_most(0, Deadline::NEVER));
    }
}

#[test]
fn a_name_with_a_zero_is_refused() {
    let error = ThreadSpec::named("a\0b").start(|| ()).unwrap_err();
    assert!(matches!(error, SpawnError::Os(_)));
}

#[test]
fn a_panic_is_told_whoever_joins() {
    let thread = spec()
        .scheduling(Scheduling::Other)
        .start(|| panic!("on purpose"));
    assert!(thread.unwrap().join().is_err());
}
