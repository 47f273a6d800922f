//! Writes seeds, one that succeeds for each path into the code: to the corpora, or to the given
//! folder, as `cargo xtask fuzz` gathers inputs.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let all = std::env::args_os().nth(1).map_or(corpus, PathBuf::from);
    for (target, seeds) in punctual_fuzz::seeds() {
        let folder = all.join(target);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, octets) in seeds {
            std::fs::write(folder.join(name), octets).unwrap();
        }
    }
}
