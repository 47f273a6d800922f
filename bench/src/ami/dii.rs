//! Deferred synchronous calls of the Dynamic Invocation Interface.

use super::WINDOW;
use super::idl::bench_ami::Echo;
use crate::Result;
use crate::peer::nanoseconds_since;
use punctual::dynamic::Request;
use punctual::{Any, Interface, TypeCode};
use std::collections::VecDeque;
use std::time::Instant;

/// Sends a deferred request with the given number as its argument, and returns it.
fn sent(echo: &Echo, number: u64) -> Result<Request> {
    let mut request = Request::new(echo.as_object(), "stamp");
    request.add_in("number", Any::new(&number)?);
    request.set_return_type(&TypeCode::ULONG_LONG);
    request.send_deferred()?;
    Ok(request)
}

fn response(mut request: Request) -> Result<u64> {
    request.get_response()?;
    Ok(request.return_value().extract()?)
}

/// Returns the nanoseconds of one call, from before its request is built.
pub(super) fn latency(echo: &Echo, number: u64) -> Result<u64> {
    let begun = Instant::now();
    let answer = response(sent(echo, number)?)?;
    let took = nanoseconds_since(begun);
    match answer == number {
        true => Ok(took),
        false => Err(format!("{number} came back as {answer}").into()),
    }
}

/// Makes calls of which one thread sends the requests and takes the responses, half a window at a
/// time.
pub(super) fn throughput(echo: &Echo, calls: u32) -> Result<()> {
    let mut under_way = VecDeque::with_capacity(WINDOW as usize);
    for number in 0..calls {
        if under_way.len() == WINDOW as usize {
            for request in under_way.drain(..WINDOW as usize / 2) {
                response(request)?;
            }
        }
        under_way.push_back(sent(echo, u64::from(number))?);
    }
    for request in under_way {
        response(request)?;
    }
    Ok(())
}
