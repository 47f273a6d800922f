//! Reasons that a call has no result, and the exit statuses for them.

use crate::fail;
use crate::shown;
use punctual::SystemException;
use punctual::json::JsonError;
use std::process::ExitCode;

/// A system exception.
const SYSTEM_EXCEPTION: u8 = 3;
/// A user exception.
const USER_EXCEPTION: u8 = 4;

/// Help on references.
pub(super) const ON_REFERENCES: &str = "a reference is an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one; \
                             `punctual ior` shows what is in it";

/// Reason that there is no result.
pub(crate) enum Problem {
    /// The call was not made: what is wrong, and what the next step may be.
    Usage(String, Option<String>),
    /// What is wrong was shown already.
    Shown,
    /// The call ended with a system exception; what else there is to say.
    System(SystemException, Option<String>),
    /// The call ended with a user exception, as JSON.
    User(String),
}

impl From<punctual_host::Problem> for Problem {
    fn from(problem: punctual_host::Problem) -> Self {
        let help = problem.help().map(str::to_owned);
        Self::Usage(problem.message, help)
    }
}

impl Problem {
    pub(crate) fn usage(message: impl Into<String>, help: &str) -> Self {
        Self::Usage(message.into(), Some(help.to_owned()))
    }

    pub(super) fn json(what: &str, error: JsonError) -> Self {
        // Types and their members may be of a repository.
        let help = error.help.as_ref().map(shown::peer);
        Self::Usage(shown::peer(format_args!("{what}: {error}")), help)
    }

    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Usage(message, help) => fail(message, help.as_deref()),
            Self::Shown => ExitCode::FAILURE,
            Self::System(exception, help) => {
                fail(shown::exception(exception), help.as_deref());
                ExitCode::from(SYSTEM_EXCEPTION)
            }
            Self::User(json) => {
                anstream::eprintln!("{}", shown::json(json));
                ExitCode::from(USER_EXCEPTION)
            }
        }
    }
}
