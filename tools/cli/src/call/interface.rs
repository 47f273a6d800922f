//! Interface of an object: from an IDL file, from an Interface Repository, or from the object
//! itself.

use punctual::any::{DynamicFactory, TypeKind};
use punctual::description::{InterfaceDescription, Repository};
use punctual::{ObjectRef, Orb, SystemException, SystemExceptionKind as Kind, TypeCode};
use punctual_idl::diagnostic::render;
use punctual_idl::model::{DeclId, Specification};
use punctual_idl_describe as describe;
use std::io::IsTerminal;
use std::path::Path;

use super::found::FoundInterface;
use super::group;
use super::names::Types;
use super::problem::{ON_REFERENCES, Problem};
use super::target;
use super::target_options::Common;
use crate::idl_options::IdlOptions;
use crate::{shown, value_types};

pub(super) fn find(
    orb: &Orb,
    object: &ObjectRef,
    common: &Common,
) -> Result<FoundInterface, Problem> {
    if let Some(file) = &common.idl {
        return from_idl(orb, file, object, common);
    }
    if let Some(repository) = repository(orb, common.ifr.as_deref())? {
        let interface = from_repository(&repository, object, common)?;
        return with_value_types(orb, &repository, FoundInterface::described(interface));
    }
    match punctual::description::interface_of(object) {
        Ok(Some(interface)) => Ok(with_value_types_of(
            orb,
            object,
            FoundInterface::described(interface),
        )),
        Ok(None) => Err(Problem::usage(DOES_NOT_TELL, ON_INTERFACES)),
        Err(exception) if is_not_told(&exception) => Err(Problem::System(
            exception.in_context(DOES_NOT_TELL),
            Some(ON_INTERFACES.to_owned()),
        )),
        // The object was not reached, or refused the request: another source of its interface
        // changes nothing.
        Err(exception) => Err(Problem::System(exception, None)),
    }
}

const DOES_NOT_TELL: &str = "the object does not tell its interface";
const ON_INTERFACES: &str =
    "name its IDL with --idl FILE, or an Interface Repository with --ifr REFERENCE";

/// Returns `true` if an object answered that it knows no repository, or does not support the query
/// for its interface.
fn is_not_told(exception: &SystemException) -> bool {
    matches!(
        exception.kind(),
        Kind::IntfRepos | Kind::NoImplement | Kind::BadOperation
    )
}

/// Returns the repository given on the command line, or in the ORB's configuration.
pub(crate) fn repository(orb: &Orb, ifr: Option<&str>) -> Result<Option<Repository>, Problem> {
    let name = "InterfaceRepository";
    let object = match ifr {
        Some(reference) => target::object(orb, reference)
            .map_err(|message| Problem::usage(message, ON_REFERENCES))?,
        None if orb.list_initial_services().iter().any(|one| one == name) => orb
            .resolve_initial_references(name)
            .map_err(|exception| Problem::System(exception, None))?,
        None => return Ok(None),
    };
    Ok(Some(Repository::new(&object)))
}

fn from_repository(
    repository: &Repository,
    object: &ObjectRef,
    common: &Common,
) -> Result<InterfaceDescription, Problem> {
    let id = match &common.interface {
        Some(name) if name.contains(':') && !name.contains("::") => name.clone(),
        Some(name) => format!(
            "IDL:{}:1.0",
            name.trim_start_matches("::").replace("::", "/")
        ),
        None if is_untyped(object) => return asked(repository, object),
        None => object.type_id().to_owned(),
    };
    let interface = repository.interface(&id).map_err(of_repository)?;
    interface.ok_or_else(|| {
        Problem::usage(
            format!(
                "the Interface Repository does not know `{}`",
                shown::peer(&id)
            ),
            "name the interface with --interface, or its IDL with --idl FILE",
        )
    })
}

fn of_repository(exception: SystemException) -> Problem {
    Problem::System(exception.in_context("the Interface Repository"), None)
}

