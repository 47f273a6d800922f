//! Guard that refuses foreign requests, before any page sees them.
//!
//! | check | against |
//! |---|---|
//! | `Host` is this address, or a name that was configured | a foreign page whose host name leads here (DNS rebinding) |
//! | `Sec-Fetch-Site`, if the browser sends it | a page of another site that loads parts of this one |
//! | `Origin` of a POST is this host | a form of another site that is sent here |
//! | a token in each form, made when the process starts | the same, independent of the browser |
//!
//! Reply headers forbid other sites to show, read or load them, and allow script and style from
//! here only.

use std::net::{IpAddr, SocketAddr};

use axum::extract::Request;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use data_encoding::HEXLOWER;

use crate::ends::ConnectionAddresses;

/// Rules for accepting HTTP requests to the console.
pub(crate) struct Guard {
    port: u16,
    hosts: Vec<String>,
    token: String,
}

/// Security headers that the console adds to each HTTP reply.
pub(crate) const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
             form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    // With `no-referrer`, a form's `Origin` would be `null`.
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

impl std::fmt::Debug for Guard {
    // The token must stay secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("port", &self.port)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

impl Guard {
    /// Makes a guard that admits requests for this address or one of these hosts.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn new(address: SocketAddr, hosts: &[String]) -> Result<Self, getrandom::Error> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        Ok(Self {
            port: address.port(),
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            token: HEXLOWER.encode(&secret),
        })
    }

    /// Returns the token for the hidden field of forms.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Returns `true` if a form came from a page of this process. Takes constant time for a given
    /// length.
    pub(crate) fn is_token(&self, token: &str) -> bool {
        let (token, own) = (token.as_bytes(), self.token.as_bytes());
        let differ = token
            .iter()
            .zip(own)
            .fold(0, |all, (one, other)| all | (one ^ other));
        token.len() == own.len() && differ == 0
    }

    /// Returns the reason for which a request is refused, if it is.
    pub(crate) fn refusal(
        &self,
        request: &Request,
        most: usize,
    ) -> Option<(StatusCode, &'static str)> {
        let headers = request.headers();
        let here = request
            .extensions()
            .get::<ConnectionAddresses>()
            .map(|ends| ends.here);
        let Some(host) =
            only(headers, &header::HOST).filter(|_| request.uri().authority().is_none())
        else {
            return Some((
                StatusCode::BAD_REQUEST,
                "The request names no host, or several.",
            ));
        };
        if !here.is_some_and(|here| self.is_host(host, here)) {
            let why = "The request is for another host. Use the address that the server was given, or start it with \
                       that name as one of its hosts (--web-host).";
            return Some((StatusCode::MISDIRECTED_REQUEST, why));
        }
        let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
        if !is_from_here(headers, changes) {
            return Some((
                StatusCode::FORBIDDEN,
                "The request comes from another site.",
            ));
        }
        let origin_is_this = match headers.contains_key(header::ORIGIN) {
            true => only(headers, &header::ORIGIN).is_some_and(|origin| is_origin(origin, host)),
            // Browsers always send it with forms, and the token is checked for every sender.
            false => true,
        };
        if changes && !origin_is_this {
            return Some((
                StatusCode::FORBIDDEN,
                "The request comes from another site.",
            ));
        }
        // A body of unknown length is read up to the limit.
        let length = headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let is_long = length.is_some_and(|length| length > most as u64);
        is_long.then_some((StatusCode::PAYLOAD_TOO_LARGE, "The form is too long."))
    }

    /// Returns `true` if a `Host` header denotes this server: the address of the connection,
    /// `localhost` if that is a loopback address, or a configured name.
    fn is_host(&self, host: &str, here: SocketAddr) -> bool {
        let host = host.to_ascii_lowercase();
        let (name, port) = split(&host);
        let is_configured = |configured: &String| match split(configured) {
            (_, Some(_)) => *configured == host,
            (known, None) => known == name && port.unwrap_or(80) == self.port,
        };
        if self.hosts.iter().any(is_configured) {
            return true;
        }
        let here = here.ip().to_canonical();
        let literal = name
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let address = match literal {
            Some(literal) => literal.parse().ok().map(IpAddr::V6),
            None => name.parse().ok().map(IpAddr::V4),
        };
        let is_it = match address {
            Some(address) => address.to_canonical() == here,
            None => name == "localhost" && here.is_loopback(),
        };
        is_it && port.unwrap_or(80) == self.port
    }
}

