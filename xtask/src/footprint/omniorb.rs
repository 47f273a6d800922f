//! The same client and server with omniORB, where it is installed.

use super::build::Programs;
use crate::run::{Result, is_installed, root, succeed};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Builds both programs into a folder. The error says what is missing.
pub(super) fn programs(sources: &Path, into: &Path) -> Result<Programs> {
    for program in ["omniidl", "g++"] {
        if !is_installed(program) {
            return Err(format!(
                "`{program}` is not installed (Debian: omniidl libomniorb4-dev g++)"
            ));
        }
    }
    fs::create_dir_all(into).map_err(|error| format!("{}: {error}", into.display()))?;
    let mut compile = Command::new("omniidl");
    compile.args(["-bcxx", "-Wbh=.hh", "-C"]).arg(into);
    succeed(compile.arg(root().join("examples/hello/idl/hello.idl")))?;
    let build = |name: &str| {
        let program = into.join(name);
        let mut compile = Command::new("g++");
        compile
            .args(["-Os", "-flto", "-s", "-I"])
            .arg(into)
            .arg("-o")
            .arg(&program);
        compile.arg(sources.join("omniorb").join(format!("{name}.cc")));
        compile.arg(into.join("helloSK.cc"));
        succeed(compile.args(["-lomniORB4", "-lomnithread"]))?;
        Ok::<_, String>(program)
    };
    Ok(Programs {
        client: build("client")?,
        server: build("server")?,
    })
}
