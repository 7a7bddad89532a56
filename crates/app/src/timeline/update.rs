//! Actions on the timeline, and the results of reading, searching and adding up.

use crate::doors::ProfileDoor;
use crate::shared::Shared;
use std::path::PathBuf;
use std::sync::Arc;

use super::{OpenTrace, Seek, TimeSelection, TimelineSelection, TraceId, TraceReading, work};
use crate::action::{Action, Kernels, Timeline};
use crate::kernels::ProfileRef;
use crate::kernels::trace_path::trace_path;
use crate::notices::NoticeLevel;
use crate::parts::layer::Layer;
use crate::screen::Screen;
use crate::sessions::SessionId;
use crate::{Ask, WindowRequest, timeline};
use powerband_core::base::humanize;
use powerband_findings::analysis::timeline::find::SearchHits;
use powerband_findings::analysis::timeline::selection::SelectionStatistics;
use powerband_findings::analysis::timeline::stretch::TimeRange;
use powerband_findings::chart::lanes::{self, Lane};
use powerband_findings::tables::stretch;

/// The table of what ran in a measured stretch.
const STRETCH: &str = "stretch";

impl ProfileDoor {
    pub(crate) fn timeline(&mut self, change: Timeline, shared: &mut Shared) {
        let state = &mut self.timeline;
        match change {
            Timeline::Choose => shared.outputs.push(WindowRequest::Ask(Ask::Trace)),
            Timeline::Show(id) => {
                state.show(id);
                self.find_if_wanted(shared);
                self.find_limits_if_wanted(shared);
            }
            Timeline::Close(id) => {
                self.flush_notes(id, shared);
                self.timeline.close(id);
                self.find_if_wanted(shared);
            }
            Timeline::StopReading(id) => {
                let reading = state.reading.iter().find(|reading| reading.id == id);
                if let Some(reading) = reading {
                    reading.cancel.cancel();
                }
            }
            Timeline::Measuring(measures) => state.measures = measures,
            Timeline::Search(text) => {
                state.search = text;
                state.hits = None;
                state.hit = None;
                self.find_if_wanted(shared);
            }
            Timeline::FocusSearch => {
                let field = timeline::SEARCH.to_owned();
                shared.outputs.push(WindowRequest::Cursor(field));
            }
            Timeline::NextHit(forward) => {
                let hit = state.next_hit(forward);
                let place = hit
                    .zip(state.hits.as_ref())
                    .map(|(hit, hits)| hits.all[hit]);
                let slice = place.and_then(|place| state.current()?.1.timeline.slice(place));
                if let Some(slice) = slice {
                    state.hit = hit;
                    state.go_to(slice);
                }
            }
            Timeline::Hand(hand) => state.hand_ns = hand,
            Timeline::CopyArguments => self.copy_arguments(shared),
            Timeline::Pin(_)
            | Timeline::Hide(_)
            | Timeline::ShowAllTracks
            | Timeline::FilterTracks(_) => self.arrange_tracks(change, shared),
            Timeline::CompareWith(_) | Timeline::Align(_) => self.compare_traces(&change, shared),
            Timeline::AddNote => self.add_note(shared),
            Timeline::EditNote(place) => self.edit_note(place, shared),
            Timeline::WriteNote(place, text) => self.write_note(place, text, shared),
            Timeline::RemoveNote(place) => self.remove_note(place, shared),
            Timeline::GoToNote(place) => self.go_to_note(place),
            Timeline::NextNote(forward) => {
                if let Some(place) = self.timeline.next_note(forward) {
                    self.go_to_note(place);
                }
            }
            change => self.look_at_trace(change, shared),
        }
        self.renew_stretch_table(shared);
    }

    fn arrange_tracks(&mut self, change: Timeline, shared: &Shared) {
        let shown = self.timeline.shown;
        let Some((_, view)) = self.timeline.current_mut() else {
            return;
        };
        let is_kept = !matches!(change, Timeline::FilterTracks(_));
        match change {
            Timeline::Pin(track) => view.pin(track),
            Timeline::Hide(track) => view.hide(track),
            Timeline::ShowAllTracks => view.show_all_tracks(),
            Timeline::FilterTracks(words) => view.filter = words,
            _ => {}
        }
        if let Some(id) = shown.filter(|_| is_kept) {
            self.keep_notes(id, shared);
        }
    }

