//! References and services: the output of `punctual ior` compared with that of omniORB's `catior`,
//! and omniNames as a server.

use crate::matrix::{Direction, Matrix, Version};
use crate::naming::cos_naming::{NameComponent, NamingContext, NamingContextResolveError};
use crate::params as p;
use crate::process::{self, Running};
use punctual::{Interface, ListenEndpoint, Orb};
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(60);

/// Returns the parsed JSON output of `punctual ior --json`.
fn facts(reference: &str) -> Result<Value, String> {
    let text = process::punctual(&["ior", "--json", reference])?;
    serde_json::from_str(&text).map_err(|error| format!("punctual ior --json: {error}"))
}

/// Compares the output of `punctual ior` and `catior` for a reference of the peer and for one of
/// ours.
pub(crate) fn references(
    orb: &Orb,
    theirs: &str,
    ours: &p::Describe,
    version: Version,
    matrix: &mut Matrix,
) {
    let case = "punctual ior = catior";
    matrix.record(case, version, Direction::To, same_facts(theirs));
    let outcome = orb
        .object_to_string(ours)
        .map_err(|error| error.to_string())
        .and_then(|text| same_facts(&text));
    matrix.record(case, version, Direction::From, outcome);
}

fn same_facts(reference: &str) -> Result<(), String> {
    let ours = facts(reference)?;
    let mut catior = Command::new("catior");
    let theirs = process::succeed("catior", catior.arg("-x").arg(reference), LIMIT)?;
    let expected = as_catior(&ours).ok_or_else(|| format!("unexpected JSON: {ours}"))?;
    let shown: Vec<String> = theirs
        .lines()
        .map(collapse_whitespace)
        .filter(|line| !line.is_empty())
        .collect();
    if shown == expected {
        return Ok(());
    }
    Err(format!("catior says {shown:?}, punctual ior {expected:?}"))
}

/// Replaces each run of white space by one space.
fn collapse_whitespace(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats the output of `punctual ior` as catior would print it.
fn as_catior(facts: &Value) -> Option<Vec<String>> {
    let mut lines = vec![
        format!("Type ID: {}", facts["type_id"]),
        "Profiles:".to_owned(),
    ];
    for (number, profile) in facts["profiles"].as_array()?.iter().enumerate() {
        let number = number + 1;
        if profile["tag"] != 0 {
            // catior knows no other profile.
            let tag = profile["tag"].as_u64()?;
            lines.push(format!("{number}. Unrecognised profile tag: {tag:#x}"));
            continue;
        }
        let (version, host) = (profile["version"].as_str()?, profile["host"].as_str()?);
        let (port, key) = (&profile["port"], &profile["object_key"]);
        let (hex, length) = (key["hex"].as_str()?, &key["length"]);
        lines.push(format!(
            "{number}. IIOP {version} {host} {port} 0x{hex} ({length} bytes)"
        ));
        for component in profile["components"].as_array()? {
            lines.extend(component_lines(component)?);
        }
    }
    Some(lines)
}

fn component_lines(component: &Value) -> Option<Vec<String>> {
    let meanings = component["meaning"].as_array()?.iter();
    let values: Vec<&str> = meanings.filter_map(|fact| fact["value"].as_str()).collect();
    Some(match (component["name"].as_str()?, values.as_slice()) {
        ("ORB_TYPE", [value]) => vec![orb_type(value)?],
        ("CODE_SETS", _) => code_sets(component)?,
        ("OMNIORB_UNIX_TRANS", [host, path]) => {
            vec![format!("TAG_OMNIORB_UNIX_TRANS {host} {path}")]
        }
        ("SSL_SEC_TRANS", [port, supports, requires]) => {
            let (supports, requires) = (association(supports)?, association(requires)?);
            vec![format!(
                "TAG_SSL_SEC_TRANS port = {port} supports {supports} requires {requires}"
            )]
        }
        (name, _) => vec![format!("TAG_{name}")],
    })
}

/// Returns the association options as a number, given their names (CORBA 3.3 part 2, §10.6.2: the
/// first is 1, and each further one is twice the preceding one).
fn association(names: &str) -> Option<u32> {
    const OPTIONS: [&str; 8] = [
        "NoProtection",
        "Integrity",
        "Confidentiality",
        "DetectReplay",
        "DetectMisordering",
        "EstablishTrustInTarget",
        "EstablishTrustInClient",
        "NoDelegation",
    ];
    let bit = |name| Some(1 << OPTIONS.iter().position(|option| *option == name)?);
    names.split(", ").map(bit).sum()
}

/// Rewrites the ORB type as catior prints it, e.g. `0x41545400 (omniORB)` as `TAG_ORB_TYPE omniORB
/// (ATT\x00)`.
fn orb_type(value: &str) -> Option<String> {
    let (number, name) = value.split_once(' ').unwrap_or((value, "((unknown))"));
    let number = u32::from_str_radix(number.strip_prefix("0x")?, 16).ok()?;
    let text: String = number
        .to_be_bytes()
        .iter()
        .map(|&octet| match octet {
            0x20..0x7f => char::from(octet).to_string(),
            _ => format!("\\x{octet:02x}"),
        })
        .collect();
    // catior knows the name of its own ORB only.
    let name = if name == "(omniORB)" {
        "omniORB"
    } else {
        "(unknown)"
    };
    Some(format!("TAG_ORB_TYPE {name} ({text})"))
}

/// Returns the four lines that catior prints for code sets, with the conversion code sets of each
/// kind joined.
fn code_sets(component: &Value) -> Option<Vec<String>> {
    let named = |what: &str| -> Option<String> {
        let mut names = Vec::new();
        for fact in component["meaning"].as_array()? {
            if fact["what"] == what {
                let (_, name) = fact["value"].as_str()?.split_once('(')?;
                let name = name.strip_suffix(')')?;
                names.push(if name == "UCS-2" {
                    "UCS-2-level-1"
                } else {
                    name
                });
            }
        }
        Some(names.join(", "))
    };
    Some(vec![
        format!("TAG_CODE_SETS char native code set: {}", named("char")?),
        format!("char conversion code sets: {}", named("char conversion")?),
        format!("wchar native code set: {}", named("wchar")?),
        format!("wchar conversion code sets: {}", named("wchar conversion")?),
    ])
}

/// Tests that a name bound in omniNames can be resolved.
pub(crate) fn naming(mine: &p::Named, version: Version, matrix: &mut Matrix) {
    matrix.record(
        "omniNames",
        version,
        Direction::To,
        name_service(mine, version),
    );
}

fn name_service(mine: &p::Named, version: Version) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let port = free_port()?;
    let _omni_names = start_omni_names(folder.path(), port, version)?;
    let orb = Orb::builder()
        .listen(ListenEndpoint::iiop("127.0.0.1", 0))
        .initial_reference(
            "NameService",
            &format!(
                "corbaloc:iiop:{}@127.0.0.1:{port}/NameService",
                version.text()
            ),
        )
        .configure(|config| config.timeouts.call = Some(LIMIT))
        .build()
        .map_err(|error| error.to_string())?;
    let result = bind_and_resolve(&orb, mine);
    orb.shutdown(true).map_err(|error| error.to_string())?;
    result
}

