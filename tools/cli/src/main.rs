//! The `punctual` command.
#![cfg_attr(test, allow(clippy::unwrap_used))]

// First, as its macros take the place of the standard ones in what follows.
#[macro_use]
mod output;

mod bench;
mod bridge;
mod call;
mod completions;
mod config;
mod demo;
mod doctor;
mod events;
mod flags;
mod group;
mod idl;
mod idl_options;
mod ifr;
mod imr;
mod ior;
mod json_value;
mod log;
mod looks;
#[cfg(feature = "man-pages")]
mod man;
mod naming;
mod new;
mod notify;
mod payload;
mod protocols;
mod schedule;
mod shown;
mod time;
mod timeline;
mod trace;
mod value_types;
mod web;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// A real-time object request broker at the command line.
#[derive(Debug, Parser)]
#[command(name = "punctual", version, about, arg_required_else_help = true)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a crate with an interface, a server, a client and a test, ready to run.
    New(new::Options),
    /// Compile OMG IDL to Rust, or check it.
    Idl(idl::Options),
    /// Call an operation of any object, with JSON in and out.
    Call(call::Options),
    /// Read an attribute of any object.
    Get(call::GetOptions),
    /// Write an attribute of any object.
    Set(call::SetOptions),
    /// Show the arguments and results in a message log, which programs write with -ORBTrace giop,payload.
    Trace(trace::Options),
    /// Serve an Interface Repository, load IDL into it, list its definitions.
    #[command(subcommand)]
    Ifr(ifr::Options),
    /// Serve a Naming Service; list, resolve, bind and check the names in that of any ORB.
    #[command(subcommand)]
    Naming(naming::Options),
    /// Serve an Implementation Repository, which starts servers when clients call them; add, start and list servers.
    #[command(subcommand)]
    Imr(imr::Options),
    /// Serve groups of objects: replicas with a primary, and members among which clients are balanced; list, drain and watch them.
    #[command(subcommand)]
    Group(group::Options),
    /// Show the contents of an object reference.
    Ior(ior::Options),
    /// Print a configuration file with every setting, or check one.
    Config(config::Options),
    /// List the protocols of an ORB, and the messaging protocols and links that do not fit together.
    Protocols(protocols::Options),
    /// Prove that operations meet their deadlines, before they run; assign their priorities.
    #[command(subcommand)]
    Schedule(schedule::Options),
    /// Join time lines of requests that clients and servers have recorded, also of several hosts.
    #[command(subcommand)]
    Timeline(timeline::Options),
    /// Serve channels of events; push into them, and look at what passes.
    #[command(subcommand)]
    Events(events::Options),
    /// Serve channels of filtered events (the Notification Service); push into them, and pull from them.
    #[command(subcommand)]
    Notify(notify::Options),
    /// Serve logs of records (the Telecom Log Service); write into them, and query them.
    #[command(subcommand)]
    Log(log::Options),
    /// Forward requests from one protocol to another.
    Bridge(bridge::Options),
    /// Start a server and a client, make calls of each kind, and show their durations.
    Demo(demo::Options),
    /// Measure calls over every messaging protocol and link.
    Bench(bench::Options),
    /// Show what this machine grants a real-time program, and the settings for what it does not.
    Doctor(doctor::Options),
    /// Print a completion script for a shell.
    Completions(completions::Options),
    /// Write a manual page for each command into a folder.
    #[cfg(feature = "man-pages")]
    #[command(hide = true)]
    Man(man::Options),
}

const ON_ORB_OPTIONS: &str = "services, and commands that make calls, take them; what stands behind `--` goes to another program";

impl Command {
    /// Returns whether the command has an ORB that its user configures by `-ORB…` options.
    const fn takes_orb_options(&self) -> bool {
        match self {
            Self::Call(_) | Self::Get(_) | Self::Set(_) | Self::Trace(_) => true,
            Self::Naming(_) | Self::Events(_) | Self::Log(_) | Self::Imr(_) => true,
            Self::Group(_) => true,
            Self::Notify(options) => !matches!(options, notify::Options::Filter(_)),
            Self::Ifr(options) => matches!(options, ifr::Options::Serve(_)),
            Self::Schedule(options) => matches!(options, schedule::Options::Serve(_)),
            _ => false,
        }
    }
}

fn main() -> ExitCode {
    output::ending(run)
}

fn run() -> ExitCode {
    // Completion scripts of `punctual completions` call this for candidates.
    clap_complete::CompleteEnv::with_factory(Options::command).complete();
    // The demo's two processes take options of the ORB, which clap does not know.
    let arguments: Result<Vec<String>, _> = std::env::args_os()
        .map(std::ffi::OsString::into_string)
        .collect();
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(argument) => {
            return fail(
                format!("the argument `{}` is not UTF-8", argument.display()),
                None,
            );
        }
    };
    // A server needs one descriptor for each client. If the limit cannot be raised, fewer clients
    // are accepted, and the rest is refused.
    let _ = punctual_sys::descriptors::raise_limit();
    if let Some(code) = demo::run_part(arguments.iter().cloned()) {
        return code;
    }
    let (arguments, orb_options) = call::split(arguments.into_iter());
    let command = Options::parse_from(arguments).command;
    if let Some(first) = orb_options.first()
        && !command.takes_orb_options()
    {
        let message = format!("this command takes no options of the ORB, and so not {first}");
        return fail(message, Some(ON_ORB_OPTIONS));
    }
    match command {
        Command::New(options) => new::run(&options),
        Command::Idl(options) => idl::run(&options),
        Command::Call(options) => call::run(&options, &orb_options),
        Command::Get(options) => call::run_get(&options, &orb_options),
        Command::Set(options) => call::run_set(&options, &orb_options),
        Command::Trace(options) => trace::run(&options, &orb_options),
        Command::Ifr(options) => ifr::run(&options, &orb_options),
        Command::Imr(options) => imr::run(&options, &orb_options),
        Command::Group(options) => group::run(&options, &orb_options),
        Command::Naming(options) => naming::run(&options, &orb_options),
        Command::Ior(options) => ior::run(&options),
        Command::Config(options) => config::run(&options),
        Command::Protocols(options) => protocols::run(&options),
        Command::Schedule(options) => schedule::run(&options, &orb_options),
        Command::Timeline(options) => timeline::run(&options),
        Command::Events(options) => events::run(&options, &orb_options),
        Command::Notify(options) => notify::run(&options, &orb_options),
        Command::Log(options) => log::run(&options, &orb_options),
        Command::Bridge(options) => bridge::run(&options),
        Command::Demo(options) => demo::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Completions(options) => completions::run(&options),
        #[cfg(feature = "man-pages")]
        Command::Man(options) => man::run(&options),
    }
}

/// Prints an error in the common form, and possibly a next step. A peer may have chosen part of
/// either.
fn fail(message: impl std::fmt::Display, help: Option<&str>) -> ExitCode {
    let error = anstyle::AnsiColor::Red.on_default().bold();
    let note = anstyle::AnsiColor::Cyan.on_default().bold();
    let message = shown::error(message);
    anstream::eprintln!("{error}error{error:#}: {message}");
    if let Some(help) = help {
        let help = shown::error(help);
        anstream::eprintln!("{note}help{note:#}: {help}");
    }
    ExitCode::FAILURE
}
