//! Tests of the state, without calls and a clock.

use std::time::{Duration, Instant};

use punctual::{ObjectRef, Orb, minor};

use super::outcome::{Action, Answered, By, Place};
use super::server::Server;
use super::state::{Activator, State};
use crate::implementation_repository::{ActivationMode, StartupOptions};
use crate::limits::Limits;

fn place(text: &str) -> Place {
    let orb = Orb::builder().build().unwrap();
    Place {
        partial: text.to_owned(),
        object: Some(orb.string_to_object(&format!("{text}x")).unwrap()),
    }
}

pub(super) const FIRST: &str = "corbaloc::127.0.0.1:1/";
const SECOND: &str = "corbaloc::127.0.0.1:2/";

/// State with an activator and one server, which waiters with numbers wait for.
pub(super) fn state(change: impl FnOnce(&mut StartupOptions)) -> State<u32> {
    let mut state = State::new(Limits::default());
    let activator = Activator {
        token: 1,
        object: None::<ObjectRef>,
        is_stored: false,
    };
    state.activators.insert("here".to_owned(), activator);
    let mut options = StartupOptions {
        command_line: "server".to_owned(),
        ..StartupOptions::default()
    };
    change(&mut options);
    state
        .servers
        .insert("plant".to_owned(), Server::new(options));
    state
}

/// Returns what actions say in short: `start`, `ping`, `kill`, or a waiter with where it is led or why not.
pub(super) fn said(actions: &[Action<u32>]) -> Vec<String> {
    let each = actions.iter().map(|action| match action {
        Action::Answer(waiter, Ok(place)) => format!("{waiter} to {}", place.partial),
        Action::Answer(waiter, Err(failure)) => format!("{waiter} not {}", failure.minor & 0xfff),
        Action::Start { .. } => "start".to_owned(),
        Action::Ping { .. } => "ping".to_owned(),
        Action::Look { pid, .. } => format!("look for {pid}"),
        Action::Store { name } => format!("store {name}"),
        Action::Kill { pid, .. } => format!("kill {pid}"),
    });
    each.collect()
}

fn number(actions: &[Action<u32>]) -> u64 {
    let mut numbers = actions.iter().filter_map(|action| match action {
        Action::Start { number, .. } | Action::Ping { number, .. } => Some(*number),
        _ => None,
    });
    numbers.next().unwrap()
}

#[test]
fn all_that_come_during_a_start_wait_for_it_and_are_led_to_the_process() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    assert_eq!(
        said(&state.requested("plant", 1, By::Client, now)),
        ["start"]
    );
    for waiter in 2..=3 {
        assert_eq!(
            said(&state.requested("plant", waiter, By::Client, now)),
            [""; 0]
        );
    }
    let led = state.registered("plant", place(FIRST), None, now);
    let to = |waiter: u32| format!("{waiter} to {FIRST}");
    assert_eq!(said(&led), [to(1), to(2), to(3)]);
    // Later ones wait for one ping together.
    let ping = state.requested("plant", 4, By::Client, now);
    assert_eq!(said(&ping), ["ping"]);
    assert_eq!(said(&state.requested("plant", 5, By::Client, now)), [""; 0]);
    let led = state.pinged("plant", number(&ping), Answered::Alive, now);
    assert_eq!(said(&led), [to(4), to(5)]);
    assert_eq!(
        (
            state.counts.starts,
            state.counts.pings,
            state.counts.forwards
        ),
        (1, 1, 5)
    );
}

#[test]
fn a_process_that_is_dead_is_started_anew_for_those_who_waited_for_its_answer() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.registered("plant", place(FIRST), None, now);
    let ping = state.requested("plant", 1, By::Client, now);
    state.requested("plant", 2, By::Client, now);
    let then = state.pinged("plant", number(&ping), Answered::Dead, now);
    assert_eq!(said(&then), ["start"]);
    let led = state.registered("plant", place(SECOND), None, now);
    assert_eq!(
        said(&led),
        [format!("1 to {SECOND}"), format!("2 to {SECOND}")]
    );
    // The answer of the first process comes late, and means nothing any more.
    assert_eq!(
        said(&state.pinged("plant", number(&ping), Answered::Dead, now)),
        [""; 0]
    );
    assert!(state.servers["plant"].run.is_some());
}

#[test]
fn silence_is_not_death() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.registered("plant", place(FIRST), None, now);
    let ping = state.requested("plant", 1, By::Client, now);
    let led = state.pinged("plant", number(&ping), Answered::Silent, now);
    assert_eq!(said(&led), [format!("1 to {FIRST}")]);
}

