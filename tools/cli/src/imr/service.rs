//! The repository to be called.

use crate::call::{self, Problem};
use crate::shown;
use crate::time::with_unit;
use punctual::{Interface, OperationError, Orb, SystemExceptionKind};
use punctual_imr::implementation_repository::AdministrationExt;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// Address at which the repository is looked for by default.
const DEFAULT: &str = "corbaloc::localhost:2815/ImplRepoService";

const ON_SERVICES: &str = "--service names an Implementation Repository: an `IOR:` or `corbaloc:` text, or a file that holds one; \
                           `punctual imr serve` starts one";

const ON_PERMISSION: &str = "processes of the repository's user administer it, at a Unix socket; --allow of `punctual imr serve` grants it \
                             to others";

const ON_LIMITS: &str =
    "--most-servers of `punctual imr serve` bounds their number; `punctual imr remove` removes one";

const ON_STORES: &str = "the repository cannot write its store: its log says why, as a full disk, or etcd that does not answer. With COMPLETED_NO nothing was changed";

/// The repository, and how it is called.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// The repository: an `IOR:` or `corbaloc:` text, or a file that holds one. Without it, the ORB's initial reference
    /// ImplRepoService, or else corbaloc::localhost:2815/ImplRepoService.
    #[arg(long, value_name = "REFERENCE")]
    service: Option<String>,
    /// Time limit of a call, e.g. 200ms or 2s, with its unit. A start takes as long as the server takes to register.
    #[arg(long, value_name = "TIME", default_value = "70s", value_parser = with_unit)]
    timeout: Duration,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Common {
    /// Returns the repository, and the ORB by which it is called.
    pub(super) fn resolve(
        &self,
        orb_options: &[String],
    ) -> Result<(Orb, AdministrationExt), Problem> {
        // Options on the command line follow, and take precedence.
        let timeout = format!("{}ms", self.timeout.as_millis().max(1));
        let mut all = vec!["-ORBCallTimeout".to_owned(), timeout];
        all.extend_from_slice(orb_options);
        let orb = call::orb(self.config.as_deref(), &all)?;
        let object = match &self.service {
            Some(reference) => call::object_of(&orb, reference),
            None => {
                let initial = orb.resolve_initial_references("ImplRepoService");
                let object = initial.or_else(|_| orb.string_to_object(DEFAULT));
                object.map_err(|exception| exception.to_string())
            }
        };
        let object = object.map_err(|message| Problem::usage(message, ON_SERVICES))?;
        // Its type is not asked for: one of TAO may be older.
        Ok((orb, AdministrationExt::from_object(object)))
    }
}

/// Returns the problem of a user exception that has a reason.
pub(super) fn refused(name: &str, reason: &str, help: &str) -> Problem {
    let message = match reason.contains(name) {
        true => shown::peer(reason),
        false => format!("`{}`: {}", shown::peer(name), shown::peer(reason)),
    };
    Problem::Raised {
        message,
        help: help.to_owned(),
        json: json!({ "server": name, "reason": reason }).to_string(),
    }
}

/// Returns the problem of a call that has failed: a user exception, with what it says, or a system exception.
pub(super) fn failed<E: OperationError + std::fmt::Display>(name: &str, error: &E) -> Problem {
    if let Some(exception) = error.system() {
        let help = match exception.kind() {
            SystemExceptionKind::NoPermission => ON_PERMISSION,
            SystemExceptionKind::ImpLimit => ON_LIMITS,
            SystemExceptionKind::PersistStore => ON_STORES,
            _ => ON_SERVICES,
        };
        return Problem::System(exception.clone(), Some(help.to_owned()));
    }
    // All others that are declared have a reason.
    refused(
        name,
        "no server is registered under this name, or several are behind different ids",
        "`punctual imr list` lists the servers; `punctual imr add` adds one",
    )
}
