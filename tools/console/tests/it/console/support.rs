//! Shared code of the tests: a naming service with a console, and HTTP written by hand, so that
//! tests control every header.

#![allow(dead_code, reason = "no test uses all of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use punctual::{Interface, ListenEndpoint, ObjectRef, Orb, RootPoa};
use punctual_console::{Console, ConsoleLimits, ConsoleOptions, Naming};
use punctual_naming::cos_naming::{Name, NameComponent, NamingContextExt};
use punctual_naming::{Access, NamingService, ServeOptions};

/// A naming service, served by an ORB and shown by a console, until dropped.
pub(crate) struct Shown {
    pub(crate) console: Console,
    pub(crate) orb: Orb,
    pub(crate) service: NamingService,
    pub(crate) root: NamingContextExt,
}

impl Shown {
    pub(crate) fn new() -> Self {
        Self::with(ConsoleOptions::default())
    }

    pub(crate) fn limited(limits: ConsoleLimits) -> Self {
        Self::with(ConsoleOptions {
            limits,
            ..ConsoleOptions::default()
        })
    }

    pub(crate) fn with(options: ConsoleOptions) -> Self {
        let orb = Orb::builder()
            .listen(ListenEndpoint::iiop("127.0.0.1", 0))
            .build()
            .unwrap();
        let poa = orb.root_poa().unwrap();
        poa.manager().activate().unwrap();
        let service = NamingService::in_memory().unwrap();
        let root = service.serve(&poa, ServeOptions::default()).unwrap();
        let options = ConsoleOptions {
            address: "127.0.0.1:0".to_owned(),
            ..options
        };
        let naming = Naming {
            directory: service.directory(),
            orb: orb.clone(),
            asks: true,
        };
        let console = Console::listen(&options, vec![Box::new(naming)]).unwrap();
        Self {
            console,
            orb,
            service,
            root,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.console.address()
    }

    /// Grants peers the right to change naming contexts.
    pub(crate) fn grant(&self, grants: &[(&str, &str)]) {
        let mut access = Access::default();
        for (below, who) in grants {
            access.grant(below, who.parse().unwrap()).unwrap();
        }
        self.service.set_access(access);
    }

    pub(crate) fn bind(&self, text: &str, object: &ObjectRef) {
        self.root.rebind(&name(text), Some(object)).unwrap();
    }

    pub(crate) fn context(&self, text: &str) {
        self.root.bind_new_context(&name(text)).unwrap();
    }

    /// Returns an object that answers whether it exists: the root context itself.
    pub(crate) fn alive(&self) -> ObjectRef {
        self.root.as_object().clone()
    }

    /// Returns a reference to an object whose server is not running.
    pub(crate) fn away(&self) -> ObjectRef {
        self.object("corbaloc:iiop:1.2@127.0.0.1:1/away")
    }

    pub(crate) fn object(&self, text: &str) -> ObjectRef {
        self.orb.string_to_object(text).unwrap()
    }

    pub(crate) fn resolves(&self, text: &str) -> bool {
        self.root.resolve(&name(text)).is_ok()
    }

    /// Requests a path as a browser does, and returns the reply.
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send(
            &format!("GET {path} HTTP/1.1\r\nHost: {}\r\n", self.address()),
            "",
        )
    }

    /// Returns the token in the forms of a page.
    pub(crate) fn token(&self) -> String {
        let page = self.get("/naming").body;
        let begin = page.split("name=\"token\" value=\"").nth(1).unwrap();
        begin.split('"').next().unwrap().to_owned()
    }

    /// Sends a form as a browser does from this server's page, and returns the reply.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let address = self.address();
        let headers = format!("Origin: http://{address}\r\nSec-Fetch-Site: same-origin\r\n");
        let token = self.token();
        let mut all = vec![("token", &*token)];
        all.extend(fields);
        self.post_as(path, &all, &address.to_string(), &headers)
    }

    pub(crate) fn post_as(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        host: &str,
        headers: &str,
    ) -> Reply {
        let body: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", escaped(value)))
            .collect();
        let body = body.join("&");
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
            body.len()
        );
        self.send(&head, &body)
    }

    pub(crate) fn send(&self, head: &str, body: &str) -> Reply {
        let mut peer = self.connected();
        // A server that refuses it need not read all of it.
        let _ = peer.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes());
        let mut reply = Vec::new();
        let _ = peer.read_to_end(&mut reply);
        Reply::of(&String::from_utf8_lossy(&reply))
    }

    pub(crate) fn connected(&self) -> TcpStream {
        let peer = TcpStream::connect(self.address()).unwrap();
        // A watchdog.
        peer.set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        peer
    }

    /// Opens the event stream at the given URL path.
    pub(crate) fn events(&self, path: &str) -> Events {
        let mut peer = self.connected();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address());
        peer.write_all(head.as_bytes()).unwrap();
        let mut lines = BufReader::new(peer);
        let mut status = String::new();
        lines.read_line(&mut status).unwrap();
        Events {
            status,
            lines,
            count: 0,
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = self.orb.shutdown(true);
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Self {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(one, _)| one.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }

    /// Returns the HTML of the table row of a binding.
    pub(crate) fn row(&self, component: &str) -> Option<&str> {
        let begin = self
            .body
            .split(&format!("<tr data-key=\"{component}\""))
            .nth(1)?;
        begin.split("</tr>").next()
    }
}

pub(crate) struct Events {
    pub(crate) status: String,
    lines: BufReader<TcpStream>,
    count: usize,
}

impl Events {
    /// Returns the number of events received so far on the stream.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns `true` if another event arrives within this time.
    pub(crate) fn next_within(&mut self, time: Duration) -> bool {
        self.lines.get_ref().set_read_timeout(Some(time)).unwrap();
        self.next()
    }

    /// Waits for the next event; returns `false` when the stream has ended.
    pub(crate) fn next(&mut self) -> bool {
        let (mut line, mut is_changed, mut has_data) = (String::new(), false, false);
        loop {
            line.clear();
            match self.lines.read_line(&mut line) {
                Ok(0) | Err(_) => return false,
                Ok(_) => {}
            }
            is_changed |= line.trim() == "event: changed";
            has_data |= line.starts_with("data: ");
            // As in browsers: an event is complete at the empty line after it, and ignored without
            // data.
            if line.trim().is_empty() {
                if is_changed && has_data {
                    self.count += 1;
                    return true;
                }
                (is_changed, has_data) = (false, false);
            }
        }
    }
}

/// Parses a stringified name.
pub(crate) fn name(text: &str) -> Name {
    let component = |one: punctual_ior::NameComponent| NameComponent {
        id: one.id,
        kind: one.kind,
    };
    let parts = punctual_ior::name_from_text(text).unwrap();
    parts.into_iter().map(component).collect()
}

/// Escapes a text for a form by percent encoding.
pub(crate) fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02x}"),
        })
        .collect()
}

/// Requests a path of this host or another one, and returns the reply.
pub(crate) fn asked(console: &Console, path: &str, host: &str) -> String {
    let mut peer = TcpStream::connect(console.address()).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    peer.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    peer.read_to_string(&mut reply).unwrap();
    reply
}
