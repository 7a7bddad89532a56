//! What a page of results has in it: sessions with their timelines, with the names of users and machines or without.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;

use powerband_app::backend::{PageFacts, PageSource};
use powerband_core::base::{humanize, system};
use powerband_core::domain::anonymous::PrivateNames;
use powerband_core::domain::session::Session;
use powerband_core::domain::trace::Trace;
use powerband_import::reading::read_progress::ReadProgress;
use powerband_import::reading::source::Limits;
use powerband_store::bundle::Bundle;
use powerband_store::{packed_trace, trace_file};

/// Sessions with their timelines.
pub(crate) struct PageContents {
    sessions: Vec<Session>,
    /// By the names that the sessions call them, each of which the page has once.
    timelines: BTreeMap<String, Arc<Trace>>,
    names: PrivateNames,
    /// What is left out, and why.
    pub(crate) notes: Vec<String>,
}

impl PageContents {
    /// Reads what belongs to some sessions.
    pub(crate) fn find(sources: &[PageSource]) -> Self {
        let mut found = Self {
            sessions: Vec::new(),
            timelines: BTreeMap::new(),
            names: PrivateNames::of_user(&system::machine_name()),
            notes: Vec::new(),
        };
        for source in sources {
            let mut session = Session::clone(&source.session);
            found.find_timelines(source, &mut session);
            found.names.learn(&session);
            found.sessions.push(session);
        }
        found
    }

    fn find_timelines(&mut self, source: &PageSource, session: &mut Session) {
        for (place, profile) in session.profiles.iter_mut().enumerate() {
            let file = profile.trace_file.take();
            let mut open = source.timelines.iter();
            let open = open.find(|(profile, _)| *profile == place);
            let timeline = match (open, &file) {
                (Some((_, trace)), _) => Ok(Arc::clone(trace)),
                (None, Some(name)) => match trace_file::found(source.path.as_deref(), name) {
                    Some(path) => read_timeline(&path),
                    None => Err(format!("{name} does not lie beside {}", source.name())),
                },
                (None, None) => continue,
            };
            let timeline = match timeline {
                Ok(timeline) => timeline,
                Err(reason) => {
                    self.notes
                        .push(format!("{reason}; this timeline is left out"));
                    continue;
                }
            };
            self.names.learn_timeline(&timeline);
            let name = format!("timeline {}", self.timelines.len() + 1);
            profile.trace_file = Some(name.clone());
            self.timelines.insert(name, timeline);
        }
    }

    /// Opens in its sources what was read of them, so that it is not read again.
    pub(crate) fn keep_timelines(&self, sources: &mut [PageSource]) {
        for (source, session) in sources.iter_mut().zip(&self.sessions) {
            let profiles = session.profiles.iter().enumerate();
            let timelines = profiles.filter_map(|(place, profile)| {
                let trace = self.timelines.get(profile.trace_file.as_ref()?)?;
                Some((place, Arc::clone(trace)))
            });
            source.timelines = timelines.collect();
        }
    }

    /// What is in it, and what of it says whose it is.
    pub(crate) fn facts(&self) -> PageFacts {
        let sessions = humanize::pluralised(self.sessions.len() as u64, "session");
        let contents = match self.timelines.len() as u64 {
            0 => sessions,
            timelines => format!(
                "{sessions}, {}",
                humanize::pluralised(timelines, "timeline")
            ),
        };
        PageFacts {
            contents,
            private: self
                .names
                .found_in(&self.sessions, self.timelines.values().map(Arc::as_ref)),
            notes: self.notes.clone(),
        }
    }

    /// Everything packed, without paths and the names of users and machines where it is to be anonymous.
    pub(crate) fn bundle(mut self, is_anonymous: bool) -> anyhow::Result<Bundle> {
        if is_anonymous {
            for session in &mut self.sessions {
                let clean = self.names.session_without(session);
                *session = clean.context("a session cannot be made anonymous")?;
            }
        }
        let mut bundle = Bundle {
            sessions: self.sessions,
            ..Bundle::default()
        };
        for (name, mut trace) in self.timelines {
            if is_anonymous {
                trace = Arc::new(self.names.trace_without(&trace));
            }
            bundle.timelines.insert(name, packed_trace::pack(&trace)?);
        }
        Ok(bundle)
    }
}

fn read_timeline(path: &Path) -> Result<Arc<Trace>, String> {
    let read = powerband_import::read(path, Limits::default(), &ReadProgress::default());
    let read = read.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    Ok(Arc::new(read.trace))
}