#[test]
fn one_that_pings_an_old_process_is_led_to_the_new_one() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.registered("plant", place(FIRST), None, now);
    state.requested("plant", 1, By::Client, now);
    let led = state.registered("plant", place(SECOND), None, now);
    assert_eq!(said(&led), [format!("1 to {SECOND}")]);
}

#[test]
fn the_death_of_an_old_process_does_not_make_the_new_one_unknown() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.requested("plant", 1, By::Client, now);
    state.spawned("plant", 70, now);
    state.registered("plant", place(FIRST), Some("one".to_owned()), now);
    // Another one registers by itself, and has no number here.
    state.registered("plant", place(SECOND), Some("two".to_owned()), now);
    assert!(!state.died("plant", Some(70), now).0);
    assert!(state.servers["plant"].run.is_some());
    assert_eq!(state.ending("plant", Some("one"), now).unwrap().0, None);
    assert!(state.servers["plant"].run.is_some());
    assert_eq!(
        state
            .ending("plant", Some("two"), now)
            .unwrap()
            .0
            .as_deref(),
        Some("plant")
    );
    assert!(state.servers["plant"].run.is_none());
    assert!(state.ending("other", Some("two"), now).is_none());
}

#[test]
fn a_process_whose_number_comes_after_its_registration_is_known_by_it() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.requested("plant", 1, By::Client, now);
    state.registered("plant", place(FIRST), None, now);
    state.spawned("plant", 70, now);
    let later = now + Duration::from_secs(60);
    assert!(state.died("plant", Some(70), later).0);
    // It is asked, and confirms it by its silence.
    assert!(state.servers["plant"].run.as_ref().unwrap().ended.is_some());
    assert_eq!(state.servers["plant"].failures.count, 0);
}

#[test]
fn of_several_processes_without_a_registration_the_one_that_is_told_last_is_that_of_the_start() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.requested("plant", 1, By::Client, now);
    // Of an earlier process of the repository, told late.
    state.spawned("plant", 70, now);
    state.spawned("plant", 71, now);
    assert_eq!(said(&state.died("plant", Some(70), now).1), [""; 0]);
    let failed = state.died("plant", Some(71), now).1;
    assert_eq!(
        said(&failed),
        [format!("1 not {}", minor::START_FAILED & 0xfff)]
    );
}

#[test]
fn a_process_that_was_started_for_an_earlier_process_of_the_repository_is_waited_for() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    for _told_again in 0..2 {
        state.spawned("plant", 70, now);
    }
    assert_eq!(said(&state.requested("plant", 1, By::Client, now)), [""; 0]);
    let led = state.registered("plant", place(FIRST), None, now);
    assert_eq!(said(&led), [format!("1 to {FIRST}")]);
    assert_eq!(state.servers["plant"].run.as_ref().unwrap().pid, Some(70));
    // One that ends is not one that starts.
    state.ending("plant", None, now).unwrap();
    state.ended("plant", now);
    state.spawned("plant", 70, now);
    assert!(state.servers["plant"].start.is_none());
}

#[test]
fn a_process_that_is_told_when_it_has_ended_is_no_failed_start_unless_a_client_waits_for_it() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.spawned("plant", 70, now);
    assert_eq!(said(&state.died("plant", Some(70), now).1), [""; 0]);
    assert_eq!(state.servers["plant"].failures.count, 0);
    assert!(state.servers["plant"].start.is_none());
    state.spawned("plant", 71, now);
    state.requested("plant", 1, By::Client, now);
    assert_eq!(
        said(&state.died("plant", Some(71), now).1),
        [format!("1 not {}", minor::START_FAILED & 0xfff)]
    );
    assert_eq!(state.servers["plant"].failures.count, 1);
}

#[test]
fn an_activator_that_registers_is_asked_for_the_processes_of_starts_in_progress() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.requested("plant", 1, By::Client, now);
    state.spawned("plant", 70, now);
    let activator = state.activators["here"].clone();
    let asked = state.activator_registered("here", activator, now);
    assert_eq!(said(&asked), ["look for 70"]);
    // An activator that does not answer says nothing of it.
    assert_eq!(said(&state.gone("plant", 70, false, now)), [""; 0]);
    let failed = state.gone("plant", 70, true, now);
    assert_eq!(
        said(&failed),
        [format!("1 not {}", minor::START_FAILED & 0xfff)]
    );
}

#[test]
fn failed_starts_are_followed_by_pauses_that_grow() {
    let (mut state, mut now) = (state(|_| {}), Instant::now());
    let limits = state.limits;
    for doubled in [1, 2, 4] {
        let start = state.requested("plant", 1, By::Client, now);
        let failed = state.start_failed("plant", number(&start), "why", now);
        assert_eq!(
            said(&failed),
            [format!("1 not {}", minor::START_FAILED & 0xfff)]
        );
        let pause = limits.first_pause * doubled;
        let early = now + pause - Duration::from_millis(1);
        let refused = state.requested("plant", 2, By::Client, early);
        assert_eq!(
            said(&refused),
            [format!("2 not {}", minor::STARTS_HELD_BACK & 0xfff)]
        );
        now += pause;
    }
    // An administrator does not wait.
    assert_eq!(
        said(&state.requested("plant", 3, By::Operator, now)),
        ["start"]
    );
}

