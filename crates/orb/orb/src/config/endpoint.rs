//! Endpoint to listen at, and its published address: `protocol://place[/option=value&…]`.

use super::concurrency::{Concurrency, ConcurrencyOptions, OPTIONS as CONCURRENCY};
use super::error::{ConfigError, bad_value};
use super::reservation;
use crate::priority::Priority;
use punctual_exec::thread::Reservation;
use punctual_link::{Address, Link, Places, Properties, iiop};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

const EXPECTED: &str = "protocol://place, e.g. iiop://[host]:port or uiop:///path, then perhaps \
                        options: /name=value&name=value (| instead of / behind a path)";

/// Endpoints in omniORB's notation, by their beginning, and the same in this one.
const OF_OMNIORB: [(&str, &str); 4] = [
    (
        "giop:tcp:",
        "iiop://host:port, which omniORB writes giop:tcp:host:port",
    ),
    (
        "giop:ssl:",
        "ssliop://host:port, which omniORB writes giop:ssl:host:port",
    ),
    (
        "giop:unix:",
        "uiop:///path, which omniORB writes giop:unix:/path",
    ),
    (
        "giop:",
        "protocol://place, e.g. iiop://host:port; omniORB's giop:http:… and giop:ws:… are not there",
    ),
];

/// Returns the notation to expect in place of omniORB's.
fn written_here(text: &str) -> Option<&'static str> {
    let beginnings = OF_OMNIORB.iter();
    let mut written = beginnings.filter(|(beginning, _)| text.starts_with(beginning));
    written.next().map(|&(_, here)| here)
}

/// Option for the host to put into references instead of the one listened at.
const HOSTNAME_IN_IOR: &str = "hostname_in_ior";
/// Option for the port to put into references instead of the one listened at.
const PORT_IN_IOR: &str = "port_in_ior";

/// Option for further addresses to put into references, behind the endpoint's own.
const ALSO_IN_IOR: &str = "also_in_ior";

/// Option for the CORBA priority of the threads that serve the endpoint.
const PRIORITY: &str = "priority";

/// Option for the processor time that the threads of the endpoint reserve.
const DEADLINE: &str = "deadline";

/// Endpoint to listen at. The default is TCP on all interfaces, at a port of the kernel's choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenEndpoint {
    /// Name of the protocol, e.g. `iiop`, `uiop`, `giop_lite+shmiop` or `reliable+diop`.
    pub protocol: String,
    /// Address in the link's notation: `host:port` (without a host all interfaces, port 0 for one
    /// of the kernel's choice), a path, a name. Empty: chosen by the link.
    pub place: String,
    /// Options by name. `hostname_in_ior` and `port_in_ior` give the address to put into references
    /// instead of the one listened at, for containers and NAT. `also_in_ior`, as `host:port,host:port`, gives addresses of
    /// other servers at which clients find the same objects once this one does not answer. `priority`, a CORBA priority, makes
    /// it an endpoint of a lane whose threads run at that priority (O'Ryan et al. 2001, §4.2.2:
    /// prioritised endpoints); the ORB needs Real-time CORBA for it
    /// ([`crate::OrbBuilder::priorities`]). `deadline`, as `runtime/deadline/period`
    /// (`1ms/5ms/10ms`), has its requests served by threads with `SCHED_DEADLINE`: a pool
    /// (`leader_followers`) of one, unless `threads` gives a number. Others are the link's own; see
    /// its documentation.
    pub options: BTreeMap<String, String>,
}

impl Default for ListenEndpoint {
    fn default() -> Self {
        Self::new(iiop::NAME, ":0")
    }
}

impl ListenEndpoint {
    /// Creates an endpoint of this protocol at `place`, published as it is listened at.
    #[must_use]
    pub fn new(protocol: &str, place: &str) -> Self {
        Self {
            protocol: protocol.to_owned(),
            place: place.to_owned(),
            options: BTreeMap::new(),
        }
    }

