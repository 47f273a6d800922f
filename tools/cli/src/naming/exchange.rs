//! `punctual naming export` and `import`: a context and all below it as JSON.
//!
//! ```json
//! { "bindings": [
//!     { "name": "plants", "id": "plants", "kind": "", "type": "context", "bindings": [ … ] },
//!     { "name": "clock.time", "id": "clock", "kind": "time", "type": "object", "reference": "IOR:…" },
//!     { "name": "works", "id": "works", "kind": "", "type": "context", "same_as": "plants" },
//!     { "name": "pumps", "id": "pumps", "kind": "", "type": "group", "choice": "round-robin",
//!       "members": [ { "id": "first", "reference": "IOR:…" } ] },
//!     { "name": "other", "id": "other", "kind": "", "type": "context", "reference": "IOR:…" } ] }
//! ```
//! The last one is a context of another server, which is bound, not copied. Names are whole, from the exported context.

use super::group::{choice_of, choice_text};
use super::names::parsed;
use super::service::{Service, as_json, problem};
use super::service_options::Common;
use super::tree::{Leads, Node, Walk};
use crate::call::Problem;
use crate::shown;
use punctual::Interface;
use punctual_host::publish::write_reference;
use punctual_naming::cos_naming::{
    NameComponent, NamingContext, NamingContextBindContextError, NamingContextBindError,
    NamingContextBindNewContextError,
};
use punctual_naming::extension::{ExtendedContext, ExtendedContextBindGroupError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct ExportOptions {
    /// The context; by default that of the service.
    #[arg(default_value = "", hide_default_value = true)]
    name: String,
    /// Write the export to this file, whole or not at all.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Copy contexts of other servers, too, instead of their references.
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

/// Existing bindings stay, unless --replace is given; nothing is removed. It may be repeated.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportOptions {
    /// The file; - is standard input.
    file: String,
    /// The context to import into; by default that of the service.
    #[arg(default_value = "", hide_default_value = true)]
    name: String,
    /// Replace existing bindings of objects.
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    pub(super) common: Common,
}

pub(super) fn export(options: &ExportOptions, orb_options: &[String]) -> Result<(), Problem> {
    let service = Service::new(&options.common, orb_options)?;
    let context = service.context(&options.name)?;
    let nodes = Walk::new(&service, options.follow, true)?.below(&context, "")?;
    let mut skipped = 0;
    let exported = json!({ "bindings": exported(&service, &nodes, &mut skipped)? });
    if skipped > 0 {
        eprintln!(
            "{skipped} temporary bindings are not exported: the programs that keep them bind them again"
        );
    }
    let text = shown::json(format_args!("{exported:#}"));
    match &options.output {
        Some(path) => write_reference(path, &text).map_err(Problem::from),
        None => {
            println!("{text}");
            Ok(())
        }
    }
}

/// Returns the bindings as JSON, except temporary ones, which are counted.
fn exported(service: &Service, nodes: &[Node], skipped: &mut usize) -> Result<Vec<Value>, Problem> {
    let mut all = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut json = as_json(&node.name, &node.entry);
        let (key, value) = match &node.leads {
            Leads::Object(object) => ("reference", json!(service.text(object.as_ref())?)),
            Leads::Temporary(_) => {
                *skipped += 1;
                continue;
            }
            Leads::Group(choice, members) => {
                let lasting = members.iter().filter(|one| one.ttl_ms == 0);
                let mut group = Vec::with_capacity(members.len());
                for member in lasting {
                    let reference = service.text(member.reference.as_ref())?;
                    group.push(json!({ "id": member.id, "reference": reference }));
                }
                *skipped += members.len() - group.len();
                json["type"] = json!("group");
                json["choice"] = json!(choice_text(*choice));
                ("members", json!(group))
            }
            Leads::Context(nodes) => ("bindings", json!(exported(service, nodes, skipped)?)),
            Leads::Again(name) => ("same_as", json!(name)),
            Leads::Elsewhere(object) => ("reference", json!(service.text(Some(object))?)),
            Leads::Broken(object, why) => {
                let (name, why) = (shown::peer(&node.name), shown::exception(why));
                eprintln!("`{name}` is exported as a reference: {why}");
                ("reference", json!(service.text(Some(object))?))
            }
        };
        if let Value::Object(members) = &mut json {
            members.insert(key.to_owned(), value);
        }
        all.push(json);
    }
    Ok(all)
}

/// Data of an export.
#[derive(Debug, Deserialize)]
struct Exported {
    bindings: Vec<Binding>,
}

#[derive(Debug, Deserialize)]
struct Binding {
    id: String,
    #[serde(default)]
    kind: String,
    #[serde(rename = "type")]
    is: Kind,
    reference: Option<String>,
    same_as: Option<String>,
    bindings: Option<Vec<Binding>>,
    choice: Option<String>,
    #[serde(default)]
    members: Vec<GroupMember>,
}

#[derive(Debug, Deserialize)]
struct GroupMember {
    id: String,
    reference: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Context,
    Object,
    Group,
}

/// Progress of an import.
#[derive(Debug, Default)]
struct Import {
    objects: usize,
    contexts: usize,
    groups: usize,
    kept: usize,
    /// Further names of contexts, bound once all contexts exist: each with the name under which
    /// the context was made.
    again: Vec<(Vec<NameComponent>, String)>,
}

