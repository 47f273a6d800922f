//! `cargo xtask layers`: check that dependencies point one way.
//!
//! [`allowed`] lists each crate of the workspace with the crates of the workspace that it may
//! depend on; any other edge, and any crate that is not listed, is refused. Dependencies of tests
//! and build scripts count, too: a test that needs a higher layer belongs there.

mod names;
mod runtime;
mod services;
mod tools;

use crate::run::{Result, packages};
use names::HEAP;
use runtime::RUNTIME;
use serde::Deserialize;
use services::SERVICES;
use std::collections::BTreeMap;
use tools::TOOLS;

/// Crate of the workspace, with those on which it may depend.
type Allowed = (&'static str, &'static [&'static str]);

/// Returns the crates of the workspace, the lower ones first.
fn allowed() -> impl Iterator<Item = Allowed> {
    [RUNTIME, SERVICES, TOOLS].into_iter().flatten().copied()
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or nothing.
    kind: Option<String>,
}

pub(crate) fn check() -> Result<()> {
    let packages: Vec<Package> = packages()?;
    let mistakes = mistakes(&packages);
    if mistakes.is_empty() {
        println!(
            "layers: {} crates, every dependency points down",
            packages.len()
        );
        return Ok(());
    }
    Err(format!(
        "the layers are broken:\n  {}",
        mistakes.join("\n  ")
    ))
}

fn mistakes(packages: &[Package]) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = allowed().collect();
    let mut mistakes = Vec::new();
    for package in packages {
        let Some(allowed) = allowed.get(package.name.as_str()) else {
            mistakes.push(format!(
                "`{}` has no layer: give it one in xtask/src/layers",
                package.name
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let counts = dependency.name == HEAP && dependency.kind.as_deref() == Some("dev");
            // A crate depends on itself where its tests need a feature of it.
            let ours = !counts
                && dependency.name != package.name
                && packages.iter().any(|one| one.name == dependency.name);
            if ours && !allowed.contains(&dependency.name.as_str()) {
                mistakes.push(format!(
                    "`{}` may not depend on `{}`",
                    package.name, dependency.name
                ));
            }
        }
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependency = |name: &&str| Dependency {
            name: (*name).to_owned(),
            kind: None,
        };
        Package {
            name: name.to_owned(),
            dependencies: dependencies.iter().map(dependency).collect(),
        }
    }

    #[test]
    fn an_edge_against_the_layers_is_refused_by_name() {
        let packages = [
            package("punctual-cdr", &["punctual-orb", "thiserror"]),
            package("punctual-orb", &["punctual-cdr"]),
        ];
        assert_eq!(
            mistakes(&packages),
            ["`punctual-cdr` may not depend on `punctual-orb`"]
        );
    }

    #[test]
    fn the_runtime_never_sees_the_idl_compiler() {
        let packages = [
            package("punctual-idl", &[]),
            package("punctual-orb", &["punctual-idl"]),
        ];
        assert_eq!(mistakes(&packages).len(), 1);
    }

    #[test]
    fn a_crate_without_a_layer_is_refused() {
        assert!(mistakes(&[package("punctual-misc", &[])])[0].contains("no layer"));
    }

    #[test]
    fn no_crate_may_depend_on_one_that_stands_below_it_in_the_list_of_layers() {
        let place = |name: &str| allowed().position(|(one, _)| one == name);
        for (name, below) in allowed() {
            for other in below {
                let upward = place(other) > place(name);
                // Examples stand outside of the layers, and tools may start them.
                assert!(
                    !upward || other.starts_with("punctual-example"),
                    "{name} -> {other}"
                );
            }
        }
    }
}
