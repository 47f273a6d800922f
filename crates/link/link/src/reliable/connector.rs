//! Connecting: the handshake, and the connection it makes.

use super::connection::{ReliableConnection, Shared};
use super::cookie::random;
use super::driver::Driver;
use super::handshake::{Agreed, Opening};
use super::machine::Machine;
use super::options::ReliableOptions;
use crate::{Cause, Connection, LinkError, Phase};
use punctual_exec::Deadline;
use std::io::IoSlice;
use std::sync::Arc;

pub(super) fn connect(
    below: Arc<dyn Connection>,
    name: &str,
    options: ReliableOptions,
    driver: &Arc<Driver>,
    deadline: Deadline,
) -> Result<Arc<dyn Connection>, LinkError> {
    let id = random();
    let agreed = agree(&*below, id, options, driver, deadline).map_err(|mut error| {
        error.phase = Phase::Connect;
        error
    })?;
    let machine = Machine::new(id, agreed.peer, agreed.window, options, driver.now());
    let shared = Shared::begin(below, driver, machine)
        .map_err(|error| LinkError::os(Phase::Connect, error))?;
    Ok(Arc::new(ReliableConnection::new(shared, name)))
}

fn agree(
    below: &dyn Connection,
    id: u64,
    options: ReliableOptions,
    driver: &Driver,
    deadline: Deadline,
) -> Result<Agreed, LinkError> {
    let window = u32::try_from(options.window).unwrap_or(u32::MAX);
    let mut opening = Opening::new(id, window);
    let mut out = Vec::new();
    while opening.tries() <= options.tries {
        if deadline.has_passed() {
            break;
        }
        if opening.transmit(driver.now(), &mut out) {
            let sent = below.send(&[IoSlice::new(&out)], deadline);
            sent.map_err(|failed| failed.error)?;
        }
        let wait = opening.next().saturating_sub(driver.now());
        let mut block = below.lend(0);
        match below.receive(&mut block, 1, Deadline::after(wait).earlier(deadline)) {
            Ok(_) => {
                if let Some(agreed) = opening.handle(&block, driver.now()) {
                    return Ok(agreed);
                }
            }
            Err(error) if matches!(error.cause, Cause::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
    Err(LinkError::timed_out(Phase::Connect))
}
