//! Servers and repositories that die.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use punctual::{Interface, Orb, minor};
use punctual_imr::LocatorService;
use punctual_imr::implementation_repository::{ActivationMode, Activator, Locator};
use rustix::process::Signal;

use crate::activators::Activating;
use crate::server::GO;
use crate::support::{
    Served, Start, client, end_started, is_activator, kill, served, signal, socket, started, until,
    works,
};

#[test]
fn a_server_that_is_killed_is_started_again_for_the_next_client() {
    let served = Served::new();
    served.add("plant", |_| {});
    let works = served.works("plant");
    for round in 1..=3 {
        assert_eq!(works.count().unwrap(), 1);
        let processes = served.started();
        assert_eq!(processes.len(), round);
        kill(*processes.last().unwrap());
        // A call that was sent to the old process may have been begun there; the next one is repeated.
        until(|| {
            works
                .process()
                .is_ok_and(|process| !processes.contains(&process))
        });
    }
}

#[test]
fn a_new_client_right_after_the_death_is_led_to_a_new_process_and_never_to_the_old_one() {
    let served = Served::new();
    served.add("plant", |_| {});
    served.works("plant").count().unwrap();
    let old = served.started();
    kill(old[0]);
    let client = client();
    let repository = client.string_to_object(&served.reference()).unwrap();
    let process = works(&repository, "", "plant").process().unwrap();
    assert!(!old.contains(&process));
}

#[test]
fn a_server_that_is_stopped_is_not_taken_for_dead() {
    let served = Served::with(|limits| limits.ping = Duration::from_millis(200));
    served.add("plant", |_| {});
    let process = served.works("plant").process().unwrap();
    signal(process, Signal::STOP);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let client = client();
            let repository = client.string_to_object(&served.reference()).unwrap();
            works(&repository, "", "plant").process().unwrap()
        });
        // The client is led to it although it has not answered.
        until(|| served.service.forwards() == 2);
        signal(process, Signal::CONT);
        assert_eq!(waiting.join().unwrap(), process);
    });
    assert_eq!(served.started().len(), 1);
}

#[test]
fn the_next_process_starts_when_the_one_that_ends_has_left_its_files_and_ports() {
    let served = Served::new();
    served.add("plant", |start| start.fault = "lingers");
    served.works("plant").count().unwrap();
    for round in 1..=2 {
        served.locator.shutdown_server("plant").unwrap();
        served.until_running("plant", false);
        // A new client that comes while the old process is still there waits.
        let client = client();
        let repository = client.string_to_object(&served.reference()).unwrap();
        assert_eq!(works(&repository, "", "plant").count().unwrap(), 1);
        assert_eq!(served.started().len(), round + 1);
    }
}

#[test]
fn a_process_that_ends_after_another_one_has_registered_does_not_make_that_unknown() {
    let served = Served::new();
    served.add("plant", |_| {});
    let old = served.works("plant").process().unwrap();
    // By hand, while the first one runs.
    let mut options = Start::of("plant").options(&served.reference(), served.folder.path());
    let mut by_hand = Command::new(std::env::current_exe().unwrap());
    by_hand.args(["--exact", "server::process_of_a_server", "--nocapture"]);
    by_hand.envs(
        options
            .environment
            .drain(..)
            .map(|one| (one.name, one.value)),
    );
    let mut by_hand = by_hand.stdout(Stdio::null()).spawn().unwrap();
    let new = i32::try_from(by_hand.id()).unwrap();
    let place = served.locator.find("plant").unwrap().partial_ior;
    until(|| served.locator.find("plant").unwrap().partial_ior != place);
    let place = served.locator.find("plant").unwrap().partial_ior;
    signal(old, Signal::KILL);
    until(|| std::fs::metadata(format!("/proc/{old}")).is_err());
    let fresh = client();
    let repository = fresh.string_to_object(&served.reference()).unwrap();
    assert_eq!(works(&repository, "", "plant").process().unwrap(), new);
    assert_eq!(served.locator.find("plant").unwrap().partial_ior, place);
    assert_eq!(served.service.starts(), 1);
    by_hand.kill().unwrap();
    by_hand.wait().unwrap();
}

#[test]
fn the_notice_of_an_old_process_that_it_ends_is_not_taken_for_one_of_the_new_process() {
    let served = Served::new();
    let register = |orb: &Orb, partial: &str| {
        let locator = Locator::from_object(orb.string_to_object(&served.reference()).unwrap());
        locator.server_is_running("plant", partial, None).unwrap();
        locator
    };
    // Two connections, as two processes have them.
    let (old, new) = (client(), client());
    let old = register(&old, "corbaloc::127.0.0.1:1/");
    let new = register(&new, "corbaloc::127.0.0.1:2/");
    old.server_is_shutting_down("plant").unwrap();
    assert_eq!(
        served.locator.find("plant").unwrap().partial_ior,
        "corbaloc::127.0.0.1:2/"
    );
    new.server_is_shutting_down("plant").unwrap();
    assert_eq!(served.locator.find("plant").unwrap().partial_ior, "");
}

