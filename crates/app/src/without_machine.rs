//! What is offered where there is no machine, as in a page of a browser: to look at sessions, and not to measure, to
//! open or write files, or to start programs.

use crate::action::{Action, FigureAction, History, Kernels, Sessions, Shell, Timeline};
use crate::shared::Shared;
use crate::tables::action::TableChange;

impl Shared {
    /// Whether an action can be taken here.
    pub fn offers(&self, action: &Action) -> bool {
        self.has_machine() || !needs_machine(action)
    }

    /// Whether all of these can be.
    pub fn offers_all(&self, actions: &[Action]) -> bool {
        actions.iter().all(|action| self.offers(action))
    }
}

/// Whether an action measures, opens or writes a file, or starts a program.
fn needs_machine(action: &Action) -> bool {
    match action {
        Action::Go(screen) => screen.door().needs_machine(),
        Action::Shell(shell) => match shell {
            Shell::Pane(_, screen) => screen.is_some_and(|screen| screen.door().needs_machine()),
            Shell::ToggleLibrary
            | Shell::Watching(_)
            | Shell::OpenFile(_)
            | Shell::Guide(_)
            | Shell::Hint(_)
            | Shell::AskClose
            | Shell::Close(_) => true,
            _ => false,
        },
        Action::Machine(_)
        | Action::Detached(_)
        | Action::Roofs(_)
        | Action::Plan(_)
        | Action::Run(_)
        | Action::OpenTrace(_)
        | Action::Library(_)
        | Action::Report(..)
        | Action::Page(_) => true,
        Action::Sessions(change) => !matches!(change, Sessions::Close(_) | Sessions::CloseAll),
        Action::History(change) => matches!(change, History::Only(Some(_))),
        Action::Kernels(change) => matches!(change, Kernels::Categorise(..) | Kernels::Forget(_)),
        Action::Timeline(change) => matches!(change, Timeline::Choose),
        Action::Figures(change) => {
            matches!(change, FigureAction::SaveNear | FigureAction::Save(..))
        }
        Action::Table(_, change) => matches!(change, TableChange::Export(_)),
        Action::Back
        | Action::Curves(_)
        | Action::Charts(_)
        | Action::Compare(_)
        | Action::Fleet(_)
        | Action::Journey(_)
        | Action::Network(_)
        | Action::Why(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::empty_backend::EmptyBackend;
    use crate::screen::Screen;
    use crate::{App, Installation, command, palette_entries};
    use powerband_core::base::paths::Paths;
    use powerband_store::examples;
    use powerband_store::settings::Settings;

    #[test]
    fn a_page_shows_its_sessions_and_offers_nothing_that_needs_a_machine() {
        let paths = Paths::under(Path::new("/none"));
        let place = Installation::new(paths, &Settings::default(), "/none".into());
        let mut app = App::new(place, Arc::new(EmptyBackend::default()), Arc::new(|_| {}));
        let sessions = examples::ALL.iter().take(2);
        let sessions = sessions.map(|example| example.open().unwrap().session);
        app.show_sessions(sessions.collect());
        // Without threads all work is done here.
        while app.receive(Duration::ZERO) {}
        assert_eq!(app.shared.sessions.len(), 2);
        assert!(app.curves.drawn.legend.len() > 2);
        let offered: Vec<_> = command::offered(&app.shared).collect();
        assert!(offered.len() > 40 && offered.len() < command::ALL.len());
        let acts = |command: &&command::Command| {
            let action = (command.act)(&app);
            action.is_ok_and(|action| !app.shared.offers(&action))
        };
        let wrongly: Vec<&str> = offered.into_iter().filter(acts).map(|one| one.id).collect();
        assert!(wrongly.is_empty(), "{wrongly:?}");
        for entry in palette_entries::all_entries(&app) {
            assert!(app.shared.offers_all(&entry.actions), "{}", entry.title);
        }
        app.act(Action::Go(Screen::Plan));
        assert_eq!(app.shared.screen, Screen::Curves);
        app.act(Action::Go(Screen::Kernels));
        assert_eq!(app.shared.screen, Screen::Kernels);
    }
}
