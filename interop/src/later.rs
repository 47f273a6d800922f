//! Servants of ours with deferred replies, called by the peer in each non-blocking way: with reply
//! handlers, with pollers, by deferred requests of its dynamic invocation interface. One servant
//! uses response handlers, the other is `async`.
//!
//! Requests with a number of 100 or more are held. When three are held the newest is answered, and
//! another one each time that the rate is set: so answers come in another order than the requests,
//! and none before the client has seen the one before.

use crate::Failure;
use crate::ami::{Clerk, ClerkAmhServant, ClerkAsyncServant, ClerkCopiesError, Refused};
use crate::directions::{Until, reported};
use crate::matrix::{Direction, Matrix, Version};
use crate::peer::Peer;
use crate::process::Running;
use crate::role::Role;
use crate::sides::{LIMIT, orb};
use crate::transport::Transport;
use punctual::asynchronous::{Amh, Async};
use punctual::{Response, RootPoa, SystemException};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

const VERSION: Version = Version::V1_2;

/// Tests the servants with deferred replies.
///
/// # Errors
/// Reasons why the run could not be made.
pub(crate) fn run(peer: &Peer, matrix: &mut Matrix) -> Result<(), Failure> {
    matrix.over("TCP, answers that come later");
    eprintln!("  answers that come later");
    let server = orb(VERSION, &Transport::Tcp, Role::Server)?;
    let poa = server.root_poa()?;
    poa.manager().activate()?;
    let desk: Clerk = poa.activate(Amh::new(Desk::new()?))?;
    let front: Clerk = poa.activate(Async::on(server.clone(), Front(Desk::new()?)))?;
    for (kind, clerk) in [("responses", desk), ("futures", front)] {
        let mut command = peer.command(VERSION, &Transport::Tcp, Role::Client);
        command.args(["ask-later", &server.object_to_string(&clerk)?]);
        let client = Running::start("their client", &mut command)?;
        reported(&client, Until::Done, &mut |case, outcome| {
            let case = format!("{case}, by {kind}");
            matrix.record(&case, VERSION, Direction::From, outcome);
        })?;
        client.end(LIMIT)?;
    }
    Ok(server.shutdown(true)?)
}

type Answer = Box<dyn FnOnce() + Send>;

/// Servant that replies from a thread of its own.
struct Desk {
    answers: Mutex<Sender<Answer>>,
    held: Mutex<Vec<Answer>>,
    rate: AtomicI32,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    fn new() -> std::io::Result<Self> {
        let (answers, due) = channel::<Answer>();
        let thread = std::thread::Builder::new().name("desk".to_owned());
        thread.spawn(move || due.iter().for_each(|answer| answer()))?;
        Ok(Self {
            answers: Mutex::new(answers),
            held: Mutex::default(),
            rate: AtomicI32::default(),
        })
    }

    fn later(&self, answer: impl FnOnce() + Send + 'static) {
        // The thread ends with this servant, and not before.
        let _ = locked(&self.answers).send(Box::new(answer));
    }

    /// Runs an answer at once or holds it for later, depending on the request's number.
    fn of_number(&self, number: i32, answer: impl FnOnce() + Send + 'static) {
        if number < 100 {
            return self.later(answer);
        }
        let count = {
            let mut held = locked(&self.held);
            held.push(Box::new(answer));
            held.len()
        };
        if count == 3 {
            self.release();
        }
    }

    /// Answers the request that was most recently withheld.
    fn release(&self) {
        if let Some(answer) = locked(&self.held).pop() {
            self.later(answer);
        }
    }
}

/// Ignores the failure of a reply: it means that the client has gone.
fn sent<E>(_: Result<(), E>) {}

fn copies(text: &str, number: i32) -> Result<(String, i32, bool), Refused> {
    match usize::try_from(number) {
        Ok(times) if times > 0 => Ok((text.repeat(times), 0, times > 1)),
        _ => Err(Refused {
            why: format!("no copies of {text}"),
        }),
    }
}

impl ClerkAmhServant for Desk {
    fn rate(&self, response: Response<i32>) {
        sent(response.reply(self.rate.load(Ordering::Relaxed)));
    }

    fn set_rate(&self, response: Response<()>, value: i32) {
        self.rate.store(value, Ordering::Relaxed);
        self.release();
        sent(response.reply(()));
    }

    fn add(&self, response: Response<i32>, a: i32, b: i32) {
        if a >= 0 {
            self.of_number(a, move || sent(response.reply(a.wrapping_add(b))));
        }
    }

    fn copies(
        &self,
        response: Response<(String, i32, bool), ClerkCopiesError>,
        text: &str,
        number: i32,
    ) {
        let text = text.to_owned();
        self.later(move || match copies(&text, number) {
            Ok(results) => sent(response.reply(results)),
            Err(refused) => sent(response.raise(refused)),
        });
    }
}

/// `async` servant whose futures wait until a [`Desk`] opens their [`Gate`].
struct Front(Desk);

impl Front {
    async fn turn(&self, number: i32) {
        let gate = Gate::default();
        let opened = gate.clone();
        self.0.of_number(number, move || opened.open());
        gate.await;
    }
}

impl ClerkAsyncServant for Front {
    async fn rate(&self) -> Result<i32, SystemException> {
        Ok(self.0.rate.load(Ordering::Relaxed))
    }

    async fn set_rate(&self, value: i32) -> Result<(), SystemException> {
        self.0.rate.store(value, Ordering::Relaxed);
        self.0.release();
        Ok(())
    }

    async fn add(&self, a: i32, b: i32) -> Result<i32, SystemException> {
        if a < 0 {
            std::future::pending::<()>().await;
        }
        self.turn(a).await;
        Ok(a.wrapping_add(b))
    }

    async fn copies(
        &self,
        text: String,
        number: i32,
    ) -> Result<(String, i32, bool), ClerkCopiesError> {
        self.turn(0).await;
        Ok(copies(&text, number)?)
    }
}

/// Future that becomes ready when the gate is opened.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(bool, Option<Waker>)>>);

impl Gate {
    fn open(&self) {
        let waker = {
            let mut state = locked(&self.0);
            state.0 = true;
            state.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = locked(&self.0);
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}
