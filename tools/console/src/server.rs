//! Thread of the console, and its connections.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use punctual_exec::thread::{JoinHandle, ThreadSpec};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio_io_timeout::TimeoutStream;

use crate::app::routes;
use crate::ends::ConnectionAddresses;
use crate::guard::Guard;
use crate::layout::Link;
use crate::options::{ConsoleLimits, ConsoleOptions};
use crate::page::{Mounted, Page, Task};
use crate::shell::Shell;

/// Maximum length of a request's head, in bytes; it must hold names and a reference in the URL.
const HEAD: usize = 16 << 10;

/// Maximum number of header fields in an HTTP request to the console.
const HEADERS: usize = 64;

/// Time limit for calls in progress when the console ends.
const LAST: Duration = Duration::from_secs(3);

/// Reason why the console cannot be started.
#[derive(Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// The address is invalid, in use, or not of this machine.
    #[error("{address}: {error}")]
    Address {
        /// Address as given in the console's options.
        address: String,
        /// Error that the operating system reported for the address.
        error: io::Error,
    },
    /// Other machines can reach the address, which the options do not permit.
    #[error("{0} may be reached from other machines")]
    ForOthers(SocketAddr),
    /// The operating system cannot provide threads, sockets or random numbers.
    #[error("{0}")]
    System(#[from] io::Error),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for ConsoleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Console whose pages are served until this is dropped.
#[derive(Debug)]
pub struct Console {
    address: SocketAddr,
    ends: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Console {
    /// Serves pages, in this order of the navigation.
    ///
    /// # Errors
    /// See [`ConsoleError`].
    pub fn listen(
        options: &ConsoleOptions,
        pages: Vec<Box<dyn Page>>,
    ) -> Result<Self, ConsoleError> {
        let listener = bound(options)?;
        let address = listener.local_addr()?;
        let limits = options.limits;
        let guard = Guard::new(address, &options.hosts);
        let guard = guard.map_err(|error| io::Error::other(error.to_string()))?;
        let links = pages.iter().map(|page| Link {
            path: page.path(),
            title: page.name(),
        });
        let shell = Arc::new(Shell::new(guard, limits, links.collect()));
        let (mut mounted, mut tasks) = (Vec::new(), Vec::new());
        for page in pages {
            let Mounted {
                routes,
                tasks: more,
            } = page.mount(shell.clone());
            mounted.push(routes);
            tasks.extend(more);
        }
        let pages = routes(shell, mounted);
        // One thread suffices for pages; threads for blocking work are limited where they are
        // requested, and here again.
        let runtime = Builder::new_current_thread()
            .enable_all()
            .thread_name("console-blocking")
            .max_blocking_threads(2 * limits.at_a_time + 1)
            .build()?;
        let (ends, ended) = oneshot::channel();
        let serves = move || run(runtime, listener, (pages, limits), tasks, ended);
        let thread = ThreadSpec::named("console").start(serves);
        let thread = thread.map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            address,
            ends: Some(ends),
            thread: Some(thread),
        })
    }

    /// Returns the address at which the console listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        drop(self.ends.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}

/// Returns a listener at the address, if the options permit that address.
fn bound(options: &ConsoleOptions) -> Result<TcpListener, ConsoleError> {
    let failed = |error| ConsoleError::Address {
        address: options.address.clone(),
        error,
    };
    let found: Vec<_> = options.address.to_socket_addrs().map_err(failed)?.collect();
    let other = found
        .iter()
        .find(|one| !one.ip().to_canonical().is_loopback());
    if let Some(other) = other.filter(|_| !options.is_for_others) {
        return Err(ConsoleError::ForOthers(*other));
    }
    let listener = TcpListener::bind(found.as_slice()).map_err(failed)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn run(
    runtime: Runtime,
    listener: TcpListener,
    (pages, limits): (Router, ConsoleLimits),
    tasks: Vec<Task>,
    ended: oneshot::Receiver<()>,
) {
    runtime.block_on(async {
        tasks.into_iter().for_each(|task| drop(tokio::spawn(task)));
        let accepting = accept(listener, pages, limits);
        tokio::select! {
            Err(error) = accepting => tracing::error!("the console ends: {error}"),
            _ = ended => {}
        }
    });
    runtime.shutdown_timeout(LAST);
}

/// Accepts connections up to the limit; returns only if there is no listener.
async fn accept(listener: TcpListener, pages: Router, limits: ConsoleLimits) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(limits.connections));
    while let Ok(place) = places.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let here = stream.local_addr();
                let pages = pages.clone();
                tokio::spawn(async move {
                    if let Ok(here) = here {
                        serve(stream, ConnectionAddresses { peer, here }, pages, limits).await;
                    }
                    drop(place);
                });
            }
            // The peer has gone already, or descriptors are exhausted for a while.
            Err(error) => {
                tracing::debug!("a connection to the console was not accepted: {error}");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
    Ok(())
}

/// Serves the HTTP requests of one connection.
async fn serve(stream: TcpStream, ends: ConnectionAddresses, pages: Router, limits: ConsoleLimits) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write_time));
    let pages = TowerToHyperService::new(pages);
    let answer = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ends);
        pages.call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(HEAD)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(Box::pin(stream)), answer)
        .await;
    if let Err(error) = served {
        tracing::debug!("a connection to the console ended: {error}");
    }
}
