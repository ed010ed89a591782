//! Windlass Studio: a local web page over the same libraries as the command.
//!
//! [`Studio::start`] serves the page on 127.0.0.1 and [`Studio::wait`] until it is told to end. Nothing is sent
//! anywhere else: the page may load only what this server has, by its content security policy.
//!
//! | module | what it has |
//! | :-- | :-- |
//! | `http` | requests and responses, with limits; hosts and origins are checked |
//! | `settings` | what the page asks for, as configurations, command lines and Python |
//! | `session` | tables, and what is answered at once: columns, previews, single predictions |
//! | `jobs` | what takes longer: augmented tables, comparisons, models |
//!
//! An address has a random token as its first part, so that other users and other pages cannot guess it. Files of the
//! user are read only if they are named on the command line or uploaded; uploads and results are in a temporary folder
//! that is removed in the end.

mod http;
mod jobs;
mod session;
mod settings;

use std::collections::BTreeMap;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use windlass::{METHODS, Param, SearchRange};
use windlass_compare::{CompareConfig, Error, MethodName, ModelName, Result};
use windlass_table::Table;

use http::{Answer, Failure, Request, Response};
use jobs::Jobs;
use session::{PreviewRequest, Session, lock};
use settings::{MODELS, Settings};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The page; its script writes all of it.
const PAGE: &str = r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Windlass Studio</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="style.css">
<script type="module" src="studio.js"></script>
</head>
<body>
<noscript>Windlass Studio needs JavaScript.</noscript>
</body>
</html>
"#;
/// What the page may load: files of this server, no inline scripts or styles.
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     object-src 'none'";
/// Connections that are answered at the same time.
const MAX_CONNECTIONS: usize = 64;

/// How the page is served.
#[derive(Debug, Clone)]
pub struct Options {
    /// A table to open.
    pub table: Option<PathBuf>,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Maximum size of an uploaded file in bytes.
    pub max_upload: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { table: None, port: 0, max_upload: 1 << 30 }
    }
}

/// A server with its own threads. Dropping it removes its files.
pub struct Studio {
    server: Arc<Server>,
}

struct Server {
    session: Arc<Session>,
    jobs: Jobs,
    port: u16,
    /// The first part of every path.
    token: String,
    /// The same for reports, which must not know the token.
    report_token: String,
    max_upload: u64,
    connections: AtomicUsize,
}

impl Studio {
    /// Opens the table, if there is one, and begins to serve.
    pub fn start(options: &Options) -> Result<Self> {
        let fault = |doing, path: PathBuf| move |source| Error::Io { doing, path, source };
        let temporary = std::env::temp_dir();
        let session = Session::new().map_err(fault("create a folder in", temporary))?;
        if let Some(path) = &options.table {
            // An error is better before the browser opens.
            Table::open(std::slice::from_ref(path), &windlass_table::ReadOptions::default())?;
            session.add(path.clone(), path.display().to_string());
        }
        let address = (Ipv4Addr::LOCALHOST, options.port);
        let name = PathBuf::from(format!("127.0.0.1:{}", options.port));
        let listener = TcpListener::bind(address).map_err(fault("listen on", name.clone()))?;
        let port = listener.local_addr().map_err(fault("listen on", name))?.port();
        let server = Arc::new(Server {
            session: Arc::new(session),
            jobs: Jobs::default(),
            port,
            token: random_token()?,
            report_token: random_token()?,
            max_upload: options.max_upload,
            connections: AtomicUsize::new(0),
        });
        let weak = Arc::downgrade(&server);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Some(server) = weak.upgrade() else { break };
                if let Ok(stream) = stream {
                    accept(server, stream);
                }
            }
        });
        Ok(Self { server })
    }

    /// The address of the page, with its token.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.server.port, self.server.token)
    }

    /// Serves until the function returns `true`; then jobs are stopped and files are removed.
    pub fn wait(self, ends: impl Fn() -> bool) {
        while !ends() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        let session = &self.server.session;
        lock(&self.server.jobs).values().for_each(|job| job.stop());
        // Jobs and connections may have the session for a moment longer; its files are not needed any more.
        let _ = std::fs::remove_dir_all(session.folder.path());
    }
}

/// 128 random bits of the operating system.
fn random_token() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| Error::Io {
        doing: "read random numbers of",
        path: "the operating system".into(),
        source: std::io::Error::other(error.to_string()),
    })?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// Answers a connection on its own thread.