    /// Creates an endpoint at `host:port` for GIOP over TCP, published as it is listened at.
    #[must_use]
    pub fn iiop(host: &str, port: u16) -> Self {
        Self::new(iiop::NAME, Address::iiop(host, port).place())
    }

    /// Adds an option to the listening endpoint, in place of an earlier value.
    #[must_use]
    pub fn option(mut self, name: &str, value: impl ToString) -> Self {
        self.options.insert(name.to_owned(), value.to_string());
        self
    }

    /// Returns host and port, if the place has the form `host:port`; no host means all interfaces.
    #[must_use]
    pub fn host_and_port(&self) -> Option<(Option<&str>, u16)> {
        parse_place(&self.place)
    }

    /// Returns the port, if the endpoint's address has the form `host:port`.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.host_and_port().map(|(_, port)| port)
    }

    /// Parses one listening endpoint; error messages name the setting `key`.
    pub(crate) fn parse(key: &str, text: &str) -> Result<Self, ConfigError> {
        let bad = |expected: &str| bad_value(key, text, expected);
        if let Some(here) = written_here(text) {
            return Err(bad(here));
        }
        let (protocol, rest) = text.split_once("://").ok_or_else(|| bad(EXPECTED))?;
        let name_is_good = |name: &str| {
            let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            !name.is_empty() && name.chars().all(good)
        };
        if !protocol.split('+').all(name_is_good) {
            return Err(bad(
                "a protocol: names of lower-case letters, digits and _ with + between",
            ));
        }
        let (place, options) = split_options(rest);
        let place = match place.split_once('@') {
            Some(("1.0" | "1.1" | "1.2", place)) => place,
            Some((version, _)) if version.starts_with(|c: char| c.is_ascii_digit()) => {
                return Err(bad("version 1.0, 1.1 or 1.2 before the @"));
            }
            _ => place,
        };
        if is_internet(protocol) && !place.is_empty() && parse_place(place).is_none() {
            return Err(bad(
                "host:port behind the protocol, with an IPv6 number in brackets",
            ));
        }
        let mut endpoint = Self::new(protocol, place);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some((name, value)) if !name.is_empty() && !value.is_empty() => {
                    endpoint.options.insert(name.to_owned(), value.to_owned());
                }
                _ => return Err(bad("options as name=value, with & between")),
            }
        }
        endpoint.check(key, text)?;
        Ok(endpoint)
    }

    /// Returns the error for an unencrypted endpoint where protection is required.
    pub(crate) fn in_clear(&self) -> ConfigError {
        bad_value(
            "listen",
            self,
            "an endpoint of TLS (ssliop://…) or of this host alone (uiop://, shmiop://), since security is require",
        )
    }

    fn check(&self, key: &str, text: &str) -> Result<(), ConfigError> {
        let port = self.options.get(PORT_IN_IOR);
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return Err(bad_value(key, text, "a port number for port_in_ior"));
        }
        if self.options.contains_key(ALSO_IN_IOR)
            && (self.also_in_ior().is_none() || !is_internet(&self.protocol))
        {
            let expected = "for also_in_ior a protocol over TCP or UDP, and addresses as host:port, with commas between";
            return Err(bad_value(key, text, expected));
        }
        let priority = self.options.get(PRIORITY);
        if priority.is_some() && self.priority().is_none() {
            return Err(bad_value(key, text, "a priority from 0 to 32767"));
        }
        let bad = |why: &str| bad_value(key, text, why);
        let reserves = self.reservation().map_err(|why| bad(&why))?;
        let options = self.concurrency_options().map_err(bad)?;
        let fits = match (reserves, options.strategy) {
            (Some(_), _) => reservation::pool_size(options).map(drop),
            // The other options are checked when they override the default.
            (None, None) => Ok(()),
            (None, Some(_)) => Concurrency::default().overridden_by(options).map(drop),
        };
        fits.map_err(bad)
    }

    /// Returns those options of the endpoint that concern the concurrency strategy.
    pub(crate) fn concurrency_options(&self) -> Result<ConcurrencyOptions<'_>, &'static str> {
        let options = self.options.iter().map(|(name, value)| (&**name, &**value));
        ConcurrencyOptions::of(options.filter(|(name, _)| CONCURRENCY.contains(name)), None)
    }

    pub(crate) fn hostname_in_ior(&self) -> Option<&str> {
        self.options.get(HOSTNAME_IN_IOR).map(String::as_str)
    }

    pub(crate) fn port_in_ior(&self) -> Option<u16> {
        self.options.get(PORT_IN_IOR)?.parse().ok()
    }

    /// Returns the addresses of other servers that references contain behind the endpoint's own; `None` if one is wrong.
    pub(crate) fn also_in_ior(&self) -> Option<Vec<(&str, u16)>> {
        let text = self.options.get(ALSO_IN_IOR).map_or("", String::as_str);
        let places = text.split(',').filter(|_| !text.is_empty());
        let places = places.map(|place| match parse_place(place) {
            Some((Some(host), port @ 1..)) => Some((host, port)),
            _ => None,
        });
        places.collect()
    }

    /// Returns the CORBA priority of the threads that serve the endpoint.
    #[must_use]
    pub fn priority(&self) -> Option<Priority> {
        let number: i16 = self.options.get(PRIORITY)?.parse().ok()?;
        Priority::new(number).ok()
    }

    /// Returns the reservation of each thread that serves its connections (`SCHED_DEADLINE`), if
    /// there is one.
    ///
    /// # Errors
    /// The fault in the option `deadline`.
    pub fn reservation(&self) -> Result<Option<Reservation>, String> {
        let text = self.options.get(DEADLINE);
        text.map(|text| reservation::parse(text)).transpose()
    }

    /// Returns an endpoint of the same protocol whose port or path the kernel or the link chooses,
    /// and which has the configuration's concurrency strategy.
    pub(crate) fn elsewhere(mut self, link: &dyn Link) -> Self {
        self.options.retain(|name, _| {
            ![PORT_IN_IOR, ALSO_IN_IOR, DEADLINE].contains(&&**name)
                && !CONCURRENCY.contains(&&**name)
        });
        self.place = match (link.places(), self.host_and_port()) {
            (Places::Internet, Some((Some(host), _))) => Address::iiop(host, 0).place().to_owned(),
            (Places::Internet, _) => String::new(),
            (Places::Own, _) => link.elsewhere(&self.place),
        };
        self
    }

    /// Returns the properties for the link: the configuration's, overridden by the endpoint's own.
    pub(crate) fn properties(&self, config: &BTreeMap<String, String>) -> Properties {
        let ours = |name: &str| {
            [
                HOSTNAME_IN_IOR,
                PORT_IN_IOR,
                ALSO_IN_IOR,
                PRIORITY,
                DEADLINE,
            ]
            .contains(&name)
                || CONCURRENCY.contains(&name)
        };
        let own = self.options.iter().filter(|(name, _)| !ours(name));
        config.iter().chain(own).collect()
    }

    /// Returns the addresses to try, in order, for listening on the link. Where places are those of
    /// the Internet, without a host they are the IPv6 wildcard, which also accepts IPv4, and then
    /// the IPv4 wildcard, for machines without IPv6.
    pub(crate) fn addresses(&self, link: &dyn Link) -> Vec<Address> {
        let places = link.places();
        let link = link.name();
        let wildcards = |port: u16| {
            ["::", "0.0.0.0"].map(|host| Address::new(link, Address::iiop(host, port).place()))
        };
        match parse_place(&self.place) {
            _ if places == Places::Own => vec![Address::new(link, &self.place)],
            _ if self.place.is_empty() => {
                let mut all = vec![Address::new(link, "")];
                all.extend(wildcards(0));
                all
            }
            Some((None, port)) => wildcards(port).into(),
            Some((Some(host), port)) if !host.starts_with('/') => {
                vec![Address::new(link, Address::iiop(host, port).place())]
            }
            _ => vec![Address::new(link, &self.place)],
        }
    }
}

