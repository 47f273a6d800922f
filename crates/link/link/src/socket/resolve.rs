//! From a host's name to its numbers.

use crate::{Address, Cause, LinkError, Phase};
use punctual_exec::{Deadline, ThreadSpec};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc;

/// The numbers behind an address. A name is looked up on a thread of its own, since the resolver
/// knows no deadline; one that comes too late is dropped there.
pub(crate) fn resolve(address: &Address, deadline: Deadline) -> Result<Vec<SocketAddr>, LinkError> {
    let Some((host, port)) = address.host_and_port() else {
        let cause = Cause::BadAddress("host:port, with an IPv6 number in brackets");
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
    ThreadSpec::named("punctual-names")
        .start(move || {
            let found = (host.as_str(), port)
                .to_socket_addrs()
                .map(Iterator::collect::<Vec<_>>);
            // Nobody listens any more when the deadline has passed.
            let _ = answer.send(found);
        })
        .map_err(|error| LinkError::os(Phase::Resolve, error.into()))?;
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
    fn an_unresolvable_host_says_so_in_its_phase() {
        let error =
            resolve(&Address::iiop("no-such-host.invalid", 7), Deadline::NEVER).unwrap_err();
        assert_eq!(error.phase, Phase::Resolve);
        assert!(matches!(error.cause, Cause::Os(_)));
    }
}
