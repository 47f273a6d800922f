//! `punctual timeline`: what ORBs of several processes and hosts have recorded (`-ORBTimeline`), on one time line.
//!
//! ```text
//! file      a recorded file: process, clocks, connections, and the requests at client and server
//! pairing   which connection and request of one file is which of another
//! offset    offset of two clocks, from causality: a request is read after it was sent, and so on
//! join      all files on the clock of the first
//! stages    times of the stages, by operation
//! trace     the joined time line in the Trace Event Format
//! draw      requests drawn, one to a line
//! ```

mod addresses;
mod draw;
mod file;
mod join;
mod offset;
mod pairing;
mod stages;
mod text;
mod trace;

use crate::fail;
use crate::schedule::picture;
use join::{Clocks, Joined};
use std::path::PathBuf;
use std::process::ExitCode;

/// Subcommands of `punctual timeline`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Options {
    /// Join time lines of clients and servers, recorded by processes of one or several hosts; the exit status is 1 if
    /// a file shares no request with the others.
    Join(JoinOptions),
}

/// Options of `punctual timeline join`.
#[derive(Debug, clap::Args)]
pub(crate) struct JoinOptions {
    /// Time lines that programs have written with -ORBTimeline; the result has the clock of the first one.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the joined time line here, in the Trace Event Format, which ui.perfetto.dev draws.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the slowest requests here, each on a line: an SVG, or a page by the ending .html.
    #[arg(long, value_name = "FILE", value_parser = picture)]
    draw: Option<PathBuf>,
    /// Number of requests to draw.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=200))]
    requests: u16,
    /// How clocks of several hosts are laid beside each other.
    #[arg(long, value_enum, default_value_t = Clocks::Auto)]
    clocks: Clocks,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let Options::Join(options) = options;
    run_join(options).unwrap_or_else(|code| code)
}

fn run_join(options: &JoinOptions) -> Result<ExitCode, ExitCode> {
    let files: Result<Vec<_>, _> = options.files.iter().map(|file| file::read(file)).collect();
    let joined = Joined::of(files?, options.clocks);
    if let Some(output) = &options.output {
        let written =
            std::fs::File::create(output).and_then(|mut to| trace::write(&joined, &mut to));
        written.map_err(|error| fail(format!("{}: {error}", output.display()), None))?;
    }
    if let Some(picture) = &options.draw {
        let is_page = picture.extension().is_some_and(|ending| ending == "html");
        let drawn = draw::slowest(&joined, usize::from(options.requests), is_page);
        std::fs::write(picture, drawn)
            .map_err(|error| fail(format!("{}: {error}", picture.display()), None))?;
    }
    match options.json {
        true => text::print_json(&joined)?,
        false => text::print(&joined),
    }
    Ok(match joined.is_whole() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
