//! `punctual group list`: the groups of a service, with their members.

use super::service::{Common, all, text};
use crate::call::Problem;
use crate::shown;
use anstyle::{AnsiColor, Style};
use punctual::Orb;
use punctual_groups_client::punctual_groups::{Group, Member};
use serde_json::{Value, json};

/// A line for each group has its number, its type, its style or strategy and the version of its reference; below it, one has the
/// lengths of the stored state and of the updates since, if there is a state, and a line for each member has its location, what it is, its load, its lease and how often it was chosen.
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

pub(super) fn list(options: &List, orb_options: &[String]) -> Result<(), Problem> {
    let (orb, service) = options.common.resolve(orb_options)?;
    let groups = all(&service)?;
    match options.json {
        true => {
            let all: Vec<Value> = groups.iter().map(|group| as_json(&orb, group)).collect();
            println!("{}", shown::json(format_args!("{:#}", json!(all))));
        }
        false => groups.iter().for_each(print),
    }
    Ok(())
}

fn print(group: &Group) {
    let bold = Style::new().bold();
    println!(
        "{bold}{}{bold:#}  {}  {}  version {}",
        group.id,
        shown::peer(&group.type_id),
        kind(group),
        group.version
    );
    if group.state_bytes > 0 || group.updates > 0 {
        println!("    {}", stored(group));
    }
    let rows: Vec<[String; 2]> = group.the_members.iter().map(row).collect();
    let width = rows
        .iter()
        .map(|[at, _]| at.chars().count())
        .max()
        .unwrap_or(0);
    for ([at, what], member) in rows.iter().zip(&group.the_members) {
        let colour = colour(member);
        println!("    {at:width$}  {colour}{}{colour:#}{what}", state(member));
    }
}

/// Returns the style of a group, or its strategy.
pub(super) fn kind(group: &Group) -> String {
    match group.strategy.is_empty() {
        true => shown::peer(&group.style),
        false => shown::peer(&group.strategy),
    }
}

/// Returns what is stored for the next primary, in words.
fn stored(group: &Group) -> String {
    let updates = match group.updates {
        0 => "no updates".to_owned(),
        1 => format!("1 update of {} bytes", group.update_bytes),
        some => format!("{some} updates of {} bytes", group.update_bytes),
    };
    format!("state of {} bytes, {updates} since", group.state_bytes)
}

fn row(member: &Member) -> [String; 2] {
    let mut what = String::new();
    if member.is_loaded {
        what.push_str(&format!("  load {:.2}", member.load));
    }
    if member.lease_ms > 0 {
        what.push_str(&format!("  lease {} ms", member.lease_ms));
    }
    if member.chosen > 0 {
        what.push_str(&format!("  chosen {}", member.chosen));
    }
    [shown::peer(text(&member.the_location)), what]
}

/// Returns what a member is, in words.
pub(super) fn state(member: &Member) -> &'static str {
    match (
        member.is_alive,
        member.is_primary,
        member.is_draining,
        member.is_alerted,
    ) {
        (false, ..) => "dead",
        (_, true, true, _) => "primary, draining",
        (_, true, false, _) => "primary",
        (_, _, true, _) => "draining",
        (_, _, _, true) => "overloaded",
        _ => "member",
    }
}

fn colour(member: &Member) -> Style {
    match state(member) {
        "dead" => AnsiColor::Red.on_default(),
        "member" => Style::new(),
        "primary" => AnsiColor::Green.on_default(),
        _ => AnsiColor::Yellow.on_default(),
    }
}

fn as_json(orb: &Orb, group: &Group) -> Value {
    let members = group.the_members.iter().map(|member| {
        json!({
            "location": text(&member.the_location),
            "state": state(member),
            "primary": member.is_primary,
            "alive": member.is_alive,
            "draining": member.is_draining,
            "overloaded": member.is_alerted,
            "load": member.is_loaded.then_some(member.load),
            "lease_ms": member.lease_ms,
            "chosen": member.chosen,
            "reference": orb.object_to_string(&member.reference).unwrap_or_default(),
        })
    });
    json!({
        "group": group.id,
        "type": group.type_id,
        "style": group.style,
        "strategy": group.strategy,
        "version": group.version,
        "state_bytes": group.state_bytes,
        "updates": group.updates,
        "update_bytes": group.update_bytes,
        "reference": orb.object_to_string(&group.reference).unwrap_or_default(),
        "members": members.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_the_log_stands_beside_that_of_the_state() {
        let mut group = Group {
            state_bytes: 1_048_576,
            ..Group::default()
        };
        assert_eq!(stored(&group), "state of 1048576 bytes, no updates since");
        (group.updates, group.update_bytes) = (1, 12);
        assert_eq!(
            stored(&group),
            "state of 1048576 bytes, 1 update of 12 bytes since"
        );
        (group.updates, group.update_bytes) = (20, 240);
        assert_eq!(
            stored(&group),
            "state of 1048576 bytes, 20 updates of 240 bytes since"
        );
    }
}
