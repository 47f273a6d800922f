//! Calls as the harness requests them: a batch timed call by call or as a whole, or by several
//! threads at once.

use crate::Result;
use crate::case::Case;
use crate::protocol::{Answer, Command, References, answer_each};
use std::io::{BufRead, Write};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Benchmark client that can make the calls of any benchmark case.
pub trait Caller {
    /// Returns a function that makes one call of `case`, with its arguments prepared.
    ///
    /// # Errors
    /// The case cannot be prepared.
    fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>>;

    /// Waits until the server has served all one-ways that were sent.
    ///
    /// # Errors
    /// The server does not answer.
    fn settle(&mut self) -> Result<()>;

    /// Makes `calls` void calls by `threads` threads at once, through one reference or each through
    /// its own, and returns the time that all took.
    ///
    /// # Errors
    /// A call fails, or threads cannot be started.
    fn flood(&mut self, threads: u32, calls: u32, references: References) -> Result<Duration>;
}

/// Carries out each line of input, until there are no more.
pub(super) fn obey(
    caller: &mut impl Caller,
    input: impl BufRead,
    output: &mut impl Write,
) -> Result<()> {
    caller.settle()?;
    Answer::Ready(String::new()).write_to(output)?;
    answer_each(input, output, |command| perform(caller, command))
}

fn perform(caller: &mut impl Caller, command: Command) -> Result<Answer> {
    match command {
        Command::Flood {
            threads,
            calls,
            references,
        } => {
            let took = caller.flood(threads, calls, references)?;
            Ok(Answer::Samples(vec![nanoseconds(took)]))
        }
        Command::Calls { case, calls } => {
            repeat(caller, case, calls)?;
            caller.settle()?;
            Ok(Answer::Done)
        }
        Command::Run {
            case,
            warm_up,
            calls,
        } if case.operation.is_two_way() => {
            repeat(caller, case, warm_up)?;
            time_each(caller, case, calls).map(Answer::Samples)
        }
        Command::Run {
            case,
            warm_up,
            calls,
        } => {
            repeat(caller, case, warm_up)?;
            caller.settle()?;
            time_all(caller, case, calls).map(|one| Answer::Samples(vec![one]))
        }
    }
}

fn repeat(caller: &mut impl Caller, case: Case, calls: u32) -> Result<()> {
    let mut call = caller.prepare(case)?;
    (0..calls).try_for_each(|_| call())
}

fn time_each(caller: &mut impl Caller, case: Case, calls: u32) -> Result<Vec<u64>> {
    let mut call = caller.prepare(case)?;
    sampled(calls, || {
        let began = Instant::now();
        call()?;
        Ok(nanoseconds_since(began))
    })
}

/// Calls `one` `calls` times, and returns the samples that it returns.
pub(crate) fn sampled(calls: u32, mut one: impl FnMut() -> Result<u64>) -> Result<Vec<u64>> {
    // All of it is written before, so that no page is mapped between two calls.
    let mut samples = vec![1; calls as usize];
    for sample in &mut samples {
        *sample = one()?;
    }
    Ok(samples)
}

/// Returns the mean time of one of `calls` one-ways, including the server's work.
fn time_all(caller: &mut impl Caller, case: Case, calls: u32) -> Result<u64> {
    let mut call = caller.prepare(case)?;
    let began = Instant::now();
    (0..calls).try_for_each(|_| call())?;
    drop(call);
    caller.settle()?;
    Ok(nanoseconds_since(began) / u64::from(calls.max(1)))
}