/// Adds the repository's valuetypes if the interface has values, and registers factories for them: a value of a
/// derived type is sent and read as such where its base is declared.
fn with_value_types(
    orb: &Orb,
    repository: &Repository,
    mut found: FoundInterface,
) -> Result<FoundInterface, Problem> {
    if has_values(orb, &found) {
        let value_types = repository.value_types().map_err(of_repository)?;
        found = known(orb, found, value_types);
    }
    Ok(found)
}

/// Adds the valuetypes of the repository that describes an object, as [`with_value_types`] does. Where they are not
/// available, a note says what is not shown.
fn with_value_types_of(orb: &Orb, object: &ObjectRef, found: FoundInterface) -> FoundInterface {
    if !has_values(orb, &found) {
        return found;
    }
    let repository = Repository::of(object).ok().flatten();
    let value_types = repository.and_then(|repository| repository.value_types().ok());
    match value_types {
        Some(value_types) => known(orb, found, value_types),
        None => {
            eprintln!(
                "note: the object's Interface Repository does not list its valuetypes: a value of a derived type is \
                 shown as its base; --idl FILE shows all of it"
            );
            found
        }
    }
}

/// Returns `true` if operations of an interface have values.
fn has_values(orb: &Orb, found: &FoundInterface) -> bool {
    let is_value =
        |type_code: &TypeCode| matches!(type_code.kind(), TypeKind::Value | TypeKind::Event);
    Types::new(orb, found).any(is_value)
}

/// Registers factories for valuetypes.
fn known(orb: &Orb, mut found: FoundInterface, value_types: Vec<TypeCode>) -> FoundInterface {
    for type_code in &value_types {
        // Only their own code reads the state of custom ones.
        if let Ok(factory) = DynamicFactory::new(type_code) {
            orb.register_value_factory(factory);
        }
    }
    found.value_types = value_types;
    found
}

/// Returns `true` if a reference does not name a type more specific than Object.
fn is_untyped(object: &ObjectRef) -> bool {
    matches!(object.type_id(), "" | "IDL:omg.org/CORBA/Object:1.0")
}

/// Returns the interface of an object whose reference does not name it: the one that the object
/// reports, or the most derived one of the repository that it supports.
fn asked(repository: &Repository, object: &ObjectRef) -> Result<InterfaceDescription, Problem> {
    let raised = |exception| Problem::System(exception, None);
    let told = match punctual::description::repository_id_of(object) {
        Ok(id) => repository.interface(&id).map_err(of_repository)?,
        Err(exception) if is_not_told(&exception) => None,
        Err(exception) => return Err(raised(exception)),
    };
    let mut nearest = told;
    if nearest.is_none() {
        for id in repository.interface_ids().map_err(of_repository)? {
            if object.is_a(&id).map_err(raised)? {
                nearest = nearer(repository, nearest, &id).map_err(of_repository)?;
            }
        }
    }
    nearest.ok_or_else(|| {
        Problem::usage(
            "the Interface Repository knows none of the object's interfaces",
            "name the object's IDL with --idl FILE",
        )
    })
}

/// Returns the interface with this id, unless it is a base of the most derived one found so far.
fn nearer(
    repository: &Repository,
    nearest: Option<InterfaceDescription>,
    id: &str,
) -> Result<Option<InterfaceDescription>, SystemException> {
    let found = repository.interface(id)?;
    match (&found, &nearest) {
        (Some(_), None) => Ok(found),
        (Some(derived), Some(base)) if derives(repository, derived, &base.id)? => Ok(found),
        _ => Ok(nearest),
    }
}

/// Maximum number of bases of an interface that are examined: a repository may be malicious.
const MOST_BASES: usize = 1000;

/// Returns `true` if an interface derives from another, at any distance.
fn derives(
    repository: &Repository,
    interface: &InterfaceDescription,
    from: &str,
) -> Result<bool, SystemException> {
    let (mut to_see, mut seen) = (interface.bases.clone(), Vec::new());
    while let Some(id) = to_see.pop() {
        if id == from {
            return Ok(true);
        }
        if seen.contains(&id) || seen.len() == MOST_BASES {
            continue;
        }
        if let Some(base) = repository.interface(&id)? {
            to_see.extend(base.bases);
        }
        seen.push(id);
    }
    Ok(false)
}

