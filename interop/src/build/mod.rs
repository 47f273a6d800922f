//! Builds the peers' programs into the target folder.

pub(crate) mod jacorb;
pub(crate) mod omniorb;

use std::path::Path;

/// Implied IDL of `idl/plain.idl`, written by `build.rs`.
const IMPLIED: &str = include_str!(concat!(env!("OUT_DIR"), "/implied.idl"));
/// IDL of the module Messaging, which the implied IDL includes.
const MESSAGING: &str = include_str!("../../../crates/idl/idl/src/builtin/Messaging.idl");

/// IDL preprocessor option that leaves out the types of pollers, which the peer ORBs declare
/// themselves.
const WITHOUT_POLLERS: &str = "-DAMI_NO_POLLERS";

/// Pragmas that give the renamed types their original repository ids.
const IDS: &str = "\
#pragma ID ReplyHandler \"IDL:omg.org/Messaging/ReplyHandler:1.0\"
#pragma ID ExceptionState \"IDL:omg.org/Messaging/ExceptionHolder:1.0\"
#ifndef AMI_NO_POLLERS";

/// Writes the implied IDL of `idl/plain.idl` as files that the peers compile as ordinary IDL: `implied_messaging.idl` and
/// `plain_handlers.idl`.
///
/// The module Messaging and its valuetype are renamed there but keep their repository ids: both
/// peers already have a module of this name, and JacORB's compiler adds an underscore to names that
/// end with `Holder`.
fn write_implied(folder: &Path) -> Result<(), String> {
    let messaging = MESSAGING
        .replace("module Messaging", "module Implied_Messaging")
        .replace("valuetype ExceptionHolder", "valuetype ExceptionState")
        .replace("#pragma prefix \"omg.org\"\n", "")
        .replace("#ifndef AMI_NO_POLLERS", IDS);
    let handlers = IMPLIED
        .replace("<Messaging.idl>", "\"implied_messaging.idl\"")
        .replace("::Messaging::", "::Implied_Messaging::")
        .replace("::ExceptionHolder", "::ExceptionState");
    for (name, text) in [
        ("implied_messaging.idl", messaging),
        ("plain_handlers.idl", handlers),
    ] {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}
