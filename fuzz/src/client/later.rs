//! Asynchronous calls: a separate thread of the connection reads their replies, as the link offers
//! no other way to wait.

use crate::generated::all_types::Every;
use punctual::{Any, Poller, SystemException};
use std::pin::Pin;
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::time::Duration;

/// Time limit for each step of the fuzz target for asynchronous calls.
const LONG: Duration = Duration::from_secs(30);

/// Number of ways in which the fuzz target makes asynchronous calls.
pub(super) const WAYS: u8 = 4;

/// Makes one or several asynchronous calls, and checks that all of them end.
pub(super) fn calls(every: &Every, which: u8) {
    match which % WAYS {
        0 => handled(every, || {}),
        1 => {
            let mut asked = every.name_async();
            // The last poller to register is the one that is woken.
            if !polled(&mut asked) && !polled(&mut asked) {
                check_outcome(asked.wait());
            }
        }
        // Another call waits synchronously meanwhile, and reads.
        2 => handled(every, || check_outcome(every.name())),
        _ => {
            let [mut first, second, third] =
                [(); 3].map(|()| every.anything_async(&Any::default()));
            polled(&mut first);
            drop(first);
            check_outcome(second.wait());
            check_outcome(third.wait());
        }
    }
}

/// Makes a call whose reply handler runs on another thread, and runs `meanwhile` on this one.
fn handled(every: &Every, meanwhile: impl FnOnce()) {
    let (say, told) = channel();
    every.sendc_get_level(move |level: Result<i32, SystemException>| {
        let _ = say.send(level);
    });
    meanwhile();
    check_outcome(told.recv_timeout(LONG).expect("the handler is called"));
}

/// Polls a call once; returns whether the reply had arrived.
fn polled<R>(asked: &mut Poller<R, SystemException>) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    let polled = Pin::new(asked).poll(&mut context);
    if let std::task::Poll::Ready(Err(error)) = &polled {
        assert!(!error.to_string().is_empty());
    }
    polled.is_ready()
}

fn check_outcome<T>(outcome: Result<T, SystemException>) {
    assert!(outcome.is_ok() || outcome.is_err_and(|error| !error.to_string().is_empty()));
}
