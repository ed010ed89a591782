//! HTTP/1.1 for one page on the loopback interface: requests of a declared length, one per connection.
//!
//! Everything that a request declares is limited before memory or disk is used for it. A request must name this
//! server as its host (a page that rebinds its own name to 127.0.0.1 sends that name) and must not come from a page of
//! another origin.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use windlass::ParamStyle;

/// Bytes of a request line and its headers.
const MAX_HEAD: usize = 32 << 10;
const MAX_HEADERS: usize = 64;
/// Bytes of a JSON document.
const MAX_JSON: u64 = 4 << 20;
/// The longest pause of a client in the middle of a request.
const PATIENCE: Duration = Duration::from_secs(30);

/// A request without its body.
pub(crate) struct Request<'a> {
    pub(crate) method: String,
    /// Decoded segments.
    pub(crate) path: Vec<String>,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    /// Bytes of the body.
    pub(crate) length: u64,
    body: io::Take<BufReader<&'a TcpStream>>,
}

/// A response; errors are responses, too.
pub(crate) struct Response {
    status: u16,
    kind: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Body,
}

enum Body {
    Bytes(Cow<'static, [u8]>),
    File(File, u64),
}

pub(crate) type Answer<T = Response> = std::result::Result<T, Response>;

impl Response {
    pub(crate) fn new(kind: &'static str, body: impl Into<Cow<'static, [u8]>>) -> Self {
        Self { status: 200, kind, headers: vec![], body: Body::Bytes(body.into()) }
    }

    pub(crate) fn json(value: &impl Serialize) -> Self {
        let text = serde_json::to_vec(value).expect("numbers, names and lists of them");
        Self::new("application/json", text)
    }

    /// A file to save under a name.
    pub(crate) fn download(file: File, name: &str) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let name: String = name.chars().filter(|c| c.is_ascii_graphic() && *c != '"').collect();
        let body = Body::File(file, length);
        let response =
            Self { status: 200, kind: "application/octet-stream", headers: vec![], body };
        Ok(response.header("Content-Disposition", format!("attachment; filename=\"{name}\"")))
    }

    /// An error with a message, and a hint for the user.
    pub(crate) fn error(status: u16, message: &str, hint: Option<&str>) -> Self {
        let value = serde_json::json!({ "error": message, "hint": hint });
        Self { status, ..Self::json(&value) }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn reason(&self) -> &'static str {
        match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            409 => "Conflict",
            411 => "Length Required",
            413 => "Content Too Large",
            422 => "Unprocessable Content",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        }
    }

    /// Sends the response and closes the connection. A body that was not read is drained for a moment, because closing
    /// a connection with unread bytes would discard the response.
    pub(crate) fn send(self, mut stream: &TcpStream) -> io::Result<()> {
        let length = match &self.body {
            Body::Bytes(bytes) => bytes.len() as u64,
            Body::File(_, length) => *length,
        };
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {length}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\n",
            self.status,
            self.reason(),
            self.kind
        );
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head += "\r\n";
        stream.write_all(head.as_bytes())?;
        match self.body {
            Body::Bytes(bytes) => stream.write_all(&bytes)?,
            Body::File(file, length) => {
                io::copy(&mut file.take(length), &mut stream)?;
            }
        }
        stream.shutdown(Shutdown::Write)?;
        stream.set_read_timeout(Some(Duration::from_millis(200)))?;
        let (end, mut scratch) = (Instant::now() + Duration::from_secs(2), [0; 16 << 10]);
        while Instant::now() < end && stream.read(&mut scratch).is_ok_and(|read| read > 0) {}
        Ok(())
    }
}

