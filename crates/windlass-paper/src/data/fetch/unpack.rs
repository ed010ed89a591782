//! Extracts a file from an archive. Member names are compared, never used as paths.

use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;

use super::Packaging;

impl Packaging {
    /// The suffix of partial downloads.
    pub(super) fn partial_suffix(self) -> &'static str {
        match self {
            Self::Plain => ".part",
            Self::Zip(_) => ".zip.part",
            Self::TarGz(_) => ".tgz.part",
        }
    }

    /// The file, at most `most` bytes of it.
    pub(super) fn extract(self, fetched: &[u8], most: u64) -> Result<Vec<u8>, String> {
        match self {
            Self::Plain => Ok(fetched.to_vec()),
            Self::Zip(member) => {
                let broken = |error: zip::result::ZipError| not_whole("zip", &error);
                let mut zip = zip::ZipArchive::new(Cursor::new(fetched)).map_err(broken)?;
                match zip.by_name(member) {
                    Ok(file) => limited(file, most, "zip", member),
                    Err(zip::result::ZipError::FileNotFound) => Err(missing("zip", member)),
                    Err(error) => Err(broken(error)),
                }
            }
            Self::TarGz(member) => {
                let broken = |error: std::io::Error| not_whole("tar.gz", &error);
                let mut tar = tar::Archive::new(MultiGzDecoder::new(fetched));
                for entry in tar.entries().map_err(broken)? {
                    let entry = entry.map_err(broken)?;
                    if *entry.path_bytes() == *member.as_bytes() {
                        return limited(entry, most, "tar.gz", member);
                    }
                }
                Err(missing("tar.gz", member))
            }
        }
    }
}

fn limited(file: impl Read, most: u64, kind: &str, member: &str) -> Result<Vec<u8>, String> {
    let mut bytes = vec![];
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| not_whole(kind, &error))?;
    if bytes.len() as u64 > most {
        return Err(format!("`{member}` in its {kind} archive has more than {most} bytes"));
    }
    Ok(bytes)
}

fn missing(kind: &str, member: &str) -> String {
    format!("there is no `{member}` in its {kind} archive")
}

fn not_whole(kind: &str, error: &dyn std::error::Error) -> String {
    format!("it gave no whole {kind} archive: {error}")
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::Packaging;

    fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(vec![]));
        for (name, bytes) in members {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn tgz(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = tar::Builder::new(GzEncoder::new(vec![], Compression::fast()));
        for (name, bytes) in members {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            // The builder would refuse names that leave the folder.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            tar.append(&header, *bytes).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn members_are_found_by_their_names() {
        let members: [(&str, &[u8]); 3] = [("../evil", b"no"), ("a/b.data", b"1 2\n"), ("c", b"")];
        assert_eq!(Packaging::Zip("a/b.data").extract(&zip(&members), 4).unwrap(), b"1 2\n");
        assert_eq!(Packaging::TarGz("a/b.data").extract(&tgz(&members), 4).unwrap(), b"1 2\n");
        let said = Packaging::Zip("b.data").extract(&zip(&members), 4).unwrap_err();
        assert_eq!(said, "there is no `b.data` in its zip archive");
        let said = Packaging::TarGz("evil").extract(&tgz(&members), 4).unwrap_err();
        assert_eq!(said, "there is no `evil` in its tar.gz archive");
    }

    #[test]
    fn members_are_not_larger_than_the_registry_says() {
        let zeros = vec![0; 1 << 20];
        let said = Packaging::Zip("z").extract(&zip(&[("z", &zeros)]), 1000).unwrap_err();
        assert_eq!(said, "`z` in its zip archive has more than 1000 bytes");
        let said = Packaging::TarGz("z").extract(&tgz(&[("z", &zeros)]), 1000).unwrap_err();
        assert_eq!(said, "`z` in its tar.gz archive has more than 1000 bytes");
    }

    #[test]
    fn cut_archives_are_refused() {
        let noise: Vec<u8> = (0..5000_u32).map(|i| (i * i % 251) as u8).collect();
        let (zip, tgz) = (zip(&[("n", &noise)]), tgz(&[("n", &noise)]));
        for share in 0..10 {
            let cut = |whole: &[u8]| whole[..whole.len() * share / 10].to_vec();
            assert!(Packaging::Zip("n").extract(&cut(&zip), 5000).is_err());
            assert!(Packaging::TarGz("n").extract(&cut(&tgz), 5000).is_err());
        }
    }
}
