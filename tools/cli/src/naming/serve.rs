//! `punctual naming serve`: a naming service as a server.

use super::group_options::GroupOptions;
use super::web;
use crate::fail;
use crate::serving::{Problem, ending_signals, listening, write_reference};
use crate::time::with_unit;
use punctual::{Orb, RootPoa, SystemException};
use punctual_naming::store::{self, EtcdStore, EtcdTls, EtcdUser};
use punctual_naming::{
    Access, Limits, NamingService, Notifier, OpenError, Principal, ServeOptions, Status,
};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// It prints the root context's reference and runs until it is interrupted or terminated. Clients find it at
/// `corbaloc::HOST:PORT/NameService`, too. Each change is durable before it is acknowledged. Whoever reaches it may read
/// and change all of it, unless --allow says otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Where to listen, as protocol://place. May be given more than once.
    #[arg(long, value_name = "ENDPOINT", default_value = "iiop://:2809")]
    listen: Vec<String>,
    /// The file that bindings are kept in; it is made if need be.
    #[arg(long, value_name = "FILE", default_value = "names.redb")]
    store: PathBuf,
    /// Keep bindings in memory alone: they are gone when the server is.
    #[arg(long, conflicts_with = "store")]
    memory: bool,
    #[command(flatten)]
    etcd: EtcdOptions,
    /// Who may change what: CONTEXT=WHO, where WHO is an address, a network as 10.0.0.0/8, `local` (Unix sockets, shared
    /// memory), `cert:NAME` (a name in a TLS certificate) or `any`. It covers the context and all that were made below
    /// it; without a CONTEXT, everything. May be given more than once.
    #[arg(long, value_name = "[CONTEXT]=WHO", value_parser = grant)]
    allow: Vec<(String, Principal)>,
    /// Do not resolve names through contexts of other servers: clients are told to do so, by CannotProceed.
    #[arg(long)]
    no_federation: bool,
    /// How long a call to another server may take.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = with_unit)]
    federation_timeout: Duration,
    #[command(flatten)]
    groups: GroupOptions,
    #[command(flatten)]
    limits: LimitOptions,
    /// Answer /health, /ready and /metrics (Prometheus) by HTTP at this address, as 127.0.0.1:2810, to whoever reaches it.
    #[arg(long, value_name = "ADDRESS")]
    status: Option<String>,
    #[command(flatten)]
    web: web::WebOptions,
    /// Write the reference to this file, too.
    #[arg(long, value_name = "FILE")]
    write_reference: Option<PathBuf>,
    /// A configuration file, e.g. with TLS certificates.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Names that several servers share.
#[derive(Debug, clap::Args)]
struct EtcdOptions {
    /// Keep bindings in an etcd cluster, which any number of naming servers share: its members as host:port. May be given
    /// more than once.
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',', conflicts_with_all = ["store", "memory"])]
    etcd: Vec<String>,
    /// What the keys in etcd begin with. Servers with the same one serve the same names.
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "/punctual/naming",
        requires = "etcd"
    )]
    etcd_prefix: String,
    /// How long a call to etcd may take.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = with_unit, requires = "etcd")]
    etcd_timeout: Duration,
    /// How old what is read may be. After that time without a word from etcd, reading raises TRANSIENT.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = with_unit, requires = "etcd")]
    etcd_staleness: Duration,
    /// Go on reading while etcd is away, however old what is read may be.
    #[arg(long, requires = "etcd")]
    read_stale: bool,
    /// Call etcd by TLS, and trust certificates of the authorities in this file (PEM). May be given more than once.
    #[arg(long, value_name = "FILE", requires = "etcd")]
    etcd_trusted: Vec<PathBuf>,
    /// The certificate that this server shows to etcd (PEM).
    #[arg(long, value_name = "FILE", requires_all = ["etcd_trusted", "etcd_key"])]
    etcd_certificate: Option<PathBuf>,
    /// The private key of that certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "etcd_certificate")]
    etcd_key: Option<PathBuf>,
    /// The user that this server is for etcd.
    #[arg(long, value_name = "NAME", requires_all = ["etcd", "etcd_password_file"])]
    etcd_user: Option<String>,
    /// The file whose first line is that user's password.
    #[arg(long, value_name = "FILE", requires = "etcd_user")]
    etcd_password_file: Option<PathBuf>,
}