    fn copy_arguments(&self, shared: &mut Shared) {
        let current = self.timeline.current();
        let Some(facts) = current.and_then(|(_, _, view)| view.facts.clone()) else {
            return;
        };
        shared
            .outputs
            .push(WindowRequest::Copy(facts.arguments_text()));
        let many = humanize::pluralised(facts.arguments.len() as u64, "argument");
        shared.notify(NoticeLevel::Done, format!("Copied {many} to the clipboard"));
    }

    /// The table shows what was added up in the stretch that is selected now.
    fn renew_stretch_table(&mut self, shared: &mut Shared) {
        let current = self.timeline.current();
        let wanted = current.and_then(|(_, open, view)| {
            let found = view.statistics.clone()?;
            let Some(TimelineSelection::Span(measured)) = &view.selected else {
                return None;
            };
            Some((found, Arc::clone(open), measured.stretch.length()))
        });
        let Some((found, open, length_ns)) = wanted else {
            if self.timeline.tabled.take().is_some() {
                shared.tables.remove(STRETCH);
            }
            return;
        };
        let known = self.timeline.tabled.as_ref();
        if known.is_none_or(|known| !Arc::ptr_eq(known, &found)) {
            let table = stretch::of_stretch(&found, &open.trace.names, length_ns);
            shared.tables.set_table(STRETCH, table);
            self.timeline.tabled = Some(found);
        }
    }

    fn look_at_trace(&mut self, change: Timeline, shared: &mut Shared) {
        let selects = matches!(
            change,
            Timeline::Select(_)
                | Timeline::Alike(_)
                | Timeline::GoTo(_)
                | Timeline::ZoomTo(_)
                | Timeline::Partner
        );
        let state = &mut self.timeline;
        let fitting = match change {
            Timeline::Fit => state.to_fit(),
            Timeline::Whole => state
                .current()
                .map(|(_, open, _)| open.timeline.full_range()),
            _ => None,
        };
        let Some((open, view)) = state.current_mut() else {
            return;
        };
        let open = Arc::clone(open);
        match change {
            Timeline::Look(stretch) => state.show_range(stretch),
            Timeline::Zoom(times) => state.zoom(times),
            Timeline::Move(share) => {
                let moved = view.stretch.moved(share);
                state.show_range(moved);
            }
            Timeline::Fit | Timeline::Whole => {
                if let Some(stretch) = fitting {
                    state.show_range(stretch);
                }
            }
            Timeline::Scroll(points) => view.scroll = points.max(0.0),
            Timeline::Reveal(points) => {
                view.scroll = points.max(0.0);
                state.reveals = false;
            }
            Timeline::Fold(track) if view.folded.contains(&track) => {
                view.folded.remove(&track);
            }
            Timeline::Fold(track) => {
                view.folded.insert(track);
            }
            Timeline::FoldAll(folds) => {
                let strands = open.timeline.tracks.iter();
                let several = strands.filter(|strand| folds && strand.rows.len() > 1);
                view.folded = several.map(|strand| strand.track).collect();
                view.scroll = 0.0;
            }
            Timeline::Select(slice) => view.select(&open, slice.map(TimelineSelection::Slice)),
            Timeline::Alike(forward) => {
                if let Some(slice) = state.neighbour_of_same_name(forward) {
                    state.go_to(slice);
                }
            }
            Timeline::GoTo(slice) => state.go_to(slice),
            Timeline::ZoomTo(slice) => {
                let place = open.timeline.place(slice);
                view.select(&open, Some(TimelineSelection::Slice(slice)));
                if let Some((from, to)) = place.and_then(|place| open.timeline.times(place)) {
                    state.show_range(TimeRange::new(from as f64, to as f64).with_room());
                }
            }
            Timeline::Measure(stretch, rows) => {
                self.measure(TimeSelection { stretch, rows }, shared);
            }
            Timeline::Partner => {
                if let Some(partner) = state.partner() {
                    state.go_to(partner);
                } else {
                    let text = "The file links the selected slice to no launch and no kernel.";
                    shared.notify(NoticeLevel::Info, text);
                }
            }
            _ => {}
        }
        if selects {
            self.slice_selected(shared);
        }
    }

