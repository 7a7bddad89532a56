//! A file to be imported: opened, unpacked where it is packed, made UTF-8 where it is UTF-16, and held to a limit.

use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool, AtomicU64};
use std::time::SystemTime;

use rusqlite::Connection;
use serde_json::Value;

use crate::reading::gunzip::{self, GZIP, OverLimit};
use crate::reading::head::FileHead;
pub use crate::reading::limits::Limits;
use crate::reading::read_progress::ReadProgress;
use crate::reading::utf16::Utf8;
use crate::reading::{json, sqlite, standard_input};
use crate::{ImportError, Imported};
use powerband_core::base::regular_file::{self, NotRegular};

/// As much of a file is looked at to recognise it.
const HEAD_BYTES: u64 = 256 * 1024;
/// What databases begin with.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// What Git LFS leaves in place of a file.
const LFS: &[u8] = b"version https://git-lfs";
/// Read at once.
const CHUNK: usize = 1 << 20;

/// A file to import: a regular file that is not empty.
#[derive(Debug)]
pub struct ImportSource {
    path: PathBuf,
    /// What was read from standard input.
    kept: Option<tempfile::NamedTempFile>,
    /// Its size when it was opened; what is added later is not read.
    bytes: u64,
    /// When its contents changed last, as of then.
    modified: Option<SystemTime>,
    packed: bool,
    limits: Limits,
    /// A packed database has to be unpacked into a file.
    unpacked: OnceCell<tempfile::NamedTempFile>,
    /// Whether bytes follow the packed ones.
    trailing: Arc<AtomicBool>,
    /// Whether a packed database ended too early.
    cut: Cell<bool>,
}

impl ImportSource {
    /// Opens a file, or takes in all of standard input.
    pub fn open_named(
        path: &Path,
        limits: Limits,
        watch: &ReadProgress<'_>,
    ) -> Result<Self, ImportError> {
        if standard_input::is_standard_input(path) {
            let kept = standard_input::keep(limits, watch)?;
            return Self::open_checked(standard_input::NAME.into(), Some(kept), limits);
        }
        Self::open(path, limits)
    }

    /// Opens a file.
    pub fn open(path: &Path, limits: Limits) -> Result<Self, ImportError> {
        Self::open_checked(path.to_path_buf(), None, limits)
    }

    /// Opens the file and checks that it has content.
    fn open_checked(
        path: PathBuf,
        kept: Option<tempfile::NamedTempFile>,
        limits: Limits,
    ) -> Result<Self, ImportError> {
        let mut new = Self {
            path,
            kept,
            bytes: 0,
            modified: None,
            packed: false,
            limits,
            unpacked: OnceCell::new(),
            trailing: Arc::default(),
            cut: Cell::new(false),
        };
        let file = regular_file::open(new.place()).map_err(|error| new.io(error))?;
        let about = file.metadata().map_err(|error| new.io(error))?;
        new.bytes = about.len();
        new.modified = about.modified().ok();
        let mut first = Vec::new();
        file.take(LFS.len() as u64)
            .read_to_end(&mut first)
            .map_err(|error| new.io(error))?;
        if first.is_empty() {
            return Err(ImportError::Empty { path: new.path });
        }
        if first == LFS {
            return Err(ImportError::LfsPointer { path: new.path });
        }
        new.packed = first.starts_with(&GZIP);
        Ok(new)
    }

    /// The path that is read: the file's own, or that of its copy.
    fn place(&self) -> &Path {
        self.kept.as_ref().map_or(&self.path, |kept| kept.path())
    }

    /// Where it is, for messages: standard input has no path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How much of it is read.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether it is packed.
    pub fn is_packed(&self) -> bool {
        self.packed
    }

    /// Its first bytes, unpacked.
    pub fn beginning(&self) -> Result<Vec<u8>, ImportError> {
        let mut bytes = Vec::new();
        let read = self.stream()?.take(HEAD_BYTES).read_to_end(&mut bytes);
        // A file that is cut off has a beginning.
        if let (Err(error), true) = (read, bytes.is_empty()) {
            return Err(self.io(error));
        }
        if bytes.is_empty() {
            return Err(ImportError::Empty {
                path: self.path.clone(),
            });
        }
        Ok(bytes)
    }

