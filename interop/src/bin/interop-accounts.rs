//! Server of the accounts test as a program of its own, which `tests/it/accounts.rs` starts.
//! Without the other tests it compiles in a tenth of the time.

#[path = "../accounts/bank.rs"]
mod bank;
#[path = "../accounts/managers.rs"]
mod managers;
#[path = "../matrix.rs"]
#[allow(dead_code, reason = "versions of GIOP alone are of use here")]
mod matrix;
#[path = "../accounts/server.rs"]
mod server;

mod generated {
    #![allow(unreachable_pub, dead_code)]
    include!(concat!(env!("OUT_DIR"), "/adapters.rs"));
}
use generated::adapters;

use clap::Parser;

/// Reason why the server ended.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Serves accounts until the standard input ends.
#[derive(Debug, Parser)]
#[command(name = "interop-accounts", version)]
struct Command {
    #[command(flatten)]
    options: server::Options,
}

fn main() -> Result<(), Failure> {
    server::serve(&Command::parse().options)
}
