//! Reasons for which a call has no result, and their exit statuses.

use crate::fail;
use crate::shown;
use punctual::SystemException;
use punctual::json::JsonError;
use std::process::ExitCode;

/// Exit status for a system exception.
const SYSTEM_EXCEPTION: u8 = 3;
/// Exit status for a user exception.
const USER_EXCEPTION: u8 = 4;

/// Help text for references.
pub(super) const ON_REFERENCES: &str = "a reference is an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one; \
                             `punctual ior` shows what is in it";

/// Reason for which a command has no result.
pub(crate) enum Problem {
    /// The call was not made: the error, and possibly a hint on the next step.
    Usage(String, Option<String>),
    /// The error was printed already.
    Shown,
    /// The call ended with a system exception; possibly with a hint.
    System(SystemException, Option<String>),
    /// The call ended with a user exception, as JSON.
    User(String),
    /// The call ended with a user exception that is known here.
    Raised {
        message: String,
        help: String,
        /// The exception as `punctual call` shows it.
        json: String,
    },
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
        // Names of types and members may come from a repository.
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
            Self::Raised { message, help, .. } => {
                fail(message, Some(&help));
                ExitCode::from(USER_EXCEPTION)
            }
            Self::User(json) => {
                anstream::eprintln!("{}", shown::json(json));
                ExitCode::from(USER_EXCEPTION)
            }
        }
    }
}
