//! `punctual naming bind`, `rebind`, `unbind` and `new-context`.

use super::names::{parsed, text};
use super::raised::Raised;
use super::service::{Service, problem};
use super::service_options::Common;
use crate::call::Problem;
use crate::time::with_unit;
use punctual::{Interface, ObjectRef};
use punctual_host::run::ending_signals;
use punctual_naming::client::Names;
use punctual_naming::cos_naming::{NameComponent, NamingContext, NamingContextBindNewContextError};
use punctual_naming::store::Ttl;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub(crate) struct BindOptions {
    /// The name.
    name: String,
    /// Object to bind: an `IOR:`, `corbaloc:` or `corbaname:` text, a file that holds one, or `nil`.
    reference: String,
    /// Bind it as a context, through which names are resolved.
    #[arg(long)]
    context: bool,
    /// Create the missing contexts of the name.
    #[arg(short, long)]
    parents: bool,
    /// Time to live of the binding, from 1s to 24h: the naming service, which must be Punctual's, removes the
    /// binding then, unless `rebind --ttl` renews it.
    #[arg(long, value_name = "TIME", value_parser = time_to_live, conflicts_with = "context")]
    ttl: Option<Ttl>,
    /// Renew the binding after each third of its time until interrupted or terminated, and remove it then.
    #[arg(long, requires = "ttl")]
    keep: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UnbindOptions {
    /// The names.
    #[arg(required = true)]
    names: Vec<String>,
    /// Destroy the contexts, too, that they are bound to: these have to be empty. Without it they
    /// stay, and clients that have a reference to one can use it.
    #[arg(long)]
    destroy: bool,
    /// Unbind contexts that have bindings, too: nothing of them is destroyed, but they have no name any more.
    #[arg(long, conflicts_with = "destroy")]
    keep_contents: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewContextOptions {
    /// The name.
    name: String,
    /// Create the missing contexts of the name.
    #[arg(short, long)]
    parents: bool,
    #[command(flatten)]
    pub(super) common: Common,
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
    if let Some(ttl) = options.ttl {
        return bind_for(options, &service, &name, object, ttl, replaces);
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

fn bind_for(
    options: &BindOptions,
    service: &Service,
    name: &[NameComponent],
    object: Option<ObjectRef>,
    ttl: Ttl,
    replaces: bool,
) -> Result<(), Problem> {
    let context = service.extended()?;
    // Before the name is bound, so that no signal leaves the binding behind.
    let signals = options.keep.then(ending_signals).transpose();
    let mut signals = signals.map_err(Problem::from)?;
    let bound = context.bind_for(name, object.as_ref(), ttl.millis(), replaces);
    done(&options.name, bound)?;
    let Some(signals) = &mut signals else {
        return Ok(());
    };
    let object = object.ok_or_else(|| Problem::usage("nil is not kept", "name an object"))?;
    let names = Names::below(&service.root);
    let kept = names.keep_bound_for(&options.name, &object, ttl.duration());
    let kept = kept.map_err(|exception| Problem::System(exception, None))?;
    eprintln!("`{}` is bound until this ends", options.name);
    signals.forever().next();
    drop(kept);
    Ok(())
}

/// Parses the time to live of a binding.
pub(super) fn time_to_live(text: &str) -> Result<Ttl, String> {
    let millis = u32::try_from(with_unit(text)?.as_millis()).ok();
    let ttl = millis.and_then(Ttl::from_millis);
    ttl.ok_or_else(|| "the time to live must be from 1 s to 24 h".to_owned())
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
            // Destroying fails before anything is done if the context has bindings.
            let destroyed = service.as_context(name, found)?.destroy();
            destroyed.map_err(|error| problem(name, &error))?;
        } else if !options.keep_contents {
            check_contents(&service, name, &components)?;
        }
        done(name, service.root.unbind(&components))?;
    }
    Ok(())
}

/// Refuses names of contexts with bindings, which would be without a name. A context of a server that does not answer
/// may be unbound.
fn check_contents(
    service: &Service,
    name: &str,
    components: &[NameComponent],
) -> Result<(), Problem> {
    // Errors are those of unbinding.
    let Ok(Some(object)) = service.root.resolve(components) else {
        return Ok(());
    };
    let is_context = object
        .type_id()
        .starts_with("IDL:omg.org/CosNaming/NamingContext");
    if !is_context {
        return Ok(());
    }
    let Ok((first, more)) = NamingContext::from_object(object).list(1) else {
        return Ok(());
    };
    if let Some(more) = more {
        // An iterator that is left is destroyed by its server some time.
        let _ = more.destroy();
    }
    match !first.is_empty() {
        true => Err(Problem::usage(
            format!(
                "`{name}` is bound to a context that has bindings, which would have no name any more"
            ),
            "unbind these first, or give --keep-contents",
        )),
        false => Ok(()),
    }
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

/// Makes the contexts in a name that do not exist yet.
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
