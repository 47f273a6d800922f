//! Commands that change groups.

use super::service::{Common, failed, group, location};
use crate::call::{self, Problem};
use crate::shown;
use punctual::{Any, SystemException};
use punctual_groups_client::portable_group::Property;
use punctual_naming::cos_naming::NameComponent;
use serde_json::json;

/// Clients that call the reference are led to a member: the primary of a passive group, one that the strategy chooses of a balanced
/// one, any of a stateless or active one. Members join by themselves, by the crate punctual-groups-client, or are added.
#[derive(Debug, clap::Args)]
pub(crate) struct Create {
    /// Repository id of the members' interface, e.g. IDL:Plant/Pump:1.0.
    type_id: String,
    /// How replicas work together: `stateless`, `cold-passive`, `warm-passive` or `active`. Without it and --strategy, as the
    /// properties of the type say.
    #[arg(
        long,
        value_name = "STYLE",
        default_value = "",
        conflicts_with = "strategy"
    )]
    style: String,
    /// How clients are balanced: RoundRobin, Random, LeastLoaded, LoadMinimum or LoadAverage.
    #[arg(long, value_name = "NAME", default_value = "")]
    strategy: String,
    /// Balance each request of a client, and not each client: of members that were made for it (`Guard::each_request`).
    #[arg(long, requires = "strategy")]
    per_request: bool,
    /// Print JSON: the group's number and reference.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// The group: its number or reference.
    group: String,
    /// Where the member is; a location has one member of a group at most.
    location: String,
    /// The member: an `IOR:` or `corbaloc:` text, or a file that holds one.
    reference: String,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Remove {
    /// The group: its number or reference.
    group: String,
    /// Where the member is. Without it, the group is removed with all members and its state.
    location: Option<String>,
    #[command(flatten)]
    common: Common,
}

/// Clients that call it already stay. Another member becomes primary when the lease of one that was has ended; the only one that
/// lives stays primary.
#[derive(Debug, clap::Args)]
pub(crate) struct Drain {
    /// The group: its number or reference.
    group: String,
    /// Where the member is.
    location: String,
    /// Lead clients to it again.
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    common: Common,
}

/// It waits until the lease of the primary before has ended, and the member has taken the state.
#[derive(Debug, clap::Args)]
pub(crate) struct SetPrimary {
    /// The group: its number or reference.
    group: String,
    /// Where the member is.
    location: String,
    #[command(flatten)]
    common: Common,
}

fn system(exception: SystemException) -> Problem {
    Problem::System(exception, None)
}

/// Returns the property by which each request is balanced.
fn per_request() -> Result<Property, SystemException> {
    let nam = vec![NameComponent {
        id: "punctual.PerRequest".to_owned(),
        kind: String::new(),
    }];
    let val = Any::new(&true)?;
    Ok(Property { nam, val })
}

pub(super) fn create(options: &Create, orb_options: &[String]) -> Result<(), Problem> {
    let (orb, service) = options.common.resolve(orb_options)?;
    let created = service.create_group(&options.type_id, &options.style, &options.strategy);
    let (object, id) = created.map_err(|error| failed(&options.type_id, &error))?;
    if options.per_request {
        let property = per_request().map_err(system)?;
        let set = service.set_properties_dynamically(object.as_ref(), &[property]);
        set.map_err(|error| failed(&options.type_id, &error))?;
    }
    let reference = orb.object_to_string(&object).map_err(system)?;
    match options.json {
        true => {
            let all = json!({ "group": id, "reference": reference });
            println!("{}", shown::json(format_args!("{all:#}")));
        }
        false => println!("{reference}"),
    }
    Ok(())
}

pub(super) fn add(options: &Add, orb_options: &[String]) -> Result<(), Problem> {
    let (orb, service) = options.common.resolve(orb_options)?;
    let (_, object) = group(&orb, &service, &options.group)?;
    let at = location(&options.location)?;
    let member = call::object_of(&orb, &options.reference);
    let member = member.map_err(|message| {
        Problem::usage(message, "a member is a reference, or a file that holds one")
    })?;
    let added = service.add_member(Some(&object), &at, Some(&member));
    added
        .map(drop)
        .map_err(|error| failed(&options.location, &error))
}

pub(super) fn remove(options: &Remove, orb_options: &[String]) -> Result<(), Problem> {
    let (orb, service) = options.common.resolve(orb_options)?;
    let (id, object) = group(&orb, &service, &options.group)?;
    match &options.location {
        Some(text) => {
            let removed = service.remove_member(Some(&object), &location(text)?);
            removed.map(drop).map_err(|error| failed(text, &error))
        }
        None => {
            let removed = service.remove_group(id);
            removed.map_err(|error| failed(&options.group, &error))
        }
    }
}

pub(super) fn drain(options: &Drain, orb_options: &[String]) -> Result<(), Problem> {
    let (orb, service) = options.common.resolve(orb_options)?;
    let (id, _) = group(&orb, &service, &options.group)?;
    let drained = service.drain(id, &location(&options.location)?, !options.undo);
    drained.map_err(|error| failed(&options.location, &error))
}

pub(super) fn set_primary(options: &SetPrimary, orb_options: &[String]) -> Result<(), Problem> {
    let (orb, service) = options.common.resolve(orb_options)?;
    let (_, object) = group(&orb, &service, &options.group)?;
    let set = service.set_primary_member(Some(&object), &location(&options.location)?);
    set.map(drop)
        .map_err(|error| failed(&options.location, &error))
}
