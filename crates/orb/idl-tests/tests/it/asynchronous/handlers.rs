//! Callback model, with closures as reply handlers (CORBA 3.3 part 2, §22.9).

use super::generated::asynchronous::ClerkCopiesError;
use super::support::watchdog;
use super::{Pair, collocated};
use punctual::SystemExceptionKind as Kind;
use punctual::policy::Collocation;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[test]
fn a_handler_is_given_what_the_call_brings() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let (say, heard) = mpsc::channel();
    for number in 0..1000 {
        let say = say.clone();
        pair.clerk.sendc_add(
            move |sum: Result<i32, _>| say.send((number, sum.unwrap())).unwrap(),
            number,
            number,
        );
    }
    drop(say);
    let mut sums: Vec<(i32, i32)> = heard.iter().collect();
    sums.sort_unstable();
    assert!(
        sums.into_iter()
            .eq((0..1000).map(|number| (number, 2 * number)))
    );

    let (say, heard) = mpsc::channel();
    let again = say.clone();
    pair.clerk
        .sendc_copies(move |copies| say.send(copies).unwrap(), "ab", &2);
    pair.clerk
        .sendc_copies(move |copies| again.send(copies).unwrap(), "ab", &0);
    let (mut good, mut refused) = (0, 0);
    for copies in heard {
        match copies {
            Ok(copies) => {
                assert_eq!(copies, ("abab".to_owned(), 0, true));
                good += 1;
            }
            Err(ClerkCopiesError::Refused(_)) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((good, refused), (1, 1));
    pair.end();
}

#[test]
fn handlers_run_on_the_thread_that_reads_replies_and_one_that_panics_ends_nothing_else() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    pair.clerk
        .sendc_add(|_: Result<i32, _>| panic!("a handler, on purpose"), 1, 1);
    let (say, heard) = mpsc::channel();
    pair.clerk.sendc_stumble(move |stumbled| {
        let name = thread::current().name().map(str::to_owned);
        say.send((name, stumbled)).unwrap();
    });
    let (name, stumbled) = heard.recv().unwrap();
    assert!(name.unwrap().starts_with("punctual-replie"));
    assert_eq!(stumbled.unwrap_err().kind(), Kind::Unknown);
    pair.end();
}

#[test]
fn a_handler_may_call_in_turn() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let (say, heard) = mpsc::channel();
    let clerk = pair.clerk.clone();
    pair.clerk.sendc_add(
        move |sum: Result<i32, _>| {
            // By the same connection, on the very thread that otherwise reads it.
            let direct = clerk.add(sum.unwrap(), 10).unwrap();
            clerk.sendc_add(
                move |sum: Result<i32, _>| say.send(sum.unwrap()).unwrap(),
                direct,
                100,
            );
        },
        1,
        2,
    );
    assert_eq!(heard.recv().unwrap(), 113);
    pair.end();
}

#[test]
fn a_caller_that_waits_reads_for_handlers_meanwhile() {
    let _watchdog = watchdog(Duration::from_secs(120));
    let pair = Pair::over_tcp();
    let (say, heard) = mpsc::channel();
    let clerk = pair.clerk.clone();
    pair.clerk.sendc_add(
        move |_: Result<i32, _>| {
            clerk.sendc_open(|opened: Result<(), _>| opened.unwrap(), "gate");
            say.send(()).unwrap();
        },
        1,
        1,
    );
    // The call returns because handlers are called while it waits.
    assert_eq!(pair.clerk.wait_at("gate").unwrap(), 4);
    heard.recv().unwrap();
    pair.end();
}

#[test]
fn handlers_of_calls_within_the_process_are_called_by_the_same_thread() {
    let _watchdog = watchdog(Duration::from_secs(120));
    for way in [Collocation::ThruPoa, Collocation::None] {
        let (orb, clerk) = collocated(way);
        let (say, heard) = mpsc::channel();
        clerk.sendc_add(
            move |sum: Result<i32, _>| {
                let name = thread::current().name().map(str::to_owned);
                say.send((name, sum.unwrap())).unwrap();
            },
            3,
            4,
        );
        let (name, sum) = heard.recv().unwrap();
        assert!(name.unwrap().starts_with("punctual-replie"));
        assert_eq!(sum, 7);
        orb.shutdown(true).unwrap();
    }
}
