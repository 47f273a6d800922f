//! Mistakes in what is added.

use std::fmt;

use thiserror::Error;

use crate::activator::{BadCommand, split, unmarked};
use crate::implementation_repository::StartupOptions;
use crate::key::{MAX_NAME, is_name};

/// Mistake in a server that is added.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Mistake {
    /// The text cannot be a server's name.
    #[error(
        "{0:?} is no name of a server: 1 to {MAX_NAME} bytes are wanted, without control characters"
    )]
    Name(String),
    /// The command line cannot be split.
    #[error("{0}")]
    Command(#[from] BadCommand),
    /// A variable cannot be set.
    #[error("{0:?} cannot be set in an environment")]
    Variable(String),
    /// The folder has a NUL in it.
    #[error("the folder has a NUL in it")]
    Folder,
    /// The limit of failed starts is negative.
    #[error("{0} failed starts cannot be a limit: 0 is none")]
    Limit(i32),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Checks a server's name, and how it is to be started. A repository refuses mistakes by BAD_PARAM, which does not carry the reason.
///
/// # Errors
/// The first mistake.
pub fn check_server(name: &str, options: &StartupOptions) -> Result<(), Mistake> {
    if !is_name(name) {
        return Err(Mistake::Name(name.to_owned()));
    }
    let (line, _) = unmarked(&options.command_line);
    if !options.command_line.is_empty() {
        split(line)?;
    }
    let is_variable = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    let mut environment = options.environment.iter();
    let bad = environment.find(|one| !is_variable(&one.name) || one.value.contains('\0'));
    match bad {
        Some(one) => Err(Mistake::Variable(one.name.clone())),
        None if options.working_directory.contains('\0') => Err(Mistake::Folder),
        None if options.start_limit < 0 => Err(Mistake::Limit(options.start_limit)),
        None => Ok(()),
    }
}
