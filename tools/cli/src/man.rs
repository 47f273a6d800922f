//! `punctual man FOLDER`: manual pages, used to make packages.

use clap::CommandFactory;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folder for the pages: punctual.1, and one of each command, such as punctual-naming-serve.1.
    #[arg(value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    folder: PathBuf,
}

pub(crate) fn run(options: &Options) -> ExitCode {
    let command = crate::Options::command();
    match clap_mangen::generate_to(command, &options.folder) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => crate::fail(format!("{}: {error}", options.folder.display()), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn each_command_that_is_shown_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            folder: folder.path().to_owned(),
        };
        assert_eq!(run(&options), ExitCode::SUCCESS);
        let page = |name: &str| fs::read_to_string(folder.path().join(name));
        assert!(page("punctual.1").unwrap().contains("naming"));
        assert!(page("punctual-naming-serve.1").unwrap().contains("store"));
        assert!(page("punctual-man.1").is_err());
    }
}