    fn measure(&mut self, measured: TimeSelection, shared: &mut Shared) {
        let Some(id) = self.timeline.shown else {
            return;
        };
        if self.timeline.comparison().is_some_and(|one| one.is_aligned) {
            let text = "What ran before is stretched, and its times would be wrong: show both in their own time to measure.";
            return shared.notify(NoticeLevel::Info, text);
        }
        let Some((open, view)) = self.timeline.current_mut() else {
            return;
        };
        let open = Arc::clone(open);
        view.select(&open, Some(TimelineSelection::Span(measured.clone())));
        let work = move || {
            let rows = &measured.rows;
            let sums = SelectionStatistics::from_range(&open.timeline, measured.stretch, rows);
            (measured, sums)
        };
        shared.jobs.spawn_for(
            "statistics",
            work,
            move |door: &mut Self, (measured, sums), shared| {
                door.timeline_summed(id, &measured, sums, shared);
            },
        );
    }

    /// What is typed is looked for in the trace that is shown.
    pub(super) fn find_if_wanted(&self, shared: &Shared) {
        let text = self.timeline.search.clone();
        let Some((id, open, _)) = self.timeline.current() else {
            return;
        };
        if text.trim().is_empty() {
            return;
        }
        let open = Arc::clone(open);
        let searched = Arc::clone(&open.timeline);
        let work = move || SearchHits::search(&open.trace, &open.timeline, &text);
        shared
            .jobs
            .spawn_for("find", work, move |door: &mut Self, hits, _| {
                // Hits are places in the rows of the timeline that was searched.
                let shown = door.timeline.traces.get(&id);
                if shown.is_some_and(|open| Arc::ptr_eq(&open.timeline, &searched)) {
                    door.timeline_found(id, hits);
                }
            });
    }

    /// Clears the selection, then the search; returns whether there was one.
    pub(crate) fn leaves_selection(&mut self, layer: Layer, shared: &mut Shared) -> bool {
        if layer != Layer::Filter || shared.screen != Screen::Timeline {
            return false;
        }
        let Some((_, view)) = self.timeline.current_mut() else {
            return false;
        };
        if view.selected.is_some() {
            self.timeline(Timeline::Select(None), shared);
            return true;
        }
        let is_searching = !self.timeline.search.is_empty();
        if is_searching {
            self.timeline(Timeline::Search(String::new()), shared);
        }
        is_searching
    }

    /// Opens files of other tools. Those that one process wrote become one timeline.
    pub(crate) fn open_traces(&mut self, paths: Vec<PathBuf>, shared: &mut Shared) {
        if shared.screen != Screen::Timeline {
            self.timeline.came_from = Some(shared.screen);
        }
        shared.screen = Screen::Timeline;
        let mut wanted = Vec::new();
        for path in paths {
            let mut known = self.timeline.traces.iter();
            let known = known.find(|(_, open)| open.path.as_ref() == Some(&path));
            if let Some(id) = known.map(|(id, _)| *id) {
                self.timeline(Timeline::Show(id), shared);
            } else if self
                .timeline
                .reading
                .iter()
                .all(|reading| reading.path != path)
            {
                let session = shared.sessions.new_id();
                self.timeline.sources.insert(session, path.clone());
                let reading = TraceReading::new(self.timeline.new_id(), session, path);
                self.timeline.reading.push(reading.clone());
                wanted.push(reading);
            }
        }
        if !wanted.is_empty() {
            Self::read_traces(wanted, shared);
        }
    }