impl EtcdOptions {
    fn tls(&self) -> Option<EtcdTls> {
        (!self.etcd_trusted.is_empty()).then(|| EtcdTls {
            trusted: self.etcd_trusted.clone(),
            certificate: self.etcd_certificate.clone(),
            key: self.etcd_key.clone(),
        })
    }

    fn user(&self) -> Result<Option<EtcdUser>, Problem> {
        let Some((name, file)) = self
            .etcd_user
            .as_ref()
            .zip(self.etcd_password_file.as_ref())
        else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(file);
        let text = text.map_err(|error| (format!("{}: {error}", file.display()), ON_PASSWORD))?;
        let password = text.lines().next().unwrap_or_default().to_owned();
        let name = name.clone();
        Ok(Some(EtcdUser { name, password }))
    }
}

/// How much there may be.
#[derive(Debug, clap::Args)]
struct LimitOptions {
    /// How many components a name may have.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().name_components)]
    most_components: usize,
    /// How many bytes the id and the kind of a component may have together.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().component_bytes)]
    most_component_bytes: usize,
    /// How many contexts there may be.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().contexts)]
    most_contexts: usize,
    /// How many bindings there may be.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().bindings)]
    most_bindings: usize,
    /// How many binding iterators clients may have.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().iterators)]
    most_iterators: usize,
    /// How long a binding iterator lives that nobody uses.
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = with_unit)]
    iterator_idle: Duration,
}

impl From<&LimitOptions> for Limits {
    fn from(options: &LimitOptions) -> Self {
        Limits {
            name_components: options.most_components,
            component_bytes: options.most_component_bytes,
            contexts: options.most_contexts,
            bindings: options.most_bindings,
            iterators: options.most_iterators,
            iterator_idle: options.iterator_idle,
            ..Limits::default()
        }
    }
}

fn grant(text: &str) -> Result<(String, Principal), String> {
    // A name may have an equals sign, those who are granted it do not, but for a certificate's name.
    let (below, who) = match text.find("=cert:") {
        Some(at) => (text.get(..at), text.get(at + 1..)),
        None => text
            .rsplit_once('=')
            .map_or((None, None), |(below, who)| (Some(below), Some(who))),
    };
    let (below, who) = below
        .zip(who)
        .ok_or("CONTEXT=WHO is wanted, e.g. plants=10.0.0.0/8")?;
    let who = who.parse().map_err(|error| format!("{error}"))?;
    Ok((below.to_owned(), who))
}

const ON_SERVING: &str = "another server may have the endpoint";
const ON_STATUS: &str = "an address of this machine and a port, as 127.0.0.1:2810";
const ON_SYSTEMD: &str = "NOTIFY_SOCKET names the socket that systemd is told by";
const ON_ETCD: &str = "--etcd names members of a cluster, --etcd-prefix keys that nothing else has";
const ON_PASSWORD: &str = "--etcd-password-file is a file whose first line is the password";
const ON_STORES: &str = "--store names another file, --memory does without";

pub(super) fn run(options: &Options) -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .init();
    match serve(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err((message, help)) => fail(message, Some(help)),
    }
}