/// Parses an endpoint as in options and configuration files:
/// `iiop://host:port/concurrency=reactive&no_delay=false`.
impl FromStr for ListenEndpoint {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        Self::parse("an endpoint", text)
    }
}

impl fmt::Display for ListenEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.protocol, self.place)
    }
}

/// Returns whether the places of this protocol are known to have the form `host:port`.
fn is_internet(protocol: &str) -> bool {
    let link = protocol.rsplit('+').next().unwrap_or_default();
    matches!(link, "iiop" | "ssliop" | "diop")
}

/// Splits an endpoint's text into the place and the options after it. As a path contains `/`, its
/// options follow a `|`.
fn split_options(rest: &str) -> (&str, &str) {
    let separator = if rest.contains('|') || rest.starts_with('/') && !rest.contains('=') {
        '|'
    } else {
        '/'
    };
    rest.split_once(separator).unwrap_or((rest, ""))
}

fn parse_place(place: &str) -> Option<(Option<&str>, u16)> {
    if place.is_empty() {
        return Some((None, 0));
    }
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (
                host,
                if after.is_empty() {
                    "0"
                } else {
                    after.strip_prefix(':')?
                },
            )
        }
        None => place.split_once(':').unwrap_or((place, "0")),
    };
    let port = port.parse().ok()?;
    Some(((!host.is_empty()).then_some(host), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual_link::iiop::Iiop;
    use punctual_link::uiop::Uiop;

    fn parse(text: &str) -> Result<ListenEndpoint, ConfigError> {
        ListenEndpoint::parse("-ORBListenEndpoints", text)
    }

    #[test]
    fn host_port_and_options_are_read() {
        let endpoint =
            parse("iiop://1.2@h:12/hostname_in_ior=pub.example&port_in_ior=443&no_delay=false")
                .unwrap();
        assert_eq!(endpoint.host_and_port(), Some((Some("h"), 12)));
        assert_eq!(endpoint.hostname_in_ior(), Some("pub.example"));
        assert_eq!(endpoint.port_in_ior(), Some(443));
        assert_eq!(endpoint.also_in_ior(), Some(Vec::new()));
        let properties = endpoint.properties(&BTreeMap::new());
        assert_eq!(
            properties.iter().collect::<Vec<_>>(),
            [("no_delay", "false")]
        );
    }

    #[test]
    fn text_is_read_as_options_are() {
        let text = "iiop://h:12/no_delay=false";
        let read: ListenEndpoint = text.parse().unwrap();
        assert_eq!(read, parse(text).unwrap());
        let error = "h:12".parse::<ListenEndpoint>().unwrap_err().to_string();
        assert!(error.contains("h:12") && error.contains("://"), "{error}");
    }

    #[test]
    fn who_serves_is_an_option_and_no_property_of_the_link() {
        let endpoint = parse("iiop://:0/concurrency=leader_followers&threads=2").unwrap();
        assert!(endpoint.properties(&BTreeMap::new()).is_empty());
        let options = endpoint.concurrency_options().unwrap();
        let strategy = Concurrency::default().overridden_by(options).unwrap();
        assert!(matches!(strategy, Concurrency::LeaderFollowers(size) if size.threads == 2));
        for bad in [
            "concurrency=pool",
            "threads=some",
            "concurrency=reactive&threads=2",
        ] {
            assert!(parse(&format!("iiop://:0/{bad}")).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_reservation_is_an_option_and_one_that_is_none_is_refused() {
        let endpoint = parse("iiop://:0/deadline=500us/2ms/10ms&priority=7").unwrap();
        let reserved = endpoint.reservation().unwrap().unwrap();
        assert_eq!(reserved.to_string(), "500µs by 2ms in each 10ms");
        assert!(endpoint.properties(&BTreeMap::new()).is_empty());
        assert_eq!(parse("iiop://:0").unwrap().reservation(), Ok(None));
        for (bad, why) in [
            ("deadline=5ms", "runtime/deadline/period"),
            ("deadline=5ms/4ms/10ms", "longer than the deadline"),
            ("deadline=1ms/11ms/10ms", "longer than the period"),
            ("deadline=1us/1ms/1ms", "shortest"),
            ("deadline=1/2/3", "no unit"),
            (
                "deadline=1ms/2ms/3ms&concurrency=thread_per_connection",
                "leader_followers alone",
            ),
            (
                "deadline=1ms/2ms/3ms&concurrency=reactive",
                "leader_followers alone",
            ),
        ] {
            let error = parse(&format!("iiop://:0/{bad}")).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        parse("uiop://|deadline=1ms/2ms/3ms&concurrency=leader_followers&threads=2").unwrap();
    }

    #[test]
    fn what_is_left_out_is_a_wildcard_and_a_port_of_the_kernels_choice() {
        assert_eq!(parse("iiop://:0").unwrap(), ListenEndpoint::default());
        let wildcard = Address::iiop("::", 0);
        assert!(
            parse("iiop://")
                .unwrap()
                .addresses(&Iiop::default())
                .contains(&wildcard)
        );
        assert!(
            parse("iiop://:0")
                .unwrap()
                .addresses(&Iiop::default())
                .contains(&wildcard)
        );
        let named = parse("iiop://h").unwrap();
        assert_eq!(named.addresses(&Iiop::default()), [Address::iiop("h", 0)]);
    }

    #[test]
    fn an_endpoint_elsewhere_is_no_more_open_than_its_model() {
        let elsewhere = |place, link: &dyn Link| {
            let model = ListenEndpoint::new("mine", place).option("port_in_ior", 7);
            let endpoint = model.elsewhere(link);
            assert!(endpoint.options.is_empty());
            endpoint.place
        };
        // By the link's notation, and not by the name of the protocol.
        let (internet, own) = (Iiop::default(), Uiop::default());
        assert_eq!(elsewhere("127.0.0.1:5", &internet), "127.0.0.1:0");
        assert_eq!(elsewhere(":5", &internet), "");
        assert_eq!(elsewhere("/run/orb", &own), "");
    }

    #[test]
    fn an_ipv6_number_stands_in_brackets() {
        assert_eq!(
            parse("iiop://[::1]:5").unwrap(),
            ListenEndpoint::iiop("::1", 5)
        );
        assert_eq!(
            parse("iiop://[::1]:5").unwrap().to_string(),
            "iiop://[::1]:5"
        );
        assert!(parse("iiop://::1:5").is_err());
        assert!(parse("iiop://[nonsense]:5").is_err());
    }

    #[test]
    fn a_path_keeps_its_slashes_and_its_options_stand_behind_a_bar() {
        let endpoint = parse("giop_lite+uiop:///tmp/a/b|backlog=5").unwrap();
        assert_eq!(endpoint.protocol, "giop_lite+uiop");
        assert_eq!(endpoint.place, "/tmp/a/b");
        assert_eq!(
            endpoint.properties(&BTreeMap::new()).get("backlog"),
            Some("5")
        );
        let configured = BTreeMap::from([("backlog", "1"), ("ring", "2")]);
        let configured = configured
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let properties = endpoint.properties(&configured.collect());
        assert_eq!(properties.get("backlog"), Some("5"));
        assert_eq!(properties.get("ring"), Some("2"));
        assert_eq!(
            endpoint.addresses(&Uiop::default()),
            [Address::new("uiop", "/tmp/a/b")]
        );
        let chosen = parse("uiop://").unwrap();
        assert_eq!(
            chosen.addresses(&Uiop::default())[0],
            Address::new("uiop", "")
        );
    }

    #[test]
    fn what_is_no_protocol_and_what_is_no_option_is_refused() {
        for text in [
            "iiop:h:1",
            "II OP://h:1",
            "+iiop://h:1",
            "iiop://h:1/alone",
            "iiop://h:1/port_in_ior=x",
            "iiop://h:1/also_in_ior=b",
            "iiop://h:1/also_in_ior=b:2,:3",
            "uiop:///tmp/x|also_in_ior=b:2",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
