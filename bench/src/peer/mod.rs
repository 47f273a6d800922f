//! Measured programs: clients and servers in processes of their own.
//!
//! A client keeps its connection and its arguments; the timed part is the call alone, from before
//! its arguments are marshaled until its result is there.

mod calling;
mod deferred;
mod dynamic;
mod floor;
mod punctual;
mod sample;

use crate::Result;
use crate::protocol::Answer;
pub use calling::Caller;
pub(crate) use calling::{nanoseconds, nanoseconds_since, sampled};
use calling::{obey, race};
use clap::{Args, Subcommand, ValueEnum};
pub(crate) use deferred::block_on;
use floor::memory;
pub(crate) use floor::memory::LONGEST as LONGEST_SHARED;
use floor::socket::{Kind, Link};
pub(crate) use floor::{request_of, socket};
pub(crate) use sample::SAMPLE;
use std::io::Read;

/// Program of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// Blocking raw TCP sockets.
    RawTcp,
    /// Blocking raw Unix sockets.
    RawUnix,
    /// Raw TCP sockets whose readers spin.
    RawTcpSpin,
    /// Raw Unix sockets whose readers spin.
    RawUnixSpin,
    /// Raw shared memory whose readers spin.
    RawShm,
    /// Punctual, by the client and server of this crate.
    Punctual,
}

impl Program {
    /// Returns the kind of raw sockets that the program uses; `None` for programs that use none.
    fn sockets(self) -> Option<Kind> {
        let kind = |link, spins| Some(Kind { link, spins });
        match self {
            Self::RawTcp => kind(Link::Tcp, false),
            Self::RawUnix => kind(Link::Unix, false),
            Self::RawTcpSpin => kind(Link::Tcp, true),
            Self::RawUnixSpin => kind(Link::Unix, true),
            Self::RawShm | Self::Punctual => None,
        }
    }
}

/// Command-line arguments that select the side, server or client. Contenders in other languages
/// take them, too.
#[derive(Debug, Subcommand)]
pub enum Side {
    /// Serve until the input ends.
    Server(Server),
    /// Make the calls that the input requests.
    Client(Client),
}

/// Options of a server.
#[derive(Debug, Args)]
pub struct Server {
    /// Processor to run on.
    #[arg(long)]
    pin: Option<usize>,
    /// Number of connections that the server must be able to hold.
    #[arg(long)]
    connections: Option<usize>,
    /// Serve by the dynamic skeleton interface.
    #[arg(long)]
    dsi: bool,
    #[command(flatten)]
    orb: OrbOptions,
}

/// Options of a client.
#[derive(Debug, Args)]
pub struct Client {
    /// Processor to run on.
    #[arg(long)]
    pin: Option<usize>,
    /// Address of the server.
    #[arg(long)]
    at: String,
    /// Buffer one-ways on their connection, to be sent together.
    #[arg(long)]
    buffered: bool,
    /// Call by the dynamic invocation interface.
    #[arg(long)]
    dii: bool,
    /// Make asynchronous void calls, one at a time.
    #[arg(long, value_name = "HOW", conflicts_with = "dii")]
    deferred: Option<deferred::Taken>,
    #[command(flatten)]
    orb: OrbOptions,
}

/// Options of an ORB.
#[derive(Debug, Args)]
struct OrbOptions {
    /// Propagate the thread's priority with each request, and serve requests by a lane's threads.
    #[arg(long)]
    lane: bool,
    /// Add a service context of 4 octets to requests.
    #[arg(long)]
    context: bool,
    /// Register an interceptor at each end of a request, which does nothing at any point.
    #[arg(long)]
    intercepted: bool,
    /// Add fault tolerance, and call the object as the one member of a group.
    #[arg(long)]
    group: bool,
    /// Block on sockets without spinning first.
    #[arg(long)]
    no_spin: bool,
    /// Properties of links, as LINK.NAME=VALUE.
    #[arg(long, value_name = "LINK.NAME=VALUE")]
    property: Vec<Property>,
    /// Options of the ORB.
    #[arg(last = true, value_name = "-ORB…")]
    rest: Vec<String>,
}

/// Property of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Property {
    link: String,
    name: String,
    value: String,
}

impl std::str::FromStr for Property {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let parts = text
            .split_once('=')
            .and_then(|(key, value)| Some((key.split_once('.')?, value)));
        let ((link, name), value) = parts.ok_or("expected LINK.NAME=VALUE")?;
        Ok(Self {
            link: link.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// Runs one side of a program, server or client. Its failures are reported to the harness, which
/// shows them.
///
/// # Errors
/// The harness is gone.
pub fn run(program: Program, side: &Side) -> Result<()> {
    or_told(run_side(program, side))
}

/// Reports a failure to the harness.
pub(crate) fn or_told(done: Result<()>) -> Result<()> {
    done.or_else(|error| Ok(Answer::Error(error.to_string()).write_to(&mut std::io::stdout())?))
}

fn run_side(program: Program, side: &Side) -> Result<()> {
    let (Side::Server(Server { pin, .. }) | Side::Client(Client { pin, .. })) = side;
    run_at(*pin)?;
    match (side, program.sockets()) {
        (Side::Server(_), Some(kind)) => socket::serve(kind),
        (Side::Client(client), Some(kind)) => call_as_told(socket::Client::new(kind, &client.at)?),
        (Side::Server(_), None) if program == Program::RawShm => memory::serve(),
        (Side::Client(client), None) if program == Program::RawShm => {
            call_as_told(memory::Client::new(&client.at)?)
        }
        (Side::Server(server), None) => punctual::serve(server),
        (Side::Client(client), None) if client.dii => {
            call_as_told(dynamic::Client::new(punctual::Client::new(client)?)?)
        }
        (Side::Client(client), None) => {
            let stubs = punctual::Client::new(client)?;
            match client.deferred {
                Some(taken) => call_as_told(deferred::Client::new(stubs, taken)),
                None => call_as_told(stubs),
            }
        }
    }
}

/// Pins the process to a processor, if one is given.
pub(crate) fn run_at(processor: Option<usize>) -> Result<()> {
    Ok(processor.map_or(Ok(()), punctual_sys::processor::pin_to)?)
}

/// Reports that the server is ready, and returns when the harness closes the input.
pub(crate) fn serve_until_the_end(address: String) -> Result<()> {
    Answer::Ready(address).write_to(&mut std::io::stdout().lock())?;
    std::io::stdin().lock().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn call_as_told(mut caller: impl Caller) -> Result<()> {
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    obey(&mut caller, input, &mut output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_names_its_link_and_its_value() {
        let property: Property = "iiop.spin_us=50".parse().unwrap();
        assert_eq!(
            (
                property.link.as_str(),
                property.name.as_str(),
                property.value.as_str()
            ),
            ("iiop", "spin_us", "50")
        );
        assert!("spin_us=50".parse::<Property>().is_err());
    }
}
