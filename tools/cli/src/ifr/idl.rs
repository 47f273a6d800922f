//! Loading of IDL files into a repository.

use punctual_host::Problem;
use punctual_idl::diagnostic::render;
use punctual_ifr::InterfaceRepository;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Options of reading IDL.
#[derive(Debug, clap::Args)]
pub(super) struct Idl {
    /// Search this folder for included files.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
}

/// Loads the declarations of files. Returns the number of new definitions.
pub(super) fn load_all(
    repository: &InterfaceRepository,
    files: &[PathBuf],
    idl: &Idl,
) -> Result<usize, Problem> {
    let front = punctual_idl::Options {
        include_dirs: idl.include.clone(),
        ..punctual_idl::Options::default()
    };
    let mut new = 0;
    for file in files {
        let compiled = punctual_idl::compile(file, &front).map_err(|failure| {
            let colours = std::io::stderr().is_terminal();
            eprint!("{}", render(&failure.diagnostics, colours));
            Problem::new(format!("{} was not loaded", file.display()), "")
        })?;
        let loaded = repository.load(&compiled.specification);
        new += loaded.map_err(|refusal| {
            let message = format!("{}: {refusal}", file.display());
            Problem::new(message, "the repository has an incompatible definition")
        })?;
    }
    Ok(new)
}
