//! Faults at random: processes that are killed or stopped, links that are cut.

use crate::fleet::{ACTIVE, Process, Role};
use crate::history::Time;
use crate::load::Load;
use crate::net::{HOSTS, Net};
use crate::random::Random;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// Most faults at one time.
const AT_ONCE: usize = 2;

/// Fault, for the report.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) what: &'static str,
    pub(crate) host: usize,
    pub(crate) name: String,
    pub(crate) begun: Time,
    /// When it was undone.
    pub(crate) ended: Time,
}

/// What a fault does, and undoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Kill(usize),
    /// Has a member end itself when it has stored a state, and before the client is answered.
    Die(usize),
    Stop(usize),
    Cut(usize),
    Part(usize, usize),
}

/// Faults of a run.
pub(crate) struct Faults<'r> {
    net: &'r Net,
    load: &'r Load,
    random: Random,
    next: Instant,
    active: Vec<(Action, Instant, usize)>,
    pub(crate) all: Vec<Fault>,
}

impl<'r> Faults<'r> {
    pub(crate) fn new(net: &'r Net, load: &'r Load, seed: u64) -> Self {
        Self {
            net,
            load,
            random: Random::new(seed, "faults"),
            next: Instant::now(),
            active: Vec::new(),
            all: Vec::new(),
        }
    }

    /// Undoes the faults whose time is over, and begins another one if its time has come.
    ///
    /// # Errors
    /// A process or a link cannot be changed.
    pub(crate) fn tick(&mut self, processes: &mut [Process]) -> Result<(), String> {
        let now = Instant::now();
        let over = self.active.iter().filter(|(_, until, _)| *until <= now);
        for (action, _, number) in over.copied().collect::<Vec<_>>() {
            self.undo(action, number, processes)?;
        }
        self.active.retain(|(_, until, _)| *until > now);
        if now >= self.next && self.active.len() < AT_ONCE {
            self.next = now + self.between(500, 2_500);
            self.begin(processes)?;
        }
        Ok(())
    }

    /// Undoes all faults.
    ///
    /// # Errors
    /// A process or a link cannot be changed.
    pub(crate) fn heal(&mut self, processes: &mut [Process]) -> Result<(), String> {
        for (action, _, number) in std::mem::take(&mut self.active) {
            self.undo(action, number, processes)?;
        }
        Ok(())
    }

    fn between(&mut self, from: u64, to: u64) -> Duration {
        let span = usize::try_from(to - from).unwrap_or(1);
        Duration::from_millis(from + self.random.below(span) as u64)
    }

    fn begin(&mut self, processes: &mut [Process]) -> Result<(), String> {
        let has_nats = processes.iter().any(|process| process.role == Role::Nats);
        let chosen = self.random.below(if has_nats { 16 } else { 14 });
        let of = |role: fn(Role) -> bool, processes: &[Process], random: &mut Random| {
            let all: Vec<usize> = (0..processes.len())
                .filter(|at| role(processes[*at].role) && !processes[*at].is_held)
                .collect();
            (!all.is_empty()).then(|| *random.one_of(&all))
        };
        let is_member = |role| matches!(role, Role::Member(_));
        let random = &mut self.random;
        let action = match chosen {
            0 | 1 => of(is_member, processes, random).map(Action::Kill),
            2 | 3 => self.primary(processes).map(Action::Kill),
            4 | 5 => self.primary(processes).map(Action::Stop),
            6 => of(|role| role == Role::Service, processes, random).map(Action::Kill),
            7 => of(|role| role == Role::Service, processes, random).map(Action::Stop),
            8 => of(|role| role == Role::Etcd, processes, random).map(Action::Kill),
            9 => of(|role| role == Role::Etcd, processes, random).map(Action::Stop),
            10 => Some(Action::Cut(random.below(HOSTS))),
            11 | 12 => self.primary(processes).map(Action::Die),
            14 => of(|role| role == Role::Nats, processes, random).map(Action::Kill),
            15 => of(|role| role == Role::Nats, processes, random).map(Action::Stop),
            _ => {
                let one = random.below(HOSTS);
                Some(Action::Part(one, (one + 1) % HOSTS))
            }
        };
        let Some(action) = action else { return Ok(()) };
        let is_link = |action: &Action| matches!(action, Action::Cut(_) | Action::Part(..));
        // Links are undone whole: one fault of them at a time.
        if is_link(&action) && self.active.iter().any(|(active, ..)| is_link(active)) {
            return Ok(());
        }
        let (lasts, what, host, name) = match action {
            Action::Kill(at) => {
                let process = &mut processes[at];
                process.is_held = true;
                process.kill();
                (
                    self.between(100, 2_000),
                    "killed",
                    process.host,
                    process.name(),
                )
            }
            Action::Die(at) => {
                let process = &mut processes[at];
                process.is_held = true;
                process.signal(Signal::USR1);
                let lasts = self.between(1_000, 3_000);
                (
                    lasts,
                    "died before its answer",
                    process.host,
                    process.name(),
                )
            }
            Action::Stop(at) => {
                let process = &mut processes[at];
                process.is_held = true;
                process.signal(Signal::STOP);
                (
                    self.between(800, 5_000),
                    "stopped",
                    process.host,
                    process.name(),
                )
            }
            Action::Cut(host) => {
                self.net.cut(host, true)?;
                (
                    self.between(800, 6_000),
                    "cut off",
                    host,
                    format!("host {}", host + 1),
                )
            }
            Action::Part(one, other) => {
                self.net.part((one, other), true)?;
                let name = format!("hosts {} and {}", one + 1, other + 1);
                (self.between(800, 6_000), "parted", one, name)
            }
        };
        let begun = self.load.now();
        self.active
            .push((action, Instant::now() + lasts, self.all.len()));
        self.all.push(Fault {
            what,
            host,
            name,
            begun,
            ended: Time::MAX,
        });
        Ok(())
    }

    /// Returns the process of a member that has answered last, of a group with primaries; any member of an active group.
    fn primary(&mut self, processes: &[Process]) -> Option<usize> {
        let group = 1 + self.random.below(self.load.last.len() - 1);
        if group == ACTIVE {
            let host = self.random.below(HOSTS);
            return (0..processes.len()).find(|at| {
                let process = &processes[*at];
                process.role == Role::Member(group) && process.host == host && !process.is_held
            });
        }
        let last = self.load.last[group].lock().clone();
        let pid = last.rsplit('-').next()?.parse().ok();
        (0..processes.len()).find(|at| {
            let process = &processes[*at];
            process.pid() == pid && !process.is_held
        })
    }

    fn undo(
        &mut self,
        action: Action,
        number: usize,
        processes: &mut [Process],
    ) -> Result<(), String> {
        match action {
            Action::Kill(at) | Action::Die(at) => {
                processes[at].is_held = false;
                // It may not have stored anything since.
                processes[at].kill();
                processes[at].start()?;
            }
            Action::Stop(at) => {
                processes[at].is_held = false;
                processes[at].signal(Signal::CONT);
            }
            Action::Cut(host) => self.net.cut(host, false)?,
            Action::Part(one, other) => self.net.part((one, other), false)?,
        }
        if let Some(fault) = self.all.get_mut(number) {
            fault.ended = self.load.now();
        }
        Ok(())
    }
}