pub(super) fn import(options: &ImportOptions, orb_options: &[String]) -> Result<(), Problem> {
    let text = match options.file.as_str() {
        "-" => std::io::read_to_string(std::io::stdin()),
        file => std::fs::read_to_string(file),
    };
    let bad = |error: String| {
        Problem::usage(
            format!("{}: {error}", options.file),
            "name what `punctual naming export` has written",
        )
    };
    let text = text.map_err(|error| bad(error.to_string()))?;
    let read: Exported = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let service = Service::new(&options.common, orb_options)?;
    let root = service.context(&options.name)?;
    let mut import = Import::default();
    import.all(
        &service,
        &root,
        &mut Vec::new(),
        &read.bindings,
        options.replace,
    )?;
    for (name, other) in std::mem::take(&mut import.again) {
        import.bind_again(&service, &root, &name, &other)?;
    }
    let Import {
        objects,
        contexts,
        groups,
        kept,
        ..
    } = import;
    match options.common.json {
        true => println!(
            "{}",
            json!({ "objects": objects, "contexts": contexts, "groups": groups, "kept": kept })
        ),
        false if groups > 0 => println!(
            "{objects} objects, {contexts} contexts and {groups} groups were bound, {kept} names were bound already"
        ),
        false => println!(
            "{objects} objects and {contexts} contexts were bound, {kept} names were bound already"
        ),
    }
    Ok(())
}

impl Import {
    fn all(
        &mut self,
        service: &Service,
        root: &NamingContext,
        path: &mut Vec<NameComponent>,
        bindings: &[Binding],
        replaces: bool,
    ) -> Result<(), Problem> {
        for binding in bindings {
            path.push(NameComponent {
                id: binding.id.clone(),
                kind: binding.kind.clone(),
            });
            match (binding.is, &binding.bindings, &binding.same_as) {
                (Kind::Object, ..) => self.object(service, root, path, binding, replaces)?,
                (Kind::Group, ..) => self.group(service, root, path, binding)?,
                (Kind::Context, Some(bindings), _) => {
                    self.context(root, path)?;
                    self.all(service, root, path, bindings, replaces)?;
                }
                (Kind::Context, None, Some(other)) => {
                    self.again.push((path.clone(), other.clone()));
                }
                (Kind::Context, None, None) => self.foreign(service, root, path, binding)?,
            }
            path.pop();
        }
        Ok(())
    }

    fn object(
        &mut self,
        service: &Service,
        root: &NamingContext,
        name: &[NameComponent],
        binding: &Binding,
        replaces: bool,
    ) -> Result<(), Problem> {
        let object = service.object(binding.reference.as_deref().unwrap_or("nil"))?;
        let object = object.as_ref();
        let text = super::names::text(name);
        if replaces {
            let bound = root.rebind(name, object);
            bound.map_err(|error| problem(&text, &error))?;
            self.objects += 1;
            return Ok(());
        }
        match root.bind(name, object) {
            Ok(()) => self.objects += 1,
            Err(NamingContextBindError::AlreadyBound(_)) => self.kept += 1,
            Err(error) => return Err(problem(&text, &error)),
        }
        Ok(())
    }

    /// Makes a group, if necessary, and adds the members to those that it has.
    fn group(
        &mut self,
        service: &Service,
        root: &NamingContext,
        name: &[NameComponent],
        binding: &Binding,
    ) -> Result<(), Problem> {
        let text = super::names::text(name);
        let choice = binding.choice.as_deref().and_then(choice_of);
        let choice = choice.ok_or_else(|| {
            let message = format!("`{text}` does not say how its group chooses");
            Problem::usage(
                message,
                "`choice` is round-robin, random, least-loaded or all",
            )
        })?;
        // If the name is not a group, the root may not support groups either, and its help is
        // better.
        service.extended()?;
        let context = ExtendedContext::from_object(root.as_object().clone());
        match context.bind_group(name, choice) {
            Ok(()) => self.groups += 1,
            Err(ExtendedContextBindGroupError::AlreadyBound(_)) => self.kept += 1,
            Err(error) => return Err(problem(&text, &error)),
        }
        for member in &binding.members {
            let object = service.object(&member.reference)?;
            let joined = context.join(name, &member.id, object.as_ref(), 0);
            joined.map_err(|error| problem(&text, &error))?;
        }
        Ok(())
    }

    fn context(&mut self, root: &NamingContext, name: &[NameComponent]) -> Result<(), Problem> {
        match root.bind_new_context(name) {
            Ok(_) => self.contexts += 1,
            Err(NamingContextBindNewContextError::AlreadyBound(_)) => self.kept += 1,
            Err(error) => return Err(problem(&super::names::text(name), &error)),
        }
        Ok(())
    }

    fn foreign(
        &mut self,
        service: &Service,
        root: &NamingContext,
        name: &[NameComponent],
        binding: &Binding,
    ) -> Result<(), Problem> {
        let context = service.object(binding.reference.as_deref().unwrap_or("nil"))?;
        self.bind_context(root, name, context.map(NamingContext::from_object).as_ref())
    }

    fn bind_again(
        &mut self,
        service: &Service,
        root: &NamingContext,
        name: &[NameComponent],
        other: &str,
    ) -> Result<(), Problem> {
        let context = match other {
            "" => root.clone(),
            other => {
                let found = root.resolve(&parsed(other)?);
                let found = found.map_err(|error| problem(other, &error))?;
                service.as_context(other, found)?
            }
        };
        self.bind_context(root, name, Some(&context))
    }

    fn bind_context(
        &mut self,
        root: &NamingContext,
        name: &[NameComponent],
        context: Option<&NamingContext>,
    ) -> Result<(), Problem> {
        match root.bind_context(name, context) {
            Ok(()) => self.contexts += 1,
            Err(NamingContextBindContextError::AlreadyBound(_)) => self.kept += 1,
            Err(error) => return Err(problem(&super::names::text(name), &error)),
        }
        Ok(())
    }
}
