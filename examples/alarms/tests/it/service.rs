//! Service process: what `punctual notify serve` runs, in this test program, started again for one test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use punctual::{Any, Interface, Orb};
use punctual_host::run::RunOptions;
use punctual_host::settings::Values;
use punctual_notification::cos_notification::{
    CONNECTION_RELIABILITY, EVENT_RELIABILITY, PERSISTENT, Property,
};
use punctual_notification::cos_notify_channel_admin::EventChannelFactory;
use punctual_notification::{LISTEN, open, settings};

/// Variable with the settings of the service, as TOML.
const SETTINGS: &str = "PUNCTUAL_EXAMPLE_ALARMS_SERVICE";

/// Process that is killed when this is dropped.
pub(crate) struct Service {
    process: Child,
    pub(crate) factory: String,
}

impl Service {
    /// Starts a service at an endpoint that is free, with a store if there is a path.
    pub(crate) fn start((host, port): (&str, u16), store: Option<&Path>) -> Self {
        let mut text = format!("listen = \"iiop://{host}:{port}\"\n");
        if let Some(path) = store {
            text += &format!("store = \"{}\"\n", path.display());
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "service::process", "--nocapture"]);
        command.env(SETTINGS, text).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        // The harness has begun the line.
        assert!(
            lines.any(|line| line.unwrap().contains("IOR:")),
            "it serves"
        );
        Self {
            process,
            factory: format!("corbaloc::{host}:{port}/NotifyEventChannelFactory"),
        }
    }

    /// Creates channel 0.
    pub(crate) fn create_channel(&self, is_persistent: bool) {
        let factory = self.factory();
        let persistent = |name: &str| Property {
            name: name.to_owned(),
            value: Any::new(&PERSISTENT).unwrap(),
        };
        let quality = match is_persistent {
            true => vec![
                persistent(CONNECTION_RELIABILITY),
                persistent(EVENT_RELIABILITY),
            ],
            false => Vec::new(),
        };
        let (_, id) = factory.create_channel(&quality, &[]).unwrap();
        assert_eq!(id, 0);
    }

    /// Returns the number of proxies in channel 0 from which consumers pull.
    pub(crate) fn pull_suppliers(&self) -> usize {
        let channel = self.factory().get_event_channel(0).unwrap();
        let admin = channel.unwrap().default_consumer_admin().unwrap();
        admin.unwrap().pull_suppliers().unwrap().len()
    }

    fn factory(&self) -> EventChannelFactory {
        let orb = Orb::builder().build().unwrap();
        let factory = orb.string_to_object(&self.factory).unwrap();
        EventChannelFactory::narrow(factory).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves until the process is killed, if it was started for that.
#[test]
fn process() {
    let Ok(text) = std::env::var(SETTINGS) else {
        return;
    };
    let values = Values::from_toml(&settings(), "the test", &text).unwrap();
    let options = RunOptions::of(&values, &LISTEN).unwrap();
    punctual_host::run::run(|| open(&values), options).unwrap();
}
