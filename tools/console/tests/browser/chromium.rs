//! A headless Chromium, driven by the DevTools protocol over a pair of pipes: JSON, with a NUL
//! after each message.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Environment variable that is set where a browser is required, as in CI.
const REQUIRED: &str = "PUNCTUAL_REQUIRE_BROWSER";

/// Time limit for one answer of the browser.
const PATIENCE: Duration = Duration::from_secs(120);

/// Chromium process with one page, controlled by a test.
pub(crate) struct Chromium {
    process: Child,
    to: File,
    from: Receiver<Value>,
    number: u64,
    session: String,
    /// Temporary folder with the browser's profile and pipes.
    _folder: tempfile::TempDir,
}

impl Chromium {
    /// Starts a browser; returns `None`, with the reason printed, if there is none.
    pub(crate) fn start() -> Option<Self> {
        if Command::new("chromium").arg("--version").output().is_err() {
            let why = "chromium is not installed (Debian's chromium)";
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "{why}, and {REQUIRED} is set"
            );
            println!("skipped: {why}");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let pipe = |name: &str| {
            let path = folder.path().join(name);
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
                .unwrap();
            path
        };
        let (to, from) = (pipe("to"), pipe("from"));
        let mut command = Command::new("sh");
        // The browser reads from descriptor 3 and writes to 4.
        command.args([
            "-c",
            r#"to="$1" from="$2"; shift 2; exec chromium "$@" 3<"$to" 4>"$from""#,
            "sh",
        ]);
        command.arg(&to).arg(&from);
        command.args([
            "--headless",
            "--remote-debugging-pipe",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
        ]);
        command.arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ));
        // Chromium has no sandbox for root.
        if rustix::process::getuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.arg("about:blank");
        let process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = File::options().write(true).open(to).unwrap();
        let from = BufReader::new(File::open(from).unwrap());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for message in from.split(0) {
                let Ok(message) = message else { return };
                if sender
                    .send(serde_json::from_slice(&message).unwrap())
                    .is_err()
                {
                    return;
                }
            }
        });
        let mut chromium = Self {
            process,
            to,
            from: receiver,
            number: 0,
            session: String::new(),
            _folder: folder,
        };
        let target = chromium.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = chromium.call("Target.attachToTarget", attach);
        chromium.session = attached["sessionId"].as_str().unwrap().to_owned();
        chromium.call("Page.enable", json!({}));
        Some(chromium)
    }

    /// Calls a method of the protocol, and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let reply = self.from.recv_timeout(PATIENCE).unwrap();
            if reply["id"] == json!(self.number) {
                assert!(reply["error"].is_null(), "{method}: {}", reply["error"]);
                return reply["result"].clone();
            }
        }
    }

    /// Opens a page, and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
        self.loaded();
    }

    fn loaded(&mut self) {
        loop {
            let event = self.from.recv_timeout(PATIENCE).unwrap();
            if event["method"] == "Page.loadEventFired" {
                return;
            }
        }
    }

    /// Runs a script that navigates to another page, and waits until that is loaded.
    pub(crate) fn go(&mut self, script: &str) {
        // Its answer may arrive after the page has gone, and the event before the answer.
        self.number += 1;
        let message = json!({
            "id": self.number,
            "method": "Runtime.evaluate",
            "params": { "expression": format!("setTimeout(() => {{ {script} }}, 0); 0") },
            "sessionId": self.session,
        });
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        self.loaded();
    }

    /// Waits until a script has a result, and returns it.
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let parameters =
            json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let done = self.call("Runtime.evaluate", parameters);
        assert!(done["exceptionDetails"].is_null(), "{script}: {done}");
        done["result"]["value"].clone()
    }

    /// Waits until a condition of the document is true, checking it after each change.
    pub(crate) fn until(&mut self, condition: &str) {
        let script = format!(
            "new Promise((done) => {{
                const look = () => {{
                    if (!({condition})) return false;
                    done(true);
                    return true;
                }};
                if (look()) return;
                const observer = new MutationObserver(() => look() && observer.disconnect());
                observer.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
            }})"
        );
        self.evaluate(&script);
    }

    /// Sets the size of the window, and whether the system prefers dark colours.
    pub(crate) fn looks(&mut self, width: u32, height: u32, dark: bool) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Saves a picture of the whole page among the build's files.
    pub(crate) fn screenshot(&mut self, name: &str) -> PathBuf {
        let options = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.call("Page.captureScreenshot", options);
        let png = data_encoding::BASE64
            .decode(picture["data"].as_str().unwrap().as_bytes())
            .unwrap();
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let folder = built.join("screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{name}.png"));
        std::fs::write(&path, png).unwrap();
        path
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
