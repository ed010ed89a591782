//! A server on this computer that answers as a test wants it to.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// The first byte that is asked for, if not all are.
    pub(crate) from: Option<usize>,
}

impl Server {
    /// Answers one request after the other, until the test ends. The connection ends with the answer.
    pub(crate) fn new(answer: impl Fn(&Request, &mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(vec![]));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(request) = read(&stream) else { continue };
                seen.lock().unwrap().push(request.clone());
                answer(&request, &mut stream);
            }
        });
        Self { address, requests }
    }

    /// Gives these bytes under any path, and only what is asked for of them.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let bytes = bytes.to_vec();
        Self::new(move |request, stream| whole_or_rest(&bytes, request, stream))
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let mut from = None;
    for line in lines {
        let line = line.ok()?.to_ascii_lowercase();
        if line.is_empty() {
            return Some(Request { path, from });
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range.strip_suffix('-')?.parse().ok();
        }
    }
    None
}

/// Sends a status, headers and a body; whoever listens may have gone.
pub(crate) fn send(stream: &mut TcpStream, status: &str, headers: &[String], body: &[u8]) {
    let headers = headers.join("\r\n");
    let gap = if headers.is_empty() { "" } else { "\r\n" };
    let head = format!("HTTP/1.1 {status}\r\nConnection: close{gap}{headers}\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
    let _ = stream.flush();
}

/// Sends all bytes, whatever was asked for.
pub(crate) fn whole(bytes: &[u8], stream: &mut TcpStream) {
    send(stream, "200 OK", &[format!("Content-Length: {}", bytes.len())], bytes);
}

/// Promises all bytes, and breaks off after some.
pub(crate) fn cut(bytes: &[u8], after: usize, stream: &mut TcpStream) {
    send(stream, "200 OK", &[format!("Content-Length: {}", bytes.len())], &bytes[..after]);
}

/// Sends what was asked for.
pub(crate) fn whole_or_rest(bytes: &[u8], request: &Request, stream: &mut TcpStream) {
    match request.from {
        None => whole(bytes, stream),
        Some(from) if from < bytes.len() => {
            let (last, all) = (bytes.len() - 1, bytes.len());
            let headers = [
                format!("Content-Range: bytes {from}-{last}/{all}"),
                format!("Content-Length: {}", all - from),
            ];
            send(stream, "206 Partial Content", &headers, &bytes[from..]);
        }
        Some(_) => send(stream, "416 Range Not Satisfiable", &["Content-Length: 0".into()], b""),
    }
}
