//! Model of leaders and followers: a waiting thread is woken when its reply has come, and while any
//! thread waits, one of them sees the next event.

use crate::explore;
use crate::leadership::{Leadership, Notify, Waiter};
use punctual_models::loom::sync::atomic::{AtomicBool, Ordering};
use punctual_models::loom::sync::{Arc, Condvar, Mutex};
use punctual_models::loom::thread;

/// Stand-in for the kernel: pending events, and notifications of leaders, on one condition
/// variable.
struct Kernel {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Replies that have arrived, by the number of their waiter.
    events: Vec<usize>,
    /// Numbers of the waiters that have been notified.
    notified: Vec<usize>,
}

struct ModelEvent {
    kernel: Arc<Kernel>,
    number: usize,
}

impl Notify for ModelEvent {
    fn notify(&self) {
        self.kernel.state.lock().unwrap().notified.push(self.number);
        self.kernel.changed.notify_all();
    }
}

impl Kernel {
    fn arrives(&self, number: usize) {
        self.state.lock().unwrap().events.push(number);
        self.changed.notify_all();
    }

    /// Waits for an event, or for its own notification.
    fn wait(&self, number: usize) -> Option<usize> {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(event) = state.events.pop() {
                return Some(event);
            }
            if let Some(at) = state
                .notified
                .iter()
                .position(|&notified| notified == number)
            {
                state.notified.swap_remove(at);
                return None;
            }
            state = self.changed.wait(state).unwrap();
        }
    }
}

/// State of a modelled reply, and the thread that waits for it.
#[derive(Default)]
struct Reply {
    came: AtomicBool,
    waiter: Mutex<Option<Arc<Waiter<ModelEvent>>>>,
}

struct World {
    kernel: Arc<Kernel>,
    leadership: Leadership<ModelEvent>,
    replies: [Reply; 2],
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            kernel: Arc::new(Kernel {
                state: Mutex::new(State::default()),
                changed: Condvar::new(),
            }),
            leadership: Leadership::new(),
            replies: [Reply::default(), Reply::default()],
        })
    }

    fn waiter(&self, number: usize) -> Arc<Waiter<ModelEvent>> {
        let waiter = Arc::new(Waiter::own(ModelEvent {
            kernel: self.kernel.clone(),
            number,
        }));
        *self.replies[number].waiter.lock().unwrap() = Some(waiter.clone());
        waiter
    }

    /// Delivers the reply with this number, and wakes the thread that waits for it.
    fn deliver(&self, number: usize) {
        let reply = &self.replies[number];
        reply.came.store(true, Ordering::Relaxed);
        if let Some(waiter) = &*reply.waiter.lock().unwrap() {
            waiter.wake();
        }
    }

    /// Waits for the reply with this number, as `Reactor::run_until` does.
    fn wait_for(&self, number: usize) {
        let own = self.waiter(number);
        loop {
            own.look();
            if self.replies[number].came.load(Ordering::Relaxed) {
                break;
            }
            if self.leadership.try_lead() {
                let mut event = None;
                if own.begin_polling() {
                    event = self.kernel.wait(number);
                    own.look();
                }
                self.leadership.resign();
                if let Some(event) = event {
                    self.deliver(event);
                }
            } else {
                self.leadership.follow(&own, None);
            }
        }
        own.look();
        self.leadership.promote();
    }

    /// Acts as a thread of the pool that takes one event, if there is one, and leaves.
    fn serve_one(&self) {
        self.leadership.join();
        let event = self.kernel.state.lock().unwrap().events.pop();
        self.leadership.resign();
        if let Some(event) = event {
            self.deliver(event);
        }
    }
}

/// Queue of a reactor, read and written with the weakest ordering: what is seen of it is for
/// [`Leadership`] to order.
#[derive(Default)]
struct Queue {
    holds: AtomicBool,
    /// Set when a thread was told to look into the queue.
    told: Mutex<bool>,
    changed: Condvar,
}

impl Queue {
    /// Queues something, and wakes a waiting thread, as `Reactor::announce` does.
    fn add(&self, leadership: &Leadership<ModelEvent>) {
        self.holds.store(true, Ordering::Relaxed);
        if leadership.must_be_told() {
            *self.told.lock().unwrap() = true;
            self.changed.notify_all();
        }
    }

    /// Waits until something is queued, as `Reactor::run` does.
    fn take(&self, lead: impl FnOnce(), resign: impl FnOnce() -> bool) {
        lead();
        if !self.holds.load(Ordering::Relaxed) {
            let mut told = self.told.lock().unwrap();
            while !*told {
                told = self.changed.wait(told).unwrap();
            }
        }
        assert!(!resign(), "there was no other thread");
        assert!(self.holds.load(Ordering::Relaxed));
    }
}

#[test]
fn one_that_begins_to_wait_sees_what_is_queued_or_is_told() {
    explore("queued while a thread begins to wait", || {
        let world = World::new();
        let queue = Arc::new(Queue::default());
        let taking = {
            let (world, queue) = (world.clone(), queue.clone());
            thread::spawn(move || {
                let lead = || {
                    world.leadership.join();
                };
                queue.take(lead, || world.leadership.resign());
            })
        };
        queue.add(&world.leadership);
        taking.join().unwrap();
    });
}

#[test]
fn one_that_leads_to_wait_for_a_reply_sees_what_is_queued_or_is_told() {
    explore("queued while a thread begins to lead", || {
        let world = World::new();
        let queue = Arc::new(Queue::default());
        let taking = {
            let (world, queue) = (world.clone(), queue.clone());
            thread::spawn(move || {
                let lead = || assert!(world.leadership.try_lead());
                queue.take(lead, || world.leadership.resign());
            })
        };
        queue.add(&world.leadership);
        taking.join().unwrap();
    });
}

fn waits(world: &Arc<World>, number: usize) -> thread::JoinHandle<()> {
    let world = world.clone();
    thread::spawn(move || world.wait_for(number))
}

#[test]
fn two_that_wait_read_for_each_other_and_both_have_what_they_wait_for() {
    explore("two wait", || {
        let world = World::new();
        let threads = [waits(&world, 0), waits(&world, 1)];
        world.kernel.arrives(1);
        world.kernel.arrives(0);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(world.leadership.leaders(), 0);
    });
}

#[test]
fn one_whose_reply_another_thread_reads_is_woken_where_it_waits() {
    explore("another reads", || {
        let world = World::new();
        let waiting = waits(&world, 0);
        world.kernel.arrives(0);
        world.serve_one();
        waiting.join().unwrap();
        assert_eq!(world.leadership.leaders(), 0);
    });
}

#[test]
fn one_that_waits_takes_the_place_of_a_thread_that_goes() {
    explore("a thread goes", || {
        let world = World::new();
        let threads = [waits(&world, 0), waits(&world, 1)];
        world.kernel.arrives(0);
        world.serve_one();
        world.kernel.arrives(1);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(world.leadership.leaders(), 0);
    });
}
