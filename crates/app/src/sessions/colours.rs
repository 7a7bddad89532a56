//! Which palette index each series of the open sessions has.
//!
//! An index belongs to a setup of a session for as long as the window is open: it does not change when other
//! sessions are opened or closed. A file that is closed and opened again gets its indices back unless a series
//! that was opened since then has them. Two open series share a colour only when all colours are in use, and then
//! differ in marker or dashes, which the index decides too (`chart/palette.rs`).

use std::collections::{BTreeMap, BTreeSet};

use super::SessionId;
use powerband_findings::chart::palette;

/// What a session asks for.
pub(super) struct ColourRequest<'s> {
    /// By what its file is known again when it is closed and opened.
    pub(super) key: String,
    /// The colour saved for each series in its plan, in the order of its series.
    pub(super) saved: &'s [Option<usize>],
}

/// Every assignment.
#[derive(Debug, Default)]
pub(super) struct Colours {
    /// Those of open sessions.
    open: BTreeMap<SessionId, Assigned>,
    /// Those of sessions that were open before.
    closed: BTreeMap<String, Vec<usize>>,
    /// Sessions that came while others were still being read, which may have been asked for earlier.
    fresh: BTreeSet<SessionId>,
}

/// The series of one session.
#[derive(Clone, Debug)]
struct Assigned {
    key: String,
    /// The palette index of each series, and what was saved for it.
    series: Vec<(usize, Option<usize>)>,
}

impl Colours {
    /// The palette index of a series, by its place in its session.
    pub(super) fn colour(&self, id: SessionId, place: usize) -> Option<usize> {
        Some(self.open.get(&id)?.series.get(place)?.0)
    }

    /// Assigns an index to each series of a session that has none yet, or for which another colour was saved
    /// than before.
    pub(super) fn assign(&mut self, id: SessionId, wanted: &ColourRequest<'_>) {
        let before = self.open.remove(&id);
        let before = before.map_or_else(Vec::new, |assigned| assigned.series);
        let earlier = self.closed.get(&wanted.key).cloned().unwrap_or_default();
        let mut found: Vec<Option<usize>> = vec![None; wanted.saved.len()];
        for (place, saved) in wanted.saved.iter().enumerate() {
            let kept = before.get(place).filter(|(_, known)| known == saved);
            let again = earlier.get(place).copied();
            let again = again.filter(|index| !self.is_taken(*index) && is_meant(*index, *saved));
            found[place] = kept.map(|(index, _)| *index).or(again);
        }
        // Saved colours first, so that no series before them takes one.
        let (mut with, mut without): (Vec<usize>, Vec<usize>) =
            (0..found.len()).partition(|place| wanted.saved[*place].is_some());
        with.append(&mut without);
        for place in with {
            if found[place].is_none() {
                found[place] = Some(self.free(&found, wanted.saved[place]));
            }
        }
        let series = found
            .into_iter()
            .flatten()
            .zip(wanted.saved.iter().copied());
        let assigned = Assigned {
            key: wanted.key.clone(),
            series: series.collect(),
        };
        self.open.insert(id, assigned);
    }

    /// Notes that a session was opened and that others may still be read.
    pub(super) fn note_opened(&mut self, id: SessionId) {
        self.fresh.insert(id);
    }

    /// The sessions that came since nothing was being read, without their indices: they are to be assigned in the
    /// order in which they were asked for, however long each took to read.
    pub(super) fn take_fresh(&mut self) -> BTreeSet<SessionId> {
        let fresh = std::mem::take(&mut self.fresh);
        if fresh.len() > 1 {
            for id in &fresh {
                self.open.remove(id);
            }
        }
        fresh
    }

    /// Closes a session, and keeps its indices for when its file is opened again.
    pub(super) fn close(&mut self, id: SessionId) {
        if let Some(assigned) = self.open.remove(&id) {
            let series = assigned.series.into_iter();
            let indices = series.map(|(index, _)| index).collect();
            self.closed.insert(assigned.key, indices);
        }
    }

    /// Hands the indices of one session to another: the run in progress became a file.
    pub(super) fn hand_over(&mut self, from: SessionId, to: SessionId) {
        if let Some(assigned) = self.open.remove(&from) {
            self.open.entry(to).or_insert(assigned);
        }
    }

    /// Gives the indices of one session to another as well, which shows the same setups.
    pub(super) fn lend(&mut self, from: SessionId, to: SessionId) {
        if let Some(assigned) = self.open.get(&from) {
            self.open.insert(to, assigned.clone());
        }
    }

    fn is_taken(&self, index: usize) -> bool {
        let open = self.open.values().flat_map(|assigned| &assigned.series);
        open.into_iter().any(|(taken, _)| *taken == index)
    }

