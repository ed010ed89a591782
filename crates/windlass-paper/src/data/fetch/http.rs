//! HTTPS requests; plain HTTP is allowed for loopback only.

use std::io::Read;
use std::net::IpAddr;
use std::time::Duration;

use ureq::Agent;
use ureq::http::Uri;
use ureq::http::header::{CONTENT_RANGE, LOCATION, RANGE};

const MAX_REDIRECTS: usize = 8;
/// Timeout for name resolution, connection, response and each read.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A response.
pub(super) struct Response {
    /// Offset of the body: the requested one, or 0 if the server sends everything.
    pub(super) from: u64,
    /// Length of the body, if known.
    pub(super) length: Option<u64>,
    pub(super) body: Box<dyn Read>,
}

/// Parses and checks an address; the error is the reason for rejecting it.
pub(super) fn check(address: &str) -> Result<Uri, &'static str> {
    let uri: Uri = address.parse().map_err(|_| "it is not well formed")?;
    let host = uri.host().filter(|host| !host.is_empty()).ok_or("it names no computer")?;
    match uri.scheme_str() {
        Some("https") => Ok(uri),
        Some("http") if is_loopback_host(host) => Ok(uri),
        Some("http") => Err("plain http is not secure"),
        _ => Err("it is neither https nor http"),
    }
}

fn is_loopback_host(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Requests an address from an offset, following redirects.
pub(super) fn get(url: &str, from: u64) -> Result<Response, String> {
    let mut uri = check(url)?;
    for _ in 0..=MAX_REDIRECTS {
        let mut request = agent(&uri).get(&uri);
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        let response = request.call().map_err(|error| error.to_string())?;
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let status = response.status();
        let expected_range = format!("bytes {from}-");
        let from = match status.as_u16() {
            200 => 0,
            206 if header(CONTENT_RANGE)
                .is_some_and(|range| range.starts_with(&expected_range)) =>
            {
                from
            }
            // The file on the server has changed.
            206 | 416 if from > 0 => return get(url, 0),
            301 | 302 | 303 | 307 | 308 => {
                uri = redirect_target(&uri, header(LOCATION).ok_or("it leads on, but not where")?)?;
                continue;
            }
            _ => return Err(format!("the server answers {status}")),
        };
        let body = response.into_body();
        let length = body.content_length();
        return Ok(Response { from, length, body: Box::new(body.into_reader()) });
    }
    Err(format!("it leads on more than {MAX_REDIRECTS} times"))
}

fn agent(uri: &Uri) -> Agent {
    let config = Agent::config_builder()
        .user_agent(concat!("windlass/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
        // Redirects are checked before they are followed.
        .max_redirects(0)
        .timeout_resolve(Some(TIMEOUT))
        .timeout_connect(Some(TIMEOUT))
        .timeout_recv_response(Some(TIMEOUT))
        .timeout_per_read(Some(TIMEOUT));
    let here = uri.host().is_some_and(is_loopback_host);
    let config = if here { config.proxy(None) } else { config };
    config.build().new_agent()
}

/// Resolves and checks the target of a redirect.
fn redirect_target(from: &Uri, to: &str) -> Result<Uri, String> {
    let scheme = from.scheme_str().unwrap_or("https");
    let computer = from.authority().map_or("", |authority| authority.as_str());
    let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    let address = if to.contains("://") {
        to.to_owned()
    } else if to.starts_with("//") {
        format!("{scheme}:{to}")
    } else if to.starts_with('/') {
        format!("{scheme}://{computer}{to}")
    } else {
        format!("{scheme}://{computer}{folder}/{to}")
    };
    let uri = check(&address).map_err(|why| format!("it leads to `{address}`: {why}"))?;
    if scheme == "https" && uri.scheme_str() != Some("https") {
        return Err(format!("it leads from https to `{address}`"));
    }
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::{check, redirect_target};

    #[test]
    fn plain_http_is_for_this_computer() {
        for good in [
            "https://example.org/a",
            "http://127.0.0.1:80/a",
            "http://localhost",
            "http://[::1]:8000/a",
            "http://127.9.9.9",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in [
            "http://example.org",
            "http://127.0.0.1@example.org/",
            "http://localhost.example.org",
            "http://127.0.0.1.example.org",
            "http://10.0.0.1",
            "http://0.0.0.0",
            "ftp://127.0.0.1/a",
            "file:///etc/passwd",
            "data",
            "/data",
            "",
            "https://",
            "http:///a b",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn answers_lead_where_their_words_say() {
        let from = check("https://example.org/a/b?c").unwrap();
        let leads = |to| redirect_target(&from, to).map(|uri| uri.to_string());
        assert_eq!(leads("https://example.net/x").unwrap(), "https://example.net/x");
        assert_eq!(leads("//example.net/x").unwrap(), "https://example.net/x");
        assert_eq!(leads("/x").unwrap(), "https://example.org/x");
        assert_eq!(leads("x").unwrap(), "https://example.org/a/x");
        assert!(leads("http://example.org/x").is_err());
        let said = leads("http://127.0.0.1/x").unwrap_err();
        assert_eq!(said, "it leads from https to `http://127.0.0.1/x`");
    }
}
