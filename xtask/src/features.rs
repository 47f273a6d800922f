//! `cargo xtask features`: check that the facade compiles with chosen sets of its Cargo features, and that a program without a
//! feature says so when an option asks for it.
//!
//! The program is the server of `bench/footprint`, as users build theirs: outside the workspace, whose other crates would turn
//! features on.

use crate::run::{Result, cargo, root, succeed};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Options of `cargo xtask features`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// One set alone, such as `rt,dynamic`; by default all of the list.
    #[arg(long)]
    only: Option<String>,
}

/// Sets of features of the crate `punctual`: none, each feature with as few others as may be, the default, and the full set. Those that stand together
/// are in different crates or modules, so that one check does for both.
const SETS: [&str; 15] = [
    "",
    "bidirectional",
    "bridge,config-files",
    "rt,suggestions",
    "code-sets,dynamic",
    "fault-tolerance",
    "datagrams,message-trace",
    "reliable",
    "shared-memory",
    "giop-lite,interceptors",
    "miop",
    "plugins,recordings",
    "tls,vsock",
    "default",
    "full",
];

/// Arguments that ask for a feature, which the error names.
const ASKED_FOR: [([&str; 2], &str); 13] = [
    (["-ORBBidirectional", "both"], "bidirectional"),
    (["-ORBConfigFile", "/dev/null"], "config-files"),
    (["-ORBLibrary", "link.so"], "plugins"),
    (["-ORBListenEndpoints", "diop://:0"], "datagrams"),
    (["-ORBListenEndpoints", "giop_lite+iiop://:0"], "giop-lite"),
    (["-ORBListenEndpoints", "reliable+iiop://:0"], "reliable"),
    (
        ["-ORBListenEndpoints", "giop_group+miop://239.255.0.1:5555"],
        "miop",
    ),
    (["-ORBListenEndpoints", "shmiop://"], "shared-memory"),
    (["-ORBListenEndpoints", "ssliop://:0"], "tls"),
    (["-ORBListenEndpoints", "vsock://"], "vsock"),
    (["-ORBRecord", "times.json"], "recordings"),
    (["-ORBTimeline", "times.json"], "recordings"),
    (["-ORBTrace", "giop"], "message-trace"),
];

pub(crate) fn run(options: &Options) -> Result<()> {
    let sources = root().join("bench/footprint");
    let (locked, lock) = (root().join("Cargo.lock"), sources.join("Cargo.lock"));
    fs::copy(&locked, lock).map_err(|error| format!("{}: {error}", locked.display()))?;
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root().join("target"), |given| root().join(given));
    let target = target.join("features");
    let sets = options
        .only
        .as_deref()
        .map_or(SETS.to_vec(), |set| vec![set]);
    for set in sets {
        eprintln!("features: {}", if set.is_empty() { "none" } else { set });
        // The smallest one runs below.
        let check = if set.is_empty() { "build" } else { "check" };
        let mut command = cargo();
        command
            .args([check, "--quiet", "--target-dir"])
            .arg(&target)
            .env("RUSTFLAGS", "--deny warnings")
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .current_dir(&sources);
        if !set.is_empty() {
            command.args(["--features", &of_facade(set)]);
        }
        succeed(&mut command).map_err(|error| format!("with the features `{set}`: {error}"))?;
        if set.is_empty() {
            refused(&target.join("debug"))?;
        }
    }
    println!("features: the sets compile, and options of absent features are refused by name");
    Ok(())
}

/// Returns features of the facade as a package that depends on it names them.
fn of_facade(set: &str) -> String {
    let features: Vec<String> = set
        .split(',')
        .map(|one| format!("punctual/{one}"))
        .collect();
    features.join(",")
}

/// Checks that programs without features refuse each option of one, and interceptors, and name the feature.
fn refused(programs: &Path) -> Result<()> {
    for (arguments, feature) in ASKED_FOR {
        refuses(&programs.join("server"), &arguments, feature)?;
    }
    refuses(&programs.join("intercepted"), &[], "interceptors")
}

fn refuses(program: &Path, arguments: &[&str], feature: &str) -> Result<()> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && said.contains(&format!("the feature `{feature}`")) {
        return Ok(());
    }
    Err(format!(
        "{} {} does not name `{feature}`: {}, {said}",
        program.display(),
        arguments.join(" "),
        output.status
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the features of the facade's manifest, without `default`.
    fn of_manifest() -> Vec<String> {
        let path = root().join("crates/orb/punctual/Cargo.toml");
        let manifest = fs::read_to_string(path).unwrap();
        let (_, features) = manifest.split_once("[features]\n").unwrap();
        let (features, _) = features.split_once("\n[").unwrap();
        let lines = features.lines().filter_map(|line| line.split_once(" = ["));
        lines
            .map(|(name, _)| name.to_owned())
            .filter(|name| name != "default")
            .collect()
    }

    #[test]
    fn every_feature_of_the_full_set_is_in_a_set() {
        let path = root().join("crates/orb/punctual/Cargo.toml");
        let manifest = fs::read_to_string(path).unwrap();
        let listed = |name: &str| {
            let (_, list) = manifest.split_once(&format!("\n{name} = [")).unwrap();
            let (list, _) = list.split_once(']').unwrap();
            let names: Vec<_> = list.split('"').skip(1).step_by(2).collect();
            names
        };
        for feature in listed("default").into_iter().chain(listed("full")) {
            let is_there = SETS
                .iter()
                .any(|set| set.split(',').any(|one| one == feature));
            assert!(is_there, "{feature}");
        }
    }

    #[test]
    fn sets_and_options_name_features_that_exist() {
        let features = of_manifest();
        let sets = SETS.iter().flat_map(|set| set.split(','));
        let asked = ASKED_FOR.iter().map(|(_, feature)| *feature);
        for feature in sets
            .chain(asked)
            .filter(|one| !["", "default"].contains(one))
        {
            assert!(features.iter().any(|one| one == feature), "{feature}");
        }
        assert_eq!(of_facade("rt,tls"), "punctual/rt,punctual/tls");
    }
}
