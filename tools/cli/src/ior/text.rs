//! Printing of facts as text.

use super::check::{Answer, Endpoint};
use super::report::Shown;
use crate::shown;
use anstyle::{AnsiColor, Style};
use punctual_reference::{ComponentFacts, Octets, ProfileFacts};

const TITLE: Style = AnsiColor::Green.on_default().bold();
const LABEL: Style = AnsiColor::Cyan.on_default();
const GOOD: Style = AnsiColor::Green.on_default();
const PROBLEM: Style = AnsiColor::Red.on_default();

pub(super) fn print(shown: &Shown) {
    let Shown { facts, endpoints } = shown;
    let endpoints = endpoints.as_deref();
    if let Some(name) = &facts.initial_reference {
        line(0, "initial reference", name);
        print_endpoints(endpoints);
        return;
    }
    line(
        0,
        "type",
        if facts.type_id.is_empty() {
            "(not said)"
        } else {
            &facts.type_id
        },
    );
    if facts.nil {
        line(0, "nil", "yes");
    }
    for (index, profile) in facts.profiles.iter().enumerate() {
        print_profile(index, profile);
    }
    print_endpoints(endpoints);
}

fn print_endpoints(endpoints: Option<&[Endpoint]>) {
    let Some(endpoints) = endpoints else {
        return;
    };
    println!("{TITLE}endpoints{TITLE:#}");
    if endpoints.is_empty() {
        println!("  {PROBLEM}none that could be tried{PROBLEM:#}");
    }
    for one in endpoints {
        let (style, said) = match one.reached {
            Answer::Yes => (GOOD, "reachable"),
            Answer::No => (PROBLEM, "not reachable"),
            Answer::Unknown => (Style::new(), "not known"),
        };
        let detail = match &one.detail {
            Some(detail) => format!(": {}", shown::exception(detail)),
            None => String::new(),
        };
        let endpoint = shown::peer(&one.endpoint);
        println!("  {LABEL}{endpoint}{LABEL:#}: {style}{said}{style:#}{detail}");
    }
}

fn print_profile(index: usize, profile: &ProfileFacts) {
    let name = profile
        .name
        .map_or_else(|| format!("{:#010x}", profile.tag), str::to_owned);
    println!("{TITLE}profile {index}: {name}{TITLE:#}");
    if let Some(problem) = &profile.problem {
        println!(
            "  {PROBLEM}does not decode: {}{PROBLEM:#}",
            shown::exception(problem)
        );
    }
    let texts = [
        ("version", &profile.version),
        ("protocol", &profile.protocol),
        ("host", &profile.host),
        ("path", &profile.path),
    ];
    for (label, text) in texts {
        if let Some(text) = text {
            line(1, label, text);
        }
    }
    for place in &profile.places {
        line(1, "place", place);
    }
    if let Some(port) = profile.port {
        line(1, "port", &port.to_string());
    }
    if let Some(key) = &profile.object_key {
        octets(1, "object key", key);
    }
    if let Some(data) = &profile.data {
        octets(1, "data", data);
    }
    for component in &profile.components {
        print_component(component);
    }
}

fn print_component(component: &ComponentFacts) {
    let tag = tag(component.tag, component.name);
    println!("  {TITLE}component {tag}{TITLE:#}");
    if let Some(problem) = &component.problem {
        println!(
            "    {PROBLEM}does not decode: {}{PROBLEM:#}",
            shown::exception(problem)
        );
    }
    for fact in &component.meaning {
        line(2, fact.what, &fact.value);
    }
    if let Some(data) = &component.data {
        octets(2, "data", data);
    }
}

/// Formats a tag. Named tags of the standard are small numbers; those of vendors are letters, shown
/// in hex.
fn tag(tag: u32, name: Option<&str>) -> String {
    match name {
        Some(name) if tag <= 0xffff => format!("{tag}: {name}"),
        Some(name) => format!("{tag:#010x}: {name}"),
        None => format!("{tag:#010x}"),
    }
}

fn line(depth: usize, label: &str, value: &str) {
    let value = shown::peer(value);
    println!(
        "{:indent$}{LABEL}{label}{LABEL:#}: {value}",
        "",
        indent = depth * 2
    );
}

fn octets(depth: usize, label: &str, octets: &Octets) {
    let plural = if octets.length == 1 { "" } else { "s" };
    line(depth, label, &format!("{} octet{plural}", octets.length));
    if octets.length > 0 {
        line(depth + 1, "hex", &octets.hex);
        line(depth + 1, "text", &octets.text);
    }
}