#[test]
fn a_start_whose_time_is_up_is_ended_with_its_process() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.requested("plant", 1, By::Client, now);
    state.spawned("plant", 70, now);
    let end = state.next_tick().unwrap();
    assert_eq!(end, now + state.limits.start);
    assert_eq!(said(&state.tick(end - Duration::from_nanos(1))), [""; 0]);
    let timed_out = format!("1 not {}", minor::START_TIMED_OUT & 0xfff);
    assert_eq!(said(&state.tick(end)), [timed_out, "kill 70".to_owned()]);
    assert_eq!(state.next_tick(), None);
}

#[test]
fn in_mode_per_client_each_registration_is_for_one_client() {
    let per_client = |options: &mut StartupOptions| options.activation = ActivationMode::PerClient;
    let (mut state, now) = (state(per_client), Instant::now());
    for waiter in 1..=2 {
        assert_eq!(
            said(&state.requested("plant", waiter, By::Client, now)),
            ["start"]
        );
    }
    state.spawned("plant", 71, now);
    state.spawned("plant", 72, now);
    let led = state.registered("plant", place(FIRST), None, now);
    assert_eq!(said(&led), [format!("1 to {FIRST}")]);
    let (_, failed) = state.died("plant", Some(72), now);
    assert_eq!(
        said(&failed),
        [format!("2 not {}", minor::START_FAILED & 0xfff)]
    );
}

#[test]
fn in_mode_per_client_the_processes_that_are_told_last_are_those_of_the_starts() {
    let per_client = |options: &mut StartupOptions| options.activation = ActivationMode::PerClient;
    let (mut state, now) = (state(per_client), Instant::now());
    state.requested("plant", 1, By::Client, now);
    state.requested("plant", 2, By::Client, now);
    // The first one goes on since an earlier process of the repository.
    for pid in 70..=72 {
        state.spawned("plant", pid, now);
    }
    let timed_out = |waiter| format!("{waiter} not {}", minor::START_TIMED_OUT & 0xfff);
    let kill = |pid| format!("kill {pid}");
    assert_eq!(
        said(&state.tick(state.next_tick().unwrap())),
        [timed_out(1), kill(71), timed_out(2), kill(72)]
    );
}

#[test]
fn a_server_without_a_command_an_activator_or_a_name_is_not_started() {
    let now = Instant::now();
    let mut none = state(|options| options.command_line.clear());
    let failed = format!("1 not {}", minor::START_FAILED & 0xfff);
    assert_eq!(
        said(&none.requested("plant", 1, By::Client, now)),
        [failed.as_str()]
    );
    let mut elsewhere = state(|options| options.activator = "there".to_owned());
    assert_eq!(
        said(&elsewhere.requested("plant", 1, By::Client, now)),
        [failed.as_str()]
    );
    let unknown = format!("1 not {}", minor::UNKNOWN_SERVER & 0xfff);
    assert_eq!(
        said(&elsewhere.requested("other", 1, By::Client, now)),
        [unknown.as_str()]
    );
}

#[test]
fn those_who_wait_are_answered_when_their_server_is_removed_or_the_repository_ends() {
    let now = Instant::now();
    let mut removed = state(|_| {});
    removed.requested("plant", 1, By::Client, now);
    let unknown = format!("1 not {}", minor::UNKNOWN_SERVER & 0xfff);
    assert_eq!(said(&removed.removed("plant", now)), [unknown]);
    let mut ends = state(|_| {});
    ends.registered("plant", place(FIRST), None, now);
    ends.requested("plant", 1, By::Client, now);
    let discarded = format!("1 not {}", minor::DISCARDED & 0xfff);
    assert_eq!(said(&ends.end_waiting()), [discarded]);
}

/// State whose process 70 has registered, and has said that it ends.
fn leaving(now: Instant) -> State<u32> {
    let mut state = state(|_| {});
    state.requested("plant", 1, By::Client, now);
    state.spawned("plant", 70, now);
    state.registered("plant", place(FIRST), Some("one".to_owned()), now);
    state.ending("plant", Some("one"), now);
    state
}

