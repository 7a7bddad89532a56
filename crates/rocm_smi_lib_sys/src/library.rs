//! Where the library is, and what it offers.

use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::header::{INIT_ERROR, NOT_SUPPORTED, Status};

/// Names of the library, the newest first.
const NAMES: [&str; 5] = [
    "librocm_smi64.so.7",
    "librocm_smi64.so.6",
    "librocm_smi64.so.5",
    "librocm_smi64.so.1",
    "librocm_smi64.so",
];

/// Where ROCm is, unless `ROCM_PATH` says otherwise.
const USUAL_FOLDER: &str = "/opt/rocm";

/// What every version of the library has.
const ENTRY: &str = "rsmi_init";

/// The library that this process uses. It stays until the process ends.
static LOADED: OnceLock<Library> = OnceLock::new();

/// ROCm SMI, loaded.
#[derive(Debug)]
pub struct Library {
    handle: libloading::Library,
    path: PathBuf,
}

impl Library {
    /// The file that was loaded; its bare name where the system does not say more.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the library has a function.
    pub fn has_function(&self, name: &str) -> bool {
        self.address(name).is_some()
    }

    /// Where one of its functions is.
    fn address(&self, name: &str) -> Option<usize> {
        // SAFETY: The address is taken as a number; nothing is called or read through it.
        let symbol = unsafe { self.handle.get::<*const ()>(name.as_bytes()) };
        symbol.ok().map(|symbol| symbol.addr())
    }

    /// One of its functions.
    ///
    /// # Safety
    ///
    /// `F` is the type of a function pointer that fits the function.
    unsafe fn function<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: The caller vouches for the type; the library is never unloaded.
        let symbol = unsafe { self.handle.get::<F>(name.as_bytes()) };
        symbol.ok().map(|symbol| *symbol)
    }

    /// Loads the library that the dynamic linker finds under a name or path.
    fn load(name: &Path) -> Result<Self, LoadFailure> {
        // SAFETY: What runs here is the initialisation of a library that AMD made for being loaded.
        let handle = unsafe { libloading::Library::new(name) };
        let handle =
            handle.map_err(|error| LoadFailure::from_linker_message(name, &error.to_string()))?;
        let mut library = Self {
            handle,
            path: name.to_path_buf(),
        };
        let entry = library.address(ENTRY).ok_or(LoadFailure::Other)?;
        if let Some(path) = mapped_at(entry) {
            library.path = path;
        }
        Ok(library)
    }
}

/// The library of this process: the one loaded before, or else the one at `explicit`, or, where no
/// path is given, the first in the usual places.
///
/// The first that could be loaded stays, whatever path is asked for later.
pub fn find(explicit: Option<&Path>) -> Result<&'static Library, NotFound> {
    if let Some(library) = loaded() {
        return Ok(library);
    }
    let places = match explicit {
        Some(path) => vec![path.to_path_buf()],
        None => usual_places(std::env::var_os("ROCM_PATH")),
    };
    first_of(&places).map(|library| LOADED.get_or_init(|| library))
}

/// The library, where one was loaded already.
pub fn loaded() -> Option<&'static Library> {
    LOADED.get()
}

/// The bare names, for the dynamic linker to look up, and then the files in ROCm's own folders.
fn usual_places(rocm_path: Option<OsString>) -> Vec<PathBuf> {
    let named = rocm_path.filter(|path| !path.is_empty());
    let mut folders: Vec<PathBuf> = named.into_iter().map(PathBuf::from).collect();
    folders.push(PathBuf::from(USUAL_FOLDER));
    folders.dedup();
    let within = folders
        .iter()
        .flat_map(|folder| NAMES.map(|name| folder.join("lib").join(name)));
    NAMES.map(PathBuf::from).into_iter().chain(within).collect()
}

fn first_of(places: &[PathBuf]) -> Result<Library, NotFound> {
    let mut tried = Vec::new();
    for place in places {
        match Library::load(place) {
            Ok(library) => return Ok(library),
            Err(why) => tried.push((place.clone(), why)),
        }
    }
    Err(NotFound { tried })
}

/// The file that is mapped at an address of this process.
fn mapped_at(address: usize) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| file_of(line, address))
}

/// The file in a line such as `7f00-7fff r-xp 00000000 08:01 42   /usr/lib/librocm_smi64.so.1.0`, where
/// its addresses hold the one given.
fn file_of(line: &str, address: usize) -> Option<PathBuf> {
    let (range, rest) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let from = usize::from_str_radix(from, 16).ok()?;
    let to = usize::from_str_radix(to, 16).ok()?;
    let path = rest.find('/').map(|start| &rest[start..])?;
    (from..to).contains(&address).then(|| PathBuf::from(path))
}

/// Why the library was not loaded from a place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LoadFailure {
    /// There is nothing of that name.
    Absent,
    /// There is something, and it cannot be loaded.
    Broken(String),
    /// There is another library.
    Other,
}

impl LoadFailure {
    /// From what the dynamic linker says.
    fn from_linker_message(name: &Path, message: &str) -> Self {
        let of_itself = message.contains(&*name.to_string_lossy());
        if of_itself && message.contains("No such file") {
            Self::Absent
        } else {
            Self::Broken(message.to_owned())
        }
    }
}

/// The library could not be loaded from anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// Bare names, which the dynamic linker looks up, and paths, in the order in which they were tried.
    tried: Vec<(PathBuf, LoadFailure)>,
}