/// Returns a port that was free at the time of the call; omniNames publishes whatever port it is
/// given.
pub(crate) fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener
        .local_addr()
        .map(|address| address.port())
        .map_err(|error| error.to_string())
}

/// Starts omniNames, which stores its log in a folder.
pub(crate) fn start_omni_names(
    folder: &std::path::Path,
    port: u16,
    version: Version,
) -> Result<Running, String> {
    let mut command = Command::new("omniNames");
    command
        .args(["-start", &port.to_string(), "-logdir"])
        .arg(folder);
    command.args(["-errlog"]).arg(folder.join("errors"));
    command.args(["-ORBmaxGIOPVersion", version.text()]);
    let running = Running::start("omniNames", &mut command)?;
    let deadline = Instant::now() + LIMIT;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > deadline {
            return Err("omniNames does not listen".to_owned());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(running)
}

fn bind_and_resolve(orb: &Orb, mine: &p::Named) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let service = orb
        .resolve_initial_references("NameService")
        .map_err(|error| failed(&error))?;
    // omniNames listens before it has its objects.
    let deadline = Instant::now() + LIMIT;
    let service = loop {
        match NamingContext::narrow(service.clone()) {
            Err(early)
                if early.kind() == punctual::SystemExceptionKind::ObjectNotExist
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            narrowed => break narrowed.map_err(|error| failed(&error))?,
        }
    };
    let name = [NameComponent {
        id: "interop".to_owned(),
        kind: "object".to_owned(),
    }];
    service
        .bind(&name, Some(mine.as_object()))
        .map_err(|error| failed(&error))?;
    let found = service.resolve(&name).map_err(|error| failed(&error))?;
    let found = p::Named::narrow(found).map_err(|error| failed(&error))?;
    let said = found.name().map_err(|error| failed(&error))?;
    if said != "Punctual" {
        return Err(format!("the object found is called `{said}`"));
    }
    service.unbind(&name).map_err(|error| failed(&error))?;
    match service.resolve(&name) {
        Err(NamingContextResolveError::NotFound(_)) => Ok(()),
        other => Err(format!("{other:?} instead of NotFound")),
    }
}