fn accept(server: Arc<Server>, stream: TcpStream) {
    if server.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
        server.connections.fetch_sub(1, Ordering::Relaxed);
        let _ = Response::error(503, "too many connections", None).send(&stream);
        return;
    }
    std::thread::spawn(move || {
        // A panic ends the connection, not the server.
        let answer =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                match Request::read(&stream) {
                    Ok(Some(mut request)) => {
                        Some(server.answer(&mut request).unwrap_or_else(|error| error))
                    }
                    Ok(None) => None,
                    Err(refused) => Some(refused),
                }
            }));
        let answer = answer.unwrap_or_else(|_| {
            Some(Response::error(500, "internal error: please report it", None))
        });
        if let Some(answer) = answer {
            // The client may be gone.
            let _ = answer.send(&stream);
        }
        server.connections.fetch_sub(1, Ordering::Relaxed);
    });
}

/// Whether two secrets are equal, in a time that does not depend on where they differ.
fn same(given: &str, secret: &str) -> bool {
    let differences = given.bytes().zip(secret.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == secret.len() && differences == 0
}

impl Server {
    fn answer(&self, request: &mut Request<'_>) -> Answer {
        request.check_origin(self.port)?;
        let path: Vec<String> = std::mem::take(&mut request.path);
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some((token, words)) = words.split_first() else { return Err(unknown()) };
        if same(token, &self.report_token) {
            return self.report(words);
        }
        if !same(token, &self.token) {
            let hint = "open the address that `windlass studio` printed";
            return Err(Response::error(403, "this address is not valid", Some(hint)));
        }
        let is_read = matches!(request.method.as_str(), "GET" | "HEAD");
        match (words, is_read) {
            ([""], true) => Ok(page(PAGE.as_bytes(), "text/html; charset=utf-8")),
            (["studio.js"], true) => {
                Ok(page(include_bytes!("../dist/studio.js"), "text/javascript; charset=utf-8"))
            }
            (["style.css"], true) => {
                Ok(page(include_bytes!("../web/style.css"), "text/css; charset=utf-8"))
            }
            (["icon.svg"], true) => Ok(page(ICON, "image/svg+xml")),
            (["file", name], true) => self.file(name),
            (["api", words @ ..], _) => {
                let words = words.to_vec();
                self.call(&words, is_read, request)
            }
            _ => Err(unknown()),
        }
    }

    /// Answers a call of the page.
    fn call(&self, words: &[&str], is_read: bool, request: &mut Request<'_>) -> Answer {
        let session = &self.session;
        let answer = match (words, is_read) {
            (["state"], true) => Ok(self.state()),
            (["tables"], false) => return self.upload(request),
            (["forget"], false) => {
                session.forget(request.json()?);
                Ok(Value::Null)
            }
            (["inspect"], false) => session.inspect(&request.json()?),
            (["preview"], false) => session.preview(&request.json::<PreviewRequest>()?),
            (["similarity"], false) => session.similarity(&request.json()?),
            (["script", step], false) => self.script(step, &request.json()?),
            (["predict"], false) => {
                session.predict_row(&request.json::<BTreeMap<String, String>>()?)
            }
            (["job", kind], true) => {
                let since = request.query("since").and_then(|text| text.parse().ok());
                let job = lock(&self.jobs).get(*kind).cloned();
                Ok(job.map_or(Value::Null, |job| job.view(since.unwrap_or(0))))
            }
            (["job", kind], false) => {
                jobs::start(&self.jobs, session, kind, request.json()?).map(|()| Value::Null)
            }
            (["job", kind, "stop"], false) => {
                if let Some(job) = lock(&self.jobs).get(*kind) {
                    job.stop();
                }
                Ok(Value::Null)
            }
            _ => return Err(unknown()),
        };
        let published =
            |failure: Failure| Failure { message: session.published(&failure.message), ..failure };
        let value = answer.map_err(|failure| Response::from(published(failure)))?;
        Ok(Response::json(&value))
    }

    /// What the page needs to begin: tables, the registry of methods, and jobs of before.
    fn state(&self) -> Value {
        let methods = METHODS.iter().map(|method| {
            let params = method.params.iter().map(|param| {
                json!({
                    "name": param.name,
                    "help": param.help,
                    "range": param.range,
                    "default": param.default,
                    "search": search_range(param),
                })
            });
            json!({
                "name": method.name,
                "title": method.title,
                "help": method.help,
                "rare": method.rare,
                "params": params.collect::<Vec<_>>(),
            })
        });
        let compared = MethodName::all().into_iter().map(|method| {
            let rare = method.is_for_rare_targets();
            json!({
                "name": method.name(),
                "help": method.help(),
                "default": method.is_default() && !rare,
                "rare": rare,
            })
        });
        let models = MODELS
            .iter()
            .map(|model: &ModelName| json!({ "name": model.name(), "help": model.help() }));
        let jobs = lock(&self.jobs);
        let running = jobs::KINDS.iter().filter(|kind| jobs.contains_key(**kind));
        let model = lock(&self.session.model);
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "tables": self.session.tables(),
            "methods": methods.collect::<Vec<_>>(),
            "compared": compared.collect::<Vec<_>>(),
            "models": models.collect::<Vec<_>>(),
            "folds": CompareConfig::FOLDS,
            "repeats": CompareConfig::REPEATS,
            "max_upload": self.max_upload,
            "jobs": running.collect::<Vec<_>>(),
            "model": model.as_ref().map(|model| &model.view),
            "report": format!("../{}/report.html", self.report_token),
        })
    }

    /// Stores an upload, and returns its number.
    fn upload(&self, request: &mut Request<'_>) -> Answer {
        if request.length > self.max_upload {
            let megabytes = self.max_upload >> 20;
            let message = format!("the file is larger than {megabytes} MiB");
            let hint =
                "start `windlass studio FILE`, or use the command, which streams files of any size";
            return Err(Response::error(413, &message, Some(hint)));
        }
        let fault = |error: std::io::Error| Response::error(500, &error.to_string(), None);
        let name = request.query("name").unwrap_or_default().to_owned();
        let (path, name, mut file) = self.session.upload(&name).map_err(fault)?;
        if let Err(error) = request.save(&mut file) {
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        let id = self.session.add(path, name.clone());
        Ok(Response::json(&json!({ "id": id, "name": name })))
    }

    /// The command line and the Python lines of a step.
    fn script(&self, step: &str, settings: &Settings) -> http::Result<Value> {
        let opened = self.session.open(settings)?;
        let (table, name) = (&opened.table, &opened.name);
        let script = match step {
            "augment" => settings.augment_script(table, name),
            "compare" => settings.compare_script(table, name),
            "train" => settings.train_script(table, name),
            _ => return Err(Failure::new(format!("unknown step `{step}`"))),
        };
        Ok(json!(script))
    }

    /// A file to download.
    fn file(&self, name: &str) -> Answer {
        let path = self.session.file(name).ok_or_else(unknown)?;
        let file = File::open(path).map_err(|_| unknown())?;
        Response::download(file, name).map_err(|_| unknown())
    }

    /// The page of a comparison, for a sandboxed frame: its inline scripts run by their hashes, and it can load nothing.
    fn report(&self, words: &[&str]) -> Answer {
        let &["report.html"] = words else { return Err(unknown()) };
        let path = self.session.file("report.html").ok_or_else(unknown)?;
        let page = std::fs::read_to_string(path).map_err(|_| unknown())?;
        let scripts: Vec<String> = script_hashes(&page);
        let policy = format!(
            "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts",
            scripts.join(" ")
        );
        let response = Response::new("text/html; charset=utf-8", page.into_bytes());
        Ok(response.header("Content-Security-Policy", policy))
    }
}

