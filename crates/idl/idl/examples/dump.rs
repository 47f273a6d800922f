//! Prints what an IDL file declares, one line for each declaration: its name and repository id.
//!
//! `cargo run -p punctual-idl --example dump -- [-I DIR]… FILE…`

use std::process::ExitCode;

use punctual_idl::diagnostic::render;
use punctual_idl::model::{DeclId, Specification};
use punctual_idl::{Options, compile};

fn main() -> ExitCode {
    let mut options = Options::default();
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("-I") {
            Some("") => options
                .include_dirs
                .extend(arguments.next().map(Into::into)),
            Some(dir) => options.include_dirs.push(dir.into()),
            None => files.push(argument),
        }
    }
    let mut status = ExitCode::SUCCESS;
    for file in files {
        match compile(&file, &options) {
            Ok(compilation) => {
                eprint!("{}", render(&compilation.warnings, false));
                show(
                    &compilation.specification,
                    &compilation.specification.definitions,
                );
            }
            Err(failure) => {
                eprint!("{}", render(&failure.diagnostics, false));
                status = ExitCode::FAILURE;
            }
        }
    }
    status
}

fn show(specification: &Specification, list: &[DeclId]) {
    for &id in list {
        let declaration = &specification[id];
        println!(
            "{} {}",
            declaration.absolute_name(),
            declaration.repository_id
        );
        show(specification, specification.children(id));
    }
}
