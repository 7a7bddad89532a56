//! Follows a case through the library, on a background thread.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use super::{Followed, Following};
use crate::inbox::{FindingMessage, Message};
use crate::jobs::Outlet;
use powerband_core::domain::session::Session;
use powerband_findings::analysis::case_rows::{self, CaseRow};
use powerband_findings::analysis::history;
use powerband_findings::chart;
use powerband_store::library::{self, Scanned};
use powerband_store::session_file;

/// Where a case is looked for.
pub(crate) struct Search {
    /// The case, of an open session.
    pub following: Following,
    /// The library.
    pub folder: PathBuf,
    /// What is known of the library's sessions.
    pub known: BTreeMap<PathBuf, Scanned>,
    /// The sessions that it is looked for in; nothing for all.
    pub only: Option<BTreeSet<PathBuf>>,
    /// The colour of its setup.
    pub colour: usize,
    /// The open sessions and their files, first the one that has it.
    pub open: Vec<(Arc<Session>, Option<PathBuf>)>,
}

/// Follows a case through what is open and through the sessions of the library. Only files whose head says
/// that they may have it are read.
pub(crate) fn follow(search: &Search, outlet: &Outlet) {
    let Some((session, _)) = search.open.first() else {
        return;
    };
    let Following { setup, point, .. } = search.following;
    let case = history::Followed::of(session, setup, point);
    let name = &session.model.name;
    let (mut sessions, mut files): (Vec<Session>, Vec<Option<PathBuf>>) = search
        .open
        .iter()
        .map(|(open, file)| (case.narrowed(open), file.clone()))
        .unzip();
    let mut troubles = Vec::new();
    for (path, scanned) in library::scan(&search.folder, &search.known) {
        let may_have = scanned
            .entry
            .is_ok_and(|entry| entry.model == *name && entry.points.contains(&point));
        let is_meant = search.only.as_ref().is_none_or(|only| only.contains(&path));
        if !is_meant || !may_have || files.iter().flatten().any(|file| *file == path) {
            continue;
        }
        match session_file::read(&path) {
            Ok(opened) => {
                sessions.push(case.narrowed(&opened.session));
                files.push(Some(path));
            }
            Err(error) => troubles.push(error.to_string()),
        }
    }
    let rows: Vec<Vec<CaseRow>> = sessions.iter().map(case_rows::case_rows).collect();
    let pairs: Vec<(&Session, &[CaseRow])> = sessions
        .iter()
        .zip(rows.iter().map(Vec::as_slice))
        .collect();
    let history = history::case_history(&case, &pairs);
    outlet.send(Message::Finding(FindingMessage::Followed(Box::new(
        Followed {
            following: search.following,
            chart: chart::history::medians(&history, search.colour),
            history,
            files,
            troubles,
        },
    ))));
}