#[test]
fn a_start_waits_for_the_end_of_the_process_that_has_said_that_it_ends() {
    let now = Instant::now();
    let mut state = leaving(now);
    assert_eq!(
        said(&state.requested("plant", 2, By::Client, now)),
        ["look for 70"]
    );
    assert_eq!(said(&state.requested("plant", 3, By::Client, now)), [""; 0]);
    assert_eq!(said(&state.died("plant", Some(71), now).1), [""; 0]);
    let started = state.died("plant", Some(70), now).1;
    assert_eq!(said(&started), ["start"]);
    // Its time begins now.
    let later = now + Limits::default().start;
    state.spawned("plant", 72, now);
    assert_eq!(
        said(&state.tick(later)),
        ["2 not 53", "3 not 53", "kill 72"]
    );
}

#[test]
fn a_process_that_says_that_it_ends_and_stays_does_not_hold_up_the_next_one_for_ever() {
    let now = Instant::now();
    let mut state = leaving(now);
    state.requested("plant", 2, By::Client, now);
    let over = now + Limits::default().end;
    assert_eq!(state.next_tick(), Some(over));
    assert_eq!(said(&state.tick(over)), ["start"]);
    assert_eq!(state.next_tick(), Some(over + Limits::default().start));
    // Its activator knows no such process, or does not answer.
    let mut state = leaving(now);
    state.requested("plant", 2, By::Client, now);
    assert_eq!(said(&state.gone("plant", 71, true, now)), [""; 0]);
    assert_eq!(said(&state.gone("plant", 70, false, now)), ["start"]);
    assert_eq!(said(&state.gone("plant", 70, false, now)), [""; 0]);
    // An activator that has been started anew does not tell the end at all.
    let mut state = leaving(now);
    state.requested("plant", 2, By::Client, now);
    assert_eq!(said(&state.activator_changed("here", now)), ["start"]);
}

#[test]
fn the_end_of_a_launcher_is_not_waited_for() {
    let now = Instant::now();
    let mut state = state(|options| options.command_line = "launch:start plant".to_owned());
    state.requested("plant", 1, By::Client, now);
    state.spawned("plant", 70, now);
    state.registered("plant", place(FIRST), Some("one".to_owned()), now);
    state.ending("plant", Some("one"), now);
    assert_eq!(
        said(&state.requested("plant", 2, By::Client, now)),
        ["start"]
    );
}

#[test]
fn a_process_that_has_registered_beside_the_one_that_was_started_and_gave_up_goes_on() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.requested("plant", 1, By::Client, now);
    state.spawned("plant", 70, now);
    // Another one, started by hand, registers first; the started one ends.
    state.registered("plant", place(FIRST), Some("two".to_owned()), now);
    let (_, ping) = state.died("plant", Some(70), now);
    assert_eq!(said(&ping), ["ping"]);
    assert_eq!(
        said(&state.pinged("plant", number(&ping), Answered::Alive, now)),
        [""; 0]
    );
    assert!(state.servers["plant"].run.is_some());
    // If it was the process itself, silence confirms its end.
    state.spawned("plant", 71, now);
    state
        .servers
        .get_mut("plant")
        .unwrap()
        .run
        .as_mut()
        .unwrap()
        .pid = Some(71);
    let (_, ping) = state.died("plant", Some(71), now);
    assert_eq!(said(&state.requested("plant", 2, By::Client, now)), [""; 0]);
    let then = state.pinged("plant", number(&ping), Answered::Silent, now);
    assert_eq!(said(&then), ["start"]);
}

#[test]
fn a_start_that_fails_fails_for_those_that_wait_for_linked_servers() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    state.link(vec![("hall".to_owned(), "plant".to_owned())]);
    let start = state.requested("hall", 1, By::Client, now);
    assert_eq!(said(&start), ["start"]);
    assert_eq!(said(&state.requested("plant", 2, By::Client, now)), [""; 0]);
    assert_eq!(said(&state.requested("hall", 3, By::Client, now)), [""; 0]);
    let failed = state.start_failed("plant", number(&start), "no", now);
    assert_eq!(said(&failed), ["2 not 52", "1 not 52", "3 not 52"]);
    // The pause holds for both.
    assert_eq!(
        said(&state.requested("hall", 4, By::Client, now)),
        ["4 not 54"]
    );
}

#[test]
fn a_server_of_jacorb_ends_under_the_path_of_its_poa_alone() {
    let (mut state, now) = (state(|_| {}), Instant::now());
    for (name, peer) in [
        ("JACORB:plant/site/hall", "one"),
        ("JACORB:other/site/hall", "two"),
    ] {
        state.registered(name, place(FIRST), Some(peer.to_owned()), now);
    }
    let (ended, _) = state.ending("site/hall", Some("two"), now).unwrap();
    assert_eq!(ended.as_deref(), Some("JACORB:other/site/hall"));
    assert!(state.servers["JACORB:plant/site/hall"].run.is_some());
    assert!(state.ending("hall", Some("one"), now).is_none());
}