/// Compiles an IDL file and returns its declarations; prints its errors.
pub(crate) fn compiled(file: &Path, options: &IdlOptions) -> Result<Specification, Problem> {
    match punctual_idl::compile(file, &options.front()) {
        Ok(compilation) => Ok(compilation.specification),
        Err(failure) => {
            let in_colour = std::io::stderr().is_terminal();
            eprintln!("{}", render(&failure.diagnostics, in_colour).trim_end());
            Err(Problem::Shown)
        }
    }
}

fn from_idl(
    orb: &Orb,
    file: &Path,
    object: &ObjectRef,
    common: &Common,
) -> Result<FoundInterface, Problem> {
    let specification = compiled(file, &common.front)?;
    let id = match &common.interface {
        Some(name) => by_name(&specification, name)?,
        None => by_object(&specification, object)?,
    };
    // A value of a derived type is read as such where its base is declared.
    for factory in value_types::factories(&specification) {
        orb.register_value_factory(factory);
    }
    let interface = describe::interface(&specification, id);
    let interface =
        interface.ok_or_else(|| Problem::Usage("it is not an interface".into(), None))?;
    Ok(FoundInterface {
        interface,
        specification: Some(specification),
        value_types: Vec::new(),
    })
}

fn by_name(specification: &Specification, name: &str) -> Result<DeclId, Problem> {
    let mut all = describe::interfaces(specification);
    let scoped = name.trim_start_matches("::");
    let found = all.find(|one| one.repository_id == name || one.scoped_name.join("::") == scoped);
    found.map(|one| one.id).ok_or_else(|| {
        let message = format!("the IDL declares no interface `{name}`");
        Problem::Usage(message, Some(declared(specification)))
    })
}

/// Returns the interface that the reference names. If it names none, the object is asked whether it
/// supports each interface of the main file.
fn by_object(specification: &Specification, object: &ObjectRef) -> Result<DeclId, Problem> {
    let of_type = describe::interfaces(specification)
        .find(|one| one.repository_id == object.type_id())
        .map(|one| one.id);
    if let Some(id) = of_type {
        return Ok(id);
    }
    if group::is_group(object) {
        return of_group(specification);
    }
    let mut found: Option<DeclId> = None;
    for one in describe::interfaces(specification).filter(|one| one.in_main_file) {
        // An interface that derives from the one found so far is preferred.
        if found.is_some_and(|found| !specification.derives_from(one.id, found)) {
            continue;
        }
        let is_it = object.is_a(&one.repository_id);
        if is_it.map_err(|exception| Problem::System(exception, None))? {
            found = Some(one.id);
        }
    }
    found.ok_or_else(|| {
        let message = match object.type_id() {
            "" => "the IDL declares none of the object's interfaces".to_owned(),
            id => format!(
                "the IDL does not declare the object's interface, `{}`",
                shown::peer(id)
            ),
        };
        Problem::Usage(message, Some(declared(specification)))
    })
}

/// Returns the only interface of the main file: a multicast group cannot be asked for its own.
fn of_group(specification: &Specification) -> Result<DeclId, Problem> {
    let mut of_file = describe::interfaces(specification).filter(|one| one.in_main_file);
    match (of_file.next(), of_file.next()) {
        (Some(only), None) => Ok(only.id),
        _ => {
            let message = "a multicast group cannot be asked for its interface";
            Err(Problem::Usage(
                message.into(),
                Some(declared(specification)),
            ))
        }
    }
}

fn declared(specification: &Specification) -> String {
    let names: Vec<String> = describe::interfaces(specification)
        .map(|one| format!("`{}`", one.scoped_name.join("::")))
        .collect();
    match names.as_slice() {
        [] => "it declares no interface".to_owned(),
        names => format!("it declares {}; --interface chooses one", names.join(", ")),
    }
}
