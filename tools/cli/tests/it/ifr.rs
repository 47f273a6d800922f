//! `punctual ifr`: a repository that is loaded, listed, served, and queried by `punctual call`.
#![allow(clippy::unwrap_used, missing_docs)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

const IDL: &str = "module shop { struct Item { long number; }; \
                   interface Store { Item find(in string name); attribute short level; }; };\n";

fn punctual(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args(arguments).output().unwrap()
}

fn succeeds(arguments: &[&str]) -> String {
    let output = punctual(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Server process, which is ended when this is dropped.
struct Serving(Child);

impl Serving {
    fn new(arguments: &[&str]) -> (Self, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
        command.args(["ifr", "serve", "--listen", "iiop://127.0.0.1:0"]);
        command.args(arguments).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut reference = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut reference).unwrap();
        (Serving(child), reference.trim().to_owned())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn what_was_loaded_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let idl = written(folder.path(), "shop.idl", IDL);
    let store = folder.path().join("ifr.redb").display().to_string();
    let loaded = succeeds(&["ifr", "load", "--store", &store, &idl]);
    assert_eq!(loaded, "5 new definitions from 1 files\n");
    let again = succeeds(&["ifr", "load", "--store", &store, &idl]);
    assert_eq!(again, "0 new definitions from 1 files\n");
    let listed = succeeds(&["ifr", "list", "--store", &store]);
    assert_eq!(
        listed,
        "module     ::shop                IDL:shop:1.0\n\
         struct     ::shop::Item          IDL:shop/Item:1.0\n\
         interface  ::shop::Store         IDL:shop/Store:1.0\n\
         operation  ::shop::Store::find   IDL:shop/Store/find:1.0\n\
         attribute  ::shop::Store::level  IDL:shop/Store/level:1.0\n"
    );
}

#[test]
fn idl_is_loaded_with_the_options_that_its_diagnostics_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#ifdef CORBA_2\nmodule shop {\n\
                union Price switch (boolean) { case TRUE: long a; case FALSE: short b; default: char c; }; // \\\n\
                struct Lost { long x; };\n};\n\
                #else\nimport ::Nowhere;\n#endif\nconst char END = '\\377';\n";
    let idl = written(folder.path(), "shop.idl", text);
    let store = folder.path().join("ifr.redb").display().to_string();
    let load = |options: &[&str]| {
        let mut line = vec!["ifr", "load", "--store", &store];
        line.extend(options);
        line.push(&idl);
        let output = punctual(&line);
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), said)
    };
    let (is_loaded, said) = load(&[]);
    assert!(!is_loaded && said.contains("-D CORBA_2"), "{said}");
    let (is_loaded, said) = load(&["-D", "CORBA_2"]);
    assert!(!is_loaded && said.contains("--lenient"), "{said}");
    let (is_loaded, said) = load(&["-D", "CORBA_2", "--lenient"]);
    assert!(
        is_loaded && said.contains("a backslash continues"),
        "{said}"
    );
    let names = written(
        folder.path(),
        "names.idl",
        "interface I { void a(); void A(); };\n",
    );
    let output = punctual(&["ifr", "load", "--store", &store, "--lenient", &names]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("perhaps in another case"), "{said}");
    let listed = succeeds(&["ifr", "list", "--store", &store]);
    assert!(listed.contains("IDL:shop/Price:1.0"), "{listed}");
    assert!(!listed.contains("Lost"), "{listed}");
    assert!(listed.contains("IDL:END:1.0"), "{listed}");
}

#[test]
fn idl_with_a_mistake_and_files_that_are_no_repositories_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let idl = written(folder.path(), "wrong.idl", "struct S { lnog x; };\n");
    let store = folder.path().join("ifr.redb").display().to_string();
    let output = punctual(&["ifr", "load", "--store", &store, &idl]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("`lnog`"),
        "{said}"
    );
    let output = punctual(&["ifr", "list", "--store", &idl]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("help"), "{said}");
}

