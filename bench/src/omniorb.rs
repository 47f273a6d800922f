//! omniORB, if it is installed: its IDL compiler and a C++ compiler make its programs when a
//! benchmark starts, so that no binary of it is kept here.

use crate::Result;
use crate::contender::Harness;
use crate::experiment::Pair;
use crate::placement::Processors;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name of the omniORB contender in tables.
pub const NAME: &str = "omniorb";

const COMMON: &str = include_str!("../peers/omniorb/common.hh");
const PACKAGE: &str = "omniORB4";

/// Program of omniORB, which is a server and a client.
#[derive(Debug)]
pub struct Program {
    /// Folder in which the omniORB program is compiled.
    folder: &'static str,
    /// Name of its IDL file without the ending, the file's text, and further arguments of the IDL compiler.
    idl: (&'static str, &'static str, &'static [&'static str]),
    source: &'static str,
    /// Name of the library that it is linked with.
    library: &'static str,
}

/// IDL of the papers' data types.
const CUBIT: (&str, &str, &[&str]) = (
    "cubit",
    include_str!("../../examples/cubit/idl/cubit.idl"),
    &[],
);

/// Benchmark program with omniORB that the harness controls by the [`protocol`](crate::protocol).
pub const PEER: Program = Program {
    folder: NAME,
    idl: CUBIT,
    source: include_str!("../peers/omniorb/peer.cc"),
    library: PACKAGE,
};

/// Benchmark program with omniORB for the real-time experiments (`rt`).
pub const REAL_TIME: Program = Program {
    folder: "omniorb-rt",
    idl: CUBIT,
    source: include_str!("../peers/omniorb/rt.cc"),
    library: PACKAGE,
};

/// Server with omniORB of the objects that `demux` calls.
pub const DEMUX: Program = Program {
    folder: "omniorb-demux",
    idl: ("demux", include_str!("../idl/demux.idl"), &[]),
    source: include_str!("../peers/omniorb/demux.cc"),
    library: PACKAGE,
};

/// Client and server with omniORB of the asynchronous calls that `ami` makes.
pub const AMI: Program = Program {
    folder: "omniorb-ami",
    idl: ("ami", include_str!("../idl/ami.idl"), &["-Wbami"]),
    source: include_str!("../peers/omniorb/ami.cc"),
    // It has the interfaces of messaging.
    library: "omniDynamic4",
};

/// Compiled benchmark program that uses omniORB.
#[derive(Clone, Debug)]
pub struct Built {
    /// Version of omniORB with which the program was compiled.
    pub version: String,
    /// Path of the compiled program.
    pub program: PathBuf,
}

impl Program {
    /// Compiles the program into `directory`, unless it is up to date.
    ///
    /// # Errors
    /// A missing tool, or the messages of a compiler.
    pub fn build(&self, directory: &Path) -> Result<Built> {
        let version = output(Command::new("pkg-config").args(["--modversion", PACKAGE]))
            .map_err(|error| format!("its headers are not installed ({error})"))?;
        let directory = directory.join(self.folder);
        fs::create_dir_all(&directory)?;
        // Other benchmarks may compile it at the same time.
        let lock = fs::File::create(directory.join("lock"))?;
        lock.lock()?;
        let program = directory.join("peer");
        // The stamp holds the sources of the program, and is written last.
        let stamp = directory.join("stamp");
        let wanted = [&version, self.idl.1, self.library, COMMON, self.source].join("\n");
        if fs::read_to_string(&stamp).ok().as_ref() != Some(&wanted) || !program.exists() {
            self.compile(&directory)?;
            fs::write(&stamp, wanted)?;
        }
        Ok(Built {
            version: format!("omniORB {version}"),
            program,
        })
    }

    /// Returns the command that starts one side, `server` or `client`, at a processor. Compiles the program on demand.
    ///
    /// # Errors
    /// The reason why it cannot take part.
    pub fn side(&self, harness: &Harness, side: &str, pin: Option<usize>) -> Result<Command> {
        let mut command = Command::new(self.build(&harness.peers)?.program);
        command.arg(side);
        if let Some(processor) = pin {
            command.args(["--pin", &processor.to_string()]);
        }
        Ok(command)
    }

    /// Starts both sides.
    ///
    /// # Errors
    /// The reason why they cannot take part.
    pub(crate) fn start(&self, harness: &Harness, at: Option<Processors>) -> Result<Pair> {
        let mut client = self.side(harness, "client", at.map(|at| at.client))?;
        let mut server = self.side(harness, "server", at.map(|at| at.server))?;
        Pair::start(&mut server, |address| {
            client.args(["--at", address]);
            client
        })
    }

    fn compile(&self, directory: &Path) -> Result<()> {
        let (name, idl, options) = self.idl;
        let (file, stubs) = (format!("{name}.idl"), format!("{name}SK.cc"));
        fs::write(directory.join(&file), idl)?;
        fs::write(directory.join("common.hh"), COMMON)?;
        fs::write(directory.join("peer.cc"), self.source)?;
        output(
            Command::new("omniidl")
                .arg("-bcxx")
                .args(options)
                .arg(&file)
                .current_dir(directory),
        )?;
        let flags = output(Command::new("pkg-config").args(["--cflags", "--libs", self.library]))?;
        output(
            Command::new("g++")
                .args(["-O2", "-pthread", "-o", "peer", "peer.cc", &stubs])
                .args(flags.split_whitespace())
                .current_dir(directory),
        )?;
        Ok(())
    }
}

/// Runs a program and returns its output if it succeeds.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().display().to_string();
    let output = command
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said.lines().find(|line| !line.trim().is_empty());
        return Err(format!("{program}: {}", first.unwrap_or("failed")).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
