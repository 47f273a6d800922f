//! A thread that waits for what an event will bring, and serves events meanwhile.

use super::seats::{Ring, Waiter};
use crate::Deadline;
use crate::reactor::{Reactor, Role};
use punctual_sys::bell::{Bell, either};
use punctual_sys::epoll::Happenings;
use std::cell::OnceCell;
use std::io;
use std::sync::Arc;

/// What wakes a thread that waits for events: one for each thread, made when it first waits.
pub type ThreadBell = Bell;

impl Ring for Arc<ThreadBell> {
    fn ring(&self) {
        Bell::ring(self);
    }
}

/// The calling thread, as those see it who bring what it waits for. Clones are the same.
#[derive(Clone, Debug)]
pub struct Wakeup {
    waiter: Arc<Waiter<Arc<ThreadBell>>>,
}

thread_local! {
    static OWN: OnceCell<Wakeup> = const { OnceCell::new() };
}

impl Wakeup {
    /// The calling thread's. Takes a descriptor, once for each thread.
    ///
    /// # Errors
    /// What `eventfd(2)` says.
    pub fn own() -> io::Result<Self> {
        OWN.with(|own| {
            if let Some(own) = own.get() {
                return Ok(own.clone());
            }
            let waiter = Arc::new(Waiter::own(Arc::new(Bell::new()?)));
            Ok(own.get_or_init(|| Self { waiter }).clone())
        })
    }

    /// Makes the thread look again at what it waits for, which was stored before. From any thread;
    /// enters the kernel only where it sleeps.
    pub fn wake(&self) {
        self.waiter.wake();
    }
}

/// What waiting came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// What was waited for has come.
    Done,
    /// The deadline has passed.
    TimedOut,
    /// The reactor was stopped.
    Stopped,
}

impl Reactor {
    /// Serves events until `done`, which is looked at before each wait; whoever makes it so calls
    /// [`Wakeup::wake`] of the calling thread then, unless it is the calling thread. Waits for events
    /// itself only where no other thread does.
    ///
    /// Events that are served meanwhile are turns of this thread, one within the other: [`crate::reactor::depth`]
    /// of the reactor counts them, for handlers to refuse what would go too deep.
    ///
    /// # Errors
    /// Where the thread has no [`Wakeup`] yet and there is no descriptor for one, or `poll(2)` fails.
    pub fn run_until(
        self: &Arc<Self>,
        deadline: Deadline,
        mut done: impl FnMut() -> bool,
    ) -> io::Result<Waited> {
        let own = Wakeup::own()?;
        let mut found = Happenings::new(1);
        let waited = loop {
            own.waiter.look();
            if done() {
                break Waited::Done;
            }
            if self.is_stopped() {
                break Waited::Stopped;
            }
            if deadline.has_passed() {
                break Waited::TimedOut;
            }
            if self.seats.lead() {
                let sat = self.sit(&own, deadline, &mut found);
                self.rise();
                sat?;
                self.serve(&found, Role::Worker);
            } else {
                self.seats.follow(&own.waiter, deadline.remaining());
            }
        };
        // It may have been promoted, or told just now; who waits on must not wait for nobody.
        own.waiter.look();
        self.seats.promote();
        // An outer wait of this thread looks for itself before it waits on.
        Ok(waited)
    }

    /// Waits for an event or a word to this thread, and takes the event.
    fn sit(&self, own: &Wakeup, deadline: Deadline, found: &mut Happenings) -> io::Result<()> {
        found.clear();
        if !own.waiter.sit() {
            return Ok(());
        }
        let waited = either(self.epoll(), &**own.waiter.bell(), deadline.remaining());
        own.waiter.look();
        let (event, told) = waited?;
        if told {
            own.waiter.bell().silence();
        }
        if event {
            self.look(found);
        }
        Ok(())
    }
}
