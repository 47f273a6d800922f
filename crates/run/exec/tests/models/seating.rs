//! Who sits and who follows: whoever waits for something is woken when it has come, and while anybody
//! waits there is somebody who sees what comes.

use crate::explore;
use crate::seats::{Ring, Seats, Waiter};
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// What stands for the kernel: events that wait, and a bell for whoever sits, on one condition.
struct Kernel {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The replies that have arrived, by who waits for them.
    events: Vec<usize>,
    /// The bells that were rung, likewise.
    rung: Vec<usize>,
}

struct ModelBell {
    kernel: Arc<Kernel>,
    number: usize,
}

impl Ring for ModelBell {
    fn ring(&self) {
        self.kernel.state.lock().unwrap().rung.push(self.number);
        self.kernel.changed.notify_all();
    }
}

impl Kernel {
    fn arrives(&self, number: usize) {
        self.state.lock().unwrap().events.push(number);
        self.changed.notify_all();
    }

    /// Waits for an event, or for its own bell.
    fn wait(&self, number: usize) -> Option<usize> {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(event) = state.events.pop() {
                return Some(event);
            }
            if let Some(at) = state.rung.iter().position(|&rung| rung == number) {
                state.rung.swap_remove(at);
                return None;
            }
            state = self.changed.wait(state).unwrap();
        }
    }
}

/// Whether a reply has come, and who waits for it.
#[derive(Default)]
struct Reply {
    came: AtomicBool,
    waiter: Mutex<Option<Arc<Waiter<ModelBell>>>>,
}

struct World {
    kernel: Arc<Kernel>,
    seats: Seats<ModelBell>,
    replies: [Reply; 2],
}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            kernel: Arc::new(Kernel {
                state: Mutex::new(State::default()),
                changed: Condvar::new(),
            }),
            seats: Seats::new(),
            replies: [Reply::default(), Reply::default()],
        })
    }

    fn waiter(&self, number: usize) -> Arc<Waiter<ModelBell>> {
        let waiter = Arc::new(Waiter::own(ModelBell {
            kernel: self.kernel.clone(),
            number,
        }));
        *self.replies[number].waiter.lock().unwrap() = Some(waiter.clone());
        waiter
    }

    /// A reply is read: whoever waits for it is told.
    fn deliver(&self, number: usize) {
        let reply = &self.replies[number];
        reply.came.store(true, Ordering::Relaxed);
        if let Some(waiter) = &*reply.waiter.lock().unwrap() {
            waiter.wake();
        }
    }

    /// As `Reactor::run_until`.
    fn wait_for(&self, number: usize) {
        let own = self.waiter(number);
        loop {
            own.look();
            if self.replies[number].came.load(Ordering::Relaxed) {
                break;
            }
            if self.seats.lead() {
                let mut event = None;
                if own.sit() {
                    event = self.kernel.wait(number);
                    own.look();
                }
                self.seats.rise();
                if let Some(event) = event {
                    self.deliver(event);
                }
            } else {
                self.seats.follow(&own, None);
            }
        }
        own.look();
        self.seats.promote();
    }

    /// As a thread of the pool that takes one event, if there is one, and goes.
    fn serve_one(&self) {
        self.seats.join();
        let event = self.kernel.state.lock().unwrap().events.pop();
        self.seats.rise();
        if let Some(event) = event {
            self.deliver(event);
        }
    }
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
        assert_eq!(world.seats.sitting(), 0);
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
        assert_eq!(world.seats.sitting(), 0);
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
        assert_eq!(world.seats.sitting(), 0);
    });
}
