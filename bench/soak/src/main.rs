//! Soak test: load and faults of every kind at once, for minutes or hours. The memory, threads and
//! descriptors of a server and of a client are watched, and must not have grown by the end.
//!
//! One process runs it ([`run`], [`watched`]) and starts the others, which talk to it by
//! [`speech`]: a [`server`] and a client ([`caller`]) that live through the whole of it and are
//! watched, and others that are there to be killed ([`victim`], [`kills`]), starved of
//! [`descriptors`], or given a full disk ([`repository`]). [`strangers`] break connections, and the
//! time-of-day [`clock`] is stepped in the watched processes. [`work`] is counted; a wrong answer
//! anywhere is a fault, and any fault fails the run. At the end there is a [`judgement`], a
//! [`report`] and a [`plot`].

mod caller;
mod calls;
mod child;
mod clock;
mod descriptors;
mod idl;
mod judgement;
mod kills;
mod links;
mod plot;
mod random;
mod report;
mod repository;
mod run;
mod servant;
mod server;
mod speech;
mod strangers;
mod victim;
mod watched;
mod work;

use clap::{Parser, Subcommand};
use serde::de::DeserializeOwned;
use speech::Served;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Load and faults of every kind at once, with memory, threads and descriptors watched.
#[derive(Debug, Parser)]
#[command(
    name = "punctual-soak",
    version,
    args_conflicts_with_subcommands = true
)]
struct Arguments {
    #[command(flatten)]
    options: run::Options,
    #[command(subcommand)]
    role: Option<Role>,
}

/// Role of a child process of the soak.
#[derive(Debug, Subcommand)]
#[command(hide = true)]
enum Role {
    /// Run the watched server.
    Serve(Common),
    /// Run the watched client.
    Call {
        #[command(flatten)]
        common: Common,
        /// Servers for the client to call, as JSON.
        #[arg(long)]
        servers: String,
        /// Server that is killed repeatedly and that the client calls, too, as JSON.
        #[arg(long)]
        killed: String,
    },
    /// Run a client that will be killed.
    Victim {
        #[command(flatten)]
        common: Common,
        /// Server to call, as JSON.
        #[arg(long)]
        peer: String,
        /// Protocol to call by.
        #[arg(long)]
        protocol: String,
    },
    /// Run a server that will be killed.
    Killed {
        #[command(flatten)]
        common: Common,
        /// Endpoints to listen on, as JSON.
        #[arg(long)]
        at: String,
    },
    /// Run a server that will run out of descriptors.
    Starved(Common),
    /// Run a repository whose disk will become full.
    Repository {
        /// Folder on which the repository's disk is mounted.
        #[arg(long)]
        folder: PathBuf,
    },
}

/// Arguments of every process.
#[derive(Clone, Debug, clap::Args)]
struct Common {
    /// Folder of certificates and sockets.
    #[arg(long)]
    folder: PathBuf,
    /// Seed of the random numbers.
    #[arg(long)]
    seed: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.role {
        None => run::run(&arguments.options),
        Some(role) => play(role),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let red = anstyle::AnsiColor::Red.on_default().bold();
            anstream::eprintln!("{red}error{red:#}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn play(role: &Role) -> Result<(), Box<dyn Error>> {
    let parent = rustix::process::getppid();
    let played = act(role);
    // The parent that made the folder is gone, and has left the folder behind.
    if let (Role::Serve(common), true) = (role, rustix::process::getppid() != parent) {
        let _ = std::fs::remove_dir_all(&common.folder);
    }
    played
}

fn act(role: &Role) -> Result<(), Box<dyn Error>> {
    match role {
        Role::Serve(common) => server::run(&common.folder, common.seed),
        Role::Call {
            common,
            servers,
            killed,
        } => caller::run(
            &common.folder,
            common.seed,
            (parsed(servers)?, parsed(killed)?),
        ),
        Role::Victim {
            common,
            peer,
            protocol,
        } => {
            let peer: Served = parsed(peer)?;
            victim::call(&common.folder, common.seed, (&peer, protocol))
        }
        Role::Killed { common, at } => {
            let at: Vec<(String, String)> = parsed(at)?;
            victim::serve(&common.folder, &at)
        }
        Role::Starved(common) => descriptors::serve(&common.folder),
        Role::Repository { folder } => repository::serve(folder),
    }
}

fn parsed<T: DeserializeOwned>(json: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(json)
}
