//! Source files of the product: crates, services and tools, without their tests.

use crate::run::{Result, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are searched for the product's source files.
const LOOKED_AT: [&str; 3] = ["crates", "services", "tools"];

/// Returns all source files, by their paths from the root.
pub(crate) fn of_the_product() -> Result<BTreeMap<PathBuf, String>> {
    let mut sources = rust_files(&LOOKED_AT, &[])?;
    sources.retain(|path, _| path.iter().any(|part| part == "src"));
    Ok(sources)
}

/// Returns the Rust files below these folders of the root, by their paths from it, without folders of the names in
/// `left_out`.
pub(crate) fn rust_files(folders: &[&str], left_out: &[&str]) -> Result<BTreeMap<PathBuf, String>> {
    let mut files = BTreeMap::new();
    for folder in folders {
        read(&root().join(folder), left_out, &mut files)?;
    }
    Ok(files)
}

fn read(folder: &Path, left_out: &[&str], files: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    let failed = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !left_out.contains(&&*name) {
            read(&path, left_out, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let short = path.strip_prefix(root()).unwrap_or(&path).to_owned();
            files.insert(short, fs::read_to_string(&path).map_err(failed)?);
        }
    }
    Ok(())
}
