//! Finds out what a page would have in it, and writes it in the background.

use std::path::PathBuf;
use std::sync::Arc;

use super::PageOffer;
use super::action::PageAction;
use crate::App;
use crate::backend::PageSource;
use crate::sessions::SessionId;
use crate::{Ask, WindowRequest};
use powerband_core::base::{atomic_file, humanize};
use powerband_findings::analysis::category::Rules;
use powerband_store::{library, settings};

impl App {
    pub(crate) fn page(&mut self, change: PageAction) {
        match change {
            PageAction::Offer(sessions) => self.offer_page(sessions),
            PageAction::Anonymous(is_anonymous) => {
                if let Some(offer) = &mut self.shared.window.page_offer {
                    offer.is_anonymous = is_anonymous;
                }
            }
            PageAction::Choose => self.ask_for_page(),
            PageAction::Write(offer, path) => self.write_page(offer, path),
            PageAction::Dismiss => self.shared.window.page_offer = None,
        }
    }

    fn offer_page(&mut self, sessions: Vec<SessionId>) {
        let mut sources = self.page_sources(&sessions);
        let offer = PageOffer {
            sessions,
            sources: sources.clone(),
            is_anonymous: self.shared.remembered.shares_without_names,
            facts: None,
        };
        self.shared.window.page_offer = Some(offer.clone());
        let backend = Arc::clone(&self.shared.backend);
        let work = move || {
            let facts = backend.page_facts(&mut sources);
            (facts, sources)
        };
        self.shared
            .jobs
            .spawn_then("page-facts", work, move |app, (facts, sources)| {
                let current = app.shared.window.page_offer.as_mut();
                if let Some(current) = current.filter(|one| one.sessions == offer.sessions) {
                    current.facts = Some(facts);
                    current.sources = sources;
                }
            });
    }

    fn page_sources(&self, sessions: &[SessionId]) -> Vec<PageSource> {
        let open = sessions
            .iter()
            .filter_map(|id| self.shared.sessions.get(*id));
        let sources = open.map(|open| PageSource {
            session: Arc::clone(&open.session),
            path: open.path.clone(),
            timelines: self.profile.timeline.traces_of(open.id),
        });
        sources.collect()
    }

    fn ask_for_page(&mut self) {
        let Some(offer) = self.shared.window.page_offer.take() else {
            return;
        };
        let first = offer.sessions.first();
        let Some(first) = first.and_then(|id| self.shared.sessions.get(*id)) else {
            return;
        };
        let name = format!("{}.html", library::safe(&first.session.name));
        let path = self.shared.export_path(&name);
        self.shared
            .outputs
            .push(WindowRequest::Ask(Ask::SavePage(offer, path)));
    }

    fn write_page(&mut self, offer: PageOffer, path: PathBuf) {
        let is_anonymous = offer.is_anonymous;
        self.shared.remembered.shares_without_names = is_anonymous;
        self.shared.exports_to(&path);
        let sources = offer.sources;
        let backend = Arc::clone(&self.shared.backend);
        let paths = self.shared.place.paths.clone();
        let work = move || {
            let own = settings::read(&paths.settings);
            let own = own.map(|settings| settings.categories).unwrap_or_default();
            let rules = Rules::with_user_rules(&own);
            let page = backend.page(&sources, is_anonymous, &rules)?;
            let written = atomic_file::write_bytes(&path, page.as_bytes());
            written.map_err(|error| format!("{} was not written: {error}", path.display()))?;
            let size = humanize::bytes(page.len() as u64);
            Ok((format!("Saved to {}, {size}", path.display()), path))
        };
        self.shared.jobs.spawn_then("page", work, |app, written| {
            app.shared.file_written(written);
        });
    }
}
