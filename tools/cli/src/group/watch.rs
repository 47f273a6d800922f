//! `punctual group watch`: what changes in the groups.

use super::list::{kind, state};
use super::service::{Common, all, text};
use crate::call::Problem;
use crate::shown;
use crate::time::with_unit;
use punctual_groups_client::punctual_groups::Group;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// A line for each change has the group's number, the member's location, what it was and what it is. The first lines are what there
/// is at the start.
#[derive(Debug, clap::Args)]
pub(crate) struct Watch {
    /// Show this group alone, by its number.
    group: Option<u64>,
    /// Time between two looks, e.g. 100ms or 1s, with its unit.
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = with_unit)]
    interval: Duration,
    /// End after this many looks.
    #[arg(long, value_name = "NUMBER")]
    count: Option<u64>,
    /// Print a line of JSON for each change.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: Common,
}

/// What is shown of groups and members: by group and, for a member, location.
type Seen = BTreeMap<(u64, Option<String>), String>;

pub(super) fn watch(options: &Watch, orb_options: &[String]) -> Result<(), Problem> {
    let (_orb, service) = options.common.resolve(orb_options)?;
    let mut before = Seen::new();
    let mut looks = 0;
    loop {
        let groups = all(&service)?;
        let now = seen(&groups, options.group);
        for line in changes(&before, &now, options.json) {
            println!("{line}");
        }
        before = now;
        looks += 1;
        if options.count.is_some_and(|count| looks >= count) {
            return Ok(());
        }
        std::thread::sleep(options.interval);
    }
}

fn seen(groups: &[Group], only: Option<u64>) -> Seen {
    let groups = groups
        .iter()
        .filter(|group| only.is_none_or(|id| group.id == id));
    let mut seen = Seen::new();
    for group in groups {
        seen.insert((group.id, None), kind(group));
        for member in &group.the_members {
            let at = (group.id, Some(text(&member.the_location)));
            seen.insert(at, state(member).to_owned());
        }
    }
    seen
}

fn changes(before: &Seen, now: &Seen, as_json: bool) -> Vec<String> {
    let keys = before
        .keys()
        .chain(now.keys().filter(|key| !before.contains_key(*key)));
    let changed = keys.filter(|key| before.get(*key) != now.get(*key));
    let line = |key: &(u64, Option<String>)| {
        let (was, is) = (before.get(key), now.get(key));
        let (id, at) = key;
        if as_json {
            let change = json!({ "group": id, "location": at, "was": was, "is": is });
            return shown::json(change);
        }
        let gone = "gone".to_owned();
        let is = is.unwrap_or(&gone);
        let at = at
            .as_ref()
            .map_or_else(String::new, |at| format!("  {}", shown::peer(at)));
        match was {
            Some(was) => format!("{id}{at}  {was} -> {is}"),
            None => format!("{id}{at}  {is}"),
        }
    };
    changed.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_goes_and_changes_is_shown_once() {
        let of = |all: &[(u64, Option<&str>, &str)]| -> Seen {
            let one = |(id, at, what): &(u64, Option<&str>, &str)| {
                ((*id, at.map(str::to_owned)), (*what).to_owned())
            };
            all.iter().map(one).collect()
        };
        let before = of(&[
            (1, None, "warm-passive"),
            (1, Some("a"), "primary"),
            (1, Some("b"), "member"),
        ]);
        let now = of(&[
            (1, None, "warm-passive"),
            (1, Some("b"), "primary"),
            (2, None, "Random"),
        ]);
        let text = changes(&before, &now, false);
        assert_eq!(
            text,
            [
                "1  a  primary -> gone",
                "1  b  member -> primary",
                "2  Random"
            ]
        );
        assert_eq!(
            changes(&before, &now, true)[1],
            r#"{"group":1,"is":"primary","location":"b","was":"member"}"#
        );
        assert!(changes(&now, &now, false).is_empty());
    }
}
