//! The stream of events.

use punctual_console::ConsoleLimits;
use std::time::Duration;

use crate::console::support::{Shown, name};

#[test]
fn a_change_is_told_to_who_looks_at_its_context_and_to_nobody_else() {
    let shown = Shown::new();
    for context in ["a", "b", "a/c"] {
        shown.context(context);
    }
    let mut at_a = shown.events("/naming/live?in=a");
    let mut at_c = shown.events("/naming/live?in=a%2Fc");
    let mut at_b = shown.events("/naming/live?in=b");
    for events in [&mut at_a, &mut at_c, &mut at_b] {
        assert!(events.next());
    }
    shown.context("a/new");
    // Contexts below are notified, as the tree shows it.
    assert!(at_a.next() && at_c.next());
    // If the one in `a` had been notified here, this would be its second.
    shown.context("b/new");
    assert!(at_b.next());
    let quiet = Duration::from_secs(1);
    assert!(!at_b.next_within(quiet));
}

#[test]
fn changes_without_number_are_told_as_few() {
    let shown = Shown::limited(ConsoleLimits {
        event_gap: Duration::from_secs(1),
        ..ConsoleLimits::default()
    });
    let mut events = shown.events("/naming/live");
    assert!(events.next());
    for number in 0..2_000 {
        shown.context(&format!("c{number}"));
    }
    // At most one event for all changes within the gap, and one for those during it.
    assert!(events.next());
    while events.next_within(Duration::from_secs(2)) {}
    assert!(events.count() < 30, "{}", events.count());
}

#[test]
fn a_context_that_comes_into_being_is_told_to_who_waits_for_it() {
    let shown = Shown::new();
    shown.context("a");
    let mut events = shown.events("/naming/live?in=a%2Fb");
    assert!(events.next());
    assert_eq!(shown.get("/naming?in=a%2Fb").status, 404);
    shown.context("a/b");
    assert!(events.next());
    assert_eq!(shown.get("/naming?in=a%2Fb").status, 200);
    shown.root.unbind(&name("a/b")).unwrap();
    assert!(events.next());
    assert_eq!(shown.get("/naming?in=a%2Fb").status, 404);
}
