//! Members in another process.

use super::support::{LIMIT, Server, group_address, is_absent, orb, tell};
use crate::support::watchdog;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Environment variable of the other process: the group's URL.
const JOINS: &str = "PUNCTUAL_MULTICAST_JOINS";

#[test]
fn processes_of_one_host_are_members_of_one_group() {
    let _watchdog = watchdog(LIMIT);
    if is_absent() {
        return;
    }
    let url = format!("corbaloc:miop:1.0@1.0-tests-9/{}", group_address());
    let mut children: Vec<_> = (0..2)
        .map(|_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["multicast::process::another_process", "--exact"])
                .args(["--ignored", "--nocapture", "--test-threads=1"])
                .env(JOINS, &url)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
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