    /// Opens it as a database, as it stands. It does not wait for pending writes of another program.
    pub(crate) fn open_database(&self) -> Result<Connection, ImportError> {
        sqlite::open(self.database()?).map_err(|error| self.sqlite_error(&error))
    }

    /// An error of `SQLite` as an import error.
    pub fn sqlite_error(&self, error: &rusqlite::Error) -> ImportError {
        self.unusable_error(
            sqlite::TITLE,
            format!(
                "{error}. It may be cut off or still being written: copy it once its program has ended"
            ),
        )
    }

    /// What its first bytes are.
    pub fn head_of(&self, beginning: &[u8]) -> Result<FileHead, ImportError> {
        if beginning.starts_with(SQLITE) {
            let names = sqlite::tables(self.database()?);
            return names
                .map(FileHead::Sqlite)
                .map_err(|error| self.sqlite_error(&error));
        }
        Ok(FileHead::from_bytes(beginning))
    }

    /// Its beginning, unpacked.
    pub fn read_head(&self) -> Result<FileHead, ImportError> {
        self.head_of(&self.beginning()?)
    }

    /// Its bytes from the beginning, unpacked. Text is UTF-8.
    pub fn stream(&self) -> Result<Stream, ImportError> {
        let file = regular_file::open(self.place()).map_err(|error| self.io(error))?;
        let read = Arc::new(AtomicU64::new(0));
        let counted = CountingReader {
            file: file.take(self.bytes),
            read: Arc::clone(&read),
        };
        let bytes: Box<dyn Read + Send> = if self.packed {
            let limit = self.limits.unpacked;
            Box::new(Utf8::new(gunzip::unpack(counted, limit, &self.trailing)))
        } else {
            Box::new(Utf8::new(counted))
        };
        Ok(Stream { bytes, read })
    }

    /// What is wrong with a packed file that could be read nevertheless.
    pub(crate) fn note_packing(&self, into: &mut Imported) {
        if self.cut.get() {
            into.note_cut(&self.name());
        }
        if self.trailing.load(atomic::Ordering::Relaxed) {
            into.note(format!(
                "{} has bytes behind its packed contents, which were left out",
                self.name()
            ));
        }
    }

    /// What happened to the file while it was read: its program may still write it.
    pub(crate) fn change(&self) -> Option<String> {
        let name = self.name();
        let now = fs::metadata(self.place()).ok()?;
        let change = match now.len().cmp(&self.bytes) {
            Ordering::Greater => "grew while it was read, and what was added is missing here",
            Ordering::Less => "became shorter while it was read, and a part may be missing here",
            Ordering::Equal if now.modified().ok() != self.modified => {
                "changed while it was read, so that parts of two versions may be mixed here"
            }
            Ordering::Equal => return None,
        };
        Some(format!(
            "{name} {change}: import it once more when its program has ended"
        ))
    }

