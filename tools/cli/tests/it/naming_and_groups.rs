//! `punctual naming serve --groups`: names and object groups in one process, with one store.

use std::fs::read_to_string;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Process, punctual, serve, text, until};

/// Files of one server, and an address with a port that stays free: no other program and no other test uses the host.
struct Files {
    folder: tempfile::TempDir,
    place: String,
}

impl Files {
    fn new() -> Self {
        let free = TcpListener::bind(("127.79.4.3", 0)).unwrap();
        Self {
            folder: tempfile::tempdir().unwrap(),
            place: free.local_addr().unwrap().to_string(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Starts the server, and returns what it prints to standard output: a reference of names, and one of groups.
    fn start(&self, options: &[&str]) -> (Process, [String; 2]) {
        let endpoint = format!("iiop://{}", self.place);
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["naming", "serve", "--groups", "--listen", &endpoint]);
        command.args(["--store", &self.text("names.redb")]);
        command.args(["--write-reference", &self.text("names.ior")]);
        command.args(["--write-group-reference", &self.text("groups.ior")]);
        command
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = Process(command.spawn().unwrap());
        let mut lines = BufReader::new(process.0.stdout.take().unwrap()).lines();
        let printed = [(); 2].map(|()| lines.next().expect("it has not started").unwrap());
        (process, printed)
    }

    /// Returns the URL of an object of the server.
    fn url(&self, key: &str) -> String {
        format!("corbaloc::{}/{key}", self.place)
    }

    fn naming(&self, command: &[&str], rest: &[&str]) -> String {
        let service = self.url("NameService");
        succeeded(&[&["naming"], command, &["--service", &service], rest].concat())
    }

    fn group(&self, command: &str, rest: &[&str]) -> String {
        let service = self.url("ReplicationManager");
        succeeded(&[&["group", command, "--service", &service], rest].concat())
    }

    /// Returns the locations of the members of the only group, and its number.
    fn listed(&self) -> (Vec<String>, String) {
        let all: Value = serde_json::from_str(&self.group("list", &["--json"])).unwrap();
        assert_eq!(all.as_array().unwrap().len(), 1, "{all}");
        let members = all[0]["members"].as_array().unwrap().iter();
        let location = |one: &Value| one["location"].as_str().unwrap().to_owned();
        (members.map(location).collect(), all[0]["group"].to_string())
    }
}

fn succeeded(arguments: &[&str]) -> String {
    let output = punctual(arguments);
    let said = text(output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    text(output.stdout)
}

/// Waits until a name of a group is resolved: after a start, members are known when the names have asked for them.
fn until_resolved(files: &Files, name: &str) -> String {
    let service = files.url("NameService");
    let resolved = std::cell::RefCell::default();
    until(|| {
        let output = punctual(&["naming", "resolve", "--service", &service, name]);
        let is_resolved = output.status.success();
        *resolved.borrow_mut() = text(output.stdout);
        is_resolved
    });
    resolved.into_inner()
}

#[test]
fn names_and_groups_of_one_process_are_there_again_when_it_is_started_again() {
    let files = Files::new();
    let (mut server, printed) = files.start(&[]);
    for (reference, file) in printed.iter().zip(["names.ior", "groups.ior"]) {
        assert_eq!(
            *reference,
            read_to_string(files.path(file)).unwrap().trim_end()
        );
    }
    files.naming(&["bind"], &["pump", "nil"]);
    files.naming(&["group", "create"], &["plants/servers", "--parents"]);
    // The member is an object that exists: the names themselves.
    let member = files.url("NameService");
    files.naming(&["group", "join"], &["plants/servers", "first", &member]);
    let is_called_by_its_name = || {
        until_resolved(&files, "plants/servers");
        let by_name = format!("corbaname::{}#plants/servers", files.place);
        let listed = succeeded(&["naming", "list", "--service", &by_name]);
        assert_eq!(listed, "plants/\npump\n");
    };
    is_called_by_its_name();
    let before = files.listed();
    assert_eq!(before.0, ["first"]);

    server.signal("-TERM");
    assert!(server.0.wait().unwrap().success());
    let (server, again) = files.start(&[]);
    assert_eq!(again, printed);
    assert_eq!(files.listed(), before);
    is_called_by_its_name();
    files.group("remove", &[&before.1, "first"]);
    files.group("add", &[&before.1, "second", &member]);
    assert_eq!(
        until_resolved(&files, "plants/servers/second"),
        until_resolved(&files, "plants/servers")
    );
    drop(server);

    // Killed, too, it loses nothing.
    let (_server, _) = files.start(&[]);
    assert_eq!(files.listed().0, ["second"]);
    is_called_by_its_name();
    files.naming(&["unbind"], &["plants/servers"]);
    // Where the group could not be removed in time, that is tried again.
    until(|| files.group("list", &["--json"]).trim() == "[]");
}

#[test]
fn a_group_is_changed_by_its_name_with_the_rights_of_the_names_and_by_its_reference_with_its_own() {
    let files = Files::new();
    let settings = files.text("groups.toml");
    std::fs::write(&settings, "allow = [\"owner\"]\nmost_members = 1\n").unwrap();
    let options = ["--allow", "=127.0.0.0/8", "--group-settings", &settings];
    let (_server, _) = files.start(&options);
    files.naming(&["group", "create"], &["servers"]);
    let member = files.url("NameService");
    files.naming(&["group", "join"], &["servers", "first", &member]);
    let (members, id) = files.listed();
    assert_eq!(members, ["first"]);
    let refused = |arguments: &[&str]| {
        let output = punctual(arguments);
        assert!(!output.status.success());
        text(output.stderr)
    };
    let groups = files.url("ReplicationManager");
    // This client reaches the server by TCP, not by a Unix socket.
    let said = refused(&["group", "remove", "--service", &groups, &id, "first"]);
    assert!(said.contains("NO_PERMISSION"), "{said}");
    let names = files.url("NameService");
    let join = ["naming", "group", "join", "--service", &names, "servers"];
    let said = refused(&[&join[..], &["second", &member]].concat());
    assert!(said.contains("NO_RESOURCES"), "{said}");
    files.naming(&["group", "leave"], &["servers", "first"]);
    assert_eq!(files.listed().0, [] as [&str; 0]);
}

#[test]
fn options_that_do_not_go_with_groups_keep_the_server_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let with_store = file("store.toml", "store = \"groups.redb\"");
    let with_listen = file("listen.toml", "listen = \"iiop://:1\"");
    let without_rights = file("limits.toml", "most_members = 3");
    let of_names = file(
        "names.toml",
        "groups = true\ngroup_service = \"corbaloc::h/R\"",
    );
    for (options, part) in [
        (
            &["--groups", "--group-service", "corbaloc::h/R"][..],
            "cannot be used with",
        ),
        (&["--groups", "--no-federation"], "cannot be used with"),
        (
            &[
                "--groups",
                "--etcd",
                "127.79.4.3:1",
                "--etcd-prefix",
                "/plant",
            ],
            "other servers may have groups below the default one",
        ),
        (
            &["--settings", &of_names],
            "`groups` and `group-service` cannot be given together",
        ),
        (
            &["--group-settings", &without_rights],
            "`group-settings` needs `groups`",
        ),
        (
            &["--write-group-reference", "groups.ior"],
            "`write-group-reference` needs `groups`",
        ),
        (
            &["--groups", "--group-settings", &with_store],
            "`store` is a setting of the names here",
        ),
        (
            &["--groups", "--group-settings", &with_listen],
            "unknown key `listen`",
        ),
        (
            &["--groups", "--group-settings", "/nowhere.toml"],
            "/nowhere.toml",
        ),
        (
            &["--groups", "--allow", "=local"],
            "anybody could change the groups",
        ),
        (
            &[
                "--groups",
                "--allow",
                "=local",
                "--group-settings",
                &without_rights,
            ],
            "anybody could change the groups",
        ),
    ] {
        let has_store = ["--etcd", of_names.as_str()];
        let memory = match options.iter().any(|option| has_store.contains(option)) {
            true => &[][..],
            false => &["--memory"],
        };
        let output = serve(&[options, memory].concat()).output().unwrap();
        let said = text(output.stderr);
        assert!(!output.status.success(), "{options:?}");
        assert!(said.contains(part), "{options:?}: {said}");
    }
    assert!(!Path::new("groups.ior").exists());
}
