//! Services of ours in processes of their own: the command `punctual`, as users start it.

use crate::Failure;
use crate::process::{self, Running};
use crate::sides::{LIMIT, iiop_profile};
use punctual::Orb;
use std::path::Path;
use std::process::{Command, Stdio};

/// Kind of a channel, and the service that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Channel of the Event Service.
    Events,
    /// Channels of the Notification Service.
    Notifications,
}

impl Kind {
    /// Both kinds.
    pub(crate) const ALL: [Self; 2] = [Self::Events, Self::Notifications];

    /// Returns the title of its table.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Events => "TCP, event channels",
            Self::Notifications => "TCP, notification channels",
        }
    }

    /// Returns the role of the peer's client, and the name of the peer's reference.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Notifications => "notifications",
        }
    }

    /// Returns the object key by which `corbaloc` finds the service.
    fn key(self) -> &'static str {
        match self {
            Self::Events => "EventChannel",
            Self::Notifications => "NotifyEventChannelFactory",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Events => &["events", "cos", "serve"],
            Self::Notifications => &["notify", "serve"],
        }
    }
}

/// Service in a process, which is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Served {
    _process: Running,
    /// Reference to the channel, or to the factory of channels.
    pub(super) reference: String,
    pub(super) port: u16,
    kind: Kind,
}

impl Served {
    /// Starts a service at a port, 0 for any, with a store if a file is given.
    ///
    /// # Errors
    /// The command cannot be built, or does not serve.
    pub(super) fn start(kind: Kind, port: u16, store: Option<&Path>) -> Result<Self, Failure> {
        let mut command = Command::new(process::built_punctual()?);
        command.args(kind.arguments());
        command.args(["--listen", &format!("iiop://127.0.0.1:{port}")]);
        command.args(["--pull-interval", "10ms"]);
        command.stderr(Stdio::null());
        if let Some(store) = store {
            command.arg("--store").arg(store);
        }
        let process = Running::start("our service", &mut command)?;
        let reference = process.line(LIMIT)?;
        let reference = reference.ok_or("our service has ended at its start")?;
        let orb = Orb::builder().build()?;
        let port = iiop_profile(&orb.string_to_object(&reference)?)?.port;
        orb.shutdown(true)?;
        Ok(Self {
            _process: process,
            reference,
            port,
            kind,
        })
    }

    /// Returns a URL that leads to the same object of a service that is started again.
    pub(super) fn url(&self) -> String {
        format!(
            "corbaloc:iiop:1.2@127.0.0.1:{}/{}",
            self.port,
            self.kind.key()
        )
    }
}
