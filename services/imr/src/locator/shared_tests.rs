//! Tests of the state of a repository that shares its store with others, without calls and a clock.

use std::time::Instant;

use punctual::{Orb, minor};

use super::news::News;
use super::outcome::{Action, By};
use super::server::Claim;
use super::state::State;
use super::state_tests::{FIRST, said, state};
use crate::kept;

/// Returns the change of a start's record.
fn start_of(locator: &str, id: u64, pid: i32) -> News {
    let activator = "here".to_owned();
    let locator = locator.to_owned();
    let start = kept::Start {
        id,
        locator,
        activator,
        pid,
    };
    News::Start("plant".to_owned(), Some(start))
}

fn shared() -> (State<u32>, Orb) {
    let mut state = state(|_| {});
    state.is_shared = true;
    state
        .locators
        .extend(["own".to_owned(), "other".to_owned()]);
    (state, Orb::builder().build().unwrap())
}

fn tell(state: &mut State<u32>, orb: &Orb, news: News) -> Vec<Action<u32>> {
    state.told(news, ("own", orb), true, Instant::now())
}

#[test]
fn those_who_come_while_another_repository_starts_a_server_wait_for_its_outcome() {
    let (mut state, orb) = shared();
    let now = Instant::now();
    assert!(tell(&mut state, &orb, start_of("other", 7, 0)).is_empty());
    assert!(state.requested("plant", 1, By::Client, now).is_empty());
    let failed = kept::Failed {
        id: 7,
        minor: minor::START_TIMED_OUT,
        reason: "it is late".to_owned(),
    };
    let actions = tell(
        &mut state,
        &orb,
        News::Failed("plant".to_owned(), Some(failed)),
    );
    let late = minor::START_TIMED_OUT & 0xfff;
    assert_eq!(said(&actions)[0], format!("1 not {late}"));
    assert!(state.servers["plant"].failed.is_none());
    // The pause is here, too.
    let held = said(&state.requested("plant", 2, By::Client, now));
    assert_eq!(held, [format!("2 not {}", minor::STARTS_HELD_BACK & 0xfff)]);
    // The next start succeeds elsewhere.
    tell(&mut state, &orb, start_of("other", 8, 0));
    state.requested("plant", 3, By::Client, now);
    let process = kept::Process {
        partial_ior: FIRST.to_owned(),
        pid: 5,
        ..kept::Process::default()
    };
    let actions = tell(
        &mut state,
        &orb,
        News::Process("plant".to_owned(), Some(process)),
    );
    assert_eq!(
        said(&actions),
        [format!("3 to {FIRST}"), "store plant".to_owned()]
    );
}

#[test]
fn a_start_of_a_repository_that_dies_is_taken_over_under_its_id() {
    let (mut state, orb) = shared();
    tell(&mut state, &orb, start_of("other", 7, 0));
    state.requested("plant", 1, By::Client, Instant::now());
    let actions = tell(&mut state, &orb, News::Dies("other".to_owned()));
    assert_eq!(said(&actions), ["start"]);
    let claim = |state: &State<u32>| state.servers["plant"].start.as_ref().unwrap().claim.clone();
    assert_eq!(claim(&state), Claim::Wanted);
    // A third one was first.
    state.locators.insert("third".to_owned());
    assert!(tell(&mut state, &orb, start_of("third", 7, 0)).is_empty());
    assert_eq!(claim(&state), Claim::Elsewhere(7, "third".to_owned()));
    // One that is found to have died is replaced at once.
    assert_eq!(
        said(&tell(&mut state, &orb, start_of("gone", 9, 0))),
        ["start"]
    );
}

#[test]
fn a_start_that_is_taken_over_does_not_fail_because_its_activator_cannot_be_asked() {
    let (mut state, orb) = shared();
    let now = Instant::now();
    for may_be_made in [false, true] {
        tell(&mut state, &orb, start_of("other", 7, 0));
        state.requested("plant", 1, By::Client, now);
        tell(&mut state, &orb, News::Dies("other".to_owned()));
        let start = state.servers.get_mut("plant").unwrap().start.as_mut();
        let start = start.unwrap();
        (start.claim, start.may_be_made) = (Claim::Own(7), may_be_made);
        let number = start.number;
        let actions = state.start_not_asked_for("plant", number, "it is away", now);
        if !may_be_made {
            let failed = format!("1 not {}", minor::START_FAILED & 0xfff);
            assert_eq!(said(&actions), [failed, "store plant".to_owned()]);
            continue;
        }
        assert!(actions.is_empty());
        // The process registers, which the repository that has died had started.
        let process = kept::Process {
            partial_ior: FIRST.to_owned(),
            ..kept::Process::default()
        };
        let news = News::Process("plant".to_owned(), Some(process));
        let expected = [format!("1 to {FIRST}"), "store plant".to_owned()];
        assert_eq!(said(&tell(&mut state, &orb, news)), expected);
    }
}

#[test]
fn a_start_that_ends_without_an_outcome_is_begun_again_for_those_who_wait() {
    let (mut state, orb) = shared();
    tell(&mut state, &orb, start_of("other", 7, 0));
    state.requested("plant", 1, By::Client, Instant::now());
    let actions = tell(&mut state, &orb, News::Start("plant".to_owned(), None));
    assert_eq!(said(&actions), ["start"]);
}

#[test]
fn the_process_that_an_activator_has_told_another_repository_is_known_to_the_one_that_starts_it() {
    let (mut state, orb) = shared();
    state.requested("plant", 1, By::Client, Instant::now());
    state
        .servers
        .get_mut("plant")
        .unwrap()
        .start
        .as_mut()
        .unwrap()
        .claim = Claim::Own(7);
    tell(&mut state, &orb, start_of("own", 7, 42));
    let (_, actions) = state.died("plant", Some(42), Instant::now());
    let failed = minor::START_FAILED & 0xfff;
    assert_eq!(
        said(&actions),
        [format!("1 not {failed}"), "store plant".to_owned()]
    );
    assert_eq!(state.servers["plant"].failed.as_ref().unwrap().id, 7);
}