impl<'a> Request<'a> {
    /// Reads a request up to its body; `None` if the client closed the connection.
    pub(crate) fn read(stream: &'a TcpStream) -> Answer<Option<Self>> {
        let lost = |error: io::Error| Response::error(400, &error.to_string(), None);
        stream.set_read_timeout(Some(PATIENCE)).map_err(lost)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        let mut reader = BufReader::new(stream);
        let mut head = vec![];
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            match reader.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ if head.is_empty() => return Ok(None),
                _ => return Err(Response::error(400, "incomplete request", None)),
            }
            if head.len() > MAX_HEAD {
                return Err(Response::error(413, "the request's headers are too long", None));
            }
        }
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let bad = || Response::error(400, "not an HTTP request", None);
        parsed.parse(&head).map_err(|_| bad())?;
        let (method, target) = parsed.method.zip(parsed.path).ok_or_else(bad)?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = path.strip_prefix('/').ok_or_else(bad)?;
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        };
        let header = |header: &httparse::Header<'_>| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_ascii_lowercase(), value)
        };
        let mut request = Self {
            method: method.to_owned(),
            path: path.split('/').map(decoded).collect(),
            query: query.split('&').filter(|text| !text.is_empty()).map(pair).collect(),
            headers: parsed.headers.iter().map(header).collect(),
            length: 0,
            body: reader.take(0),
        };
        if request.find("transfer-encoding").is_some() {
            return Err(Response::error(411, "the request must declare its length", None));
        }
        let lengths: Vec<&String> = request.all("content-length").collect();
        request.length = match lengths[..] {
            [] => 0,
            [length] => length.parse().map_err(|_| bad())?,
            _ => return Err(bad()),
        };
        request.body.set_limit(request.length);
        Ok(Some(request))
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = &String> {
        self.headers.iter().filter(move |(own, _)| own == name).map(|(_, value)| value)
    }

    fn find(&self, name: &'static str) -> Option<&str> {
        self.all(name).next().map(String::as_str)
    }

    /// The value of a parameter of the address.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Returns an error unless the request is for this server and from a page of this server, or from no page.
    pub(crate) fn check_origin(&self, port: u16) -> Answer<()> {
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let mut own = self.all("host");
        let (host, second) = (own.next(), own.next());
        if !host.is_some_and(|host| hosts.contains(host)) || second.is_some() {
            return Err(Response::error(403, "the request is for another host", None));
        }
        let is_own = |origin: &String| hosts.iter().any(|host| *origin == format!("http://{host}"));
        let from_page = self.find("sec-fetch-site");
        if !self.all("origin").all(is_own)
            || from_page.is_some_and(|site| !matches!(site, "same-origin" | "none"))
        {
            return Err(Response::error(403, "the request comes from another page", None));
        }
        Ok(())
    }

    /// The body as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&mut self) -> Answer<T> {
        if self.length > MAX_JSON {
            return Err(Response::error(413, "the settings are too long", None));
        }
        let mut text = vec![];
        let read = self.body.read_to_end(&mut text);
        read.map_err(|error| Response::error(400, &error.to_string(), None))?;
        serde_json::from_slice(&text)
            .map_err(|error| Response::error(400, &format!("invalid settings: {error}"), None))
    }

    /// Copies the body to a file.
    pub(crate) fn save(&mut self, file: &mut File) -> Answer<()> {
        let copied = io::copy(&mut self.body, file);
        let copied = copied.map_err(|error| Response::error(500, &error.to_string(), None))?;
        if copied < self.length {
            return Err(Response::error(400, "the upload is incomplete", None));
        }
        Ok(())
    }
}

/// Text with `%41` for `A`.
fn decoded(text: &str) -> String {
    let (bytes, mut out, mut at) = (text.as_bytes(), vec![], 0);
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            out.push(byte);
            at += 3;
        } else {
            out.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// What is wrong, and the next step.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// Stopped by the user.
    pub(crate) interrupted: bool,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, interrupted: false }
    }

    pub(crate) fn interrupted() -> Self {
        Self { interrupted: true, ..Self::new("stopped") }
    }
}

impl<E: Into<windlass_compare::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        use windlass_compare::Error;
        let error = error.into();
        let interrupted = matches!(
            error,
            Error::Interrupted
                | Error::Model(windlass_model::Error::Table(windlass_table::Error::Interrupted))
        );
        let (message, hint) = (format!("{error:#}"), error.hint(ParamStyle::Command));
        Self { message, hint, interrupted }
    }
}

impl From<Failure> for Response {
    fn from(failure: Failure) -> Self {
        Self::error(422, &failure.message, failure.hint.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(decoded("a%20b+c%2F%C3%BC"), "a b c/ü");
        // What is not an escape stays, and invalid UTF-8 is replaced.
        assert_eq!(decoded("100%+%zz%e"), "100% %zz%e");
        assert_eq!(decoded("%ff"), "\u{fffd}");
    }
}
