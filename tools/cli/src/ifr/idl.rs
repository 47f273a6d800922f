//! Loading of IDL files into a repository.

use crate::idl_options::IdlOptions;
use punctual_host::Problem;
use punctual_idl::diagnostic::render;
use punctual_ifr::{InterfaceRepository, Refusal};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Loads the declarations of files. Returns the number of new definitions.
pub(super) fn load_all(
    repository: &InterfaceRepository,
    files: &[PathBuf],
    idl: &IdlOptions,
) -> Result<usize, Problem> {
    let front = idl.front();
    let colours = std::io::stderr().is_terminal();
    let mut new = 0;
    for file in files {
        let compiled = punctual_idl::compile(file, &front).map_err(|failure| {
            eprint!("{}", render(&failure.diagnostics, colours));
            Problem::new(format!("{} was not loaded", file.display()), "")
        })?;
        if !compiled.warnings.is_empty() {
            eprint!("{}", render(&compiled.warnings, colours));
        }
        let loaded = repository.load(&compiled.specification);
        new += loaded.map_err(|refusal| {
            let message = format!("{}: {refusal}", file.display());
            let help = match refusal {
                Refusal::NameTaken(_) => {
                    "the repository has another definition of that name, perhaps in another case: names in it \
                     differ in more"
                }
                _ => "the repository has an incompatible definition",
            };
            Problem::new(message, help)
        })?;
    }
    Ok(new)
}
