//! Notifications of systemd (sd_notify(3)): each is one datagram to the Unix socket that systemd has named.
//!
//! Sockets that systemd has opened for the process (socket activation) are endpoints of the ORB's:
//! `iiop://HOST:PORT/inherited=N` is the socket with number N, from 0 on.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use punctual_exec::thread::ThreadSpec;

/// Sender of notifications; it sends none where systemd has not started the process. Clones share a socket.
#[derive(Clone, Debug)]
pub struct Notifier {
    to: Option<(Arc<UnixDatagram>, SocketAddr)>,
    watchdog: Option<Duration>,
}

/// Thread that notifies the watchdog, until this is dropped.
#[derive(Debug)]
pub struct KeptAlive {
    _ends_with_this: Sender<()>,
}

impl Notifier {
    /// Creates a notifier from the environment: `NOTIFY_SOCKET`, `WATCHDOG_USEC`, `WATCHDOG_PID`.
    ///
    /// # Errors
    /// The socket's name is invalid, or the system has no socket.
    pub fn from_environment() -> io::Result<Self> {
        let variable = |name| std::env::var(name).ok();
        let watches =
            variable("WATCHDOG_PID").is_none_or(|id| id == std::process::id().to_string());
        let watchdog = variable("WATCHDOG_USEC").filter(|_| watches);
        Self::of(variable("NOTIFY_SOCKET").as_deref(), watchdog.as_deref())
    }

    fn of(socket: Option<&str>, watchdog: Option<&str>) -> io::Result<Self> {
        let to = match socket {
            None => None,
            Some(name) => {
                let address = match name.strip_prefix('@') {
                    Some(name) => SocketAddr::from_abstract_name(name)?,
                    None => SocketAddr::from_pathname(name)?,
                };
                Some((Arc::new(UnixDatagram::unbound()?), address))
            }
        };
        let watchdog = watchdog.and_then(|text| text.parse().ok());
        let watchdog = watchdog.map(Duration::from_micros);
        Ok(Self { to, watchdog })
    }

    /// Returns the time between notifications of the watchdog, half of what it allows; `None` where there is none.
    fn interval(&self) -> Option<Duration> {
        self.to.as_ref().and(self.watchdog).map(|time| time / 2)
    }

    /// Starts a thread that notifies the watchdog, if there is one, for as long as the calls of
    /// `check` return. Returns `None` if there is none.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub fn keep_alive(&self, check: impl Fn() + Send + 'static) -> io::Result<Option<KeptAlive>> {
        let Some(interval) = self.interval() else {
            return Ok(None);
        };
        let (_ends_with_this, end) = channel();
        let notifier = self.clone();
        let tell = move || {
            while end.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                check();
                notifier.alive();
            }
        };
        let started = ThreadSpec::named("watchdog").start(tell);
        started.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Some(KeptAlive { _ends_with_this }))
    }

    /// Notifies systemd that the service is ready.
    pub fn ready(&self) {
        self.tell("READY=1");
    }

    /// Notifies systemd's watchdog that the service is alive.
    fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    /// Notifies systemd that the service is stopping.
    pub fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    fn tell(&self, what: &str) {
        if let Some((socket, address)) = &self.to
            && let Err(error) = socket.send_to_addr(what.as_bytes(), address)
        {
            tracing::warn!("systemd was not notified of {what}: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systemd_is_told_by_a_socket_with_a_path_or_without() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let unique = format!("punctual-notify-{}", std::process::id());
        let by_path = UnixDatagram::bind(&path).unwrap();
        let abstract_name = SocketAddr::from_abstract_name(&unique).unwrap();
        let without = UnixDatagram::bind_addr(&abstract_name).unwrap();
        for (socket, name) in [
            (by_path, path.to_str().unwrap().to_owned()),
            (without, format!("@{unique}")),
        ] {
            let notifier = Notifier::of(Some(&name), Some("3000000")).unwrap();
            assert_eq!(notifier.interval(), Some(Duration::from_millis(1500)));
            notifier.ready();
            notifier.alive();
            notifier.stopping();
            let mut told = [0; 64];
            for expected in ["READY=1", "WATCHDOG=1", "STOPPING=1"] {
                let length = socket.recv(&mut told).unwrap();
                assert_eq!(&told[..length], expected.as_bytes());
            }
        }
    }

    #[test]
    fn the_watchdog_is_told_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        let notifier = Notifier::of(path.to_str(), Some("2000")).unwrap();
        let (looked, looks) = channel();
        let kept = notifier.keep_alive(move || looked.send(()).unwrap_or_default());
        let kept = kept.unwrap().unwrap();
        let mut told = [0; 64];
        for _ in 0..3 {
            let length = socket.recv(&mut told).unwrap();
            assert_eq!(&told[..length], b"WATCHDOG=1");
            looks.recv().unwrap();
        }
        drop(kept);
        // The thread ends, and what it checks by is gone with it.
        while looks.recv().is_ok() {}
    }

    #[test]
    fn where_nobody_asks_nobody_is_told() {
        let notifier = Notifier::of(None, Some("1000000")).unwrap();
        notifier.ready();
        assert_eq!(notifier.interval(), None);
    }
}
