//! Fetching: only the registry's bytes get the file's name, whatever a server does.

#[path = "common/server.rs"]
mod server;

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use server::{Server, cut, send, whole, whole_or_rest};
use sha2::{Digest, Sha256};
use windlass_paper::data::{self, Address, Error, Fetch, FetchOutcome, File, Packaging, Result};

const PATH: &str = "set/values.data";

/// Bytes that do not compress, and in which every place looks different.
fn bytes(count: u32) -> Vec<u8> {
    (0..count).flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// A file of these bytes; what it says lives as long as the tests.
fn file(bytes: &[u8], addresses: Vec<(String, Packaging)>) -> File {
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let addresses =
        addresses.into_iter().map(|(url, packaging)| Address { url: leak(url), packaging });
    File {
        path: PATH,
        bytes: bytes.len() as u64,
        sha256: leak(format!("{:x}", Sha256::digest(bytes))),
        copied_from: "",
        addresses: Box::leak(addresses.collect::<Vec<_>>().into_boxed_slice()),
    }
}

fn at(server: &Server) -> Vec<(String, Packaging)> {
    vec![(server.url("/values.data"), Packaging::Plain)]
}

/// A folder to fetch to.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn fetch(&self, file: &File) -> Result<FetchOutcome> {
        let fetch = Fetch::new(self.0.path().into(), vec![], None).unwrap();
        fetch.file(data::named("yacht").unwrap(), file, &|_, _| {})
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// All files, below the folder, and their sizes.
    fn files(&self) -> Vec<(String, u64)> {
        fn walk(folder: &Path, root: &Path, found: &mut Vec<(String, u64)>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    found.push((name, path.metadata().unwrap().len()));
                }
            }
        }
        let mut found = vec![];
        walk(self.0.path(), self.0.path(), &mut found);
        found.sort();
        found
    }

    fn part(&self, bytes: &[u8]) {
        std::fs::create_dir_all(self.path("set")).unwrap();
        std::fs::write(self.path("set/values.data.part"), bytes).unwrap();
    }

    #[track_caller]
    fn has_only(&self, bytes: &[u8]) {
        assert_eq!(self.files(), [(PATH.to_owned(), bytes.len() as u64)]);
        assert_eq!(std::fs::read(self.path(PATH)).unwrap(), bytes);
    }
}

/// Why every address failed.
#[track_caller]
fn reasons(result: Result<FetchOutcome>) -> Vec<String> {
    let error = result.unwrap_err();
    assert!(error.is_fault() && error.hint().unwrap().contains("SHA-256"), "{error}");
    match error {
        Error::NotFetched { tries, .. } => tries.into_iter().map(|(_, why)| why).collect(),
        error => panic!("{error}"),
    }
}

