//! omniORB, if it is installed: its IDL compiler and a C++ compiler make its programs when a
//! benchmark starts, so that no binary of it is kept here.

use crate::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name of the omniORB contender in tables.
pub const NAME: &str = "omniorb";

const IDL: &str = include_str!("../../examples/cubit/idl/cubit.idl");
const COMMON: &str = include_str!("../peers/omniorb/common.hh");
const PACKAGE: &str = "omniORB4";

/// Program of omniORB, which is a server and a client.
#[derive(Debug)]
pub struct Program {
    /// Folder in which the omniORB program is compiled.
    folder: &'static str,
    source: &'static str,
}

/// Benchmark program with omniORB that the harness controls by the [`protocol`](crate::protocol).
pub const PEER: Program = Program {
    folder: NAME,
    source: include_str!("../peers/omniorb/peer.cc"),
};

/// Benchmark program with omniORB for the real-time experiments (`rt`).
pub const REAL_TIME: Program = Program {
    folder: "omniorb-rt",
    source: include_str!("../peers/omniorb/rt.cc"),
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
        let program = directory.join("peer");
        // The stamp holds the sources of the program, and is written last.
        let stamp = directory.join("stamp");
        let wanted = [&version, IDL, COMMON, self.source].join("\n");
        if fs::read_to_string(&stamp).ok().as_ref() != Some(&wanted) || !program.exists() {
            self.compile(&directory)?;
            fs::write(&stamp, wanted)?;
        }
        Ok(Built {
            version: format!("omniORB {version}"),
            program,
        })
    }

    fn compile(&self, directory: &Path) -> Result<()> {
        fs::create_dir_all(directory)?;
        fs::write(directory.join("cubit.idl"), IDL)?;
        fs::write(directory.join("common.hh"), COMMON)?;
        fs::write(directory.join("peer.cc"), self.source)?;
        output(
            Command::new("omniidl")
                .args(["-bcxx", "cubit.idl"])
                .current_dir(directory),
        )?;
        let flags = output(Command::new("pkg-config").args(["--cflags", "--libs", PACKAGE]))?;
        output(
            Command::new("g++")
                .args(["-O2", "-pthread", "-o", "peer", "peer.cc", "cubitSK.cc"])
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
