//! Follows a case through the library, on background threads.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Followed, FollowedCases, Following, Read, ReadFiles, SingleCaseSession};
use powerband_core::base::parallel::map_on_threads;
use powerband_core::domain::case::Case;
use powerband_core::domain::point::Point;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::headline::Headline;
use powerband_findings::analysis::history;
use powerband_findings::analysis::movers::{self, Mover};
use powerband_findings::chart;
use powerband_store::library::{self, ScannedFile, Stamp};
use powerband_store::session_file;

/// Input of a search for a case in the library.
pub(crate) struct CaseSearch {
    /// The case, of an open session.
    pub following: Following,
    /// What was read before.
    pub read: Read,
    /// How many threads read files.
    pub n_threads: usize,
    /// The library.
    pub folder: PathBuf,
    /// What is known of the library's sessions.
    pub known: Arc<BTreeMap<PathBuf, ScannedFile>>,
    /// The sessions that it is looked for in; nothing for all.
    pub only: Option<BTreeSet<PathBuf>>,
    /// The colour of each setup of its session.
    pub colours: Vec<usize>,
    /// The open sessions and their files, first the one that has it.
    pub open: Vec<(Arc<Session>, Option<PathBuf>)>,
}

impl CaseSearch {
    fn colour(&self, setup: usize) -> usize {
        self.colours.get(setup).copied().unwrap_or(setup)
    }
}

/// Follows a case through what is open and through the sessions of the library. Only files whose head says
/// that they may have it are read, and those only once.
pub(crate) fn follow(mut search: CaseSearch) -> Option<Followed> {
    let (session, _) = search.open.first()?;
    let Following { setup, point, .. } = search.following;
    let case = history::FollowedCase::new(session, setup, point);
    let mut sessions: Vec<(Arc<SingleCaseSession>, Option<PathBuf>)> = search
        .open
        .iter()
        .map(|(open, file)| (Arc::new(narrowed(&case, open)), file.clone()))
        .collect();
    let files = files(&search, &session.model.name, Some(point));
    let read = mem::take(&mut search.read);
    let (mut read, troubles) = read_files(&case, read, &files, search.n_threads);
    let of_library = files
        .iter()
        .filter_map(|(path, _)| Some((Arc::clone(&read.files.get(path)?.1), Some(path.clone()))));
    sessions.extend(of_library);
    let pairs: Vec<(&Session, &[CaseRow])> = sessions
        .iter()
        .map(|(one, _)| (&*one.session, one.rows.as_slice()))
        .collect();
    let open: Vec<Arc<Session>> = search.open.iter().map(|(open, _)| open.clone()).collect();
    let history = match read.found.take() {
        Some((then, history)) if is_same(&then, &open) => history,
        _ => history::case_history(&case, &pairs),
    };
    read.found = Some((open, history.clone()));
    Some(Followed {
        following: search.following,
        headline: Headline::over_time(&history),
        chart: chart::history::medians(&history, search.colour(setup)),
        history,
        sessions: sessions.iter().map(|(one, _)| Arc::clone(one)).collect(),
        files: sessions.into_iter().map(|(_, file)| file).collect(),
        troubles,
        read,
    })
}

/// Follows all cases of a session, worst first. Each file that has its model is read once, for as long as it stays the same.
pub(crate) fn follow_all(search: &CaseSearch, known: &ReadFiles) -> FollowedCases {
    let Some((session, _)) = search.open.first() else {
        return FollowedCases::default();
    };
    let open = search
        .open
        .iter()
        .map(|(open, _)| Arc::new(with_all_cases(open)));
    let files = files(search, &session.model.name, None);
    let results = map_on_threads(&files, search.n_threads, |(path, stamp)| {
        let known = known.get(path);
        if let Some(known) = known.filter(|(then, _)| then == stamp) {
            return Ok((path.clone(), known.clone()));
        }
        let opened = session_file::read(path).map_err(|error| error.to_string())?;
        let needed = Arc::new(with_all_cases(&opened.session));
        Ok((path.clone(), (*stamp, needed)))
    });
    let mut read = BTreeMap::new();
    let mut troubles = Vec::new();
    for result in results {
        match result {
            Ok((path, needed)) => drop(read.insert(path, needed)),
            Err(reason) => troubles.push(reason),
        }
    }
    let all: Vec<Arc<SingleCaseSession>> = open
        .chain(read.values().map(|(_, needed)| Arc::clone(needed)))
        .collect();
    let pairs: Vec<(&Session, &[CaseRow])> = all
        .iter()
        .map(|one| (&*one.session, one.rows.as_slice()))
        .collect();
    let keys = session.cases.iter().map(Case::key);
    let movers = movers::worst_first(session, keys, &pairs);
    let chart = |one: &Mover| {
        let mut chart = chart::history::small_medians(&one.history, search.colour(one.key.setup));
        chart.title = format!("{} {}", one.case.setup, one.case.point);
        chart
    };
    FollowedCases {
        charts: movers.iter().map(chart).collect(),
        movers: Arc::new(movers),
        troubles,
        read: Arc::new(read),
    }
}

