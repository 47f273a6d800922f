//! `punctual naming group`: names that are bound to several objects.

use super::change::{make_parents, time_to_live};
use super::names::parsed;
use super::raised::Raised;
use super::referred_group::ReferredGroup;
use super::service::{Service, problem};
use super::service_options::Common;
use crate::call::Problem;
use crate::shown;
use punctual_host::run::ending_signals;
use punctual_naming::client::Names;
use punctual_naming::extension::{Choice, Member};
use punctual_naming::store::Ttl;
use serde_json::{Value, json};

const ON_KEEPING: &str = "--keep renews members of groups that `punctual naming group create` has made: join without it, and with --ttl again \
                          in time";

/// A name that is bound to several objects, its members. Resolving it yields one of them, or one reference to all. It needs
/// Punctual's naming service; its clients may be of any ORB.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Options {
    /// Create a group without members, and bind a name to it. `punctual naming unbind` removes it with its members.
    Create(CreateOptions),
    /// Make an object a member, replacing a member with the same id. The name may be bound to the reference of a group of
    /// `punctual group create`, too.
    Join(JoinOptions),
    /// End a membership.
    Leave(MemberOptions),
    /// Report a member's load to this naming server, which uses it for 30 s.
    Report(ReportOptions),
    /// List the members with their states at the naming server.
    Members(MembersOptions),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CreateOptions {
    /// The name.
    name: String,
    /// Choice of the member that the name is resolved to.
    #[arg(long, value_name = "CHOICE", default_value = "round-robin")]
    choice: Choosing,
    /// Create the missing contexts of the name.
    #[arg(short, long)]
    parents: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct JoinOptions {
    /// The group's name.
    group: String,
    /// The member's id, any text. The name `GROUP/ID` leads to this member.
    id: String,
    /// The object: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one.
    reference: String,
    /// Time of the membership, from 1s to 24h, unless it is renewed.
    #[arg(long, value_name = "TIME", value_parser = time_to_live)]
    ttl: Option<Ttl>,
    /// Renew the membership after each third of its time until interrupted or terminated, and end it then.
    #[arg(long, requires = "ttl")]
    keep: bool,
    #[command(flatten)]
    referred: Referred,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MemberOptions {
    /// The group's name.
    group: String,
    /// The member's id.
    id: String,
    #[command(flatten)]
    referred: Referred,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Group service of a name that is bound to the reference of a group.
#[derive(Debug, clap::Args)]
struct Referred {
    /// For a name that is bound to the reference of a group of `punctual group create`: the ReplicationManager of the service
    /// that made it. Without it, the one where that reference leads.
    #[arg(long, value_name = "REFERENCE")]
    group_service: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportOptions {
    /// The group's name.
    group: String,
    /// The member's id.
    id: String,
    /// Load: a number of at least 0.
    load: f64,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MembersOptions {
    /// The group's name.
    group: String,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Which member a group's name is resolved to.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Choosing {
    /// The members in turn.
    RoundRobin,
    /// Any member, at random.
    Random,
    /// The member that reports the least load.
    LeastLoaded,
    /// One reference with the profiles of all members that have one type.
    All,
}

const CHOICES: [(Choice, &str); 4] = [
    (Choice::RoundRobin, "round-robin"),
    (Choice::ByChance, "random"),
    (Choice::LeastLoaded, "least-loaded"),
    (Choice::AllProfiles, "all"),
];

/// Returns the command line's name of a choice.
pub(super) fn choice_text(choice: Choice) -> &'static str {
    let found = CHOICES.iter().find(|(one, _)| *one == choice);
    found.map_or("", |(_, text)| text)
}

/// Returns the choice of a name.
pub(super) fn choice_of(text: &str) -> Option<Choice> {
    let found = CHOICES.iter().find(|(_, one)| *one == text);
    found.map(|(choice, _)| *choice)
}

impl Options {
    /// Returns whether JSON is asked for.
    pub(super) fn json(&self) -> bool {
        let common = match self {
            Self::Create(options) => &options.common,
            Self::Join(options) => &options.common,
            Self::Leave(options) => &options.common,
            Self::Report(options) => &options.common,
            Self::Members(options) => &options.common,
        };
        common.json
    }
}

pub(super) fn run(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    match options {
        Options::Create(options) => create(options, orb_options),
        Options::Join(options) => join(options, orb_options),
        Options::Leave(options) => {
            let service = Service::new(&options.common, orb_options)?;
            let group = parsed(&options.group)?;
            let left = service.extended()?.leave(&group, &options.id);
            left.or_else(|refused| {
                let at = options.referred.group_service.as_deref();
                let referred = ReferredGroup::instead(&service, &options.group, &refused, at)?;
                referred.leave(&options.id)
            })
        }
        Options::Report(options) => {
            let service = Service::new(&options.common, orb_options)?;
            let group = parsed(&options.group)?;
            let context = service.extended()?;
            let told = context.report(&group, &options.id, options.load);
            done(&options.group, told)
        }
        Options::Members(options) => members(options, orb_options),
    }
}

fn create(options: &CreateOptions, orb_options: &[String]) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let (context, name) = (service.extended()?, parsed(&options.name)?);
    if options.parents {
        make_parents(&service.root, &name)?;
    }
    let choice = match options.choice {
        Choosing::RoundRobin => Choice::RoundRobin,
        Choosing::Random => Choice::ByChance,
        Choosing::LeastLoaded => Choice::LeastLoaded,
        Choosing::All => Choice::AllProfiles,
    };
    done(&options.name, context.bind_group(&name, choice))
}

fn join(options: &JoinOptions, orb_options: &[String]) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let (context, group) = (service.extended()?, parsed(&options.group)?);
    let object = service.object(&options.reference)?;
    // Before it joins, so that no signal leaves the membership behind.
    let signals = options.keep.then(ending_signals).transpose();
    let mut signals = signals.map_err(Problem::from)?;
    let ttl = options.ttl.map_or(0, Ttl::millis);
    let joined = context.join(&group, &options.id, object.as_ref(), ttl);
    if let Err(refused) = joined {
        let at = options.referred.group_service.as_deref();
        let referred = ReferredGroup::instead(&service, &options.group, &refused, at)?;
        if options.keep {
            return Err(Problem::usage(
                format!("`{}` is bound to the reference of a group", options.group),
                ON_KEEPING,
            ));
        }
        return referred.join(&options.id, object.as_ref(), ttl);
    }
    let (Some(signals), Some(object), Some(ttl)) = (&mut signals, &object, options.ttl) else {
        return Ok(());
    };
    let names = Names::below(&service.root);
    let kept = names.keep_joined(&options.group, &options.id, object, ttl.duration());
    let kept = kept.map_err(|exception| Problem::System(exception, None))?;
    eprintln!("`{}` is in the group until this ends", options.id);
    signals.forever().next();
    drop(kept);
    Ok(())
}

fn members(options: &MembersOptions, orb_options: &[String]) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let group = parsed(&options.group)?;
    let members = service.extended()?.members(&group);
    let members = members.map_err(|error| problem(&options.group, &error))?;
    if options.common.json {
        let all: Result<Vec<Value>, Problem> =
            members.iter().map(|one| as_json(&service, one)).collect();
        println!("{}", shown::json(format_args!("{:#}", json!(all?))));
        return Ok(());
    }
    for member in &members {
        let state = if member.is_alive { "" } else { ", passed over" };
        let load = match member.is_loaded {
            true => format!(", load {}", member.load),
            false => String::new(),
        };
        let time = match member.ttl_ms {
            0 => "stays".to_owned(),
            ttl => format!("for {} s", f64::from(ttl) / 1_000.0),
        };
        println!("{}: {time}{load}{state}", shown::peer(&member.id));
    }
    Ok(())
}

fn as_json(service: &Service, member: &Member) -> Result<Value, Problem> {
    Ok(json!({
        "id": member.id,
        "reference": service.text(member.reference.as_ref())?,
        "ttl_ms": member.ttl_ms,
        "load": member.is_loaded.then_some(member.load),
        "alive": member.is_alive,
    }))
}

fn done(name: &str, result: Result<(), impl Raised>) -> Result<(), Problem> {
    result.map_err(|error| problem(name, &error))
}
