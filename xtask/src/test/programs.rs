//! Test programs of the workspace, as cargo builds and names them.

use crate::built::{Executable, executables};
use crate::run::{Result, cargo, packages};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Test program of the workspace, as built by cargo.
#[derive(Debug)]
pub(super) struct Program {
    /// Name of the test program's cargo package.
    pub(super) package: String,
    /// Name of the test program's cargo target.
    pub(super) name: String,
    /// Path of the test program's executable file.
    pub(super) file: PathBuf,
    /// Folder of the test program's package, in which the program runs.
    pub(super) folder: PathBuf,
}

impl Program {
    /// Returns the program's package and name, as shown to people.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.package, self.name)
    }
}

/// Test programs of a `cargo test --workspace`, and the processor time of building them.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) programs: Vec<Program>,
    /// Processor time used by the build, in seconds.
    pub(super) seconds: f64,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
    test: bool,
    #[serde(default, rename = "required-features")]
    required_features: Vec<String>,
}

/// Returns the names of the test programs that `cargo test` leaves out and that need no feature of their own.
pub(super) fn left_out() -> Result<Vec<String>> {
    let packages: Vec<Package> = packages()?;
    let targets = packages.iter().flat_map(|package| &package.targets);
    let left_out = targets.filter(|target| {
        target.kind.iter().any(|kind| kind == "test")
            && !target.test
            && target.required_features.is_empty()
    });
    let names: BTreeSet<String> = left_out.map(|target| target.name.clone()).collect();
    Ok(names.into_iter().collect())
}

/// Builds the test programs of `cargo test --workspace`, with further options of it.
pub(super) fn build(options: &[&str]) -> Result<Built> {
    let before = super::report::children_seconds()?;
    let tests = ["test", "--workspace", "--no-run"];
    let built = executables(cargo().args(tests).args(options)).map_err(|_| {
        let command = [&["cargo"], &tests[..], options].concat();
        format!("the tests do not compile: run `{}`", command.join(" "))
    })?;
    let seconds = super::report::children_seconds()? - before;
    let packages: Vec<Package> = packages()?;
    let programs = built.into_iter().filter_map(|one| program(one, &packages));
    Ok(Built {
        programs: programs.collect(),
        seconds,
    })
}

/// Returns the test program that an executable file is, if it is one.
fn program(built: Executable, packages: &[Package]) -> Option<Program> {
    let of = |package: &&Package| package.manifest_path == built.manifest;
    let package = packages.iter().find(of).filter(|_| built.is_test)?;
    Some(Program {
        package: package.name.clone(),
        name: built.name,
        folder: built.manifest.parent()?.to_owned(),
        file: built.file,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_the_executables_of_tests_with_their_packages() {
        let packages = [Package {
            name: "a".to_owned(),
            manifest_path: "/w/a/Cargo.toml".into(),
            targets: Vec::new(),
        }];
        let built = |is_test| Executable {
            file: "/w/target/it-1".into(),
            name: "it".to_owned(),
            manifest: "/w/a/Cargo.toml".into(),
            is_test,
        };
        let found = program(built(true), &packages).unwrap();
        assert_eq!(found.shown(), "a it");
        assert_eq!(found.folder, PathBuf::from("/w/a"));
        assert!(program(built(false), &packages).is_none());
        assert!(program(built(true), &[]).is_none());
    }

    #[derive(Deserialize)]
    struct Library {
        name: String,
        kind: Vec<String>,
        src_path: PathBuf,
        test: bool,
        doctest: bool,
    }

    #[derive(Deserialize)]
    struct Libraries {
        targets: Vec<Library>,
    }

    /// Returns the source files of a library.
    fn files(library: &Library) -> Vec<String> {
        let src = library.src_path.parent().unwrap();
        let src = src.strip_prefix(crate::run::root()).unwrap();
        let files = crate::sources::rust_files(&[src.to_str().unwrap()], &["tests", "bin"]);
        files.unwrap().into_values().collect()
    }

    /// Returns whether a comment of a file has a block of Rust, which rustdoc would run as a test.
    fn has_snippet(text: &str) -> bool {
        let mut is_inside = false;
        text.lines().any(|line| {
            let line = line.trim_start();
            let comment = ["///", "//!"]
                .iter()
                .find_map(|mark| line.strip_prefix(mark));
            let Some(info) = comment.and_then(|comment| comment.trim().strip_prefix("```")) else {
                is_inside &= comment.is_some();
                return false;
            };
            is_inside = !is_inside;
            let is_text = ["text", "sh", "toml", "idl", "console", "json", "ignore"]
                .iter()
                .any(|kind| info.starts_with(kind));
            is_inside && !is_text
        })
    }

    #[test]
    fn no_library_has_tests_or_snippets_that_its_manifest_leaves_out() {
        let packages: Vec<Libraries> = packages().unwrap();
        let targets = packages.iter().flat_map(|package| &package.targets);
        let libraries = targets.filter(|target| target.kind.contains(&"lib".to_owned()));
        let mut forgotten = Vec::new();
        for library in libraries {
            let files = files(library);
            if !library.test && files.iter().any(|text| text.contains("#[cfg(test)]\n")) {
                forgotten.push(format!("{} has tests", library.name));
            }
            if !library.doctest && files.iter().any(|text| has_snippet(text)) {
                forgotten.push(format!("{} has snippets", library.name));
            }
        }
        assert_eq!(forgotten, [""; 0]);
    }

    #[test]
    fn snippets_are_blocks_of_rust_in_comments() {
        assert!(has_snippet("/// ```\n/// let a = 1;\n/// ```\n"));
        assert!(has_snippet("//! ```text\n//! a\n//! ```\n//! ```no_run\n"));
        assert!(!has_snippet("/// ```text\n/// a\n/// ```\nfn a() {}\n"));
        assert!(!has_snippet("let text = \"```\";\n"));
    }
}
