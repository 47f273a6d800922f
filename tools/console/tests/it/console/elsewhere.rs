//! Requests that a browser sends for other sites: with another host's name, or from another site's
//! page.

use punctual_console::{Console, ConsoleError, ConsoleOptions, Naming};

use crate::console::support::{Reply, Shown};

const FIELDS: [(&str, &str); 2] = [("in", ""), ("name", "made")];

fn get_as(shown: &Shown, host: &str, headers: &str) -> Reply {
    shown.send(&format!("GET /naming HTTP/1.1\r\n{host}{headers}"), "")
}

#[test]
fn a_request_for_another_host_is_refused_so_that_no_name_of_others_leads_here() {
    let shown = Shown::with(ConsoleOptions {
        hosts: vec!["names.example".to_owned()],
        ..ConsoleOptions::default()
    });
    let port = shown.address().port();
    for (host, status) in [
        (format!("Host: 127.0.0.1:{port}\r\n"), 200),
        (format!("Host: localhost:{port}\r\n"), 200),
        (format!("Host: names.example:{port}\r\n"), 200),
        (format!("Host: attacker.example:{port}\r\n"), 421),
        (format!("Host: 127.0.0.1.attacker.example:{port}\r\n"), 421),
        ("Host: localhost:1\r\n".to_owned(), 421),
        ("Host: localhost\r\n".to_owned(), 421),
        (String::new(), 400),
        (
            format!("Host: localhost:{port}\r\nHost: attacker.example\r\n"),
            400,
        ),
    ] {
        let reply = get_as(&shown, &host, "");
        assert_eq!(reply.status, status, "{host}");
        assert_eq!(reply.body.contains("All names"), status == 200, "{host}");
    }
    let whole =
        format!("GET http://attacker.example/naming HTTP/1.1\r\nHost: localhost:{port}\r\n");
    assert_eq!(shown.send(&whole, "").status, 400);
    let token = shown.token();
    let fields = [("token", &*token), FIELDS[0], FIELDS[1]];
    let reply = shown.post_as(
        "/naming/context",
        &fields,
        &format!("attacker.example:{port}"),
        "",
    );
    assert_eq!(reply.status, 421);
    assert!(!shown.resolves("made"));
}

#[test]
fn a_form_of_another_site_is_refused_by_its_origin_though_it_has_the_token() {
    let shown = Shown::new();
    let (token, host) = (shown.token(), shown.address().to_string());
    let fields = [("token", &*token), FIELDS[0], FIELDS[1]];
    for headers in [
        "Origin: http://attacker.example\r\n",
        "Origin: null\r\n",
        &format!("Origin: http://{host}\r\nOrigin: http://attacker.example\r\n"),
        &format!("Origin: http://localhost:{}\r\n", shown.address().port()),
    ] {
        let reply = shown.post_as("/naming/context", &fields, &host, headers);
        assert_eq!(reply.status, 403, "{headers}");
    }
    assert!(!shown.resolves("made"));
    let headers = format!("Origin: http://{host}\r\n");
    let reply = shown.post_as("/naming/context", &fields, &host, &headers);
    assert_eq!(reply.status, 303);
}

#[test]
fn what_the_browser_says_comes_from_another_site_neither_changes_nor_loads_anything() {
    let shown = Shown::new();
    let (token, address) = (shown.token(), shown.address());
    let (host, fields) = (
        address.to_string(),
        [("token", &*token), FIELDS[0], FIELDS[1]],
    );
    for site in ["cross-site", "same-site", "none", "anything"] {
        let headers = format!("Sec-Fetch-Site: {site}\r\n");
        let reply = shown.post_as("/naming/context", &fields, &host, &headers);
        assert_eq!(reply.status, 403, "{site}");
    }
    assert!(!shown.resolves("made"));
    let host = format!("Host: {host}\r\n");
    for (headers, status) in [
        (
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
            403,
        ),
        ("Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n", 403),
        // A link from elsewhere, and a bookmark.
        (
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n",
            200,
        ),
        ("Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n", 200),
        (
            "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n",
            200,
        ),
    ] {
        assert_eq!(get_as(&shown, &host, headers).status, status, "{headers}");
    }
}

#[test]
fn a_form_without_the_token_of_this_process_changes_nothing() {
    let shown = Shown::new();
    let other = Shown::new();
    let host = shown.address().to_string();
    let token = shown.token();
    for token in [None, Some(""), Some(&*other.token()), Some(&token[1..])] {
        let mut fields = FIELDS.to_vec();
        fields.extend(token.map(|token| ("token", token)));
        let headers = format!("Origin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n");
        for path in ["/naming/context", "/naming/bind", "/naming/unbind"] {
            let reply = shown.post_as(path, &fields, &host, &headers);
            assert_eq!(reply.status, 403, "{path} {token:?}");
        }
    }
    assert!(!shown.resolves("made"));
    // A link is not a form.
    let path = format!("/naming/context?token={token}&in=&name=made");
    assert_eq!(shown.get(&path).status, 405);
}

#[test]
fn no_other_site_may_show_read_or_script_a_page() {
    let shown = Shown::new();
    for (path, status) in [
        ("/naming", 200),
        ("/static/console.js", 200),
        ("/none", 404),
    ] {
        let reply = shown.get(path);
        assert_eq!(reply.status, status, "{path}");
        let policy = reply.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert_eq!(reply.header("x-frame-options"), Some("DENY"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(
            reply.header("cross-origin-resource-policy"),
            Some("same-origin")
        );
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    let host = format!("Host: {}\r\n", shown.address());
    let reply = get_as(&shown, &host, "Origin: http://attacker.example\r\n");
    assert_eq!(reply.header("access-control-allow-origin"), None);
    // No script or style in the page itself, and nothing from other sites.
    let page = shown.get("/naming").body;
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains("://"));
    assert_eq!(page.matches("<script").count(), 1);
}

#[test]
fn an_address_that_other_machines_reach_is_taken_only_where_that_is_said() {
    let shown = Shown::new();
    let listen = |address: &str, is_for_others| {
        let options = ConsoleOptions {
            address: address.to_owned(),
            is_for_others,
            ..ConsoleOptions::default()
        };
        let naming = Naming {
            directory: shown.service.directory(),
            orb: shown.orb.clone(),
            asks: false,
        };
        Console::listen(&options, vec![Box::new(naming)])
    };
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let refused = listen(address, false);
        assert!(
            matches!(refused, Err(ConsoleError::ForOthers(_))),
            "{address}"
        );
    }
    assert!(matches!(
        listen("nonsense", false),
        Err(ConsoleError::Address { .. })
    ));
    assert!(listen("127.0.0.1:0", false).is_ok());
    assert!(listen("0.0.0.0:0", true).is_ok());
}
