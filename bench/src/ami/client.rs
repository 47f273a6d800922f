//! Client process of a contender.

use super::contender::Contender;
use super::dii;
use super::floor::Floor;
use super::idl::bench_ami::Echo;
use super::{Setup, WINDOW, What};
use crate::Result;
use crate::peer::{block_on, nanoseconds, nanoseconds_since};
use crate::protocol::obey;
use punctual::config::ReplyHandlers;
use punctual::policy::Buffering;
use punctual::{Interface, Orb, OrbConfig, Policy, SetOverride, SystemException};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Result of an asynchronous call, as passed to the reply handler.
type Answered = std::result::Result<u64, SystemException>;

/// Number of requests that a buffering reference sends together.
const TOGETHER: usize = 32;

/// Makes the calls that each line of input requests, until the input ends.
pub(crate) fn call(setup: &Setup, at: &str) -> Result<()> {
    if setup.floor {
        let mut floor = Floor::connect(at)?;
        return obey("", |(_, what): (Contender, What)| match what {
            What::Latency(calls) => floor.latency(calls),
            What::Throughput(calls) => timed(|| floor.throughput(calls)),
        });
    }
    let configure = |config: &mut OrbConfig| {
        if setup.reads_itself {
            config.reply_handlers = ReplyHandlers::Reactor;
        }
    };
    let orb = Orb::builder().configure(configure).build()?;
    let echo = Echo::narrow(orb.string_to_object(at)?)?;
    obey("", |(contender, what)| match what {
        What::Latency(calls) => latency(&echo, contender, calls),
        What::Throughput(calls) => timed(|| throughput(&echo, contender, calls)),
    })?;
    Ok(orb.shutdown(true)?)
}

/// Runs `act`, and returns the time that it took, in nanoseconds.
fn timed(act: impl FnOnce() -> Result<()>) -> Result<Vec<u64>> {
    let begun = Instant::now();
    act()?;
    Ok(vec![nanoseconds(begun.elapsed())])
}

/// Returns the nanoseconds of each of `calls` calls, made one after the other.
fn latency(echo: &Echo, by: Contender, calls: u32) -> Result<Vec<u64>> {
    let orb = echo.as_object().orb().clone();
    let mut handled = Handled::new(Idle::of(by, &orb));
    let one = |number: u32| -> Result<u64> {
        let begun = Instant::now();
        let number = u64::from(number);
        let answer = match by {
            Contender::Ami | Contender::AmiReactor => return handled.call(echo, begun),
            Contender::DiiDeferred => return dii::latency(echo, number),
            Contender::Poller => echo.sendp_stamp(number).wait()?,
            Contender::Future => block_on(echo.stamp_async(number))?,
            Contender::FutureReactor => orb.block_on(echo.stamp_async(number))?,
            _ => echo.stamp(number)?,
        };
        let took = nanoseconds_since(begun);
        match answer == number {
            true => Ok(took),
            false => Err(format!("{number} came back as {answer}").into()),
        }
    };
    (0..calls).map(one).collect()
}

/// Call with a reply handler; its time ends when the handler is called, as in the paper.
struct Handled {
    /// Time from the call to its reply handler, in nanoseconds; 0 until the reply arrives.
    took: Arc<AtomicU64>,
    caller: Thread,
    idle: Idle,
}

impl Handled {
    fn new(idle: Idle) -> Self {
        Self {
            took: Arc::default(),
            caller: thread::current(),
            idle,
        }
    }

    fn call(&mut self, echo: &Echo, begun: Instant) -> Result<u64> {
        self.took.store(0, Ordering::Relaxed);
        let (took, caller) = (self.took.clone(), self.caller.clone());
        let handler = move |answer: Answered| {
            let time = match answer {
                Ok(_) => nanoseconds_since(begun).max(1),
                Err(_) => u64::MAX,
            };
            took.store(time, Ordering::Release);
            caller.unpark();
        };
        echo.sendc_stamp(handler, 1);
        loop {
            match self.took.load(Ordering::Acquire) {
                0 => self.idle.wait(),
                u64::MAX => return Err("a call has failed".into()),
                took => return Ok(took),
            }
        }
    }
}