fn serve(options: &Options) -> Result<(), Problem> {
    // Before anything is begun, so that no signal is missed.
    let mut signals = ending_signals()?;
    let service = opened(options)?;
    let status = options.status.as_deref().map(|address| {
        let status = Status::listen(&service, address);
        status.map_err(|error| (format!("--status {address}: {error}"), ON_STATUS))
    });
    let status = status.transpose()?;
    if let Some(status) = &status {
        eprintln!("status at http://{}", status.address());
    }
    let orb = listening(&options.listen, options.config.as_deref())?;
    let reference = published(&orb, &service, options)?;
    let page = web::served(&options.web, &orb, &service)?;
    if let Some(path) = &options.write_reference {
        write_reference(path, &reference)?;
    }
    let endpoints: Vec<String> = orb.endpoints().iter().map(ToString::to_string).collect();
    eprintln!("listening at {}", endpoints.join(", "));
    println!("{reference}");
    // A reader that has gone needs no reference.
    let _ = std::io::stdout().flush();
    let on_systemd = |error: std::io::Error| (error.to_string(), ON_SYSTEMD);
    let notifier = Notifier::from_environment().map_err(on_systemd)?;
    notifier.ready();
    let watched = service.clone();
    // It needs the lock that a thread which hangs may hold.
    let watchdog = notifier.keep_alive(move || {
        let _ = watched.size();
    });
    let watchdog = watchdog.map_err(on_systemd)?;
    signals.forever().next();
    drop(watchdog);
    notifier.stopping();
    drop(status);
    web::end(page);
    // It fails only within an upcall, and this is none.
    let _ = orb.shutdown(true);
    Ok(())
}

fn opened(options: &Options) -> Result<NamingService, Problem> {
    let service = stored(options)?;
    service.set_limits(Limits {
        members: options.groups.most_members,
        ..(&options.limits).into()
    });
    let mut access = Access::default();
    for (below, who) in &options.allow {
        let granted = access.grant(below, who.clone());
        granted.map_err(|refusal| {
            (
                format!("--allow {below}: {refusal}"),
                "see `punctual naming --help` on names",
            )
        })?;
    }
    service.set_access(access);
    let size = service.size();
    eprintln!("{} bindings in {} contexts", size.bindings, size.contexts);
    Ok(service)
}

fn stored(options: &Options) -> Result<NamingService, Problem> {
    if options.memory {
        return NamingService::in_memory().map_err(|error| (error.to_string(), ON_STORES));
    }
    let etcd = &options.etcd;
    if etcd.etcd.is_empty() {
        return NamingService::open(&options.store).map_err(|error| {
            let message = format!("{}: {error}", options.store.display());
            (message, ON_STORES)
        });
    }
    let store = EtcdStore::connect(store::EtcdOptions {
        prefix: etcd.etcd_prefix.clone(),
        patience: etcd.etcd_timeout,
        staleness: etcd.etcd_staleness,
        reads_stale: etcd.read_stale,
        tls: etcd.tls(),
        user: etcd.user()?,
        ..store::EtcdOptions::at(etcd.etcd.clone())
    });
    let service = store
        .map_err(OpenError)
        .and_then(|store| NamingService::on(Box::new(store)));
    service.map_err(|error| (format!("etcd: {error}"), ON_ETCD))
}

/// Serves the service, and names it as clients look for it.
fn published(orb: &Orb, service: &NamingService, options: &Options) -> Result<String, Problem> {
    let raised = |exception: SystemException| (exception.to_string(), ON_SERVING);
    let poa = orb.root_poa().map_err(raised)?;
    let mut serving = ServeOptions {
        federated: !options.no_federation,
        federated_timeout: options.federation_timeout,
        ..ServeOptions::default()
    };
    options.groups.set(&mut serving);
    let root = service.serve(&poa, serving);
    let root = root.map_err(|error| (error.to_string(), ON_SERVING))?;
    orb.register_initial_reference("NameService", &root)
        .map_err(raised)?;
    let bound = orb.ior_table().map_err(raised)?.bind("NameService", &root);
    bound.map_err(|error| (error.to_string(), ON_SERVING))?;
    let active = poa.manager().activate();
    active.map_err(|error| (error.to_string(), ON_SERVING))?;
    orb.object_to_string(&root).map_err(raised)
}
