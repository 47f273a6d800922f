//! Status of a service for its operators: liveness, readiness and metrics, by HTTP at an address of its own.
//!
//! | path | reply |
//! |---|---|
//! | `/health`, `/live` | 200: the process answers |
//! | `/ready` | 200 if the service answers requests, else 503 and the reason |
//! | `/metrics` | Prometheus' text format |
//!
//! The server is that of `punctual_observe::http`, which programs have by `Metrics::served_at`, too.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use punctual_observe::http::{Reply, Server};

use crate::metrics::Exposition;
use crate::service::Service;

/// Server of a service's status, until it is dropped.
#[derive(Debug)]
pub struct Status(Server);

impl Status {
    /// Serves the status of a service at an address; port 0 means any free port. The service is not
    /// used any more once the returned value has been dropped.
    ///
    /// # Errors
    /// The address is in use or not of this machine; the system has no thread for it.
    pub fn listen<S: Service>(service: Arc<S>, address: &str) -> io::Result<Self> {
        let name = format!("{}-status", S::NAME);
        Server::listen(&name, address, move |path| reply(path, &*service)).map(Self)
    }

    /// Returns the address at which the status is served.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

fn reply<S: Service>(path: &str, service: &S) -> Reply {
    match path {
        "/health" | "/live" => Reply::ok("alive\n"),
        "/ready" => match service.check_ready() {
            Ok(()) => Reply::ok("ready\n"),
            Err(why) => Reply::unavailable(format!("{why}\n")),
        },
        "/metrics" => Reply::ok(metrics(service)),
        _ => Reply::not_found("there are /health, /live, /ready and /metrics\n"),
    }
}

/// Returns the metrics of a service as text, including its readiness.
fn metrics<S: Service>(service: &S) -> String {
    let mut out = Exposition::of(S::NAME);
    service.metrics(&mut out);
    let ready = u64::from(service.check_ready().is_ok());
    out.gauge("ready", "1 if the service answers requests, else 0.", ready);
    out.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::{NotReady, ServeError};
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Idle(AtomicBool);

    impl Service for Idle {
        const NAME: &'static str = "idle";
        const INITIAL_REFERENCE: &'static str = "Idle";

        fn serve(&self, _: &punctual::Poa) -> Result<punctual::ObjectRef, ServeError> {
            Err(ServeError::of::<Self>("it has no objects"))
        }

        fn check_ready(&self) -> Result<(), NotReady> {
            match self.0.load(Ordering::Relaxed) {
                true => Ok(()),
                false => Err(NotReady("the store cannot be reached".to_owned())),
            }
        }

        fn metrics(&self, out: &mut Exposition) {
            out.gauge("things", "Things.", 7);
        }
    }

    fn listening() -> (Arc<Idle>, Status) {
        let service = Arc::new(Idle(AtomicBool::new(true)));
        let status = Status::listen(service.clone(), "127.0.0.1:0").unwrap();
        (service, status)
    }

    fn get(status: &Status, path: &str) -> String {
        let mut peer = TcpStream::connect(status.address()).unwrap();
        write!(peer, "GET {path} HTTP/1.1\r\n\r\n").unwrap();
        let mut reply = String::new();
        peer.read_to_string(&mut reply).unwrap();
        reply
    }

    #[test]
    fn who_runs_it_learns_that_it_is_alive_and_ready_and_what_it_has_counted() {
        let (service, status) = listening();
        for (path, first, part) in [
            ("/health", "HTTP/1.1 200 OK", "alive"),
            ("/live", "HTTP/1.1 200 OK", "alive"),
            ("/ready", "HTTP/1.1 200 OK", "ready"),
            ("/metrics", "HTTP/1.1 200 OK", "punctual_idle_things 7\n"),
            ("/metrics", "HTTP/1.1 200 OK", "punctual_idle_ready 1\n"),
            ("/", "HTTP/1.1 404 Not Found", "/metrics"),
        ] {
            let reply = get(&status, path);
            assert!(reply.starts_with(first) && reply.contains(part), "{reply}");
        }
        service.0.store(false, Ordering::Relaxed);
        let reply = get(&status, "/ready");
        assert!(reply.starts_with("HTTP/1.1 503"), "{reply}");
        assert!(reply.contains("the store cannot be reached"), "{reply}");
        assert!(get(&status, "/health").starts_with("HTTP/1.1 200"));
    }

    #[test]
    fn the_service_is_let_go_when_the_status_ends_whatever_peers_do() {
        let (service, status) = listening();
        let silent = TcpStream::connect(status.address()).unwrap();
        // Connections are taken in order: now the silent one is waited for.
        assert!(get(&status, "/health").starts_with("HTTP/1.1 200"));
        drop(status);
        assert_eq!(Arc::strong_count(&service), 1);
        drop(silent);
    }
}