    /// Shows the timeline of the profile that is looked at.
    pub(crate) fn show_timeline_of_profile(&mut self, seek: Option<Seek>, shared: &mut Shared) {
        if let Some(pick) = self.kernels.looking {
            self.show_timeline_of(pick, seek, shared);
        }
    }

    /// On *Timeline* the profile of *Kernels* is opened where no other trace is.
    pub(crate) fn open_timeline_if_none_is(&mut self, shared: &mut Shared) {
        let timeline = &self.timeline;
        let is_empty = timeline.traces.is_empty() && timeline.reading.is_empty();
        if is_empty && shared.screen == Screen::Timeline {
            self.show_timeline_of_profile(None, shared);
        }
    }

    /// Shows the timeline of a profile, which may have to be read first: all of it, or what is looked for.
    pub(crate) fn show_timeline_of(
        &mut self,
        pick: ProfileRef,
        seek: Option<Seek>,
        shared: &mut Shared,
    ) {
        let owner = Some((pick.session, pick.profile));
        let mut known = self.timeline.traces.iter();
        if let Some((id, _)) = known.find(|(_, open)| open.owner == owner) {
            let id = *id;
            shared.screen = Screen::Timeline;
            self.timeline(Timeline::Show(id), shared);
            if let Some(seek) = seek {
                self.timeline.seek(&seek);
                self.find_if_wanted(shared);
            }
            return;
        }
        let Ok(path) = trace_path(shared, pick) else {
            return;
        };
        shared.screen = Screen::Timeline;
        let mut pending = self.timeline.reading.iter_mut();
        if let Some(reading) = pending.find(|reading| reading.path == path) {
            reading.seek = seek;
            return;
        }
        let mut reading = TraceReading::new(self.timeline.new_id(), pick.session, path);
        reading.profile = Some(pick.profile);
        reading.seek = seek;
        self.timeline.reading.push(reading.clone());
        Self::read_traces(vec![reading], shared);
    }

    fn read_traces(wanted: Vec<TraceReading>, shared: &Shared) {
        let ids: Vec<TraceId> = wanted.iter().map(|reading| reading.id).collect();
        let backend = Arc::clone(&shared.backend);
        let broken = move |door: &mut Self, why, shared: &mut Shared| {
            door.traces_not_read(&ids, why, shared);
        };
        shared
            .jobs
            .spawn_or_for("read-trace", broken, move |outlet| {
                work::read(&wanted, &*backend, outlet);
            });
    }

    /// A session's timelines close with it.
    pub(crate) fn close_traces_of(&mut self, session: SessionId, shared: &mut Shared) {
        let owned = self.timeline.traces.iter();
        let owned = owned.filter(|(_, open)| open.owner.is_some_and(|(owner, _)| owner == session));
        for (id, _) in owned {
            self.flush_notes(*id, shared);
        }
        self.timeline.close_of_session(session);
        if self.timeline.hits.is_none() {
            self.find_if_wanted(shared);
        }
        self.renew_stretch_table(shared);
    }

    /// A file without times opens the screen that shows it.
    pub(super) fn without_times(&mut self, id: TraceId, screen: Screen, shared: &mut Shared) {
        let reading = &mut self.timeline.reading;
        let read = reading.iter().position(|reading| reading.id == id);
        let session = read.map(|at| reading.remove(at).session);
        if let (Screen::Kernels, Some(session)) = (screen, session) {
            let pick = ProfileRef {
                session,
                profile: 0,
            };
            shared.then(Action::Kernels(Kernels::Look(pick)));
        }
        // If the user went to another screen while the file was read, that screen stays.
        if shared.screen == Screen::Timeline {
            shared.then(Action::Go(screen));
        }
    }

    /// Opens files of other tools that were open last time, on whichever screen that was.
    pub(crate) fn open_traces_again(&mut self, paths: Vec<PathBuf>, shared: &mut Shared) {
        let screen = shared.screen;
        self.open_traces(paths, shared);
        shared.screen = screen;
    }