#[test]
fn a_good_file_is_fetched_once() {
    let bytes = bytes(50_000);
    let (server, place) = (Server::of(&bytes), Place::new());
    let file = file(&bytes, at(&server));
    let progress = Mutex::new(vec![]);
    let fetch = Fetch::new(place.0.path().into(), vec![], None).unwrap();
    let set = data::named("yacht").unwrap();
    let told = |so_far, all| progress.lock().unwrap().push((so_far, all));
    let outcome = fetch.file(set, &file, &told).unwrap();
    let from = server.url("/values.data");
    assert_eq!(outcome, FetchOutcome::Fetched { path: place.path(PATH), from });
    place.has_only(&bytes);
    let progress = progress.into_inner().unwrap();
    assert_eq!(progress.first(), Some(&(0, Some(200_000))));
    assert_eq!(progress.last(), Some(&(200_000, Some(200_000))));
    assert_eq!(place.fetch(&file).unwrap(), FetchOutcome::Present(place.path(PATH)));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_copy_in_a_folder_that_is_searched_is_enough() {
    let (bytes, there, here) = (bytes(10), Place::new(), Place::new());
    std::fs::create_dir_all(there.path("set")).unwrap();
    std::fs::write(there.path(PATH), &bytes).unwrap();
    let fetch = Fetch::new(here.0.path().into(), vec![there.0.path().into()], None).unwrap();
    let outcome = fetch.file(data::named("yacht").unwrap(), &file(&bytes, vec![]), &|_, _| {});
    assert_eq!(outcome.unwrap(), FetchOutcome::Present(there.path(PATH)));
    assert!(here.files().is_empty());
}

#[test]
fn damaged_copies_are_replaced() {
    let bytes = bytes(10);
    let (server, place) = (Server::of(&bytes), Place::new());
    std::fs::create_dir_all(place.path("set")).unwrap();
    std::fs::write(place.path(PATH), b"damaged").unwrap();
    place.fetch(&file(&bytes, at(&server))).unwrap();
    place.has_only(&bytes);
}

#[test]
fn other_bytes_are_refused_and_not_kept() {
    let (good, place) = (bytes(1000), Place::new());
    let mut other = good.clone();
    other[77] ^= 1;
    let server = Server::of(&other);
    let said = reasons(place.fetch(&file(&good, at(&server))));
    let want = format!("{:x}", Sha256::digest(&other));
    assert!(said[0].contains(&want), "{said:?}");
    assert!(place.files().is_empty() && !place.path("set").exists());
}

#[test]
fn the_next_address_is_tried() {
    let (good, place) = (bytes(1000), Place::new());
    let (bad, server) = (Server::of(b"other bytes"), Server::of(&good));
    let addresses = [at(&bad), at(&server)].concat();
    place.fetch(&file(&good, addresses)).unwrap();
    place.has_only(&good);
}

/// Half is sent; the second request asks for the other half, and only that is sent.
#[test]
fn a_broken_download_is_resumed() {
    let (good, place) = (bytes(100_000), Place::new());
    let (sent, count) = (good.clone(), AtomicUsize::new(0));
    let server = Server::new(move |request, stream| match count.fetch_add(1, Ordering::SeqCst) {
        0 => cut(&sent, 250_000, stream),
        _ => whole_or_rest(&sent, request, stream),
    });
    let file = file(&good, at(&server));
    let said = reasons(place.fetch(&file));
    assert!(said[0].starts_with("the connection broke after 250000 bytes"), "{said:?}");
    assert_eq!(place.files(), [("set/values.data.part".to_owned(), 250_000)]);
    place.fetch(&file).unwrap();
    place.has_only(&good);
    let from: Vec<Option<usize>> = server.requests().iter().map(|request| request.from).collect();
    assert_eq!(from, [None, Some(250_000)]);
}

/// A server that closes the connection without saying how much there is.
#[test]
fn a_short_answer_without_a_length_is_kept_as_a_part() {
    let (good, place) = (bytes(1000), Place::new());
    let sent = good.clone();
    let server = Server::new(move |_, stream| send(stream, "200 OK", &[], &sent[..1500]));
    let said = reasons(place.fetch(&file(&good, at(&server))));
    assert_eq!(said, ["it ended after 1500 of 4000 bytes"]);
    assert_eq!(place.files(), [("set/values.data.part".to_owned(), 1500)]);
}

#[test]
fn without_range_support_the_download_restarts() {
    let (good, place) = (bytes(1000), Place::new());
    place.part(&good[..1234]);
    let sent = good.clone();
    let server = Server::new(move |_, stream| whole(&sent, stream));
    place.fetch(&file(&good, at(&server))).unwrap();
    place.has_only(&good);
    assert_eq!(server.requests()[0].from, Some(1234));
}

/// What was kept is of another file: the checksum shows it, and all is fetched again.
#[test]
fn a_changed_file_restarts_the_download() {
    let (good, place) = (bytes(1000), Place::new());
    let server = Server::of(&good);
    for kept in [vec![9; 1234], vec![9; 4000], vec![9; 5000]] {
        place.part(&kept);
        place.fetch(&file(&good, at(&server))).unwrap();
        place.has_only(&good);
        std::fs::remove_file(place.path(PATH)).unwrap();
    }
}

#[test]
fn a_whole_part_needs_no_server() {
    let (good, place) = (bytes(1000), Place::new());
    place.part(&good);
    let nowhere = vec![("http://127.0.0.1:9/".to_owned(), Packaging::Plain)];
    place.fetch(&file(&good, nowhere)).unwrap();
    place.has_only(&good);
}

/// A range that begins elsewhere, and one that there is not.
#[test]
fn wrong_ranges_restart_the_download() {
    for status in ["206 Partial Content", "416 Range Not Satisfiable"] {
        let (good, place) = (bytes(1000), Place::new());
        place.part(&good[..1234]);
        let sent = good.clone();
        let server = Server::new(move |request, stream| match request.from {
            Some(_) => {
                send(stream, status, &["Content-Range: bytes 7-9/4000".into()], &sent[7..10]);
            }
            None => whole(&sent, stream),
        });
        place.fetch(&file(&good, at(&server))).unwrap();
        place.has_only(&good);
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn redirects_are_followed_within_reason() {
    let (good, place) = (bytes(1000), Place::new());
    let sent = good.clone();
    let server = Server::new(move |request, stream| match request.path.as_str() {
        "/values.data" => send(stream, "302 Found", &["Location: /there/next".into()], b""),
        "/there/next" => send(stream, "301 Moved", &["Location: last".into()], b""),
        "/there/last" => whole(&sent, stream),
        "/away" => send(stream, "302 Found", &["Location: http://example.org/x".into()], b""),
        "/nowhere" => send(stream, "302 Found", &[], b""),
        _ => send(stream, "307 Again", &["Location: /circle".into()], b""),
    });
    place.fetch(&file(&good, at(&server))).unwrap();
    place.has_only(&good);
    let paths = ["/circle", "/away", "/nowhere"];
    let addresses = paths.map(|path| (server.url(path), Packaging::Plain)).to_vec();
    let said = reasons(Place::new().fetch(&file(&good, addresses)));
    assert_eq!(said[0], "it leads on more than 8 times");
    let plain = "plain http is not secure";
    assert_eq!(said[1], format!("it leads to `http://example.org/x`: {plain}"));
    assert_eq!(said[2], "it leads on, but not where");
    let circles = server.requests().iter().filter(|request| request.path == "/circle").count();
    assert_eq!(circles, 9);
}

#[test]
fn error_responses_are_reported() {
    let (good, place) = (bytes(10), Place::new());
    let server = Server::new(|request, stream| {
        let status = if request.path == "/gone" { "404 Not Found" } else { "503 Busy" };
        send(stream, status, &["Content-Length: 0".into()], b"");
    });
    let mut addresses =
        ["/gone", "/busy"].map(|path| (server.url(path), Packaging::Plain)).to_vec();
    addresses.push(("http://127.0.0.1:9/".to_owned(), Packaging::Plain));
    let said = reasons(place.fetch(&file(&good, addresses)));
    assert_eq!(said[0], "the server answers 404 Not Found");
    assert_eq!(said[1], "the server answers 503 Service Unavailable");
    assert!(said[2].contains("refused"), "{said:?}");
    assert!(place.files().is_empty() && !place.path("set").exists());
}

#[test]
fn errors_say_which_file_to_put_where() {
    let (good, place) = (bytes(10), Place::new());
    let file = file(&good, vec![]);
    let error = place.fetch(&file).unwrap_err();
    let want = "cannot download `set/values.data` of dataset `yacht`: no address has this file";
    assert_eq!(error.to_string(), want);
    let hint = error.hint().unwrap();
    for part in ["40 bytes", file.sha256, place.path(PATH).to_str().unwrap()] {
        assert!(hint.contains(part), "{hint}");
    }
}

/// One that says so at once, and one that never ends.
#[test]
fn oversized_responses_are_refused() {
    let (good, place) = (bytes(1000), Place::new());
    let server = Server::new(|request, stream| {
        if request.path == "/long" {
            send(stream, "200 OK", &["Content-Length: 99999999999".into()], &[1; 10]);
        } else {
            send(stream, "200 OK", &[], b"");
            while stream.write_all(&[7; 1000]).is_ok() {}
        }
    });
    let addresses = ["/long", "/endless"].map(|path| (server.url(path), Packaging::Plain)).to_vec();
    let said = reasons(place.fetch(&file(&good, addresses)));
    assert_eq!(said, ["it gives more than 4000 bytes"; 2]);
    assert!(place.files().is_empty());
}

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(vec![]));
    for (name, bytes) in members {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn archive_members_are_extracted() {
    let good = bytes(1000);
    let zip = zip_of(&[("readme", b"text"), ("a/values.data", &good)]);
    let mut tar = tar::Builder::new(GzEncoder::new(vec![], Compression::fast()));
    let mut header = tar::Header::new_gnu();
    header.set_size(good.len() as u64);
    tar.append_data(&mut header, "a/values.data", &good[..]).unwrap();
    let tgz = tar.into_inner().unwrap().finish().unwrap();
    let member = "a/values.data";
    for (archive, packaging) in [(&zip, Packaging::Zip(member)), (&tgz, Packaging::TarGz(member))] {
        let (server, place) = (Server::of(archive), Place::new());
        place.fetch(&file(&good, vec![(server.url("/archive"), packaging)])).unwrap();
        place.has_only(&good);
        // An archive that is cut is gone on with too.
        let (sent, count) = (archive.clone(), AtomicUsize::new(0));
        let server =
            Server::new(move |request, stream| match count.fetch_add(1, Ordering::SeqCst) {
                0 => cut(&sent, sent.len() / 2, stream),
                _ => whole_or_rest(&sent, request, stream),
            });
        let place = Place::new();
        let file = file(&good, vec![(server.url("/archive"), packaging)]);
        reasons(place.fetch(&file));
        place.fetch(&file).unwrap();
        place.has_only(&good);
        assert_eq!(server.requests()[1].from, Some(archive.len() / 2));
    }
}

/// Nothing of a bad archive is kept, and nothing is written by the names in it.
#[test]
fn bad_archives_are_refused() {
    let good = bytes(1000);
    let mut cut_gz = GzEncoder::new(vec![], Compression::fast());
    cut_gz.write_all(&good).unwrap();
    let mut cut_gz = cut_gz.finish().unwrap();
    cut_gz.truncate(cut_gz.len() / 2);
    let cases = [
        (zip_of(&[("../evil", &good)]), Packaging::Zip("values.data"), "there is no `values.data`"),
        (zip_of(&[]), Packaging::Zip("values.data"), "there is no `values.data`"),
        (zip_of(&[("values.data", &[0; 9999])]), Packaging::Zip("values.data"), "more than 4000"),
        (zip_of(&[("values.data", b"short")]), Packaging::Zip("values.data"), "other bytes"),
        (b"no zip".to_vec(), Packaging::Zip("values.data"), "no whole zip archive"),
        (cut_gz, Packaging::TarGz("values.data"), "no whole tar.gz archive"),
        (b"no gzip".to_vec(), Packaging::TarGz("values.data"), "no whole tar.gz archive"),
    ];
    for (archive, packaging, why) in cases {
        let (server, place) = (Server::of(&archive), Place::new());
        let said = reasons(place.fetch(&file(&good, vec![(server.url("/archive"), packaging)])));
        assert!(said[0].contains(why), "{said:?}");
        assert!(place.files().is_empty(), "{:?}", place.files());
        assert!(!place.0.path().parent().unwrap().join("evil").exists());
    }
}

#[test]
fn one_process_fetches_a_file() {
    let (good, place) = (bytes(1000), Place::new());
    place.part(&good[..10]);
    let part = std::fs::File::open(place.path("set/values.data.part")).unwrap();
    part.lock().unwrap();
    let server = Server::of(&good);
    let error = place.fetch(&file(&good, at(&server))).unwrap_err();
    assert!(matches!(error, Error::Busy { .. }) && error.hint().is_some());
    assert!(server.requests().is_empty());
}

/// A link at the name of the partial download does not lead its bytes elsewhere.
#[test]
#[cfg(unix)]
fn links_are_not_followed() {
    let (good, place) = (bytes(1000), Place::new());
    place.part(&good[..10]);
    let (part, victim) = (place.path("set/values.data.part"), place.path("victim"));
    std::fs::write(&victim, "precious").unwrap();
    std::fs::remove_file(&part).unwrap();
    std::os::unix::fs::symlink(&victim, &part).unwrap();
    let server = Server::of(&good);
    place.fetch(&file(&good, at(&server))).unwrap();
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    assert_eq!(std::fs::read(place.path("set/values.data")).unwrap(), good);
    assert!(!part.exists());
}

#[test]
fn mirrors_have_the_paths_of_the_registry() {
    let (good, place) = (bytes(1000), Place::new());
    let server = Server::of(&good);
    for (number, mirror) in [server.url("/data"), server.url("/data/")].iter().enumerate() {
        let folder = place.path(&number.to_string());
        let fetch = Fetch::new(folder, vec![], Some(mirror)).unwrap();
        fetch.file(data::named("yacht").unwrap(), &file(&good, vec![]), &|_, _| {}).unwrap();
        assert_eq!(server.requests()[number].path, "/data/set/values.data");
    }
}

/// All can be fetched, and only over HTTPS.
#[test]
fn the_registry_names_safe_addresses() {
    for file in data::all().iter().flat_map(|set| set.files) {
        assert!(!file.addresses.is_empty(), "{}", file.path);
        for address in file.addresses {
            assert!(address.url.starts_with("https://"), "{}", address.url);
        }
        assert!(file.sha256.len() == 64 && !file.path.contains(".."), "{}", file.path);
    }
}
