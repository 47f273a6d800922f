//! Search from an operation's name to its number, as the compiler generates it: a request is given
//! to the skeleton by name and by number, again and again, and the difference is the search. The
//! request is a one-way without a reply, and its servant does nothing, so that no other work hides
//! the search.

use super::super::interfaces::{Target, deaf_servant};
use super::{Clock, Line, count};
use crate::Result;
use crate::statistics::median;
use punctual::policy::Collocation;
use punctual::{ListenEndpoint, Orb, Servant};
use punctual_orb::{DispatchError, Dispatched, Location, ObjectAdapter, ServerCall};
use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Goal: upper bound of the median search time over all operations, in nanoseconds.
const GOAL: f64 = 10.0;
/// Number of calls of a batch, and number of pairs of batches, one by name and one by number.
const CALLS: usize = 2000;
const BATCHES: usize = 9;

pub(super) fn measure() -> Result<Vec<Line>> {
    let lines = super::super::plan::OPERATIONS.map(search).into_iter();
    Ok(lines.collect::<Result<Vec<_>>>()?.concat())
}

fn search(operations: u32) -> Result<[Line; 2]> {
    let (found, times) = channel();
    let orb = Orb::builder()
        .configure(|config| {
            config.collocation = Collocation::None;
            config.listen.push(ListenEndpoint::iiop("127.0.0.1", 0));
        })
        .build()?;
    orb.adapter_or_set(|| {
        Arc::new(Timing {
            servant: deaf_servant(operations),
            found,
        })
    });
    let object = orb.make_reference("", b"timed")?;
    let target = Target::new(object, operations, true);
    let searches = time_each(&target, operations, &times)?;
    orb.shutdown(true)?;
    let p50 = |of: fn(&SearchTimes) -> f64| {
        let all: Vec<f64> = searches.iter().map(of).collect();
        median(&all).ok_or("no operation was searched")
    };
    let line =
        |what: &str, value| Line::new(format!("{what}, {operations} operation(s)"), "ns", value);
    Ok([
        line(
            "operation lookup, the compiler's",
            p50(|found| found.search)?,
        )
        .at_most(GOAL),
        line(
            "a request at its skeleton, by name",
            p50(|found| found.by_name)?,
        ),
    ])
}

fn time_each(
    target: &Target,
    operations: u32,
    times: &Receiver<SearchTimes>,
) -> Result<Vec<SearchTimes>> {
    let time = |operation| {
        target.call(operation)?;
        Ok(times.recv()?)
    };
    (0..operations as usize).map(time).collect()
}

/// Times in nanoseconds measured for looking up one operation.
struct SearchTimes {
    /// Time of the operation's look-up alone, in nanoseconds.
    search: f64,
    /// Total time of the search, the empty servant, and the return.
    by_name: f64,
}

/// Object adapter with one object, which times the search of the object's operations.
struct Timing {
    servant: Arc<dyn Servant>,
    found: Sender<SearchTimes>,
}

impl Timing {
    fn time(&self, call: &mut ServerCall<'_>) -> std::result::Result<SearchTimes, DispatchError> {
        let operations = self.servant.operations();
        let number = operations.iter().position(|name| *name == call.operation());
        let number = number.ok_or_else(|| call.bad_operation())?;
        let (mut by_name, mut by_number) = (Vec::new(), Vec::new());
        for _ in 0..BATCHES {
            by_name.push(batch(|| self.servant.dispatch(call))?);
            by_number.push(batch(|| self.servant.upcall(number, call))?);
        }
        let by_name = median(&by_name).unwrap_or_default();
        Ok(SearchTimes {
            search: by_name - median(&by_number).unwrap_or_default(),
            by_name,
        })
    }
}

/// Returns the nanoseconds of one call in a batch.
fn batch(
    mut act: impl FnMut() -> std::result::Result<Dispatched, DispatchError>,
) -> std::result::Result<f64, DispatchError> {
    let began = Clock::now();
    for _ in 0..CALLS {
        act()?;
    }
    Ok(began.nanoseconds() / count(CALLS))
}

impl ObjectAdapter for Timing {
    fn dispatch(
        &self,
        _object_key: &[u8],
        call: &mut ServerCall<'_>,
    ) -> std::result::Result<Dispatched, DispatchError> {
        let time = self.time(call)?;
        // The receiver may be gone: it needs no more figures then.
        let _ = self.found.send(time);
        self.servant.dispatch(call)
    }

    fn locate(&self, _object_key: &[u8]) -> Location {
        Location::Here
    }

    fn shut_down(&self) {}

    fn release(&self) {}

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
