//! The service to be called, groups and members.

use crate::call::{self, Problem};
use crate::shown;
use crate::time::with_unit;
use punctual::{Interface, ObjectRef, OperationError, Orb, SystemExceptionKind};
use punctual_groups_client::punctual_groups::Group;
use punctual_groups_service::punctual_managers::Replication;
use punctual_naming::cos_naming::{Name, NameComponent};
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

/// Address at which the service is looked for by default.
const DEFAULT: &str = "corbaloc::localhost:2817/ReplicationManager";

const ON_SERVICES: &str = "--service names the ReplicationManager of `punctual group serve`: an `IOR:` or `corbaloc:` text, or a file that \
                           holds one";

const ON_PERMISSION: &str = "--allow of `punctual group serve` grants it";

const ON_GROUPS: &str = "`punctual group list` lists the groups and their members";

const ON_LOCATIONS: &str = "a location is a name as text, such as `host-1` or `host-1/process-2`; `\\` stands before `/`, `.` and `\\`";

/// The service, and how it is called.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// The service: an `IOR:` or `corbaloc:` text of its ReplicationManager, or a file that holds one. Without it, the ORB's
    /// initial reference ReplicationManager, or else corbaloc::localhost:2817/ReplicationManager.
    #[arg(long, value_name = "REFERENCE")]
    service: Option<String>,
    /// Time limit of a call, e.g. 200ms or 2s, with its unit.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = with_unit)]
    timeout: Duration,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Common {
    /// Returns the service, and the ORB by which it is called.
    pub(super) fn resolve(&self, orb_options: &[String]) -> Result<(Orb, Replication), Problem> {
        // Options on the command line follow, and take precedence.
        let timeout = format!("{}ms", self.timeout.as_millis().max(1));
        let mut all = vec!["-ORBCallTimeout".to_owned(), timeout];
        all.extend_from_slice(orb_options);
        let orb = call::orb(self.config.as_deref(), &all)?;
        let object = match &self.service {
            Some(reference) => call::object_of(&orb, reference),
            None => {
                let initial = orb.resolve_initial_references("ReplicationManager");
                let object = initial.or_else(|_| orb.string_to_object(DEFAULT));
                object.map_err(|exception| exception.to_string())
            }
        };
        let object = object.map_err(|message| Problem::usage(message, ON_SERVICES))?;
        Ok((orb, Replication::from_object(object)))
    }
}

/// Returns the number and the reference of a group that is given by one of them.
pub(super) fn group(
    orb: &Orb,
    service: &Replication,
    given: &str,
) -> Result<(u64, ObjectRef), Problem> {
    let object = match given.parse::<u64>() {
        Ok(id) => {
            let found = service.get_object_group_ref_from_id(id);
            found.map_err(|error| failed(given, &error))?
        }
        Err(_) => {
            let object = call::object_of(orb, given);
            Some(object.map_err(|message| Problem::usage(message, ON_GROUPS))?)
        }
    };
    let id = service.get_object_group_id(object.as_ref());
    let id = id.map_err(|error| failed(given, &error))?;
    let object = object.ok_or_else(|| Problem::usage("the service returns nil", ON_SERVICES))?;
    Ok((id, object))
}

/// Number of groups in one request.
const AT_ONCE: u32 = 500;

/// Maximum number of groups that are listed: a service could go on without end.
const MOST: usize = 1_000_000;

/// Returns all groups of a service.
pub(super) fn all(service: &Replication) -> Result<Vec<Group>, Problem> {
    let mut all = Vec::new();
    let mut last = 0;
    loop {
        let next = service
            .list(last, AT_ONCE)
            .map_err(|exception| failed("", &exception))?;
        match next.last() {
            Some(group) if all.len() < MOST && group.id > last => last = group.id,
            _ => return Ok(all),
        }
        all.extend(next);
    }
}

/// Returns the location that a text is.
pub(super) fn location(text: &str) -> Result<Name, Problem> {
    let parsed = punctual_ior::name_from_text(text);
    let parsed = parsed.map_err(|error| Problem::usage(error.to_string(), ON_LOCATIONS))?;
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    Ok(parsed.into_iter().map(component).collect())
}

/// Returns a location as text.
pub(super) fn text(location: &[NameComponent]) -> String {
    let components = location
        .iter()
        .map(|one| (one.id.as_str(), one.kind.as_str()));
    punctual_ior::name_to_text(components)
}

/// Returns the problem of a call that has failed: a user exception, with what it says, or a system exception.
pub(crate) fn failed<E: OperationError + std::fmt::Display>(what: &str, error: &E) -> Problem {
    if let Some(exception) = error.system() {
        let help = match exception.kind() {
            SystemExceptionKind::NoPermission => ON_PERMISSION,
            SystemExceptionKind::ImpLimit => {
                "the service has limits: see the settings of `punctual group serve`"
            }
            _ => ON_SERVICES,
        };
        return Problem::System(exception.clone(), Some(help.to_owned()));
    }
    let message = format!("`{}`: {}", shown::peer(what), shown::peer(error));
    let json = json!({ "of": what, "reason": error.to_string() }).to_string();
    Problem::Raised {
        message,
        help: ON_GROUPS.to_owned(),
        json,
    }
}