#[test]
fn a_server_may_say_that_it_ends_under_its_name_without_its_id() {
    let served = Served::new();
    let locator = &served.locator;
    for id in ["north", "south"] {
        // As servers of TAO: with the id when they register, and without it when they end.
        let orb = client();
        let own = Locator::from_object(orb.string_to_object(&served.reference()).unwrap());
        own.server_is_running(&format!("{id}:plant"), "corbaloc::127.0.0.1:1/", None)
            .unwrap();
        if id == "south" {
            own.server_is_shutting_down("plant").unwrap();
        }
    }
    assert_ne!(locator.find("north:plant").unwrap().partial_ior, "");
    assert_eq!(locator.find("south:plant").unwrap().partial_ior, "");
}

const STORE: &str = "IMR_STORE";
const PLACE: &str = "IMR_PLACE";
const OWN: &str = "IMR_OWN";

/// A repository in a process of its own: this test program, started again for [`process_of_a_repository`].
struct Repository {
    process: Child,
    reference: String,
}

impl Repository {
    fn start(folder: &Path) -> Self {
        Self::start_with(folder, None)
    }

    /// Starts one with an activator of the name.
    fn start_with(folder: &Path, activator: Option<&str>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "deaths::process_of_a_repository", "--nocapture"]);
        command
            .env(STORE, folder.join("imr.redb"))
            .env(PLACE, folder);
        command.envs(activator.map(|name| (OWN, name)));
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut lines = lines.map_while(Result::ok);
        let reference = lines.find_map(|line| {
            let at = line.find("IOR:")?;
            Some(line[at..].to_owned())
        });
        Self {
            process,
            reference: reference.unwrap(),
        }
    }

    fn signal(&self, which: Signal) {
        signal(i32::try_from(self.process.id()).unwrap(), which);
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn process_of_a_repository() {
    let (Some(store), Some(place)) = (std::env::var_os(STORE), std::env::var_os(PLACE)) else {
        return;
    };
    let service = LocatorService::open(Path::new(&store)).unwrap();
    if let Ok(name) = std::env::var(OWN) {
        service.set_activator(&name, false).unwrap();
    }
    let (orb, locator) = served(&service, &[socket(Path::new(&place))]);
    println!("{}", orb.object_to_string(&locator).unwrap());
    orb.run();
}

#[test]
fn a_repository_that_is_killed_knows_its_servers_and_activators_when_it_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut repository = Repository::start(folder.path());
    let client = client();
    let object = client.string_to_object(&repository.reference).unwrap();
    let locator = Locator::from_object(object.clone());
    // The activator is in this process, and so outlives the repository.
    let _activating = Activating::new("desk", &repository.reference);

    let options = Start::of("plant").options(&repository.reference, folder.path());
    locator.add_or_update_server("plant", &options).unwrap();
    let plant = works(&object, "", "plant");
    until(|| plant.count().is_ok());
    let process = plant.process().unwrap();

    repository.kill();
    // Clients that know the server do not notice.
    assert_eq!(plant.process().unwrap(), process);
    // Deaths are not lost either: the activator tells them when it can.
    repository = Repository::start(folder.path());
    let object = client.string_to_object(&repository.reference).unwrap();
    assert_eq!(works(&object, "", "plant").process().unwrap(), process);
    assert_eq!(started(folder.path()), [process]);

    repository.kill();
    kill(process);
    repository = Repository::start(folder.path());
    let object = client.string_to_object(&repository.reference).unwrap();
    let plant = works(&object, "", "plant");
    let again = plant.process().unwrap();
    assert_ne!(again, process);
    assert_eq!(started(folder.path()).len(), 2);

    end_started(folder.path());
}

#[test]
fn an_auto_start_server_that_was_stopped_is_not_started_when_its_repository_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut repository = Repository::start(folder.path());
    let activating = Activating::new("desk", &repository.reference);
    let client = client();
    let object = client.string_to_object(&repository.reference).unwrap();
    let locator = Locator::from_object(object.clone());
    until(|| is_activator(&locator, "desk"));
    let mut start = Start::of("plant");
    start.mode = ActivationMode::AutoStart;
    start.activator = "desk".to_owned();
    let options = start.options(&repository.reference, folder.path());
    locator.add_or_update_server("plant", &options).unwrap();
    works(&object, "", "plant").count().unwrap();
    locator.shutdown_server("plant").unwrap();
    until(|| locator.find("plant").unwrap().partial_ior.is_empty());
    let process = started(folder.path())[0];
    until(|| std::fs::metadata(format!("/proc/{process}")).is_err());
    repository.kill();
    repository = Repository::start(folder.path());
    let object = client.string_to_object(&repository.reference).unwrap();
    let locator = Locator::from_object(object);
    // As it does itself at intervals.
    let text = client.object_to_string(&activating.object).unwrap();
    let activator = Activator::from_object(client.string_to_object(&text).unwrap());
    locator
        .register_activator("desk", Some(&activator))
        .unwrap();
    let refused = locator.kill_server("plant", 0).unwrap_err();
    assert!(refused.to_string().contains("it does not run"), "{refused}");
    assert_eq!(started(folder.path()).len(), 1);
    end_started(folder.path());
}