#[test]
fn a_served_repository_tells_other_commands_about_interfaces() {
    let folder = tempfile::tempdir().unwrap();
    // The repository's own objects are at hand, so it is loaded with its own interface.
    let text = "#pragma prefix \"omg.org\"\nmodule CORBA { interface Repository { \
                readonly attribute unsigned long def_kind; }; };\n";
    let idl = written(folder.path(), "self.idl", text);
    let (_serving, reference) = Serving::new(&[&idl]);
    let kind = succeeds(&["get", "--ifr", &reference, &reference, "def_kind"]);
    // dk_Repository is the eighteenth of DefinitionKind.
    assert_eq!(kind.trim(), "17");
    // The object finds its interface in the repository that its ORB knows.
    let kind = succeeds(&["get", &reference, "def_kind"]);
    assert_eq!(kind.trim(), "17");
}

#[test]
fn a_repository_is_changed_by_nobody_unless_it_is_served_so_that_it_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let text = "#pragma prefix \"omg.org\"\nmodule CORBA { interface ModuleDef {}; \
                interface Repository { ModuleDef create_module(in string id, in string name, \
                in string version); }; };\n";
    let idl = written(folder.path(), "repository.idl", text);
    let create = |reference: &str| {
        let (id, name, version) = ("\"IDL:m:1.0\"", "\"m\"", "\"1.0\"");
        let operation = "create_module";
        punctual(&[
            "call", "--idl", &idl, reference, operation, id, name, version,
        ])
    };
    let (_reading, reference) = Serving::new(&[]);
    let said = create(&reference);
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("NO_PERMISSION"), "{said}");
    let (_serving, reference) = Serving::new(&["--writable"]);
    let said = create(&reference);
    assert!(said.status.success(), "{said:?}");
}

const REPOSITORY: &str = "#pragma prefix \"omg.org\"\nmodule CORBA { interface ModuleDef {}; \
                          interface Repository { ModuleDef create_module(in string id, in string name, \
                          in string version); readonly attribute unsigned long def_kind; }; };\n";

/// Makes a module in the repository as a client of it.
fn create(idl: &str, reference: &str, name: &str) -> Output {
    let id = format!("\"IDL:{name}:1.0\"");
    let (name, version) = (format!("\"{name}\""), "\"1.0\"");
    let operation = "create_module";
    punctual(&[
        "call", "--idl", idl, reference, operation, &id, &name, version,
    ])
}

#[test]
fn systemd_and_operators_are_served_as_by_the_naming_service() {
    let folder = tempfile::tempdir().unwrap();
    let idl = written(folder.path(), "repository.idl", REPOSITORY);
    let notify = folder.path().join("notify");
    let told = UnixDatagram::bind(&notify).unwrap();
    let next = || {
        let mut text = [0; 64];
        let length = told.recv(&mut text).unwrap();
        String::from_utf8_lossy(&text[..length]).into_owned()
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args([
        "ifr",
        "serve",
        "--listen",
        "iiop://127.0.0.1:0",
        "--writable",
    ]);
    command.args(["--status", "127.0.0.1:0", "--store"]);
    command.arg(folder.path().join("ifr.redb"));
    command.env("NOTIFY_SOCKET", &notify);
    command
        .env("WATCHDOG_USEC", "20000")
        .env_remove("WATCHDOG_PID");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut serving = Serving(command.spawn().unwrap());
    let mut errors = BufReader::new(serving.0.stderr.take().unwrap()).lines();
    let status = errors.find_map(|line| {
        line.unwrap()
            .strip_prefix("status at http://")
            .map(str::to_owned)
    });
    let status = status.unwrap();
    std::thread::spawn(move || errors.for_each(drop));
    let mut reference = String::new();
    let mut output = BufReader::new(serving.0.stdout.take().unwrap());
    output.read_line(&mut reference).unwrap();
    assert_eq!(next(), "READY=1");
    assert_eq!(next(), "WATCHDOG=1");
    assert!(create(&idl, reference.trim(), "m").status.success());
    let asked = |path: &str| {
        let mut peer = TcpStream::connect(&status).unwrap();
        peer.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes())
            .unwrap();
        let mut reply = String::new();
        peer.read_to_string(&mut reply).unwrap();
        reply
    };
    assert!(asked("/live").starts_with("HTTP/1.1 200"));
    assert!(asked("/ready").starts_with("HTTP/1.1 200"));
    let metrics = asked("/metrics");
    for line in [
        "punctual_ifr_change_seconds_count 1",
        "punctual_ifr_commit_seconds_count 1",
        "punctual_ifr_definitions 1",
        "punctual_ifr_ready 1",
    ] {
        assert!(metrics.lines().any(|one| one == line), "{line}\n{metrics}");
    }
    let id = serving.0.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    while next() != "STOPPING=1" {}
    assert!(serving.0.wait().unwrap().success());
}

