//! Resolution of host names.

use crate::{Address, Cause, LinkError, Phase};
use punctual_exec::{Deadline, SpawnError, ThreadGroup};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{LazyLock, mpsc};

/// Upper bound of concurrent look-ups in a process. Peers name hosts, and an unanswered look-up
/// outlives its caller.
const MOST: usize = 64;

static LOOKS_UP: LazyLock<ThreadGroup> = LazyLock::new(|| ThreadGroup::new(MOST));

/// Resolves an address. A name is looked up on a thread of its own, since the resolver knows no
/// deadline; an answer that comes too late is dropped there. The number of concurrent look-ups is
/// bounded; more wait.
///
/// # Errors
/// [`LinkError`] of [`Phase::Resolve`]: no `host:port`, no address of that name, or none until
/// `deadline`.
pub fn resolve(address: &Address, deadline: Deadline) -> Result<Vec<SocketAddr>, LinkError> {
    let Some((host, port)) = address.host_and_port() else {
        let cause = Cause::BadAddress("host:port, with an IPv6 address in brackets");
        return Err(LinkError {
            phase: Phase::Resolve,
            cause,
        });
    };
    if let Ok(number) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(number, port)]);
    }
    let (answer, answered) = mpsc::sync_channel(1);
    let host = host.to_owned();
    let look_up = move || {
        let found = (host.as_str(), port)
            .to_socket_addrs()
            .map(Iterator::collect::<Vec<_>>);
        // The receiver is gone when the deadline has passed.
        let _ = answer.send(found);
    };
    start(&LOOKS_UP, look_up, deadline)?;
    let found = match deadline.remaining() {
        None => answered.recv().map_err(|_| no_number(Phase::Resolve))?,
        Some(left) => answered
            .recv_timeout(left)
            .map_err(|_| LinkError::timed_out(Phase::Resolve))?,
    };
    match found {
        Ok(numbers) if numbers.is_empty() => Err(no_number(Phase::Resolve)),
        Ok(numbers) => Ok(numbers),
        Err(error) => Err(LinkError {
            phase: Phase::Resolve,
            cause: Cause::Os(error),
        }),
    }
}

/// Starts a thread of the group, once there is room for one.
fn start(
    group: &ThreadGroup,
    work: impl FnOnce() + Send + Clone + 'static,
    deadline: Deadline,
) -> Result<(), LinkError> {
    loop {
        match group.spawn("punctual-names", work.clone()) {
            Ok(()) => return Ok(()),
            Err(SpawnError::Full { limit }) => {
                if !group.wait_until_at_most(limit.saturating_sub(1), deadline) {
                    return Err(LinkError::timed_out(Phase::Resolve));
                }
            }
            Err(error) => return Err(LinkError::os(Phase::Resolve, error.into())),
        }
    }
}

pub(crate) fn no_number(phase: Phase) -> LinkError {
    let cause = Cause::Os(io::Error::new(
        io::ErrorKind::NotFound,
        "the host has no address",
    ));
    LinkError { phase, cause }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_number_needs_no_resolver() {
        let found = resolve(&Address::iiop("::1", 7), Deadline::after(Duration::ZERO)).unwrap();
        assert_eq!(found, ["[::1]:7".parse().unwrap()]);
    }

    #[test]
    fn look_ups_wait_for_one_another_beyond_so_many() {
        let group = ThreadGroup::new(2);
        let (go, gate) = mpsc::sync_channel::<()>(0);
        let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
        let stuck = move || {
            // It ends with the gate at the latest.
            let _ = gate.lock().unwrap().recv();
        };
        for _ in 0..2 {
            start(&group, stuck.clone(), Deadline::NEVER).unwrap();
        }
        let soon = Deadline::after(Duration::from_millis(20));
        let error = start(&group, stuck.clone(), soon).unwrap_err();
        assert!(matches!(error.cause, Cause::TimedOut), "{error}");
        go.send(()).unwrap();
        start(&group, || {}, Deadline::NEVER).unwrap();
        drop(go);
        assert!(group.wait_until_at_most(0, Deadline::NEVER));
    }

    #[test]
    fn an_unresolvable_host_says_so_in_its_phase() {
        let error =
            resolve(&Address::iiop("no-such-host.invalid", 7), Deadline::NEVER).unwrap_err();
        assert_eq!(error.phase, Phase::Resolve);
        assert!(matches!(error.cause, Cause::Os(_)));
    }
}
