//! Lookup of names: types in JSON, references, and shell completion.

use std::collections::HashMap;
use std::ffi::OsStr;

use clap::Parser;
use clap_complete::CompletionCandidate;
use punctual::json::Names;
use punctual::{Orb, TypeCode};
use punctual_idl_describe as describe;
use punctual_ior::Ior;

use super::found::FoundInterface;
use super::target::object;
use crate::idl_options::IdlOptions;

/// Types of an IDL file, or those that an interface mentions.
pub(super) struct Types<'f> {
    orb: &'f Orb,
    found: &'f FoundInterface,
    /// Types by scoped name and by repository id.
    mentioned: HashMap<String, TypeCode>,
}

impl<'f> Types<'f> {
    pub(super) fn new(orb: &'f Orb, found: &'f FoundInterface) -> Self {
        let mut this = Self {
            orb,
            found,
            mentioned: HashMap::new(),
        };
        let interface = &found.interface;
        for operation in &interface.operations {
            this.mention(&operation.result);
            for parameter in &operation.parameters {
                this.mention(&parameter.type_code);
            }
        }
        for attribute in &interface.attributes {
            this.mention(&attribute.type_code);
        }
        for type_code in &found.value_types {
            this.mention(type_code);
        }
        this
    }

    /// Returns `true` if a type that the interface mentions satisfies a condition.
    pub(super) fn any(&self, is_meant: impl Fn(&TypeCode) -> bool) -> bool {
        self.mentioned.values().any(is_meant)
    }

    /// Adds a type and its parts. A malicious repository may send a description without ids that
    /// contains itself, so the number of parts is limited.
    fn mention(&mut self, type_code: &TypeCode) {
        let mut to_see = vec![type_code.clone()];
        for _ in 0..super::show::MOST_PARTS {
            let Some(type_code) = to_see.pop() else {
                return;
            };
            let id = type_code.id().unwrap_or_default();
            if self.mentioned.contains_key(id) {
                continue;
            }
            to_see.extend(super::show::parts(&type_code));
            if !id.is_empty() {
                let name = type_code.to_string();
                self.mentioned.insert(id.to_owned(), type_code.clone());
                self.mentioned.insert(name, type_code);
            }
        }
    }
}

impl Names for Types<'_> {
    fn type_code(&self, name: &str) -> Option<TypeCode> {
        let name = name.trim_start_matches("::");
        if let Some(type_code) = self.mentioned.get(name) {
            return Some(type_code.clone());
        }
        let specification = self.found.specification.as_ref()?;
        let by_id = || {
            let mut all = specification.declarations.iter();
            all.find(|one| one.repository_id == name)
        };
        let declared = specification.find(name).or_else(by_id)?;
        describe::type_code(specification, declared.id)
    }

    fn reference(&self, text: &str) -> Result<Ior, String> {
        if text.is_empty() {
            return Ok(Ior::nil());
        }
        Ok(object(self.orb, text)?.ior().clone())
    }
}

/// Returns the operations declared by the IDL on the command line that begin with the typed text.
pub(super) fn operations(typed: &OsStr) -> Vec<CompletionCandidate> {
    completed(typed, |interface| {
        let names = interface.operations.iter();
        names.map(|one| one.name.clone()).collect()
    })
}

/// Returns the attributes declared by the IDL on the command line that begin with the typed text.
pub(super) fn attributes(typed: &OsStr) -> Vec<CompletionCandidate> {
    completed(typed, |interface| {
        let names = interface.attributes.iter();
        names.map(|one| one.name.clone()).collect()
    })
}

fn completed(
    typed: &OsStr,
    names: impl Fn(&punctual::description::InterfaceDescription) -> Vec<String>,
) -> Vec<CompletionCandidate> {
    let Some(specification) = specification_on_command_line() else {
        return Vec::new();
    };
    let typed = typed.to_string_lossy();
    let interfaces = describe::interfaces(&specification).filter(|one| one.in_main_file);
    let mut found: Vec<String> = interfaces
        .filter_map(|one| describe::interface(&specification, one.id))
        .flat_map(|interface| names(&interface))
        .filter(|name| name.starts_with(&*typed))
        .collect();
    found.sort();
    found.dedup();
    found.into_iter().map(CompletionCandidate::new).collect()
}

/// Returns the IDL that `--idl FILE` names on the command line being completed.
fn specification_on_command_line() -> Option<punctual_idl::model::Specification> {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |option: &str| {
        let place = arguments.iter().position(|one| one == option)?;
        arguments.get(place + 1).cloned()
    };
    let whole = arguments.iter().find_map(|one| one.strip_prefix("--idl="));
    let file = whole.map(str::to_owned).or_else(|| after("--idl"))?;
    let options = IdlLine::try_parse_from(idl_options_among(&arguments)).ok()?;
    let compilation = punctual_idl::compile(file, &options.idl.front()).ok()?;
    Some(compilation.specification)
}

/// Returns the options of reading IDL among others, behind a program's name.
fn idl_options_among(arguments: &[String]) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-I" | "-D" | "--encoding" => {
                found.push(argument.clone());
                found.extend(rest.next().cloned());
            }
            other if other.starts_with("-I") || other.starts_with("-D") => {
                found.push(argument.clone());
            }
            "--lenient" => found.push(argument.clone()),
            _ => {}
        }
    }
    found
}

/// Command line of options of reading IDL alone.
#[derive(Debug, clap::Parser)]
struct IdlLine {
    #[command(flatten)]
    idl: IdlOptions,
}