/// Way in which the thread that makes calls waits for their ends.
pub(super) enum Idle {
    /// It is woken.
    Parks,
    /// It reads the replies itself.
    Reads(Orb),
}

impl Idle {
    fn of(contender: Contender, orb: &Orb) -> Self {
        match contender.reads_itself() {
            true => Self::Reads(orb.clone()),
            false => Self::Parks,
        }
    }

    /// Waits for an end of a call, or returns earlier.
    fn wait(&self) {
        match self {
            Self::Parks => thread::park(),
            // An error shows in the calls, which then end.
            Self::Reads(orb) => {
                let _ = orb.perform_work_within(Duration::from_secs(1));
            }
        }
    }
}

/// Makes `calls` calls, as fast as the contender can.
fn throughput(echo: &Echo, by: Contender, calls: u32) -> Result<()> {
    if let Some(threads) = by.threads() {
        return by_threads(echo, threads, calls);
    }
    match by {
        Contender::Ami | Contender::AmiReactor => by_handlers(echo, by, calls),
        Contender::AmiBuffered => by_handlers(&buffered(echo)?, by, calls),
        Contender::Poller => by_pollers(echo, calls),
        Contender::DiiDeferred => dii::throughput(echo, calls),
        _ => by_futures(echo, by, calls),
    }
}

fn by_threads(echo: &Echo, threads: u32, calls: u32) -> Result<()> {
    let all_are_there = Barrier::new(threads as usize);
    let each = calls / threads;
    thread::scope(|scope| {
        let start = || {
            scope.spawn(|| -> Result<()> {
                all_are_there.wait();
                for number in 0..each {
                    echo.stamp(u64::from(number))?;
                }
                Ok(())
            })
        };
        let threads: Vec<_> = (0..threads).map(|_| start()).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })
}

/// Returns a reference to the object whose requests are buffered.
fn buffered(echo: &Echo) -> Result<Echo> {
    let together = Buffering::EXPLICIT.messages(TOGETHER);
    let policies = [Policy::Buffering(Some(together))];
    let object = echo.as_object();
    let object = object.set_policy_overrides(&policies, SetOverride::Add)?;
    Ok(Echo::from_object(object))
}

/// Makes calls with reply handlers: one thread sends, and the thread that reads replies calls the
/// handlers.
fn by_handlers(echo: &Echo, by: Contender, calls: u32) -> Result<()> {
    let idle = Idle::of(by, echo.as_object().orb());
    let window = Arc::new(Window::new(WINDOW, idle));
    let failed = Arc::new(AtomicBool::new(false));
    for number in 0..calls {
        if window.is_full() {
            // Buffered requests would get no replies.
            echo.as_object().flush();
        }
        window.begin();
        let (window, failed) = (window.clone(), failed.clone());
        let handler = move |answer: Answered| {
            if answer.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            window.end(1);
        };
        echo.sendc_stamp(handler, u64::from(number));
    }
    echo.as_object().flush();
    window.wait_until_empty();
    match failed.load(Ordering::Relaxed) {
        true => Err("a call has failed".into()),
        false => Ok(()),
    }
}

/// Makes calls with pollers: one thread sends and takes the results.
fn by_pollers(echo: &Echo, calls: u32) -> Result<()> {
    let mut under_way = VecDeque::with_capacity(WINDOW as usize);
    for number in 0..calls {
        if under_way.len() == WINDOW as usize {
            // Half of them are taken at a time, so that requests leave in a row.
            for poller in under_way.drain(..WINDOW as usize / 2) {
                let poller: punctual::Poller<u64> = poller;
                poller.wait()?;
            }
        }
        under_way.push_back(echo.sendp_stamp(u64::from(number)));
    }
    for poller in under_way {
        poller.wait()?;
    }
    Ok(())
}

