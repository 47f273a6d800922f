//! Members in another process.

use super::support::{LIMIT, Server, group_address, is_absent, orb, tell};
use crate::support::watchdog;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Environment variables of the other process: the URL of the group that it joins, or to which it sends.
const JOINS: &str = "PUNCTUAL_MULTICAST_JOINS";
const TELLS: &str = "PUNCTUAL_MULTICAST_TELLS";

/// Returns the command that runs this program's test of another process: as a member of a group.
pub(super) fn joining(command: Command, url: &str) -> Command {
    other(command, JOINS, url)
}

/// As [`joining`], for a process that sends to a group and ends.
pub(super) fn telling(command: Command, url: &str) -> Command {
    other(command, TELLS, url)
}

fn other(mut command: Command, variable: &str, url: &str) -> Command {
    command
        .args(["multicast::process::another_process", "--exact"])
        .args(["--ignored", "--nocapture", "--test-threads=1"])
        .env(variable, url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

#[test]
fn processes_of_one_host_are_members_of_one_group() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let url = format!("corbaloc:miop:1.0@1.0-tests-9/{}", group_address());
    let mut children: Vec<_> = (0..2)
        .map(|_| {
            let this = Command::new(std::env::current_exe().unwrap());
            joining(this, &url).spawn().unwrap()
        })
        .collect();
    let mut lines: Vec<_> = children
        .iter_mut()
        .map(|child| BufReader::new(child.stdout.take().unwrap()).lines())
        .collect();
    for lines in &mut lines {
        assert!(lines.any(|line| line.unwrap().ends_with("@joined")));
    }
    let here = Server::new();
    here.member("here", &here.orb.string_to_object(&url).unwrap());
    let client = orb();
    tell(&client.string_to_object(&url).unwrap(), "all").unwrap();
    assert_eq!(here.heard.wait_for(1), ["here all"]);
    for lines in &mut lines {
        assert!(lines.any(|line| line.unwrap().ends_with("@there all")));
    }
    for child in &mut children {
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
    client.shutdown(true).unwrap();
    here.orb.shutdown(true).unwrap();
}

#[test]
#[ignore = "what another test runs as another process"]
fn another_process() {
    if let Ok(url) = std::env::var(TELLS) {
        let client = orb();
        tell(&client.string_to_object(&url).unwrap(), "all").unwrap();
        return client.shutdown(true).unwrap();
    }
    let Ok(url) = std::env::var(JOINS) else {
        return;
    };
    let server = Server::new();
    server.member("there", &server.orb.string_to_object(&url).unwrap());
    println!("@joined");
    for line in server.heard.wait_for(1) {
        println!("@{line}");
    }
    // The end of the test closes it.
    let _ = std::io::stdin().read(&mut [0]);
    server.orb.shutdown(true).unwrap();
}
