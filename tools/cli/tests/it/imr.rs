//! `punctual imr`: the guide's example, a Naming Service that is started for its clients, and what commands say of mistakes.

use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::{Process, USER_EXCEPTION, punctual, text, until};

/// A repository with an activator, at a Unix socket, until this is dropped.
struct Repository {
    folder: TempDir,
    reference: String,
    _process: Process,
}

impl Repository {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let endpoint = format!("uiop://{}", folder.path().join("imr.orb").display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["imr", "serve", "--activator", "here", "--listen", &endpoint]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Process(command.spawn().unwrap());
        let reference = process.reference();
        assert!(!reference.is_empty(), "it has not started");
        Self {
            folder,
            reference,
            _process: process,
        }
    }

    fn run(&self, command: &str, rest: &[&str]) -> Output {
        let service = ["--service", &self.reference];
        punctual(&[&["imr", command], rest, &service].concat())
    }

    fn succeeds(&self, command: &str, rest: &[&str]) -> String {
        let output = self.run(command, rest);
        let said = text(output.stderr);
        assert!(output.status.success(), "{said}");
        text(output.stdout)
    }

    fn fails(&self, command: &str, rest: &[&str], status: i32) -> String {
        let output = self.run(command, rest);
        assert_eq!(output.status.code(), Some(status));
        text(output.stderr)
    }

    /// Returns the state of a server as `list` has it.
    fn state(&self, name: &str) -> String {
        let listed = self.succeeds("list", &["--json"]);
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let servers = listed.as_array().unwrap();
        let server = servers.iter().find(|server| server["server"] == name);
        server.unwrap()["state"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_naming_service_that_is_asked_to_end_is_there_for_the_next_client_with_all_of_its_names() {
    let repository = Repository::new();
    let file = |name: &str| repository.folder.path().join(name).display().to_string();
    let (store, names) = (file("names.redb"), file("names.ior"));
    let line = format!(
        "'{}' naming serve --listen iiop://127.0.0.1:0 --store '{store}' --write-reference '{names}' -ORBUseImR 1 \
         -ORBImplRepoServiceIOR {}",
        env!("CARGO_BIN_EXE_punctual"),
        repository.reference
    );
    repository.succeeds("add", &["NamingContexts", "--command", &line]);
    repository.succeeds("start", &["NamingContexts"]);
    let naming = |arguments: &[&str]| {
        let output = punctual(&[&["naming"], arguments, &["--service", &names]].concat());
        assert!(output.status.success(), "{}", text(output.stderr));
        text(output.stdout)
    };
    naming(&["bind", "pump", "nil"]);
    for _ in 0..3 {
        // The old process has the store until it has ended.
        repository.succeeds("stop", &["NamingContexts"]);
        assert_eq!(naming(&["list"]), "pump\n");
        assert_eq!(repository.state("NamingContexts"), "runs");
    }
    repository.succeeds("stop", &["NamingContexts", "--signal", "9"]);
    assert_eq!(naming(&["list"]), "pump\n");
    repository.succeeds("stop", &["NamingContexts"]);
    until(|| repository.state("NamingContexts") == "ended");
    let said = repository.run("stop", &["NamingContexts"]);
    assert_eq!(text(said.stderr), "`NamingContexts` does not run\n");
}

#[test]
fn mistakes_are_said_with_what_helps() {
    let repository = Repository::new();
    for (arguments, mistake) in [
        (&["a\nb"][..], "\"a\\nb\" is no name of a server"),
        (
            &["plant", "--command", "'x"],
            "the quotation that begins with '",
        ),
        (
            &["plant", "--env", "=x"],
            "\"\" cannot be set in an environment",
        ),
        (
            &["plant", "--start-limit=-3"],
            "-3 failed starts cannot be a limit",
        ),
    ] {
        let said = repository.fails("add", arguments, 1);
        assert!(
            said.contains(mistake) && said.contains("imr add --help"),
            "{said}"
        );
    }
    let said = repository.fails("start", &["plant"], USER_EXCEPTION);
    assert!(said.contains("`plant`: no server is registered"), "{said}");
    let folder = ["plant", "--command", "/bin/true", "--folder", "/no/such"];
    repository.succeeds("add", &folder);
    let said = repository.fails("start", &["plant"], USER_EXCEPTION);
    assert!(
        said.contains("`plant` was not started: `/no/such`: "),
        "{said}"
    );
    assert!(said.contains("the log of the activator"), "{said}");
    let said = repository.fails("stop", &["plant", "--signal", "9"], USER_EXCEPTION);
    assert!(said.contains("`plant`: it does not run"), "{said}");
    repository.succeeds("link", &["plant", "hall"]);
    let said = repository.fails("link", &["hall", "plant"], USER_EXCEPTION);
    assert!(said.contains("one starts with the other"), "{said}");
}
