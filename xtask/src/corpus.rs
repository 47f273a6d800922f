//! `cargo xtask idl-corpus`: every IDL file below a folder, checked by `punctual idl --check`.

use crate::run::{Result, cargo, root, succeed};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of `cargo xtask idl-corpus`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The folder. The default is where Debian's omniorb-idl installs.
    #[arg(default_value = "/usr/share/idl/omniORB")]
    folder: PathBuf,
    /// Fail if the folder does not exist, instead of skipping it.
    #[arg(long)]
    require: bool,
}

/// Files that are not for us, each with its reason.
const EXCEPTIONS: &[(&str, &str)] = &[];

pub(crate) fn run(options: &Options) -> Result<()> {
    if !options.folder.is_dir() {
        let what = format!(
            "`{}` is no folder (Debian: omniorb-idl)",
            options.folder.display()
        );
        if options.require {
            return Err(what);
        }
        println!("idl-corpus: skipped: {what}");
        return Ok(());
    }
    succeed(cargo().args(["build", "--quiet", "--package", "punctual-cli"]))?;
    let mut files = Vec::new();
    collect(&options.folder, &mut files).map_err(|error| error.to_string())?;
    files.sort();
    let mut refused = Vec::new();
    let mut accepted = 0;
    for file in &files {
        let name = file
            .strip_prefix(&options.folder)
            .unwrap_or(file)
            .display()
            .to_string();
        if let Some((_, reason)) = EXCEPTIONS.iter().find(|(exception, _)| *exception == name) {
            println!("{name}: left out: {reason}");
        } else if check(file, &options.folder)? {
            accepted += 1;
        } else {
            refused.push(name);
        }
    }
    println!("idl-corpus: {accepted} of {} files accepted", files.len());
    if refused.is_empty() {
        Ok(())
    } else {
        Err(format!("refused: {}", refused.join(", ")))
    }
}

fn check(file: &Path, folder: &Path) -> Result<bool> {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let punctual = target
        .map_or_else(|| root().join("target"), PathBuf::from)
        .join("debug/punctual");
    let mut command = Command::new(&punctual);
    command
        .args(["idl", "--check", "-I"])
        .arg(folder)
        .arg("-I")
        .arg(folder.join("COS"))
        .arg(file);
    let status = command.status();
    status
        .map(|status| status.success())
        .map_err(|error| format!("{}: {error}", punctual.display()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "idl") {
            files.push(path);
        }
    }
    Ok(())
}