    /// All of it as text; bytes that are none are replaced. A packed file that is cut off is read as
    /// far as it goes, and a note says so.
    pub(crate) fn text(
        &self,
        watch: &ReadProgress<'_>,
        into: &mut Imported,
    ) -> Result<String, ImportError> {
        let most = regular_file::most_bytes();
        if self.bytes > most {
            let too_large = regular_file::TooLarge { most };
            return Err(self.io(io::Error::new(io::ErrorKind::FileTooLarge, too_large)));
        }
        let mut stream = self.stream()?;
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            watch.tick(stream.bytes_read())?;
            match stream.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if self.is_cut(&error) && !bytes.is_empty() => {
                    into.note_cut(&self.name());
                    break;
                }
                Err(error) => return Err(self.io(error)),
            }
        }
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        })
    }

    /// Goes through the lines or rows of a text of it, and ends where reading was stopped.
    pub(crate) fn progress_reader<'a, T>(
        &'a self,
        parts: impl Iterator<Item = T> + 'a,
        watch: &'a ReadProgress<'_>,
    ) -> impl Iterator<Item = Result<T, ImportError>> + 'a {
        parts.enumerate().map(|(at, part)| {
            if at % 4096 == 0 {
                watch.tick(self.bytes)?;
            }
            Ok(part)
        })
    }

    /// A text of it as JSON. One that is cut off or damaged is read as far as it goes, and a note says so.
    pub(crate) fn json(
        &self,
        text: &str,
        title: &'static str,
        into: &mut Imported,
    ) -> Result<Value, ImportError> {
        let (value, is_damaged) = json::lenient(text)
            .ok_or_else(|| self.unusable_error(title, "it is no JSON; write it once more"))?;
        if is_damaged {
            into.note_cut(&self.name());
        }
        Ok(value)
    }

    /// A path where a database can be opened: the file itself, or an unpacked copy.
    pub fn database(&self) -> Result<&Path, ImportError> {
        if !self.packed {
            return Ok(self.place());
        }
        if let Some(file) = self.unpacked.get() {
            return Ok(file.path());
        }
        let mut file = tempfile::NamedTempFile::new().map_err(|error| self.io(error))?;
        let mut stream = self.stream()?;
        match io::copy(&mut stream, &mut file) {
            // What came out may be enough, as it is of a text.
            Err(error) if self.is_cut(&error) => self.cut.set(true),
            Err(error) => return Err(self.io(error)),
            Ok(_) => {}
        }
        file.flush().map_err(|error| self.io(error))?;
        file.seek(SeekFrom::Start(0))
            .map_err(|error| self.io(error))?;
        Ok(self.unpacked.get_or_init(|| file).path())
    }

    /// Whether an error only means that a packed file ends too early.
    pub fn is_cut(&self, error: &io::Error) -> bool {
        self.packed
            && matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof
                    | io::ErrorKind::InvalidInput
                    | io::ErrorKind::InvalidData
            )
            && error.get_ref().is_none_or(|inner| !inner.is::<OverLimit>())
    }

    /// The system's word about this file.
    pub fn io(&self, source: io::Error) -> ImportError {
        if source
            .get_ref()
            .is_some_and(|inner| inner.is::<OverLimit>())
        {
            return ImportError::TooLarge {
                path: self.path.clone(),
                how: "unpacks to",
                limit_mb: self.limits.unpacked / 1_000_000,
            };
        }
        let path = self.path.clone();
        match NotRegular::in_error(&source) {
            Some(NotRegular { what: "a folder" }) => ImportError::Folder { path },
            Some(NotRegular { what }) => ImportError::NotRegular { path, what },
            None => ImportError::Io { path, source },
        }
    }

    /// The error for a file of a known format that cannot be used.
    pub(crate) fn unusable_error(
        &self,
        title: &'static str,
        reason: impl Into<String>,
    ) -> ImportError {
        ImportError::Unusable {
            path: self.path.clone(),
            title,
            reason: reason.into(),
        }
    }
}

/// Bytes of a file, unpacked, up to the limit.
pub struct Stream {
    bytes: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Stream {
    /// Bytes taken from the file itself so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read.load(atomic::Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(into)
    }
}

/// A file whose bytes are counted.
struct CountingReader {
    file: io::Take<File>,
    read: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(into)?;
        self.read.fetch_add(n as u64, atomic::Ordering::Relaxed);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn limits(unpacked: u64) -> Limits {
        Limits {
            unpacked,
            ..Limits::default()
        }
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn opened(bytes: &[u8], unpacked: u64) -> (tempfile::NamedTempFile, ImportSource) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let source = ImportSource::open(file.path(), limits(unpacked)).unwrap();
        (file, source)
    }

    /// All of a file, and whether a note says that it is cut off.
    fn all_text(source: &ImportSource) -> Result<(String, bool), ImportError> {
        let mut into = Imported::default();
        let text = source.text(&ReadProgress::default(), &mut into)?;
        Ok((text, !into.notes.is_empty()))
    }

    #[test]
    fn packed_files_read_as_unpacked_ones() {
        let (_file, source) = opened(&packed(b"[1, 2]"), 100);
        assert_eq!(all_text(&source).unwrap(), ("[1, 2]".to_owned(), false));
        assert!(source.read_head().unwrap().is_list());
    }