/// Makes calls as futures: as many tasks as calls may be in flight, each of which awaits one call
/// after the other; the ORB's threads drive them.
fn by_futures(echo: &Echo, by: Contender, calls: u32) -> Result<()> {
    let idle = Idle::of(by, echo.as_object().orb());
    let window = Arc::new(Window::new(WINDOW, idle));
    let failed = Arc::new(AtomicBool::new(false));
    let each = calls.div_ceil(WINDOW);
    for _ in 0..WINDOW {
        window.begin();
        let (echo, window, failed) = (echo.clone(), window.clone(), failed.clone());
        let orb = echo.as_object().orb().clone();
        orb.spawn(async move {
            for number in 0..each {
                if echo.stamp_async(u64::from(number)).await.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
            }
            window.end(1);
        });
    }
    window.wait_until_empty();
    match failed.load(Ordering::Relaxed) {
        true => Err("a call has failed".into()),
        false => Ok(()),
    }
}

/// Window of calls in flight: one thread begins them, another ends them.
pub(super) struct Window {
    size: u32,
    begun: AtomicU32,
    ended: AtomicU32,
    /// Set while the thread that begins calls waits for room.
    waits: AtomicBool,
    begins: Thread,
    idle: Idle,
}

impl Window {
    /// Makes a window; the calling thread begins the calls.
    pub(super) fn new(size: u32, idle: Idle) -> Self {
        Self {
            size,
            begun: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            waits: AtomicBool::new(false),
            begins: thread::current(),
            idle,
        }
    }

    /// Returns whether one more call would have to wait.
    pub(super) fn is_full(&self) -> bool {
        let begun = self.begun.load(Ordering::Relaxed);
        begun.wrapping_sub(self.ended.load(Ordering::Acquire)) >= self.size
    }

    /// Begins one more call. If the window is full, waits until half of the calls have ended, so
    /// that several calls can begin without a pause.
    pub(super) fn begin(&self) {
        let begun = self.begun.load(Ordering::Relaxed);
        if self.is_full() {
            self.wait_until(self.size / 2);
        }
        self.begun.store(begun.wrapping_add(1), Ordering::Relaxed);
    }

    /// Records that the given number of asynchronous calls have ended.
    pub(super) fn end(&self, some: u32) {
        // SeqCst, paired with the accesses in `wait_until`: either this thread sees that the other
        // waits, or the other sees the calls that have ended.
        let ended = self
            .ended
            .fetch_add(some, Ordering::SeqCst)
            .wrapping_add(some);
        if self.waits.load(Ordering::SeqCst) {
            let under_way = self.begun.load(Ordering::Relaxed).wrapping_sub(ended);
            if under_way <= self.size / 2 {
                self.begins.unpark();
            }
        }
    }

    /// Waits until all asynchronous calls have ended.
    pub(super) fn wait_until_empty(&self) {
        self.wait_until(0);
    }

    fn wait_until(&self, under_way: u32) {
        let begun = self.begun.load(Ordering::Relaxed);
        self.waits.store(true, Ordering::SeqCst);
        while begun.wrapping_sub(self.ended.load(Ordering::SeqCst)) > under_way {
            self.idle.wait();
        }
        self.waits.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_never_exceeded_and_empties() {
        let window = Arc::new(Window::new(8, Idle::Parks));
        let (say, to_end) = std::sync::mpsc::channel();
        let ends = {
            let window = window.clone();
            thread::spawn(move || to_end.iter().for_each(|()| window.end(1)))
        };
        for _ in 0..10_000 {
            window.begin();
            let under_way =
                window.begun.load(Ordering::Relaxed) - window.ended.load(Ordering::Relaxed);
            assert!(under_way <= 8);
            say.send(()).unwrap();
        }
        window.wait_until_empty();
        drop(say);
        ends.join().unwrap();
    }
}