/// Makes each of `callers` perform its share of `calls` on a thread of its own, all starting at
/// once, and returns the time from the first start to the last end. Each makes one untimed call
/// first, which opens its connection and allocates its buffers.
pub(super) fn race<C>(callers: Vec<C>, calls: u32) -> Result<Duration>
where
    C: FnMut() -> Result<()> + Send,
{
    let share = calls / u32::try_from(callers.len())?.max(1);
    let start = Barrier::new(callers.len());
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for (number, mut call) in callers.into_iter().enumerate() {
            let start = &start;
            let thread = std::thread::Builder::new().name(format!("caller-{number}"));
            running.push(thread.spawn_scoped(scope, move || {
                let warm = call();
                start.wait();
                // Each thread uses its own clock: on a processor that all share, the others may be
                // done before a thread that only watches them runs again.
                let began = Instant::now();
                warm?;
                (0..share).try_for_each(|_| call())?;
                Ok((began, Instant::now()))
            })?);
        }
        let (mut began, mut ended) = (Vec::new(), Vec::new());
        for thread in running {
            let times: Result<_> = thread.join().map_err(|_| "a caller panicked")?;
            let (from, until) = times?;
            began.push(from);
            ended.push(until);
        }
        let whole = ended.into_iter().max().zip(began.into_iter().min());
        Ok(whole.map_or(Duration::ZERO, |(end, start)| end.duration_since(start)))
    })
}

pub(crate) fn nanoseconds_since(began: Instant) -> u64 {
    nanoseconds(began.elapsed())
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Counting {
        calls: u32,
        settled: u32,
    }

    impl Caller for Counting {
        fn prepare<'c>(&'c mut self, case: Case) -> Result<Box<dyn FnMut() -> Result<()> + 'c>> {
            if case.units > 1000 {
                return Err("too many\nunits".into());
            }
            Ok(Box::new(|| {
                self.calls += 1;
                Ok(())
            }))
        }

        fn settle(&mut self) -> Result<()> {
            self.settled += 1;
            Ok(())
        }

        fn flood(&mut self, threads: u32, calls: u32, _: References) -> Result<Duration> {
            let made = std::sync::atomic::AtomicU32::new(0);
            let caller = || {
                made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                Ok(())
            };
            let took = race(vec![caller; threads as usize], calls)?;
            self.calls += made.into_inner();
            Ok(took)
        }
    }

    #[test]
    fn a_flood_shares_its_calls_among_the_threads_which_make_one_each_ahead() {
        let (caller, answers) = told("flood 4 100 own\n");
        assert_eq!(caller.calls, 4 + 100);
        assert!(matches!(&answers[1], Answer::Samples(samples) if samples.len() == 1));
    }

    fn told(lines: &str) -> (Counting, Vec<Answer>) {
        let (mut caller, mut output) = (Counting::default(), Vec::new());
        obey(&mut caller, lines.as_bytes(), &mut output).unwrap();
        let mut input = output.as_slice();
        let mut answers = Vec::new();
        while !input.is_empty() {
            answers.push(Answer::read_from(&mut input).unwrap());
        }
        (caller, answers)
    }

    #[test]
    fn a_two_way_batch_has_a_sample_for_each_call_that_counts() {
        let (caller, answers) = told("run cube_void 3 5\n");
        assert_eq!(caller.calls, 8);
        assert!(matches!(&answers[1], Answer::Samples(samples) if samples.len() == 5));
    }

    #[test]
    fn a_one_way_batch_has_one_sample_and_waits_for_the_server() {
        let (caller, answers) = told("run throw_octets:8 3 5\n");
        assert_eq!((caller.calls, caller.settled), (8, 3));
        assert!(matches!(&answers[1], Answer::Samples(samples) if samples.len() == 1));
    }

    #[test]
    fn a_command_that_fails_is_answered_and_the_next_one_obeyed() {
        let (caller, answers) = told("sleep\nrun take_octets:1001 1 1\ncalls cube_long 4\n");
        assert_eq!(answers[0], Answer::Ready(String::new()));
        assert!(matches!(answers[1], Answer::Error(_)));
        assert_eq!(answers[2], Answer::Error("too many units".to_owned()));
        assert_eq!(answers[3], Answer::Done);
        assert_eq!(caller.calls, 4);
    }
}