    /// The index for a new series: of the colours in use least often the saved one if it is among them, else the
    /// first, with a marker that no series of that colour has.
    fn free(&self, own: &[Option<usize>], saved: Option<usize>) -> usize {
        let open = self.open.values().flat_map(|assigned| &assigned.series);
        let taken = open.map(|(index, _)| *index);
        let taken: Vec<usize> = taken.chain(own.iter().flatten().copied()).collect();
        let uses = |colour: usize| {
            let same = taken.iter().filter(|one| palette::colour(**one) == colour);
            same.count()
        };
        let is_other = |colour: usize| saved.is_none_or(|saved| palette::colour(saved) != colour);
        let best = (0..palette::COLOURS).min_by_key(|colour| (uses(*colour), is_other(*colour)));
        let best = best.unwrap_or_default();
        let mut indices = (best..).step_by(palette::COLOURS);
        let free = indices.find(|index| !taken.contains(index));
        free.unwrap_or(best)
    }
}

/// Whether an index has the colour that was saved, where one was.
fn is_meant(index: usize, saved: Option<usize>) -> bool {
    saved.is_none_or(|saved| palette::colour(saved) == palette::colour(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a session of so many series as a file of this name.
    fn open(colours: &mut Colours, id: u64, key: &str, saved: &[Option<usize>]) -> Vec<usize> {
        let wanted = ColourRequest {
            key: key.to_owned(),
            saved,
        };
        colours.assign(SessionId(id), &wanted);
        all(colours, id)
    }

    fn all(colours: &Colours, id: u64) -> Vec<usize> {
        (0..)
            .map_while(|place| colours.colour(SessionId(id), place))
            .collect()
    }

    #[test]
    fn what_is_open_keeps_its_colours_when_others_come_and_go() {
        let mut colours = Colours::default();
        assert_eq!(open(&mut colours, 1, "a", &[None; 2]), [0, 1]);
        assert_eq!(open(&mut colours, 2, "b", &[None; 2]), [2, 3]);
        colours.close(SessionId(1));
        assert_eq!(all(&colours, 2), [2, 3]);
        assert_eq!(open(&mut colours, 3, "c", &[None]), [0], "a freed colour");
        assert_eq!(all(&colours, 2), [2, 3]);
        // The first file comes back: 0 is taken by now, 1 is its own.
        assert_eq!(open(&mut colours, 4, "a", &[None; 2]), [4, 1]);
        // The same session again, as after a reload.
        assert_eq!(open(&mut colours, 2, "b", &[None; 3])[..2], [2, 3]);
    }

    #[test]
    fn a_colour_is_shared_only_when_all_are_used_and_then_looks_different() {
        let mut colours = Colours::default();
        open(&mut colours, 1, "a", &[None; 5]);
        open(&mut colours, 2, "b", &[None; 2]);
        colours.close(SessionId(1));
        let third = open(&mut colours, 3, "c", &[None; 3]);
        let both = [all(&colours, 2), third].concat();
        let hues: BTreeSet<usize> = both.iter().map(|index| palette::colour(*index)).collect();
        assert_eq!(hues.len(), 5, "{both:?}");
        open(&mut colours, 4, "d", &[None; 20]);
        let all: Vec<usize> = (2..=4).flat_map(|id| all(&colours, id)).collect();
        let looks = all.iter().map(|index| {
            let marker = palette::marker(*index).to_string();
            (palette::colour(*index), marker, palette::is_dashed(*index))
        });
        assert_eq!(looks.collect::<BTreeSet<_>>().len(), 25);
    }

    #[test]
    fn a_saved_colour_is_preferred_while_no_open_series_has_it() {
        let mut colours = Colours::default();
        assert_eq!(open(&mut colours, 1, "a", &[None, Some(0)]), [1, 0]);
        assert_eq!(open(&mut colours, 2, "b", &[Some(3), Some(0)]), [3, 2]);
        // Another colour was saved since then.
        assert_eq!(open(&mut colours, 2, "b", &[Some(4), Some(0)]), [4, 2]);
    }

    #[test]
    fn colours_go_by_the_order_in_which_files_were_asked_for() {
        let mut colours = Colours::default();
        // The second file was read first.
        for (id, key) in [(2, "b"), (1, "a")] {
            colours.note_opened(SessionId(id));
            open(&mut colours, id, key, &[None; 2]);
        }
        for id in colours.take_fresh() {
            let key = ["", "a", "b"][id.0 as usize];
            open(&mut colours, id.0, key, &[None; 2]);
        }
        assert_eq!([all(&colours, 1), all(&colours, 2)], [[0, 1], [2, 3]]);
        assert!(colours.take_fresh().is_empty());
    }

    #[test]
    fn a_run_that_adds_rounds_has_the_colours_of_its_session() {
        let mut colours = Colours::default();
        open(&mut colours, 1, "a", &[None; 2]);
        let own = open(&mut colours, 2, "b", &[None; 2]);
        colours.lend(SessionId(2), SessionId(0));
        assert_eq!(open(&mut colours, 0, "run", &[None; 2]), own);
        colours.hand_over(SessionId(0), SessionId(2));
        assert_eq!(all(&colours, 2), own);
    }

    #[test]
    fn a_run_hands_its_colours_to_its_session() {
        let mut colours = Colours::default();
        open(&mut colours, 1, "a", &[None; 2]);
        let of_run = open(&mut colours, 0, "run", &[None; 2]);
        colours.hand_over(SessionId(0), SessionId(5));
        assert_eq!(open(&mut colours, 5, "saved", &[None; 2]), of_run);
        assert_eq!(all(&colours, 0), [0; 0]);
    }
}
