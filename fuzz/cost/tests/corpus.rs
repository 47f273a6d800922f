//! What the fuzz targets take of their corpus allocates no more than a little and so many times its own length.
#![allow(missing_docs, clippy::unwrap_used)]

use punctual_cost::{BESIDE, allocated_by};
use std::path::Path;

#[test]
fn measure() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for name in ["cdr", "giop", "ior", "any", "values", "server", "client", "shm", "diop", "tls", "plugin", "names"] {
        let target = punctual_fuzz::target(name).unwrap();
        let mut worst = (0.0, 0, 0, String::new());
        let mut n = 0;
        for entry in std::fs::read_dir(corpus.join(name)).unwrap() {
            let path = entry.unwrap().path();
            let input = std::fs::read(&path).unwrap();
            (target.run)(&input);
            let a = allocated_by(|| (target.run)(&input));
            let times = (a.total as f64 - BESIDE as f64) / input.len().max(1) as f64;
            n += 1;
            if times > worst.0 || n == 1 {
                worst = (times, input.len(), a.total, path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
        println!("{name}: {n} inputs, worst {worst:?}");
    }
}
