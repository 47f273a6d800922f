//! Generated code that stands in the repository, for tests of crates that may not depend on the compiler, is
//! what the compiler writes.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use punctual_build::Builder;

/// `PUNCTUAL_UPDATE=1 cargo test -p punctual-build --test checked_in` writes it anew.
#[test]
fn generated_code_that_is_checked_in_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../orb/punctual/tests/generated");
    let out = tempfile::tempdir().unwrap();
    let names = ["near", "interpreted", "idl4", "values"];
    let sources = names.map(|name| folder.join(format!("{name}.idl")));
    Builder::new()
        .out_dir(out.path())
        .compile(&sources)
        .unwrap();
    for name in names {
        let kept = folder.join(format!("{name}.rs"));
        let fresh = fs::read_to_string(out.path().join(format!("{name}.rs"))).unwrap();
        if std::env::var_os("PUNCTUAL_UPDATE").is_some() {
            fs::write(kept, fresh).unwrap();
        } else {
            let same = fs::read_to_string(&kept).unwrap() == fresh;
            assert!(same, "{} is not what {name}.idl becomes", kept.display());
        }
    }
}
