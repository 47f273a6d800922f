//! Settings: servers, credentials, TLS, limits.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of the connection to JetStream, and of what is kept there.
#[derive(Clone)]
pub struct JetStreamOptions {
    /// Servers, as `nats://HOST:PORT` or `tls://HOST:PORT`; others of their cluster are found. A user, password
    /// or token before the host is not shown.
    pub servers: Vec<String>,
    /// Credentials for the servers. Default: none.
    pub credentials: Credentials,
    /// Encryption of the connection. Default: as the URLs and the servers ask, with the system's authorities.
    pub tls: JetStreamTls,
    /// First part of the names of streams (`PREFIX_LOG`) and of their subjects (`PREFIX.LOG`), of
    /// letters, digits and `-`. Default: `punctual`.
    pub prefix: String,
    /// Number of servers that keep each log. Default: 1; 3 in a cluster survive the loss of one.
    pub replicas: usize,
    /// Time for which a call waits for the servers, as while a cluster elects a leader; then it
    /// fails. Default: 10 s.
    pub patience: Duration,
    /// Time after which the servers hand out an event again that a process has neither acknowledged
    /// nor said to be busy with; a process says so three times as often. Default: 30 s.
    pub acknowledge_wait: Duration,
    /// Maximum number of events that a reader holds in memory, handed out or ready. Default: 1,024.
    pub window: usize,
    /// Maximum number of appends that wait for the servers, for each log, besides up to 1,000 whose turn it is. Default:
    /// 1,024. Beyond it appends fail at once.
    pub waiting_appends: usize,
}

impl JetStreamOptions {
    /// Returns the default settings for these servers.
    pub fn new(servers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            servers: servers.into_iter().map(Into::into).collect(),
            credentials: Credentials::None,
            tls: JetStreamTls::default(),
            prefix: "punctual".to_owned(),
            replicas: 1,
            patience: Duration::from_secs(10),
            acknowledge_wait: Duration::from_secs(30),
            window: 1_024,
            waiting_appends: 1_024,
        }
    }

    /// Returns the servers without the credentials that their addresses may contain.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.servers.iter().map(|one| address(one)).collect()
    }
}

/// Returns an address without the user, password or token before the host.
fn address(server: &str) -> String {
    match (server.split_once("://"), server.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        (_, None) => server.to_owned(),
    }
}

/// Shows all settings but secrets.
impl fmt::Debug for JetStreamOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStreamOptions")
            .field("servers", &self.addresses())
            .field("credentials", &self.credentials)
            .field("tls", &self.tls)
            .field("prefix", &self.prefix)
            .field("replicas", &self.replicas)
            .field("patience", &self.patience)
            .field("acknowledge_wait", &self.acknowledge_wait)
            .field("window", &self.window)
            .field("waiting_appends", &self.waiting_appends)
            .finish()
    }
}

/// Credentials for the servers. They are not shown.
#[derive(Clone, Default)]
pub enum Credentials {
    /// No credentials.
    #[default]
    None,
    /// User and password.
    Password {
        /// Name of the user.
        user: String,
        /// Password of the user.
        password: String,
    },
    /// Token.
    Token(String),
    /// File with a token and a key, as `nsc` writes it (`.creds`).
    File(PathBuf),
}

/// Shows the kind of credentials, and no secret.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Credentials::None => f.write_str("no credentials"),
            Credentials::Password { user, .. } => write!(f, "password of {user}"),
            Credentials::Token(_) => f.write_str("token"),
            Credentials::File(path) => write!(f, "credentials in {}", path.display()),
        }
    }
}

/// Encryption of the connection.
#[derive(Clone, Debug, Default)]
pub struct JetStreamTls {
    /// True if the servers must encrypt. Default: false.
    pub is_required: bool,
    /// Certificates of the authorities that are trusted besides the system's (PEM).
    pub authorities: Option<PathBuf>,
    /// Certificate of this client, and its key (PEM).
    pub identity: Option<(PathBuf, PathBuf)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let password = Credentials::Password {
            user: "anna".to_owned(),
            password: "secret".to_owned(),
        };
        for credentials in [password, Credentials::Token("secret".to_owned())] {
            let options = JetStreamOptions {
                credentials,
                ..JetStreamOptions::new(["nats://localhost"])
            };
            assert!(!format!("{options:?}").contains("secret"));
        }
    }
}