#[test]
fn only_peers_that_are_allowed_change_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    let idl = written(folder.path(), "repository.idl", REPOSITORY);
    let (_strangers, reference) = Serving::new(&["--allow", "10.0.0.0/8"]);
    let said = create(&idl, &reference, "m");
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("NO_PERMISSION"), "{said}");
    let (_friends, reference) = Serving::new(&["--allow", "10.0.0.0/8", "--allow", "127.0.0.1"]);
    let said = create(&idl, &reference, "m");
    assert!(said.status.success(), "{said:?}");
}

#[test]
fn settings_come_from_a_file_whose_mistakes_are_told_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let idl = written(folder.path(), "repository.idl", REPOSITORY);
    let good = written(
        folder.path(),
        "good.toml",
        "writable = true\nmost_definitions = 1\n",
    );
    let (_serving, reference) = Serving::new(&["--settings", &good]);
    assert!(create(&idl, &reference, "one").status.success());
    let said = create(&idl, &reference, "two");
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("NO_RESOURCES"), "{said}");
    for (text, part) in [
        (
            "listen = \"iiop://127.0.0.1:0\"\nwritabel = true\n",
            "line 2: unknown key `writabel`; did you mean `writable`?",
        ),
        (
            "listen = \"iiop://127.0.0.1:0\"\nstop_deadline = 20\n",
            "line 2: `stop_deadline`: a time has its unit",
        ),
        ("writable = true\n", "`listen` is required"),
    ] {
        let bad = written(folder.path(), "bad.toml", text);
        let output = punctual(&["ifr", "serve", "--settings", &bad]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(part), "{said}");
        assert!(said.contains("help"), "{said}");
    }
    let output = punctual(&["ifr", "serve"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--listen <ENDPOINT>"), "{said}");
}

#[test]
fn two_services_on_one_store_are_refused_with_the_one_that_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("ifr.redb").display().to_string();
    let (serving, _) = Serving::new(&["--store", &store]);
    let holder = format!("another ifr server (process {})", serving.0.id());
    let listen = ["--listen", "iiop://127.0.0.1:0", "--store", &store];
    for command in ["ifr", "naming"] {
        let output = punctual(&[&[command, "serve"], &listen[..]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(&holder), "{said}");
    }
    let output = punctual(&["ifr", "list", "--store", &store]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&holder), "{said}");
    drop(serving);
    succeeds(&["ifr", "list", "--store", &store]);
}

#[test]
fn a_repository_keeps_a_name_bound_in_a_naming_service() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.args([
        "naming",
        "serve",
        "--memory",
        "--listen",
        "iiop://127.0.0.1:0",
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut naming = Serving(command.spawn().unwrap());
    let mut root = String::new();
    let mut output = BufReader::new(naming.0.stdout.take().unwrap());
    output.read_line(&mut root).unwrap();
    let root = root.trim();
    let name = "plants/repository";
    let (_serving, reference) = Serving::new(&["--bind-name", name, "--naming", root]);
    // A thread of the server binds it.
    let found = loop {
        let found = punctual(&["naming", "resolve", "--service", root, name]);
        if found.status.success() {
            break String::from_utf8(found.stdout).unwrap();
        }
        crate::support::pause();
    };
    let folder = tempfile::tempdir().unwrap();
    let idl = written(folder.path(), "repository.idl", REPOSITORY);
    let kind = |reference: &str| succeeds(&["get", "--idl", &idl, reference, "def_kind"]);
    assert_eq!(kind(found.trim()), kind(&reference));
}
