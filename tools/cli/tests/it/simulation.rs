//! `punctual demo simulation` on this machine.

use crate::support::{punctual, text};
use serde_json::Value;

fn number(counts: &Value, name: &str) -> u64 {
    counts[name].as_u64().unwrap()
}

#[test]
fn hosts_on_this_machine_show_the_entities_of_all_and_tell_what_is_lost() {
    // Of this process alone: groups on the loopback interface reach all processes of the machine.
    let id = std::process::id();
    let group = format!(
        "239.255.{}.{}:{}",
        id % 200,
        id / 200 % 250 + 1,
        20_000 + id % 20_000
    );
    let arguments = [
        "demo",
        "simulation",
        "--for",
        "1s",
        "--entities",
        "9",
        "--group",
        &group,
        "--json",
    ];
    let output = punctual(&arguments);
    let said = text(output.stderr);
    assert!(output.status.success(), "{said}");
    let lines = text(output.stdout);
    let hosts: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(hosts.len(), 3);
    let sent: u64 = hosts.iter().map(|host| number(host, "sent")).sum();
    for host in &hosts {
        let of_others = sent - number(host, "sent");
        assert!(
            number(host, "received") + number(host, "lost") <= of_others,
            "{host}"
        );
        assert!(number(host, "sent") >= 3, "{host}");
        assert_eq!(number(host, "foreign"), 0);
    }
}

#[test]
fn a_host_that_the_simulation_does_not_have_is_an_error() {
    let output = punctual(&["demo", "simulation", "--host", "3"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(output.stderr);
    assert!(said.contains("there is no host 3 of 3"), "{said}");
}
