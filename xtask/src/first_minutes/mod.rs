//! `cargo xtask first-minutes`: measures how long a newcomer waits, from a clone of the repository
//! to a running program.
//!
//! Clones the committed state into a temporary folder and runs the README's commands there, with
//! empty target folders and nothing downloaded; makes a crate as the README says, builds it and
//! runs it. A command that fails ends it with an error. A missed goal is reported, and is no error:
//! it holds for two otherwise idle cores.

mod measure;
mod readme;
mod report;
mod running;

use crate::run::{Result, root};
use clap::ValueEnum;
use measure::{Machine, measured};
use readme::Commands;
use report::{Report, Step};
use running::{Server, in_shell, settings_of_cargo};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `cargo xtask first-minutes`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// One part alone; by default all of them, one after the other.
    #[arg(long)]
    only: Option<Part>,
    /// Print the times as JSON. What the commands print goes to standard error.
    #[arg(long)]
    json: bool,
}

/// Part of the measurement; each part starts with an empty target folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// First command of the README.
    Demo,
    /// Second command of the README.
    Tests,
    /// Crate by `punctual new`: its build, its test, its server and its client.
    New,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Demo => "demo",
            Self::Tests => "tests",
            Self::New => "new",
        }
    }

    /// Returns the goal for the total time of the part's counted steps, in seconds.
    fn goal(self) -> f64 {
        match self {
            Self::Demo => 150.0,
            Self::Tests => 15.0 * 60.0,
            Self::New => 60.0,
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let folder = Folder::new()?;
    let mut minutes = Minutes {
        commands: Commands::read(&root().join("README.md"))?,
        report: Report::new(Machine::now()?),
        folder: folder.0.clone(),
    };
    minutes.prepare()?;
    // The tests come last, as their target folder has gigabytes, and `new` uses the demo's build.
    for part in [Part::Demo, Part::New, Part::Tests] {
        if options.only.is_none_or(|only| only == part) {
            match part {
                Part::Demo => minutes.demo()?,
                Part::New => minutes.new_crate()?,
                Part::Tests => minutes.tests()?,
            }
        }
    }
    match options.json {
        true => println!("{}", minutes.report.json()?),
        false => print!("{}", minutes.report),
    }
    Ok(())
}

/// Temporary folder, which is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let name = format!("punctual-first-minutes-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{} stays: {error}", self.0.display());
        }
    }
}

struct Minutes {
    commands: Commands,
    report: Report,
    folder: PathBuf,
}

impl Minutes {
    fn prepare(&mut self) -> Result<()> {
        let mut git = Command::new("git");
        git.args(["clone", "--quiet", "--no-hardlinks"])
            .arg(root())
            .arg(self.repository());
        eprintln!("first-minutes: {git:?}");
        measured(&mut git)?;
        // This machine's settings, such as the source of crates, but none of its downloads.
        let home = self.cargo_home();
        let made = fs::create_dir(&home).and_then(|()| match settings_of_cargo() {
            Some(settings) => fs::copy(settings, home.join("config.toml")).map(drop),
            None => Ok(()),
        });
        made.map_err(|error| format!("{}: {error}", home.display()))
    }

    fn demo(&mut self) -> Result<()> {
        let (line, folder) = (self.commands.demo.clone(), self.repository());
        self.step((Part::Demo, "download", true), "cargo fetch", &folder)?;
        self.step((Part::Demo, "build and run", true), &line, &folder)
    }

    fn new_crate(&mut self) -> Result<()> {
        let Commands {
            new,
            new_folder,
            new_test,
            server,
            client,
            ..
        } = self.commands.clone();
        let repository = self.repository();
        // The command is the demo's, and is built here if the demo was left out.
        let cost = measured(&mut self.command(Part::Demo, &new, &repository))?;
        self.add((Part::New, "make it", false), &new, cost);
        let folder = repository.join(new_folder);
        self.step((Part::New, "download", false), "cargo fetch", &folder)?;
        self.step((Part::New, "build", true), "cargo build", &folder)?;
        self.step((Part::New, "its test", false), &new_test, &folder)?;
        let serving = Server::start(&mut self.command(Part::New, &server, &folder))?;
        self.step((Part::New, "a call", false), &client, &folder)?;
        drop(serving);
        self.clear(Part::New)
    }

    fn tests(&mut self) -> Result<()> {
        let (line, folder) = (self.commands.tests.clone(), self.repository());
        if self.target(Part::Demo).exists() {
            self.clear(Part::Demo)?;
        }
        self.step((Part::Tests, "download", false), "cargo fetch", &folder)?;
        self.step((Part::Tests, "build and run", true), &line, &folder)
    }

    /// Runs a line of the README and records its cost.
    fn step(&mut self, what: (Part, &'static str, bool), line: &str, folder: &Path) -> Result<()> {
        let cost = measured(&mut self.command(what.0, line, folder))?;
        self.add(what, line, cost);
        Ok(())
    }

    fn add(&mut self, what: (Part, &'static str, bool), line: &str, cost: measure::Cost) {
        let (part, name, counts) = what;
        self.report.steps.push(Step {
            part,
            name,
            counts,
            command: line.to_owned(),
            cost,
        });
    }

    fn command(&self, part: Part, line: &str, folder: &Path) -> Command {
        eprintln!("first-minutes: {line}");
        let mut command = in_shell(line, folder);
        command
            .env("CARGO_HOME", self.cargo_home())
            .env("CARGO_TARGET_DIR", self.target(part));
        command
    }

    fn repository(&self) -> PathBuf {
        self.folder.join("punctual")
    }

    fn cargo_home(&self) -> PathBuf {
        self.folder.join("cargo-home")
    }

    fn target(&self, part: Part) -> PathBuf {
        self.folder.join(format!("target-{}", part.name()))
    }

    fn clear(&self, part: Part) -> Result<()> {
        let target = self.target(part);
        fs::remove_dir_all(&target).map_err(|error| format!("{}: {error}", target.display()))
    }
}
