//! `cargo xtask package`: a Debian package of the command, by cargo-deb. tools/cli/Cargo.toml lists
//! its contents.

use crate::run::{Result, cargo, root, succeed};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Options of `cargo xtask package`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Make only manual pages and completions, in `target/package`.
    #[arg(long)]
    no_deb: bool,
}

/// Cargo features that only packaged commands have: the web page of the naming tree, and the
/// printing of manual pages.
const FEATURES: &str = "web,man-pages";

/// Shells, and the file names of the command's completions for each.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "punctual"),
    ("zsh", "_punctual"),
    ("fish", "punctual.fish"),
];

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--package"]);
    succeed(build.args(["punctual-cli", "--features", FEATURES]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root().join("target"), |given| root().join(given));
    let (punctual, into) = (
        target.join("release/punctual"),
        root().join("target/package"),
    );
    write_pages(&punctual, &into)?;
    if options.no_deb {
        return Ok(());
    }
    let mut deb = cargo();
    deb.args(["deb", "--no-build", "--package", "punctual-cli"]);
    succeed(&mut deb).map_err(|error| format!("{error} (cargo install --locked cargo-deb)"))
}

/// Runs the command to write its manual pages and each shell's completions, under the file names
/// that the shells look for.
fn write_pages(punctual: &Path, into: &Path) -> Result<()> {
    if into.exists() {
        fs::remove_dir_all(into).map_err(|error| format!("{}: {error}", into.display()))?;
    }
    let (man, completions) = (into.join("man"), into.join("completions"));
    for folder in [&man, &completions] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    succeed(Command::new(punctual).arg("man").arg(&man))?;
    for (shell, name) in SHELLS {
        let file = completions.join(name);
        let made = fs::File::create(&file);
        let made = made.map_err(|error| format!("{}: {error}", file.display()))?;
        let mut print = Command::new(punctual);
        succeed(print.args(["completions", shell]).stdout(made))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Script that replaces `punctual` in the test, as building the real command for release takes
    /// minutes.
    const COMMAND: &str = "#!/bin/sh\ncase $1 in\n  man) echo page >\"$2/punctual.1\" ;;\n  completions) echo \"of $2\" ;;\n  *) exit 2 ;;\nesac\n";

    #[test]
    fn pages_and_completions_stand_where_the_package_takes_them_from_and_old_ones_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (punctual, into) = (
            folder.path().join("punctual"),
            folder.path().join("package"),
        );
        fs::write(&punctual, COMMAND).unwrap();
        fs::set_permissions(&punctual, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(&into).unwrap();
        fs::write(into.join("old"), "").unwrap();
        write_pages(&punctual, &into).unwrap();
        let read = |name: &str| fs::read_to_string(into.join(name)).unwrap();
        assert_eq!(read("man/punctual.1"), "page\n");
        assert_eq!(read("completions/_punctual"), "of zsh\n");
        assert_eq!(read("completions/punctual.fish"), "of fish\n");
        assert!(!into.join("old").exists());
    }

    #[test]
    fn every_file_of_the_package_is_made_or_stands_in_the_repository() {
        let manifest = fs::read_to_string(root().join("tools/cli/Cargo.toml")).unwrap();
        for (_, name) in SHELLS {
            assert!(manifest.contains(&format!("completions/{name}")), "{name}");
        }
        for file in [
            "README.md",
            "services/naming/packaging/punctual-naming.service",
            "services/naming/packaging/punctual-naming.socket",
            "services/notification/packaging/punctual-notification.service",
            "services/notification/packaging/punctual-notification.socket",
            "services/imr/packaging/punctual-imr.service",
            "services/imr/packaging/punctual-imr-activator.service",
            "services/groups/service/packaging/punctual-group.service",
        ] {
            assert!(
                manifest.contains(file) && root().join(file).is_file(),
                "{file}"
            );
        }
    }
}
