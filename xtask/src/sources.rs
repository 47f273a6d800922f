//! Source files of the product: crates, services and tools, without their tests.

use crate::run::{Result, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are searched.
const LOOKED_AT: [&str; 3] = ["crates", "services", "tools"];

/// Returns all source files, by their paths from the root.
pub(crate) fn of_the_product() -> Result<BTreeMap<PathBuf, String>> {
    let mut sources = BTreeMap::new();
    for folder in LOOKED_AT {
        read_sources(&root().join(folder), &mut sources)?;
    }
    Ok(sources)
}

/// Reads the files of `src` folders, by their paths from the root.
fn read_sources(folder: &Path, sources: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    let failed = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            read_sources(&path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let short = path.strip_prefix(root()).unwrap_or(&path).to_owned();
            if short.iter().any(|part| part == "src") {
                let text = fs::read_to_string(&path).map_err(failed)?;
                sources.insert(short, text);
            }
        }
    }
    Ok(())
}
