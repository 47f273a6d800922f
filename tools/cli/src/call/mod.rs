//! `punctual call`, `punctual get` and `punctual set`: operations and attributes of any object, with arguments
//! and results as JSON.

mod arguments;
mod found;
mod group;
mod interface;
mod invoke;
mod names;
mod problem;
mod repeat;
mod show;
mod target;
mod target_options;
mod trace;

use std::path::Path;
use std::process::ExitCode;

pub(crate) use problem::Problem;

use found::FoundInterface;
pub(crate) use interface::{compiled, repository};
use problem::ON_REFERENCES;
use punctual::description::OperationDescription;
use punctual::json::nearest;
use punctual::multicast::Multicast;
use punctual::{ObjectRef, Orb};
use punctual_host::run::ON_CONFIGURATION;
pub(crate) use show::scoped;
use target_options::Common;

const STATUSES: &str = "Exit status: 0 when the call returned, 1 when it was not made (a wrong reference, \
                        IDL or JSON), 2 for a wrong command line, 3 for a system exception, 4 for a user \
                        exception, whose members are then on standard error as JSON.";

/// Options of `punctual call`.
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Calls an operation of an object and prints what it returns as JSON.\n\n\
                  Arguments are JSON, one for each `in` and `inout` parameter; text and enumerators need no \
                  quotes. Without an operation, or with --describe, it lists what there is.",
    after_help = STATUSES,
    after_long_help = concat!(
        "Examples:\n  \
         punctual call cubit.ior --idl cubit.idl\n  \
         punctual call cubit.ior --idl cubit.idl cube_long 3\n  \
         punctual call cubit.ior --idl cubit.idl cube_struct '{\"o\": 1, \"l\": 2, \"s\": 3}'\n  \
         punctual call --group corbaloc:miop:1.0@1.0-plant-7/239.255.0.1:5555 --idl plant.idl alarm 3\n  \
         punctual call corbaname::host:2809#plants/pump7 pressure\n  \
         punctual call corbaloc::host:2809/NameService list -d '{\"how_many\": 10}'\n\n\
         docs/call.md shows how types look in JSON.\n"
    )
)]
pub(crate) struct Options {
    /// The object: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one.
    #[arg(value_name = "REFERENCE")]
    reference: String,
    /// The operation.
    #[arg(add = clap_complete::ArgValueCompleter::new(names::operations))]
    operation: Option<String>,
    /// Its arguments, in order.
    #[arg(allow_negative_numbers = true)]
    arguments: Vec<String>,
    /// All arguments by their names, as one JSON object; @FILE reads it from a file, - from standard input.
    #[arg(short, long, value_name = "JSON", conflicts_with = "arguments")]
    data: Option<String>,
    /// Show the operation and its types, or all operations of the object, as IDL; call nothing.
    #[arg(long)]
    describe: bool,
    /// Number of calls; shows their durations instead of the results.
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    count: Option<u64>,
    /// With -n: calls a second, if the server keeps up.
    #[arg(long, value_name = "CALLS", requires = "count", value_parser = calls_a_second)]
    rate: Option<u32>,
    /// The object is a multicast group (corbaloc:miop:…), to all of whose members a one-way goes. Properties of the link
    /// may follow: --group=interface=eth0,ttl=4.
    #[arg(
        long,
        value_name = "PROPERTIES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        value_parser = group::properties
    )]
    group: Option<group::GroupProperties>,
    #[command(flatten)]
    common: Common,
}

/// Parses a rate: `10`, or `10/s`.
fn calls_a_second(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).parse();
    let rate = number.ok().filter(|rate| *rate > 0);
    rate.ok_or_else(|| "a whole number of calls a second is wanted, e.g. 10".to_owned())
}

/// Options of `punctual get`.
#[derive(Debug, clap::Args)]
#[command(after_help = STATUSES)]
pub(crate) struct GetOptions {
    /// The object: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one.
    #[arg(value_name = "REFERENCE")]
    reference: String,
    /// The attribute.
    #[arg(add = clap_complete::ArgValueCompleter::new(names::attributes))]
    attribute: String,
    #[command(flatten)]
    common: Common,
}

/// Options of `punctual set`.
#[derive(Debug, clap::Args)]
#[command(after_help = STATUSES)]
pub(crate) struct SetOptions {
    /// The object: an `IOR:`, `corbaloc:` or `corbaname:` text, or a file that holds one.
    #[arg(value_name = "REFERENCE")]
    reference: String,
    /// The attribute.
    #[arg(add = clap_complete::ArgValueCompleter::new(names::attributes))]
    attribute: String,
    /// Its value, as JSON.
    #[arg(allow_negative_numbers = true)]
    value: String,
    #[command(flatten)]
    common: Common,
}

pub(crate) fn run(options: &Options, orb_options: &[String]) -> ExitCode {
    ended(call(options, orb_options))
}

pub(crate) fn run_get(options: &GetOptions, orb_options: &[String]) -> ExitCode {
    ended(get(options, orb_options))
}

pub(crate) fn run_set(options: &SetOptions, orb_options: &[String]) -> ExitCode {
    ended(set(options, orb_options))
}

fn ended(result: Result<(), Problem>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}