    /// Files of other tools whose sessions are open, or being read, and in no file of their own.
    pub(crate) fn unkept_files(&self, shared: &Shared) -> Vec<PathBuf> {
        let is_being_read = |session: SessionId| {
            let mut reading = self.timeline.reading.iter();
            reading.any(|reading| reading.session == session)
        };
        let is_unkept = |session: &SessionId| {
            let open = shared.sessions.get(*session);
            open.map_or_else(|| is_being_read(*session), |open| open.path.is_none())
        };
        let sources = self.timeline.sources.iter();
        let unkept = sources.filter(|(session, _)| is_unkept(session));
        unkept.map(|(_, path)| path.clone()).collect()
    }

    /// A trace was read, or not.
    pub(super) fn trace_read(
        &mut self,
        id: TraceId,
        read: Result<Box<OpenTrace>, Option<String>>,
        shared: &mut Shared,
    ) {
        let reading = &mut self.timeline.reading;
        let done = reading.iter().position(|reading| reading.id == id);
        let done = done.map(|place| reading.remove(place));
        // It may be there already when it is no longer wanted.
        if done.as_ref().is_some_and(|read| read.cancel.is_cancelled()) {
            return;
        }
        let is_new = done.as_ref().is_some_and(|read| read.profile.is_none());
        let seek = done.and_then(|read| read.seek);
        match read {
            Ok(mut open) => {
                open.lanes = Self::lanes_beneath(&open, shared);
                if let Some((session, profile)) = open.owner.filter(|_| is_new) {
                    let pick = ProfileRef { session, profile };
                    shared.then(Action::Kernels(Kernels::Look(pick)));
                }
                self.timeline.put(id, Arc::from(open));
                if let Some(seek) = seek {
                    self.timeline.seek(&seek);
                    self.find_if_wanted(shared);
                }
            }
            Err(Some(reason)) => {
                shared.notify(NoticeLevel::Trouble, format!("Not opened: {reason}."));
                self.leave_empty_timeline(shared);
            }
            Err(None) => {}
        }
        self.renew_stretch_table(shared);
    }

    /// Reading failed: the files that were being read are dropped.
    fn traces_not_read(&mut self, ids: &[TraceId], why: String, shared: &mut Shared) {
        self.timeline
            .reading
            .retain(|reading| !ids.contains(&reading.id));
        shared.notify(NoticeLevel::Trouble, why);
        self.leave_empty_timeline(shared);
    }

    /// Goes back to where a file was opened, where nothing came of it and nothing else is shown.
    fn leave_empty_timeline(&mut self, shared: &mut Shared) {
        let is_empty = self.timeline.shown.is_none() && self.timeline.reading.is_empty();
        if let Some(screen) = self.timeline.came_from.take()
            && is_empty
            && shared.screen == Screen::Timeline
        {
            shared.then(Action::Go(screen));
        }
    }

    /// Device telemetry during a trace, where its session has it.
    fn lanes_beneath(open: &OpenTrace, shared: &Shared) -> Vec<Lane> {
        let found = open.owner.and_then(|(session, profile)| {
            let session = &shared.sessions.get(session)?.session;
            let profile = session.profiles.get(profile)?;
            let length_ns = open.timeline.length_ns;
            Some(lanes::of_profile(session, profile, length_ns))
        });
        found.unwrap_or_default()
    }

    /// Hits of a search; dropped where the search has changed since.
    fn timeline_found(&mut self, id: TraceId, hits: SearchHits) {
        if self.timeline.shown == Some(id) && self.timeline.search == hits.text {
            self.timeline.hits = Some(Arc::new(hits));
            self.timeline.hit = None;
        }
    }

    /// Sums of a range; dropped where the selection has changed since.
    fn timeline_summed(
        &mut self,
        id: TraceId,
        measured: &TimeSelection,
        statistics: SelectionStatistics,
        shared: &mut Shared,
    ) {
        let view = self.timeline.views.get_mut(&id);
        let view = view.filter(|view| match &view.selected {
            Some(TimelineSelection::Span(selected)) => selected == measured,
            _ => false,
        });
        if let Some(view) = view {
            view.statistics = Some(Arc::new(statistics));
        }
        self.renew_stretch_table(shared);
    }
}
