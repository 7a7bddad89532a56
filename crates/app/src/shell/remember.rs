//! Saves what the window remembers, when it closes and from time to time before.

use super::settings::{SavedState, write};
use crate::App;
use crate::notices::NoticeLevel;
use crate::shared::Shared;
use powerband_core::base::system::HAS_FILES;

impl App {
    /// The state to save now.
    pub fn to_remember(&self) -> SavedState {
        SavedState {
            screen: self.shared.screen,
            open: self
                .shared
                .sessions
                .iter()
                .filter_map(|open| open.path.clone())
                .chain(self.shared.opening.files.values().cloned())
                .collect(),
            examples: self.shared.open_examples(),
            files: self.profile.unkept_files(&self.shared),
            linear_latency: !self.curves.options.log_y,
            log_throughput: self.curves.options.log_throughput == Some(true),
            linear_throughput: self.curves.options.log_throughput == Some(false),
            stacked_charts: self.curves.stacked,
            charts_by_model: self.curves.groups_by_model,
            statistic: self.curves.options.statistic,
            efficiency: self.curves.options.efficiency,
            draft: self.bench.planner.draft.clone(),
            tables: self.shared.tables.arrangements.clone(),
            ..self.shared.remembered.clone()
        }
    }

    /// Saves the window's state. Called when the window closes.
    pub fn remember(&self) -> Result<(), String> {
        if !HAS_FILES {
            return Ok(());
        }
        self.profile.flush_all_notes();
        write(&self.shared.window.file, &self.to_remember())
    }

    /// Saves it periodically too, in case the window is killed.
    pub(crate) fn remember_now_and_then(&mut self, now_ns: u64) {
        const EVERY_NS: u64 = 10_000_000_000;
        if !HAS_FILES {
            return;
        }
        let is_early = now_ns.saturating_sub(self.shared.window.written.1) < EVERY_NS;
        if is_early || !self.shared.has_machine() {
            return;
        }
        let remembered = self.to_remember();
        let is_news = remembered != self.shared.window.written.0;
        self.shared.window.written = (remembered, now_ns);
        if is_news {
            let (path, remembered) = (
                self.shared.window.file.clone(),
                self.shared.window.written.0.clone(),
            );
            self.shared.jobs.spawn("remember", move |outlet| {
                if let Err(reason) = write(&path, &remembered) {
                    outlet.send(move |app| app.shared.not_remembered(&reason));
                }
            });
        }
    }
}

impl Shared {
    /// Says once that the window's state is not saved.
    fn not_remembered(&mut self, reason: &str) {
        let text = format!(
            "The window's settings, its open files and its plan are not saved for the next start: {reason}."
        );
        if self.notices.all().iter().all(|notice| notice.text != text) {
            self.notify(NoticeLevel::Trouble, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Installation;
    use powerband_core::base::paths::Paths;
    use powerband_store::settings::Settings;

    #[test]
    fn a_state_that_cannot_be_saved_is_said_once() {
        let home = tempfile::tempdir().unwrap();
        let place = Installation::new(
            Paths::under(home.path()),
            &Settings::default(),
            "/none".into(),
        );
        let backend = crate::empty_backend::for_tests();
        let (mut shared, _) = Shared::new(place, backend, Arc::new(|_| {}));
        for _ in 0..2 {
            shared.not_remembered("no space");
        }
        assert_eq!(shared.notices.all().len(), 1);
    }
}
