//! `cargo xtask network`: experiments and tests with the network in a virtual machine, whose kernel has what that of this
//! machine may lack: the queueing disciplines `netem`, `mqprio`, `etf` and `fq`, and a clock that may be set.
//!
//! `init.sh` starts the programs in the machine. Time goes on there with the instructions that are executed
//! ([`Time::Counted`]): what else this machine does has no part in the figures, and neither has how fast it is. They compare
//! cases with one another, and are no times of any machine.

use crate::built::{Executable, executables};
use crate::run::{Result, cargo};
use crate::virtual_machine::{self, Image, Machine, Time};
use std::path::PathBuf;

/// Options of `cargo xtask network`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// Folder with a kernel as a package of Debian's has it: `boot/vmlinuz-*` and `lib/modules`. By default the package
    /// `linux-image-cloud-amd64` is downloaded into `target/machine`, and kept there.
    #[arg(long, value_name = "FOLDER")]
    kernel: Option<PathBuf>,
    /// Build programs with optimisation, which takes minutes more.
    #[arg(long)]
    release: bool,
    /// Fail where a tool is missing, instead of skipping all of it.
    #[arg(long)]
    require: bool,
}

/// Part of the task, a virtual machine of its own.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// An urgent call beside bulk over a slow link (`punctual bench rt network`).
    Classes,
    /// The same over a long way that loses packets (`netem`).
    Way,
    /// Periodic one-ways with launch times (`punctual bench rt launch`).
    Launch,
    /// Calls with and without busy polling (`punctual bench rt receive`).
    Receive,
    /// Time lines of two hosts whose clocks are kept by a daemon.
    Clocks,
}

impl Part {
    const ALL: [Self; 5] = [
        Self::Classes,
        Self::Way,
        Self::Launch,
        Self::Receive,
        Self::Clocks,
    ];

    /// Returns the name that the first program goes by.
    fn name(self) -> &'static str {
        match self {
            Self::Classes => "classes",
            Self::Way => "way",
            Self::Launch => "launch",
            Self::Receive => "receive",
            Self::Clocks => "clocks",
        }
    }
}

/// Modules of the kernel.
const MODULES: [&str; 9] = [
    "sch_netem",
    "sch_tbf",
    "sch_prio",
    "sch_htb",
    "sch_mqprio",
    "sch_etf",
    "sch_fq",
    "cls_u32",
    "veth",
];

/// Programs of this machine that the experiments and tests call, with Debian's packages of them.
const INSTALLED: [(&str, &str); 5] = [
    ("ethtool", "ethtool"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("unshare", "util-linux"),
    ("perl", "perl-base"),
];

/// First program of the machine.
const INIT: &[u8] = include_bytes!("init.sh");

pub(crate) fn run(options: &Options) -> Result<()> {
    let folder = options.kernel.as_deref();
    let Some(kernel) = virtual_machine::kernel("network", missing(), folder, options.require)?
    else {
        return Ok(());
    };
    let work = virtual_machine::work();
    let parts = options.parts();
    let built = build(&parts, options.release)?;
    let mut image = Image::new(&work.join("network"), INIT)?;
    image.modules(&kernel, &MODULES)?;
    image.installed(&INSTALLED.map(|(name, _)| name))?;
    image.programs_with_libraries(&built)?;
    let packed = image.pack()?;
    for part in parts {
        let machine = Machine {
            name: ["network", part.name()],
            kernel: &kernel,
            image: &packed,
            megabytes: 2048,
            time: Time::Counted,
        };
        machine.boot()?;
    }
    Ok(())
}

impl Options {
    fn parts(&self) -> Vec<Part> {
        let all = Part::ALL.into_iter();
        all.filter(|part| self.only.is_empty() || self.only.contains(part))
            .collect()
    }
}

/// Builds what the parts run: the experiments, the tests of time lines with the command that they run, or both.
fn build(parts: &[Part], release: bool) -> Result<Vec<Executable>> {
    let profile: &[&str] = if release { &["--release"] } else { &[] };
    // By names in the whole workspace, so that features of shared crates are those of other builds.
    let bench = ["build", "--workspace", "--bin", "punctual-bench"];
    let tests = ["test", "--no-run", "--workspace", "--test", "hosts"];
    let mut programs = Vec::new();
    if parts.iter().any(|part| *part != Part::Clocks) {
        programs.extend(executables(cargo().args(bench).args(profile))?);
    }
    if parts.contains(&Part::Clocks) {
        programs.extend(executables(cargo().args(tests).args(profile))?);
    }
    Ok(programs)
}

/// Returns what this machine lacks.
fn missing() -> Option<String> {
    let absent = INSTALLED
        .iter()
        .find(|(name, _)| !crate::run::is_installed(name));
    let absent =
        absent.map(|(name, package)| format!("`{name}` is not installed (Debian: {package})"));
    virtual_machine::missing().or(absent)
}