fn call(options: &Options, orb_options: &[String]) -> Result<(), Problem> {
    let common = &options.common;
    let with = options.group.as_ref();
    let (orb, object) = object_with(&options.reference, common, orb_options, with)?;
    let found = interface::find(&orb, &object, common)?;
    let operation = match &options.operation {
        Some(name) => Some(operation(&found, name)?),
        None => None,
    };
    let operation = match operation {
        Some(operation) if !options.describe => operation,
        Some(operation) => {
            show::operation(&operation);
            return Ok(());
        }
        None => {
            show::interface(&found.interface);
            return Ok(());
        }
    };
    let names = names::Types::new(&orb, &found);
    let values = match &options.data {
        Some(data) => arguments::by_name(&operation, data, &names)?,
        None => arguments::in_order(&operation, &options.arguments, &names)?,
    };
    if options.group.is_some() {
        group::check(&object)?;
    }
    match options.count {
        None => invoke::once(&object, &operation, values, common),
        Some(count) => repeat::many(&object, &operation, values, count, options.rate, common),
    }
}

fn operation(found: &FoundInterface, name: &str) -> Result<OperationDescription, Problem> {
    found.interface.operation(name).ok_or_else(|| {
        let interface = &found.interface;
        let names = interface.operations.iter().map(|one| one.name.as_str());
        let help = match (interface.attribute(name), nearest(name, names)) {
            (Some(_), _) => format!("it is an attribute: `punctual get REFERENCE {name}` reads it"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => "--describe lists the operations".to_owned(),
        };
        let message = format!("`{}` has no operation `{name}`", show::scoped(interface));
        Problem::Usage(message, Some(help))
    })
}

fn get(options: &GetOptions, orb_options: &[String]) -> Result<(), Problem> {
    let common = &options.common;
    let (orb, object) = object(&options.reference, common, orb_options)?;
    let found = interface::find(&orb, &object, common)?;
    let getter = attribute(&found, &options.attribute)?.getter();
    invoke::once(&object, &getter, Vec::new(), common)
}

fn set(options: &SetOptions, orb_options: &[String]) -> Result<(), Problem> {
    let common = &options.common;
    let (orb, object) = object(&options.reference, common, orb_options)?;
    let found = interface::find(&orb, &object, common)?;
    let setter = attribute(&found, &options.attribute)?.setter();
    let setter = setter.ok_or_else(|| {
        let message = format!("the attribute `{}` can only be read", options.attribute);
        Problem::Usage(message, None)
    })?;
    let names = names::Types::new(&orb, &found);
    let given = std::slice::from_ref(&options.value);
    let values = arguments::in_order(&setter, given, &names)?;
    invoke::once(&object, &setter, values, common)
}

fn attribute<'f>(
    found: &'f FoundInterface,
    name: &str,
) -> Result<&'f punctual::description::AttributeDescription, Problem> {
    let interface = &found.interface;
    interface.attribute(name).ok_or_else(|| {
        let names = interface.attributes.iter().map(|one| one.name.as_str());
        let help = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`punctual call REFERENCE --describe` lists the attributes".to_owned(),
        };
        let message = format!("`{}` has no attribute `{name}`", show::scoped(interface));
        Problem::Usage(message, Some(help))
    })
}

/// Returns the object of a reference given on the command line, or the reason for which there is
/// none.
pub(crate) fn object_of(orb: &Orb, reference: &str) -> Result<ObjectRef, String> {
    target::object(orb, reference)
}

/// Returns an ORB, and the object of a reference.
fn object(
    reference: &str,
    common: &Common,
    orb_options: &[String],
) -> Result<(Orb, ObjectRef), Problem> {
    object_with(reference, common, orb_options, None)
}

/// Returns an ORB whose link of multicast has properties, and the object of a reference.
fn object_with(
    reference: &str,
    common: &Common,
    orb_options: &[String],
    group: Option<&group::GroupProperties>,
) -> Result<(Orb, ObjectRef), Problem> {
    let orb = orb_with(common.config.as_deref(), orb_options, group)?;
    let object = target::object(&orb, reference)
        .map_err(|message| Problem::usage(message, ON_REFERENCES))?;
    let object = match common.timeout {
        Some(timeout) => object.with_timeout(timeout),
        None => object,
    };
    Ok((orb, object))
}

/// Returns an ORB with these options, configured by a file if there is one.
pub(crate) fn orb(config: Option<&Path>, orb_options: &[String]) -> Result<Orb, Problem> {
    orb_with(config, orb_options, None)
}

fn orb_with(
    config: Option<&Path>,
    orb_options: &[String],
    group: Option<&group::GroupProperties>,
) -> Result<Orb, Problem> {
    let mut builder = Multicast::extend(Orb::builder());
    if let Some(file) = config {
        let read = builder.file(file);
        builder = read.map_err(|error| Problem::usage(error.to_string(), ON_CONFIGURATION))?;
    }
    let bad = |error: punctual::InitError| Problem::Usage(error.to_string(), None);
    let arguments = std::iter::once("punctual").chain(orb_options.iter().map(String::as_str));
    let (builder, _) = builder
        .arguments(arguments.map(str::to_owned))
        .map_err(bad)?;
    let builder = match group {
        Some(group) => builder.configure(|config| group.apply(config)),
        None => builder,
    };
    builder.build().map_err(bad)
}

/// Separates the options of the ORB, `-ORB…` and the following value, from those of the command. What stands behind
/// `--` stays: it may be the options of another program.
pub(crate) fn split(arguments: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let mut arguments = arguments;
    let (mut ours, mut orbs) = (Vec::new(), Vec::new());
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            ours.push(argument);
            ours.extend(arguments);
            break;
        }
        if argument.starts_with("-ORB") {
            orbs.push(argument);
            orbs.extend(arguments.next());
        } else {
            ours.push(argument);
        }
    }
    (ours, orbs)
}