#[test]
fn a_process_that_starts_while_its_repository_is_killed_is_waited_for_and_its_death_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut repository = Repository::start(folder.path());
    let _activating = Activating::new("desk", &repository.reference);
    let client = client();
    let object = client.string_to_object(&repository.reference).unwrap();
    let locator = Locator::from_object(object.clone());
    let mut start = Start::of("plant");
    start.fault = "waits";
    let options = start.options(&repository.reference, folder.path());
    locator.add_or_update_server("plant", &options).unwrap();
    let plant = works(&object, "", "plant");
    until(|| is_activator(&locator, "desk"));
    std::thread::scope(|scope| {
        scope.spawn(|| plant.count());
        until(|| started(folder.path()).len() == 1);
        repository.kill();
        repository = Repository::start(folder.path());
    });
    let process = started(folder.path())[0];
    // The activator tells it again, as the repository has forgotten it.
    until(|| locator.kill_server("plant", 0).is_ok());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| plant.process().unwrap());
        std::fs::write(folder.path().join(GO), "").unwrap();
        assert_eq!(waiting.join().unwrap(), process);
    });
    assert_eq!(started(folder.path()), [process]);
    kill(process);
    until(|| locator.find("plant").unwrap().partial_ior.is_empty());
}

#[test]
fn a_death_while_the_repository_is_stopped_is_told_when_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::start(folder.path());
    let _activating = Activating::new("desk", &repository.reference);
    let client = client();
    let object = client.string_to_object(&repository.reference).unwrap();
    let locator = Locator::from_object(object.clone());
    let mut start = Start::of("plant");
    start.fault = "hangs";
    let options = start.options(&repository.reference, folder.path());
    locator.add_or_update_server("plant", &options).unwrap();
    let plant = works(&object, "", "plant");
    until(|| is_activator(&locator, "desk"));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| plant.count().unwrap_err().minor());
        until(|| started(folder.path()).len() == 1);
        repository.signal(Signal::STOP);
        let process = started(folder.path())[0];
        kill(process);
        // Its activator has noticed the end.
        until(|| std::fs::metadata(format!("/proc/{process}")).is_err());
        repository.signal(Signal::CONT);
        assert_eq!(waiting.join().unwrap(), minor::START_FAILED);
    });
}

#[test]
fn processes_that_go_on_while_their_repository_is_killed_are_its_own_when_it_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let start = || Repository::start_with(folder.path(), Some("here"));
    let mut repository = start();
    let client = client();
    let locator = || client.string_to_object(&repository.reference).unwrap();
    let locator = Locator::from_object(locator());
    let add = |name: &str, change: fn(&mut Start)| {
        let mut options = Start::of(name);
        change(&mut options);
        let options = options.options(&repository.reference, folder.path());
        locator.add_or_update_server(name, &options).unwrap();
    };
    add("plant", |_| {});
    add("slow", |start| start.delay = Duration::from_secs(2));
    let plant = works(locator.as_object(), "", "plant");
    let process = plant.process().unwrap();
    // One more has been started, and has not registered, when the repository is killed.
    let slow = works(locator.as_object(), "", "slow");
    std::thread::scope(|scope| {
        scope.spawn(|| slow.process());
        until(|| started(folder.path()).len() == 2);
        repository.kill();
        repository = start();
    });
    // It is not started again.
    assert!(started(folder.path()).contains(&slow.process().unwrap()));
    assert_eq!(started(folder.path()).len(), 2);
    // Signals reach the one that has gone on, and the activator notices its end.
    locator.kill_server("plant", 9).unwrap();
    until(|| locator.find("plant").unwrap().partial_ior.is_empty());
    assert_ne!(plant.process().unwrap(), process);
    end_started(folder.path());
}

#[test]
fn links_are_there_when_a_repository_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut repository = Repository::start_with(folder.path(), Some("here"));
    let client = client();
    let object = client.string_to_object(&repository.reference).unwrap();
    let locator = Locator::from_object(object.clone());
    let mut start = Start::of("first");
    start.names = "first,second".to_owned();
    let options = start.options(&repository.reference, folder.path());
    locator.add_or_update_server("first", &options).unwrap();
    locator
        .link_servers("first", &["second".to_owned()])
        .unwrap();
    repository.kill();
    repository = Repository::start_with(folder.path(), Some("here"));
    assert_eq!(works(&object, "", "second").count().unwrap(), 1);
    assert_eq!(started(folder.path()).len(), 1);
    end_started(folder.path());
    drop(repository);
}
