//! `punctual naming bind`, `rebind`, `unbind` and `new-context`.

use super::Common;
use super::service::{Raised, Service, parsed, problem, text};
use crate::call::Problem;
use anstream::println;
use punctual::Interface;
use punctual_naming::cos_naming::{NameComponent, NamingContext, NamingContextBindNewContextError};
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(crate) struct BindOptions {
    /// The name.
    name: String,
    /// What it is bound to: an `IOR:`, `corbaloc:` or `corbaname:` text, a file that holds one, or `nil`.
    reference: String,
    /// Bind it as a context, through which names are resolved.
    #[arg(long)]
    context: bool,
    /// Make the contexts that the name leads through and that are not there.
    #[arg(short, long)]
    parents: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UnbindOptions {
    /// The names.
    #[arg(required = true)]
    names: Vec<String>,
    /// Destroy the contexts, too, that they are bound to: these have to be empty. Without it they stay, and whoever has
    /// a reference to one can use it.
    #[arg(long)]
    destroy: bool,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewContextOptions {
    /// The name.
    name: String,
    /// Make the contexts that the name leads through and that are not there.
    #[arg(short, long)]
    parents: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn bind(
    options: &BindOptions,
    replaces: bool,
    orb_options: &[String],
) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let name = parsed(&options.name)?;
    let object = service.object(&options.reference)?;
    if options.parents {
        make_parents(&service.root, &name)?;
    }
    let root = &service.root;
    let context = object.clone().map(NamingContext::from_object);
    let (what, object, context) = (&options.name, object.as_ref(), context.as_ref());
    match (options.context, replaces) {
        (false, false) => done(what, root.bind(&name, object)),
        (false, true) => done(what, root.rebind(&name, object)),
        (true, false) => done(what, root.bind_context(&name, context)),
        (true, true) => done(what, root.rebind_context(&name, context)),
    }
}

fn done(name: &str, result: Result<(), impl Raised>) -> Result<(), Problem> {
    result.map_err(|error| problem(name, &error))
}

pub(super) fn unbind(options: &UnbindOptions, orb_options: &[String]) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    for name in &options.names {
        let components = parsed(name)?;
        if options.destroy {
            let found = service.root.resolve(&components);
            let found = found.map_err(|error| problem(name, &error))?;
            // It refuses before anything is done if it has bindings.
            let destroyed = service.as_context(name, found)?.destroy();
            destroyed.map_err(|error| problem(name, &error))?;
        }
        done(name, service.root.unbind(&components))?;
    }
    Ok(())
}

pub(super) fn new_context(
    options: &NewContextOptions,
    orb_options: &[String],
) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let name = parsed(&options.name)?;
    if options.parents {
        make_parents(&service.root, &name)?;
    }
    let made = service.root.bind_new_context(&name);
    let made = made.map_err(|error| problem(&options.name, &error))?;
    let reference = service.text(made.as_ref().map(Interface::as_object))?;
    match options.common.json {
        true => println!(
            "{}",
            json!({ "name": options.name, "reference": reference })
        ),
        false => println!("{reference}"),
    }
    Ok(())
}

/// Makes the contexts that a name leads through, as far as they are not there.
pub(super) fn make_parents(root: &NamingContext, name: &[NameComponent]) -> Result<(), Problem> {
    for end in 1..name.len() {
        let parent = name.get(..end).unwrap_or_default();
        match root.bind_new_context(parent) {
            Ok(_) | Err(NamingContextBindNewContextError::AlreadyBound(_)) => {}
            Err(error) => return Err(problem(&text(parent), &error)),
        }
    }
    Ok(())
}
