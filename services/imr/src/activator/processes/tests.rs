//! Tests of processes that an activator starts.

use super::*;
use crate::implementation_repository::EnvironmentVariable;
use std::sync::mpsc::{Receiver, channel};

fn processes(by_shell: bool) -> (Processes, Receiver<(String, i32)>) {
    let (say, heard) = channel();
    let died = move |name: &str, pid| say.send((name.to_owned(), pid)).unwrap();
    (Processes::new(by_shell, died).unwrap(), heard)
}

fn options(command: &str) -> StartupOptions {
    StartupOptions {
        command_line: command.to_owned(),
        ..StartupOptions::default()
    }
}

/// Returns the options of a start with an id.
fn options_of_start(command: &str, id: &str) -> StartupOptions {
    let environment = vec![EnvironmentVariable {
        name: found::START.to_owned(),
        value: id.to_owned(),
    }];
    StartupOptions {
        environment,
        ..options(command)
    }
}

#[test]
fn the_end_of_each_process_is_told_once_with_its_number() {
    let (processes, heard) = processes(false);
    let first = processes
        .start("first", &options("/bin/true"), |_| {})
        .unwrap();
    let second = processes
        .start("second", &options("sleep 1000"), |_| {})
        .unwrap();
    assert_eq!(heard.recv().unwrap(), ("first".to_owned(), first));
    assert!(!processes.kill("first", first, 9));
    // The number is that of another server's process.
    assert!(!processes.kill("first", second, 9));
    assert!(!processes.kill("first", second, 0));
    assert!(processes.kill("second", second, 0));
    assert!(processes.kill("second", second, 9));
    assert_eq!(heard.recv().unwrap(), ("second".to_owned(), second));
    processes.stop();
}

#[test]
fn a_start_of_a_launcher_that_was_made_before_has_not_failed_as_the_launcher_has_ended() {
    let (processes, _heard) = processes(false);
    let options = options_of_start("launch:/bin/true", "1");
    let first = processes.start("it", &options, |_| {}).unwrap();
    while processes.0.running.lock().contains_key(&first) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let again = processes.start("it", &options, |pid| panic!("{pid} is told again"));
    assert_eq!(again.unwrap(), first);
    processes.stop();
}

#[test]
fn a_start_of_a_launcher_that_has_failed_is_told_as_failed() {
    let (processes, heard) = processes(false);
    let options = options_of_start("launch:/bin/false", "1");
    let first = processes.start("it", &options, |_| {}).unwrap();
    assert_eq!(heard.recv().unwrap(), ("it".to_owned(), first));
    let again = processes.start("it", &options, |pid| panic!("{pid} is told again"));
    assert!(matches!(again, Err(CannotStart::Ended)), "{again:?}");
    processes.stop();
}

#[test]
fn a_start_with_an_id_is_made_once() {
    let (processes, heard) = processes(false);
    let mut told = Vec::new();
    let mut start = |id| {
        let options = options_of_start("sleep 1000", id);
        processes.start("it", &options, |pid| told.push(pid))
    };
    let first = start("1").unwrap();
    assert_eq!(start("1").unwrap(), first);
    assert!(processes.kill("it", first, 9));
    heard.recv().unwrap();
    let ended = start("1").unwrap_err();
    assert_eq!(
        ended.to_string(),
        "its process has ended before it registered"
    );
    let second = start("2").unwrap();
    assert_ne!(second, first);
    assert_eq!(told, [first, first, second]);
    assert!(processes.kill("it", second, 9));
    heard.recv().unwrap();
    processes.stop();
}

#[test]
fn a_program_that_is_not_there_is_refused_by_its_name() {
    let (processes, _heard) = processes(false);
    let refused = processes
        .start("it", &options("/no/such/program -x"), |_| {})
        .unwrap_err();
    assert!(
        refused.to_string().starts_with("`/no/such/program`: "),
        "{refused}"
    );
    let mut nowhere = options("/bin/true");
    nowhere.working_directory = "/no/such/folder".to_owned();
    let refused = processes.start("it", &nowhere, |_| {}).unwrap_err();
    assert!(
        refused.to_string().starts_with("`/no/such/folder`: "),
        "{refused}"
    );
    processes.stop();
}

#[test]
fn what_systemd_says_to_the_activator_is_not_said_to_servers() {
    let (processes, _heard) = processes(false);
    let mut options = options("/bin/true");
    let command = processes.command(&options).unwrap();
    let removed = |command: &Command, name: &str| {
        let mut all = command.get_envs();
        all.any(|(one, value)| one == name && value.is_none())
    };
    for name in OF_SYSTEMD {
        assert!(removed(&command, name), "{name}");
    }
    // Unless its own options say so.
    let variable = crate::implementation_repository::EnvironmentVariable {
        name: "NOTIFY_SOCKET".to_owned(),
        value: "/run/own".to_owned(),
    };
    options.environment.push(variable);
    let command = processes.command(&options).unwrap();
    assert!(!removed(&command, "NOTIFY_SOCKET"));
    processes.stop();
}

#[test]
fn what_a_shell_has_started_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    let (processes, heard) = processes(true);
    let line = format!("sleep 1000 & echo $! > '{}'; wait", made.display());
    let shell = processes.start("it", &options(&line), |_| {}).unwrap();
    let below = loop {
        let text = std::fs::read_to_string(&made).unwrap_or_default();
        if let Some(number) = text.strip_suffix('\n') {
            break number.to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    assert!(processes.kill("it", shell, 9));
    heard.recv().unwrap();
    // It may be there until it is collected.
    let is_there = || {
        let stat = std::fs::read_to_string(format!("/proc/{below}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while is_there() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    processes.stop();
}

#[test]
fn a_shell_runs_commands_only_if_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made");
    for by_shell in [false, true] {
        let (processes, heard) = processes(by_shell);
        let mut options = options("/bin/true; /bin/touch $MADE");
        let variable = crate::implementation_repository::EnvironmentVariable {
            name: "MADE".to_owned(),
            value: made.display().to_string(),
        };
        options.environment.push(variable);
        if processes.start("it", &options, |_| {}).is_ok() {
            heard.recv().unwrap();
        }
        assert_eq!(made.exists(), by_shell);
        processes.stop();
    }
}
