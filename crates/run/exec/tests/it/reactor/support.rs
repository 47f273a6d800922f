//! Handlers for tests, and a watchdog.

use punctual_exec::reactor::{Handler, Reactor, ReactorOptions, ReadyEvent};
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Time after which a test counts as hung. Generous: it ends the test, it does not measure.
const HANGS: Duration = Duration::from_secs(60);

/// Handler made of a function, with one end of a pair of non-blocking sockets.
pub(crate) struct Served<F> {
    pub(crate) stream: UnixStream,
    serve: F,
}

impl<F: Fn(&UnixStream, &mut ReadyEvent<'_>) + Send + Sync> Handler for Served<F> {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.stream.as_fd())
    }

    fn ready(self: Arc<Self>, event: &mut ReadyEvent<'_>) {
        (self.serve)(&self.stream, event);
    }
}

/// Makes a handler, and the other end of its socket.
pub(crate) fn served<F>(serve: F) -> (Arc<Served<F>>, UnixStream)
where
    F: Fn(&UnixStream, &mut ReadyEvent<'_>) + Send + Sync,
{
    let (stream, other) = UnixStream::pair().unwrap();
    stream.set_nonblocking(true).unwrap();
    (Arc::new(Served { stream, serve }), other)
}

/// Reads all that is there; returns whether the end followed.
pub(crate) fn read_all(mut stream: &UnixStream) -> (Vec<u8>, bool) {
    let mut all = Vec::new();
    let mut some = [0; 1024];
    loop {
        match stream.read(&mut some) {
            Ok(0) => return (all, true),
            Ok(count) => all.extend_from_slice(&some[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return (all, false),
            Err(error) => panic!("{error}"),
        }
    }
}

pub(crate) fn reactor() -> Arc<Reactor> {
    Reactor::new(ReactorOptions::default()).unwrap()
}

/// Runs a reactor on `threads` threads while `test` runs, under a watchdog.
pub(crate) fn with_threads<R>(
    reactor: &Arc<Reactor>,
    threads: usize,
    test: impl FnOnce() -> R,
) -> R {
    watched(|| {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| reactor.run());
            }
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
            reactor.stop();
            outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// Runs `test`, and ends the process if it hangs.
pub(crate) fn watched<R>(test: impl FnOnce() -> R) -> R {
    let name = std::thread::current().name().unwrap_or("?").to_owned();
    let (done, watch) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        if watch.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{name} hangs");
            std::process::abort();
        }
    });
    let outcome = test();
    drop(done);
    outcome
}
