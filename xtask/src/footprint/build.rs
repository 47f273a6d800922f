//! Builds of the programs in `bench/footprint`.

use super::Set;
use crate::run::{Result, cargo, is_installed, root, succeed};
use std::fmt;
use std::fs;
use std::path::PathBuf;

/// Levels that cargo has.
const LEVELS: [&str; 6] = ["0", "1", "2", "3", "s", "z"];

/// Client and server, built.
#[derive(Debug)]
pub(super) struct Programs {
    pub(super) client: PathBuf,
    pub(super) server: PathBuf,
}

/// Build of both programs.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) set: Set,
    pub(super) level: String,
    pub(super) target: Option<String>,
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, opt-level {}", self.set.name(), self.level)?;
        match &self.target {
            Some(target) => write!(f, ", {target}"),
            None => Ok(()),
        }
    }
}

impl Build {
    pub(super) fn new(set: Set, level: &str, target: Option<String>) -> Result<Self> {
        if !LEVELS.contains(&level) {
            let levels = LEVELS.join(", ");
            return Err(format!("--levels: `{level}` is none of cargo's: {levels}"));
        }
        let level = level.to_owned();
        Ok(Self { set, level, target })
    }

    /// Returns whether the programs run on this machine.
    pub(super) fn runs_here(&self) -> bool {
        let own = format!("{}-", std::env::consts::ARCH);
        self.target
            .as_ref()
            .is_none_or(|target| target.starts_with(&own))
    }

    /// Builds both programs, and returns copies that the next build leaves as they are.
    pub(super) fn programs(&self) -> Result<Programs> {
        let sources = root().join("bench/footprint");
        let (locked, lock) = (root().join("Cargo.lock"), sources.join("Cargo.lock"));
        // The workspace's lock file is used, so that both have the same dependencies, and no crate is downloaded.
        fs::copy(&locked, lock).map_err(|error| format!("{}: {error}", locked.display()))?;
        let folder = target_folder();
        let mut build = cargo();
        build
            .args(["build", "--release", "--quiet", "--target-dir"])
            .arg(&folder)
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", &self.level)
            .current_dir(sources);
        if self.set != Set::Minimum {
            build.args(["--features", self.set.name()]);
        }
        if let Some(target) = &self.target {
            build.args(["--target", target]);
            if let Some(linker) = linker(target)? {
                build.env(variable(target), linker);
            }
        }
        succeed(&mut build)?;
        let target = self.target.as_deref().unwrap_or_default();
        let made = folder.join(target).join("release");
        let kept = folder.join(format!("{}-{}-{target}", self.set.name(), self.level));
        fs::create_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
        let keep = |name: &str| {
            let (from, to) = (made.join(name), kept.join(name));
            fs::copy(&from, &to).map_err(|error| format!("{}: {error}", from.display()))?;
            Ok::<_, String>(to)
        };
        Ok(Programs {
            client: keep("client")?,
            server: keep("server")?,
        })
    }
}

/// Returns the folder of all that is built.
pub(super) fn target_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root().join("target"), |given| root().join(given));
    target.join("footprint")
}

/// Returns the linker for a target, if this machine's does not link for it.
fn linker(target: &str) -> Result<Option<String>> {
    let (machine, _) = target.split_once('-').unwrap_or((target, ""));
    if machine == std::env::consts::ARCH {
        return Ok(None);
    }
    if target.ends_with("-musl") {
        return Ok(Some("rust-lld".to_owned()));
    }
    let linker = format!("{machine}-linux-gnu-gcc");
    if is_installed(&linker) {
        return Ok(Some(linker));
    }
    Err(format!(
        "`{linker}` is not installed (Debian: gcc-{machine}-linux-gnu; then `rustup target add {target}`)"
    ))
}

/// Returns the environment variable that names a target's linker to cargo.
fn variable(target: &str) -> String {
    let target = target.to_uppercase().replace('-', "_");
    format!("CARGO_TARGET_{target}_LINKER")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_processor_wants_a_linker_of_its_own_and_musl_has_one_of_rusts() {
        let own = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
        assert_eq!(linker(&own), Ok(None));
        let musl = linker("riscv64gc-unknown-linux-musl").unwrap();
        assert_eq!(musl.as_deref(), Some("rust-lld"));
        let missing = linker("vax-unknown-linux-gnu").unwrap_err();
        assert!(missing.contains("gcc-vax-linux-gnu"), "{missing}");
        let name = variable("aarch64-unknown-linux-gnu");
        assert_eq!(name, "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER");
    }

    #[test]
    fn only_programs_for_this_kind_of_processor_run_here() {
        let build = |target: &str| Build::new(Set::Minimum, "s", Some(target.to_owned())).unwrap();
        assert!(build(&format!("{}-unknown-linux-musl", std::env::consts::ARCH)).runs_here());
        assert!(!build("vax-unknown-linux-gnu").runs_here());
    }
}