impl NotFound {
    /// The places where there was nothing, in one clause: each name, and each folder, once.
    fn absent(&self) -> Option<String> {
        let absent = self
            .tried
            .iter()
            .filter(|(_, why)| *why == LoadFailure::Absent);
        let mut names: Vec<String> = Vec::new();
        let mut folders: Vec<String> = Vec::new();
        for (place, _) in absent {
            let folder = place.parent().filter(|folder| *folder != Path::new(""));
            match folder.filter(|_| self.tried.len() > 1) {
                Some(folder) => folders.push(folder.display().to_string()),
                None => names.push(place.display().to_string()),
            }
        }
        folders.dedup();
        let here = "by the dynamic linker".to_owned();
        match names.as_slice() {
            [] => None,
            [name] if folders.is_empty() => Some(format!("there is no {name}")),
            names => Some(format!(
                "none of {} was found {}",
                names.join(", "),
                [&[here], folders.as_slice()].concat().join(" or in ")
            )),
        }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = |(place, why): &(PathBuf, LoadFailure)| match why {
            LoadFailure::Absent => None,
            LoadFailure::Broken(message) => {
                Some(format!("{} cannot be loaded: {message}", place.display()))
            }
            LoadFailure::Other => Some(format!("{} is not ROCm SMI", place.display())),
        };
        let parts = self.absent().into_iter();
        let parts: Vec<String> = parts.chain(self.tried.iter().filter_map(reason)).collect();
        f.write_str(&parts.join("; "))
    }
}

impl Error for NotFound {}

/// A function of the library, looked up once; or the status that stands for its absence.
///
/// # Safety
///
/// `F` is the type of a function pointer that fits the function.
pub(crate) unsafe fn function<F: Copy>(
    kept: &OnceLock<Option<F>>,
    name: &str,
) -> Result<F, Status> {
    if let Some(function) = kept.get() {
        return function.ok_or(NOT_SUPPORTED);
    }
    let library = loaded().ok_or(INIT_ERROR)?;
    // SAFETY: Passed on from the caller.
    let function = kept.get_or_init(|| unsafe { library.function(name) });
    function.ok_or(NOT_SUPPORTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "a library is loaded")]
    fn a_missing_library_has_a_readable_reason() {
        let path = Path::new("/nowhere/librocm_smi64.so.6");
        let missing = first_of(&[path.to_path_buf()]).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "there is no /nowhere/librocm_smi64.so.6"
        );
        assert_eq!(missing.tried, [(path.to_path_buf(), LoadFailure::Absent)]);
    }

    #[test]
    fn the_usual_places_are_named_in_short() {
        let places = usual_places(Some("/opt/rocm-6.1".into()));
        assert_eq!(places.len(), 15);
        assert_eq!(places[0], Path::new("librocm_smi64.so.7"));
        assert_eq!(places[5], Path::new("/opt/rocm-6.1/lib/librocm_smi64.so.7"));
        assert_eq!(places[10], Path::new("/opt/rocm/lib/librocm_smi64.so.7"));
        assert_eq!(
            usual_places(Some("/opt/rocm".into())).len(),
            10,
            "each once"
        );
        assert_eq!(usual_places(Some(OsString::new())), usual_places(None));
        let absent = |place: &PathBuf| (place.clone(), LoadFailure::Absent);
        let missing = NotFound {
            tried: places.iter().map(absent).collect(),
        };
        assert_eq!(
            missing.to_string(),
            "none of librocm_smi64.so.7, librocm_smi64.so.6, librocm_smi64.so.5, librocm_smi64.so.1, \
             librocm_smi64.so was found by the dynamic linker or in /opt/rocm-6.1/lib or in \
             /opt/rocm/lib"
        );
    }

    #[test]
    #[cfg_attr(miri, ignore = "a library is loaded")]
    fn what_is_no_library_says_so() {
        let text = std::env::current_exe().unwrap().with_extension("d");
        let text = if text.exists() {
            text
        } else {
            PathBuf::from("/proc/self/maps")
        };
        let broken = first_of(std::slice::from_ref(&text))
            .unwrap_err()
            .to_string();
        assert!(broken.contains("cannot be loaded"), "{broken}");
        let other = first_of(&[PathBuf::from("libm.so.6")]).unwrap_err();
        assert_eq!(other.to_string(), "libm.so.6 is not ROCm SMI");
    }

    #[test]
    fn a_dependency_that_is_missing_is_named() {
        let message = "libdrm.so.2: cannot open shared object file: No such file or directory";
        let name = Path::new("librocm_smi64.so.6");
        assert_eq!(
            LoadFailure::from_linker_message(name, message),
            LoadFailure::Broken(message.to_owned())
        );
    }

    #[test]
    fn a_file_is_found_by_an_address_in_it() {
        let line = "7f00-7fff r-xp 00000000 08:01 42     /usr/lib/librocm_smi64.so.1.0";
        let file = Some(PathBuf::from("/usr/lib/librocm_smi64.so.1.0"));
        assert_eq!(file_of(line, 0x7f10), file);
        assert_eq!(file_of(line, 0x7fff), None);
        assert_eq!(file_of("7f00-7fff rw-p 00000000 00:00 0", 0x7f10), None);
        assert_eq!(file_of("", 0), None);
    }
}
