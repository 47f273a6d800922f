//! A thread that waits for what an event will bring, and serves events meanwhile.

use super::leadership::{Notify, Waiter};
use crate::Deadline;
use crate::reactor::{Reactor, Role};
use punctual_sys::epoll::EpollEvents;
use punctual_sys::event::{EventFd, either};
use std::cell::OnceCell;
use std::io;
use std::sync::Arc;

/// What wakes a thread that waits for events: each thread makes its own when it first waits.
pub type ThreadEvent = EventFd;

impl Notify for Arc<ThreadEvent> {
    fn notify(&self) {
        EventFd::notify(self);
    }
}

/// The calling thread, as those see it who bring what it waits for. Clones are the same.
#[derive(Clone, Debug)]
pub struct Wakeup {
    waiter: Arc<Waiter<Arc<ThreadEvent>>>,
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
            let waiter = Arc::new(Waiter::own(Arc::new(EventFd::new()?)));
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
    /// The thread serves those events one within the other: [`crate::reactor::depth`] counts them, for
    /// handlers to refuse what would go too deep.
    ///
    /// # Errors
    /// Where the thread has no [`Wakeup`] yet and there is no descriptor for one, or `poll(2)` fails.
    pub fn run_until(
        self: &Arc<Self>,
        deadline: Deadline,
        mut done: impl FnMut() -> bool,
    ) -> io::Result<Waited> {
        let own = Wakeup::own()?;
        let mut found = EpollEvents::new(1);
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
            if self.do_next() {
                continue;
            }
            if self.leadership.try_lead() {
                let waited = self.lead(&own, deadline, &mut found);
                self.resign();
                waited?;
                self.serve(&found, Role::Worker);
            } else {
                self.leadership.follow(&own.waiter, deadline.remaining());
            }
        };
        // It may have been promoted, or told just now; who waits on must not wait for nobody.
        own.waiter.look();
        self.leadership.promote();
        // An outer wait of this thread looks for itself before it waits on.
        Ok(waited)
    }

    /// Waits for an event or until this thread is woken, and takes the event.
    fn lead(&self, own: &Wakeup, deadline: Deadline, found: &mut EpollEvents) -> io::Result<()> {
        found.clear();
        if !own.waiter.begin_polling() {
            return Ok(());
        }
        let waited = either(self.epoll(), &**own.waiter.notifier(), deadline.remaining());
        own.waiter.look();
        let (event, told) = waited?;
        if told {
            own.waiter.notifier().clear();
        }
        if event {
            self.look(found);
        }
        Ok(())
    }
}
