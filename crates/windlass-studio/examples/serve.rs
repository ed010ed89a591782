//! A request and its answer: `cargo run -p windlass-studio --example serve`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use windlass_studio::{Options, Studio};

const CARS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/auto_mpg.csv");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options { table: Some(CARS.into()), ..Options::default() };
    let studio = Studio::start(&options)?;
    let address = studio.address();
    println!("{address}");
    // http://127.0.0.1:PORT/TOKEN/
    let (host, path) = address["http://".len()..].split_once('/').ok_or("an address")?;
    let settings = r#"{"table": 1, "target": ["mpg"]}"#;
    let request = format!(
        "POST /{path}api/inspect HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n{settings}",
        settings.len()
    );
    let mut stream = TcpStream::connect(host)?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    assert!(answer.contains("\"rows\":398"), "{answer}");
    println!("{} bytes about the columns of 398 cars", answer.len());
    Ok(())
}
