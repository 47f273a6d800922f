//! Writes inputs to begin with to the corpora: of each way into the code, one that goes well.
#![allow(clippy::unwrap_used)]

use std::path::Path;

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (target, seeds) in punctual_fuzz::seeds() {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, octets) in seeds {
            std::fs::write(folder.join(name), octets).unwrap();
        }
    }
}
