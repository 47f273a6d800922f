//! `cargo xtask minimum-rust`: check that the crates that users depend on compile with the oldest
//! Rust that `rust-version` promises.

use crate::run::{Result, packages, root, succeed};
use serde::Deserialize;
use std::process::Command;

/// Options of `cargo xtask minimum-rust`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Check the command `punctual`, too, which takes as long again.
    #[arg(long)]
    command: bool,
}

/// Crates on which users' programs depend.
const OF_USERS: [&str; 2] = ["punctual", "punctual-build"];

#[derive(Deserialize)]
struct Package {
    name: String,
    rust_version: Option<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let version = promised()?;
    let mut install = Command::new("rustup");
    install.args(["toolchain", "install", &version, "--profile", "minimal"]);
    succeed(install.arg("--no-self-update"))?;
    let mut check = Command::new("rustup");
    check
        .args(["run", &version, "cargo", "check", "--quiet", "--locked"])
        .current_dir(root())
        // The target folder is separate, so that nothing else is compiled again afterwards.
        .env("CARGO_TARGET_DIR", root().join("target/minimum-rust"))
        // These variables belong to the Rust that runs this.
        .env_remove("CARGO")
        .env_remove("RUSTC");
    for package in OF_USERS {
        check.args(["--package", package]);
    }
    if options.command {
        check.args(["--package", "punctual-cli"]);
    }
    succeed(&mut check)?;
    println!("minimum-rust: compiles with Rust {version}");
    Ok(())
}

/// Returns the `rust-version` of the crate `punctual`.
fn promised() -> Result<String> {
    let packages: Vec<Package> = packages()?;
    let mut facade = packages.into_iter();
    let facade = facade.find(|package| package.name == OF_USERS[0]);
    let version = facade.and_then(|package| package.rust_version);
    version.ok_or_else(|| "`punctual` has no rust-version".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn pages_that_name_the_oldest_rust_name_the_one_that_is_promised() {
        let promised = promised().unwrap();
        for page in ["README.md", "docs/guide/first-object.md"] {
            let text = fs::read_to_string(root().join(page)).unwrap();
            let (_, after) = text.split_once(" Rust 1.").unwrap();
            assert!(
                format!("1.{after}").starts_with(&format!("{promised} or later")),
                "{page}: {promised}"
            );
        }
    }
}