    /// A database with a table, as bytes.
    fn database() -> Vec<u8> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let base = Connection::open(file.path()).unwrap();
        base.execute_batch("create table t (a)").unwrap();
        drop(base);
        fs::read(file.path()).unwrap()
    }

    #[test]
    fn packed_twice_or_with_bytes_behind_it_reads_alike_as_text_and_as_database() {
        let behind = |bytes: &[u8]| [packed(bytes).as_slice(), b"-- end of file --"].concat();
        type Pack<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;
        let packings: [(Pack<'_>, usize); 4] = [
            (&|bytes| packed(&packed(bytes)), 0),
            (&behind, 1),
            (&|bytes| packed(&behind(bytes)), 1),
            (&|bytes| [packed(bytes), vec![0; 512]].concat(), 0),
        ];
        for (pack, notes) in packings {
            let (_file, source) = opened(&pack(b"[1, 2]"), 1_000_000);
            assert_eq!(all_text(&source).unwrap().0, "[1, 2]");
            let mut into = Imported::default();
            source.note_packing(&mut into);
            assert_eq!(into.notes.len(), notes, "{:?}", into.notes);
            let (_file, source) = opened(&pack(&database()), 1_000_000);
            assert!(source.read_head().unwrap().has_table("t"));
            let mut into = Imported::default();
            source.note_packing(&mut into);
            assert_eq!(into.notes.len(), notes, "{:?}", into.notes);
        }
    }

    #[test]
    fn a_bomb_in_a_packed_file_is_refused_too() {
        let (_file, source) = opened(&packed(&packed(&vec![b' '; 2_000_000])), 1_000_000);
        assert!(matches!(
            all_text(&source),
            Err(ImportError::TooLarge { .. })
        ));
    }

    #[test]
    fn text_in_utf16_reads_as_utf8_packed_or_not() {
        let text: Vec<u8> = std::iter::once(0xfeff)
            .chain("{\"µ\": 1}".encode_utf16())
            .flat_map(u16::to_be_bytes)
            .collect();
        for bytes in [packed(&text), text] {
            let (_file, source) = opened(&bytes, 100);
            assert!(source.read_head().unwrap().has_key("µ"));
            assert_eq!(all_text(&source).unwrap().0, "{\"µ\": 1}");
        }
    }

    #[test]
    fn a_bomb_is_refused_with_its_limit() {
        let (_file, source) = opened(&packed(&vec![b' '; 2_000_000]), 1_000_000);
        let error = all_text(&source).unwrap_err();
        assert!(
            matches!(error, ImportError::TooLarge { limit_mb: 1, .. }),
            "{error}"
        );
    }

    #[test]
    fn a_file_that_changes_is_read_as_it_was_opened() {
        let (file, source) = opened(b"[1, 2]", 100);
        assert_eq!(source.change(), None);
        let mut added = fs::File::options().append(true).open(file.path()).unwrap();
        added.write_all(b", 3, 4").unwrap();
        assert_eq!(all_text(&source).unwrap().0, "[1, 2]");
        assert!(source.change().unwrap().contains("grew while it was read"));
        added.set_len(2).unwrap();
        assert_eq!(all_text(&source).unwrap().0, "[1");
        assert!(source.change().unwrap().contains("became shorter"));
        fs::write(file.path(), b"[3, 4]").unwrap();
        added.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(source.change().unwrap().contains("two versions"));
        fs::remove_file(file.path()).unwrap();
        assert_eq!(source.change(), None);
        assert!(all_text(&source).is_err());
    }

    #[test]
    fn a_text_with_a_huge_hole_does_not_fill_the_memory() {
        let (file, _) = opened(b"[1, 2]", 100);
        file.as_file().set_len(1 << 40).unwrap();
        let source = ImportSource::open(file.path(), limits(100)).unwrap();
        let error = all_text(&source).unwrap_err();
        assert!(error.to_string().contains("it has more than"), "{error}");
    }

    #[test]
    fn a_cut_file_is_read_up_to_the_cut() {
        let text = (0..50_000)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join(",");
        let whole = packed(text.as_bytes());
        let (_file, source) = opened(&whole[..whole.len() / 2], 100_000_000);
        let (read, is_cut) = all_text(&source).unwrap();
        assert!(is_cut && !read.is_empty() && text.starts_with(&read));
    }
}