/// A session with what comparing its cases needs, and no more.
fn with_all_cases(session: &Session) -> SingleCaseSession {
    let mut needed = session.without_samples();
    needed.cases.clone_from(&session.cases);
    needed.profiles.clear();
    needed.examinations.clear();
    SingleCaseSession {
        rows: case_rows::case_rows(&needed),
        session: Arc::new(needed),
    }
}

fn is_same(one: &[Arc<Session>], other: &[Arc<Session>]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| Arc::ptr_eq(a, b))
}

/// The files of the library that may have the model at a point, or at any, and are not open.
fn files(search: &CaseSearch, model: &str, point: Option<Point>) -> Vec<(PathBuf, Stamp)> {
    let open: BTreeSet<&Path> = search
        .open
        .iter()
        .filter_map(|(_, file)| file.as_deref())
        .collect();
    let scanned = library::scan(&search.folder, &search.known).into_iter();
    scanned
        .filter(|(path, scanned)| {
            let may_have = scanned.entry.as_ref().is_ok_and(|entry| {
                entry.model == model && point.is_none_or(|point| entry.points.contains(&point))
            });
            let is_meant = search.only.as_ref().is_none_or(|only| only.contains(path));
            is_meant && may_have && !open.contains(path.as_path())
        })
        .map(|(path, scanned)| (path, scanned.stamp))
        .collect()
}

/// What the case needs of the files; what was read before and has not changed is not read again. With a sentence
/// for each that cannot be read.
fn read_files(
    case: &history::FollowedCase,
    before: Read,
    files: &[(PathBuf, Stamp)],
    n_threads: usize,
) -> (Read, Vec<String>) {
    let is_of_case = before.case.as_ref() == Some(case);
    let mut known = before.files;
    if !is_of_case {
        known.clear();
    }
    let mut read = Read {
        case: Some(case.clone()),
        files: BTreeMap::new(),
        found: None,
    };
    let mut unread: Vec<&(PathBuf, Stamp)> = Vec::new();
    for file in files {
        match known.remove(&file.0) {
            Some((stamp, session)) if stamp == file.1 => {
                read.files.insert(file.0.clone(), (stamp, session));
            }
            _ => unread.push(file),
        }
    }
    if is_of_case && unread.is_empty() && known.is_empty() {
        read.found = before.found;
    }
    let open = |(path, stamp): &(PathBuf, Stamp)| {
        let opened = session_file::read(path).map_err(|error| error.to_string())?;
        let needed = Arc::new(narrowed(case, &opened.session));
        Ok((path.clone(), (*stamp, needed)))
    };
    let mut troubles = Vec::new();
    for result in map_on_threads(&unread, n_threads, |file| open(file)) {
        match result {
            Ok((path, needed)) => drop(read.files.insert(path, needed)),
            Err(reason) => troubles.push(reason),
        }
    }
    (read, troubles)
}

fn narrowed(case: &history::FollowedCase, session: &Session) -> SingleCaseSession {
    let session = Arc::new(case.narrowed(session));
    SingleCaseSession {
        rows: case_rows::case_rows(&session),
        session,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_findings::analysis::testing::{measure_near, session};

    #[test]
    fn a_file_is_read_once_for_as_long_as_it_stays_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let written = |name: &str, micros: u64| {
            let mut session = session(&["ort:cpu"], &[1]);
            measure_near(&mut session, 0, 1, micros);
            let path = folder.path().join(name);
            session_file::write(&path, &session).unwrap();
            (path.clone(), Stamp::read(&path).unwrap())
        };
        let files: Vec<_> = (0..9)
            .map(|n| written(&format!("{n}.ron"), 900 + n))
            .collect();
        let case = history::FollowedCase::new(&session(&["ort:cpu"], &[1]), 0, Point::of_batch(1));
        let (read, troubles) = read_files(&case, Read::default(), &files, 4);
        assert!(troubles.is_empty(), "{troubles:?}");
        let first: Vec<_> = read
            .files
            .values()
            .map(|(_, one)| Arc::clone(one))
            .collect();
        assert_eq!(first.len(), 9);

        let mut later = files.clone();
        later[3] = written("3.ron", 12_345);
        let (read, _) = read_files(&case, read, &later, 4);
        let again = read.files.values().map(|(_, one)| one);
        let is_kept: Vec<bool> = again.zip(&first).map(|(a, b)| Arc::ptr_eq(a, b)).collect();
        assert_eq!(is_kept, (0..9).map(|n| n != 3).collect::<Vec<_>>());

        let other =
            history::FollowedCase::new(&session(&["tract:cpu"], &[1]), 0, Point::of_batch(1));
        let (read, _) = read_files(&other, read, &later, 1);
        let kept = read.files.values().zip(&first);
        assert!(
            kept.into_iter().all(|((_, a), b)| !Arc::ptr_eq(a, b)),
            "another case"
        );
    }
}