/// The ends of a slider for a parameter: those of its search space.
fn search_range(param: &Param) -> Option<Value> {
    let (low, high, unit) = match param.search? {
        SearchRange::Log { low, high } => (low, high, ""),
        SearchRange::LogDeviations { low, high } => (low, high, "sd"),
        _ => return None,
    };
    Some(json!({ "low": low, "high": high, "unit": unit }))
}

/// The hashes of the inline scripts of a page, as its policy names them.
fn script_hashes(page: &str) -> Vec<String> {
    let scripts = page.split("<script>").skip(1).filter_map(|rest| rest.split_once("</script>"));
    let hash = |(script, _): (&str, &str)| {
        format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(script)))
    };
    scripts.map(hash).collect()
}

fn unknown() -> Response {
    Response::error(404, "there is nothing at this address", None)
}

fn page(bytes: &'static [u8], kind: &'static str) -> Response {
    Response::new(kind, bytes).header("Content-Security-Policy", POLICY)
}

/// An anchor.
const ICON: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><g fill='none' stroke='#0b7a57' \
stroke-width='3' stroke-linecap='round'><circle cx='16' cy='6' r='3'/><path d='M16 9v19M9 14h14M4 19c1 6 6 9 12 \
9s11-3 12-9'/></g></svg>";

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::{Options, Studio, script_hashes};

    /// Sends bytes, and returns the status and the whole response.
    fn send(studio: &Studio, bytes: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", studio.server.port)).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or(0), text)
    }

    fn get(studio: &Studio, path: &str, headers: &str) -> (u16, String) {
        send(studio, &format!("GET {path} HTTP/1.1\r\n{headers}\r\n"))
    }

    #[test]
    fn only_the_page_itself_is_answered() {
        let studio = Studio::start(&Options::default()).unwrap();
        let (port, token) = (studio.server.port, &studio.server.token);
        let host = format!("Host: 127.0.0.1:{port}\r\n");
        let root = format!("/{token}/");
        let (status, page) = get(&studio, &root, &host);
        assert_eq!(status, 200, "{page}");
        assert!(page.contains("Content-Security-Policy: default-src 'self';"));
        assert_eq!(get(&studio, &root, &format!("Host: localhost:{port}\r\n")).0, 200);
        for (path, headers) in [
            ("/".to_owned(), host.clone()),
            (format!("/{}/", "x".repeat(token.len())), host.clone()),
            (format!("/{}/", &token[1..]), host.clone()),
            (format!("/{}/api/state", &token[1..]), host.clone()),
            (root.clone(), "Host: evil.example\r\n".to_owned()),
            (root.clone(), format!("Host: evil.example:{port}\r\n")),
            (root.clone(), format!("{host}Host: evil.example\r\n")),
            (root.clone(), String::new()),
            (root.clone(), format!("{host}Origin: http://evil.example\r\n")),
            (root.clone(), format!("{host}Origin: null\r\n")),
            (root.clone(), format!("{host}Sec-Fetch-Site: cross-site\r\n")),
        ] {
            let (status, text) = get(&studio, &path, &headers);
            assert_eq!(status, 403, "{path} {headers}: {text}");
        }
        let own =
            format!("{host}Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n");
        assert_eq!(get(&studio, &format!("{root}api/state"), &own).0, 200);
        for path in
            ["../../etc/passwd", "file/..%2F..%2Fetc%2Fpasswd", "api/unknown", "web/index.html"]
        {
            assert_eq!(get(&studio, &format!("{root}{path}"), &host).0, 404, "{path}");
        }
    }

    #[test]
    fn what_is_too_large_or_malformed_is_refused() {
        let options = Options { max_upload: 100, ..Options::default() };
        let studio = Studio::start(&options).unwrap();
        let host = format!("Host: 127.0.0.1:{}\r\n", studio.server.port);
        let post = |path: &str, headers: &str, body: &str| {
            let root = format!("/{}/api/{path}", studio.server.token);
            send(&studio, &format!("POST {root} HTTP/1.1\r\n{host}{headers}\r\n{body}"))
        };
        let (status, text) = post("tables?name=a.csv", "Content-Length: 101\r\n", "");
        assert_eq!(status, 413, "{text}");
        assert!(text.contains("larger than"));
        let (status, text) = post("tables?name=a.csv", "Content-Length: 8\r\n", "x,y\n1,2\n");
        assert_eq!(
            (status, text.ends_with("{\"id\":2,\"name\":\"a.csv\"}")),
            (200, true),
            "{text}"
        );
        assert_eq!(post("inspect", "Content-Length: 5000000\r\n", "").0, 413);
        assert_eq!(post("tables", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n").0, 411);
        assert_eq!(post("tables", "Content-Length: 1\r\nContent-Length: 2\r\n", "ab").0, 400);
        assert_eq!(post("inspect", "Content-Length: 3\r\n", "{x}").0, 400);
        assert_eq!(send(&studio, "nonsense\r\n\r\n").0, 400);
        assert_eq!(send(&studio, &format!("GET / HTTP/1.1\r\nX: {}", "y".repeat(40_000))).0, 413);
        // Files of the machine are not read, whatever the settings name.
        for settings in [
            r#"{"table":2,"target":["y"],"params":{"anchors":"matrix:/etc/passwd"}}"#,
            r#"{"table":2,"target":["y"],"rare":"/etc/passwd"}"#,
            r#"{"table":9,"target":["y"]}"#,
        ] {
            let length = format!("Content-Length: {}\r\n", settings.len());
            let (status, text) = post("inspect", &length, settings);
            assert_eq!(status, 422, "{text}");
        }
        let folder = studio.server.session.folder.path().to_owned();
        assert!(folder.exists());
        drop(studio);
        assert!(!folder.exists());
    }

    #[test]
    fn scripts_are_named_by_their_hashes() {
        // echo -n 'alert(1)' | openssl dgst -sha256 -binary | base64
        let hash = "'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='";
        assert_eq!(script_hashes("<script>alert(1)</script><p>"), [hash]);
        assert!(script_hashes("<p>none</p>").is_empty());
    }
}
