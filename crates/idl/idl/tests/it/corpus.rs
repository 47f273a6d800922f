//! Tests that every IDL file installed by Debian's omniorb-idl is accepted.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use punctual_idl::{Options, compile};

const FOLDER: &str = "/usr/share/idl/omniORB";

fn idl_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "idl"));
    files.sort();
    files
}

#[test]
fn idl_of_debians_omniorb_is_accepted() {
    let folder = Path::new(FOLDER);
    let mut files = idl_files(folder);
    files.extend(idl_files(&folder.join("COS")));
    if files.is_empty() {
        eprintln!("skipped: {FOLDER} has no IDL files (package omniorb-idl)");
        return;
    }
    let include_dirs = vec![folder.to_owned(), folder.join("COS")];
    let options = Options {
        include_dirs,
        ..Options::default()
    };
    let mut refused = String::new();
    for file in &files {
        if let Err(failure) = compile(file, &options) {
            refused += &punctual_idl::diagnostic::render(&failure.diagnostics, false);
        }
    }
    assert!(refused.is_empty(), "{refused}");
}
