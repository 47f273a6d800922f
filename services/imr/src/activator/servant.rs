//! Servant of an activator, which the repository calls.

use std::sync::Arc;

use punctual::SystemException;

use super::link::Link;
use super::processes::Processes;
use crate::access::check;
use crate::implementation_repository::{
    ActivatorExtServant, ActivatorServant, ActivatorStartServerError, CannotActivate,
    EnvironmentVariable, StartupOptions,
};
use punctual_host::access::Rules;

/// Function that ends the activator's process.
pub(super) type End = Arc<dyn Fn() + Send + Sync>;

/// Servant of an activator.
pub(super) struct Starter {
    pub(super) processes: Processes,
    pub(super) allowed: Rules<()>,
    pub(super) link: Arc<Link>,
    pub(super) end: Option<End>,
}

impl ActivatorServant for Starter {
    fn start_server(
        &self,
        name: &str,
        cmdline: &str,
        dir: &str,
        env: &[EnvironmentVariable],
    ) -> Result<(), ActivatorStartServerError> {
        check(&self.allowed, "start processes")?;
        let options = StartupOptions {
            command_line: cmdline.to_owned(),
            working_directory: dir.to_owned(),
            environment: env.to_vec(),
            ..StartupOptions::default()
        };
        let started = |pid| self.link.started(name, pid);
        match self.processes.start(name, &options, started) {
            Ok(pid) => {
                tracing::info!("`{name}` is process {pid}");
                Ok(())
            }
            Err(why) => {
                tracing::warn!("`{name}` cannot be started: {why}");
                let reason = why.to_string();
                Err(CannotActivate { reason }.into())
            }
        }
    }

    fn shutdown(&self) -> Result<(), SystemException> {
        check(&self.allowed, "end the activator")?;
        if let Some(end) = &self.end {
            end();
        }
        Ok(())
    }
}

impl ActivatorExtServant for Starter {
    fn kill_server(&self, name: &str, pid: i32, signum: i16) -> Result<bool, SystemException> {
        check(&self.allowed, "end processes")?;
        Ok(self.processes.kill(name, pid, i32::from(signum)))
    }
}