/// Returns `true` if, according to the browser, a request comes from a page of this site, or from
/// none, as for a typed address or a bookmark. A link on another site may also lead to a page, as
/// the browser then opens it as a page of its own, which the other site cannot read.
fn is_from_here(headers: &HeaderMap, changes: bool) -> bool {
    let said = |name| headers.get(name).map(HeaderValue::as_bytes);
    match said("sec-fetch-site") {
        None | Some(b"same-origin") => true,
        Some(b"none") => !changes,
        Some(_) => !changes && said("sec-fetch-mode") == Some(b"navigate"),
    }
}

/// Returns `true` if an `Origin` is this host, by unencrypted HTTP or behind a proxy that
/// terminates TLS.
fn is_origin(origin: &str, host: &str) -> bool {
    let of = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    of.is_some_and(|of| of.eq_ignore_ascii_case(host))
}

/// Returns the value of a header, or `None` if the header does not occur exactly once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let one = all.next()?;
    match all.next() {
        Some(_) => None,
        None => one.to_str().ok(),
    }
}

/// Splits the value of a Host header into name and port.
fn split(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        // Not within an IPv6 address.
        Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(hosts: &[&str]) -> Guard {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        Guard::new("127.0.0.1:2811".parse().unwrap(), &hosts).unwrap()
    }

    #[test]
    fn a_host_is_the_address_that_was_connected_to_or_a_name_that_was_configured() {
        let guard = guard(&["names.example", "proxy.example:443"]);
        let (loopback, other) = ("127.0.0.1:2811", "192.0.2.7:2811");
        for (host, here, is_it) in [
            ("127.0.0.1:2811", loopback, true),
            ("localhost:2811", loopback, true),
            ("LocalHost:2811", loopback, true),
            ("localhost:2811", other, false),
            ("localhost", loopback, false),
            ("localhost:80", loopback, false),
            ("127.0.0.2:2811", loopback, false),
            ("127.0.0.1:2811.", loopback, false),
            ("127.0.0.1:2811:2811", loopback, false),
            ("192.0.2.7:2811", other, true),
            ("192.0.2.7:2811", loopback, false),
            ("[::1]:2811", "[::1]:2811", true),
            ("[::1]", "[::1]:2811", false),
            ("::1:2811", "[::1]:2811", false),
            ("attacker.example:2811", loopback, false),
            ("localhost.attacker.example:2811", loopback, false),
            ("names.example:2811", other, true),
            ("names.example", other, false),
            ("proxy.example:443", other, true),
            ("proxy.example:2811", other, false),
            ("", loopback, false),
            (":2811", loopback, false),
        ] {
            assert_eq!(guard.is_host(host, here.parse().unwrap()), is_it, "{host}");
        }
    }

    #[test]
    fn a_token_is_this_processs_own_as_a_whole_and_another_ones_is_not() {
        let (one, other) = (guard(&[]), guard(&[]));
        assert!(one.is_token(one.token()));
        for token in [
            "",
            other.token(),
            &one.token()[1..],
            &format!("{}0", one.token()),
        ] {
            assert!(!one.is_token(token), "{token}");
        }
        assert!(!format!("{one:?}").contains(one.token()));
    }

    #[test]
    fn an_origin_is_this_host_by_either_scheme_and_nothing_else() {
        for (origin, is_it) in [
            ("http://localhost:2811", true),
            ("https://localhost:2811", true),
            ("null", false),
            ("", false),
            ("http://localhost", false),
            ("http://localhost:2811.attacker.example", false),
            ("ftp://localhost:2811", false),
        ] {
            assert_eq!(is_origin(origin, "localhost:2811"), is_it, "{origin}");
        }
    }
}
