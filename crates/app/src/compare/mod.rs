//! What is compared with what.

pub(crate) mod action;
pub(crate) mod commands;
mod flags;
pub(crate) mod palette;
pub mod profiles;
pub mod side;
pub(crate) mod update;

pub use flags::RaisedFlag;
use flags::raised_flags;
use profiles::ComparedProfiles;
pub use side::SideChoice;

use powerband_core::domain::point::{BATCH, Point};
use powerband_core::domain::session::Session;
use powerband_core::stats::prediction::MoreRounds;
use std::sync::Arc;

use crate::curves::ring;
use crate::derived::Derived;
use crate::kernels;
use crate::reports::ReportSubject;
use crate::sessions::{LIVE, OnDisk, OpenSession, OpenSessions, Pin, SessionId, series};
use powerband_core::domain::again;
use powerband_findings::analysis::batch_curve::{self, BatchCurve};
use powerband_findings::analysis::case_rows::CaseRow;
use powerband_findings::analysis::comparison::{CasePair, Comparison};
use powerband_findings::analysis::conditions;
use powerband_findings::analysis::dimensions;
use powerband_findings::analysis::headline::Headline;
use powerband_findings::analysis::verdict::Call;
use powerband_findings::chart;
use powerband_findings::chart::curves::{self, CurveOptions, Overlay};
use powerband_findings::chart::heat_map::{self, HeatMap};
use powerband_findings::chart::ratios;
use powerband_findings::chart::spec::ChartSpec;

/// The comparison screen.
#[derive(Debug, Default)]
pub struct CompareState {
    /// The baseline.
    pub before: Option<SideChoice>,
    /// What is compared with it.
    pub after: Option<SideChoice>,
    /// Whether the user chose a side; until then the sides follow from what is open.
    pub is_chosen: bool,
    /// The comparison of these sides.
    pub found: Derived<(SideChoice, SideChoice), (SideChoice, SideChoice, Arc<Comparison>)>,
    /// The charts of it.
    pub drawn: ComparisonCharts,
    /// The session of the last run in this window: its setups are the sides until the user chooses some.
    pub(crate) last_run: Option<SessionId>,
    /// The comparison of the sides' profiles, where a side is one.
    pub profiles: Derived<kernels::Request, ComparedProfiles>,
    /// The run that goes on, with its samples, as of the last comparison within it.
    run: Option<Arc<Session>>,
}

/// The charts of a comparison, made when there is something new and not for each frame.
#[derive(Debug)]
pub struct ComparisonCharts {
    /// The answer, and what changed.
    pub headline: Headline,
    /// The dimension of the sweep along x.
    pub along: &'static str,
    /// The curves of both sides, overlaid.
    pub latency: ChartSpec,
    /// Speed-up of each case.
    pub speed_ups: ChartSpec,
    /// The same over two dimensions of the sweep, where they vary.
    pub map: Option<HeatMap>,
    /// The ratio of one pair after each round, and which pair; nothing where the two took no turns.
    pub closing_in: Option<(Point, ChartSpec)>,
    /// Flags of the cases, each once.
    pub flags: Vec<RaisedFlag>,
}

impl Default for ComparisonCharts {
    fn default() -> Self {
        Self {
            headline: Headline::default(),
            along: BATCH,
            latency: ChartSpec::default(),
            speed_ups: ChartSpec::default(),
            map: None,
            closing_in: None,
            flags: Vec::new(),
        }
    }
}

/// The ratio by round of the pair that is pinned, else of the first open one, else of the first.
fn closing_in(
    after: SideChoice,
    comparison: &Comparison,
    pin: Option<Pin>,
    colour: impl Fn(SideChoice, usize) -> usize,
) -> Option<(Point, ChartSpec)> {
    let pairs = comparison.pairs.iter().zip(&comparison.by_round);
    let pairs: Vec<_> = pairs.filter(|(_, ratios)| !ratios.is_empty()).collect();
    let is_pinned = |(pair, _): &&(&CasePair, _)| {
        let pinned = pin.filter(|pin| pin.session == after.session);
        pinned.is_some_and(|pin| pin.case.point == pair.after_point)
    };
    let is_open = |(pair, _): &&(&CasePair, _)| pair.verdict.call == Call::Inconclusive;
    let pair = pairs.iter().find(is_pinned);
    let (pair, ratios) = pair
        .or_else(|| pairs.iter().find(is_open))
        .or_else(|| pairs.first())?;
    let chart = chart::closing_in::by_round(ratios, colour(after, pair.after.setup));
    (!chart.is_empty()).then_some((pair.after_point, chart))
}

impl CompareState {
    /// Makes the charts anew.
    pub(crate) fn redraw(&mut self, open: &OpenSessions, options: &CurveOptions, pin: Option<Pin>) {
        let Some((before, after, comparison)) = &self.found.result else {
            self.drawn = ComparisonCharts::default();
            return;
        };
        let colour = |pick: SideChoice, setup| open.colour(pick.session, setup);
        let points: Vec<Point> = comparison
            .pairs
            .iter()
            .map(|pair| pair.before_point)
            .collect();
        let varying = dimensions::varying_dimensions(&points);
        let along = varying.first().map_or(BATCH, |one| one.name);
        let sides = [*before, *after].into_iter();
        let sides: Vec<(SideChoice, Vec<BatchCurve>)> = sides
            .filter_map(|pick| {
                let rows = open.get(pick.session)?.comparable_rows();
                Some((pick, batch_curve::curves_along(rows, along)))
            })
            .collect();
        let overlays: Vec<Overlay<'_>> = sides
            .iter()
            .flat_map(|(pick, curves)| {
                let colour = &colour;
                let pick = *pick;
                curves
                    .iter()
                    .filter(move |curve| pick.whole || curve.setup == pick.setup)
                    .map(move |curve| Overlay {
                        id: series(pick.session, curve.setup),
                        name: open.series_name(pick.session, curve.setup),
                        colour: colour(pick, curve.setup),
                        curve,
                    })
            })
            .collect();
        let options = CurveOptions {
            limit_ns: None,
            ..options.clone()
        };
        let mut latency = curves::latency(&overlays, &options);
        let mut map = heat_map::ratios::map(&comparison.pairs);
        if let Some(pin) = pin {
            let id = series(pin.session, pin.case.setup);
            let size = pin.case.point.get(along).unwrap_or_default();
            ring(&mut latency, id, size as u64);
            if let Some(map) = map.as_mut().filter(|_| pin.session == after.session) {
                map.pin(pin.case.setup as u64, pin.case.point);
            }
        }
        self.drawn = ComparisonCharts {
            headline: Headline::of_sides(comparison),
            along,
            latency,
            map,
            closing_in: closing_in(*after, comparison, pin, colour),
            speed_ups: ratios::speed_ups(&comparison.pairs, |setup| colour(*after, setup)),
            flags: raised_flags(&comparison.pairs),
        };
    }

    /// The point of a case that the charts have at a size along x.
    pub fn point_at(&self, open: &OpenSessions, id: SessionId, setup: usize, size: u64) -> Point {
        let size = size as usize;
        let rows = open.get(id).into_iter();
        let mut rows = rows.flat_map(|open| open.comparable_rows().iter());
        let is_it =
            |row: &&CaseRow| row.setup == setup && row.point.get(self.drawn.along) == Some(size);
        rows.find(is_it)
            .map_or_else(|| Point::of_batch(size), |row| row.point)
    }

    /// The session whose rounds may settle what is open, and how many: both sides must be of one file.
    pub fn rounds_to_settle(&self, open: &OpenSessions) -> Option<(SessionId, MoreRounds)> {
        let (before, after, comparison) = self.found.result.as_ref()?;
        let session = open.get(before.session)?;
        let can_grow = before.session == after.session
            && session.path.is_some()
            && session.newer.is_none()
            && session.on_disk == OnDisk::Same;
        Some((before.session, comparison.more_rounds()?)).filter(|_| can_grow)
    }

    /// The sides that can be measured again, in turns, or why not: they are of two sessions that were measured here.
    pub fn sides_to_measure_again(
        &self,
        open: &OpenSessions,
    ) -> Result<(SideChoice, SideChoice), String> {
        let sides = self.before.zip(self.after);
        let sides = sides.filter(|(before, after)| before.session != after.session);
        let parts = sides.and_then(|(before, after)| before.side(open).zip(after.side(open)));
        let Some(((before, after), (first, second))) = sides.zip(parts) else {
            return Err("the two sides are of one session".to_owned());
        };
        again::request_for(first.session_part(), second.session_part())
            .map(|_| (before, after))
            .map_err(|error| error.to_string())
    }

    /// Compares the first two setups of a session.
    pub(crate) fn choose_pair(&mut self, session: SessionId) {
        let [before, after] = [0, 1].map(|setup| SideChoice::of_setup(session, setup));
        (self.before, self.after) = (Some(before), Some(after));
        self.is_chosen = true;
    }

    /// What a report of the comparison is about; a session alone where both sides are of it, and nothing where a
    /// side was published.
    pub fn subject(&self, open: &OpenSessions) -> Option<ReportSubject> {
        let (before, after) = self.before.zip(self.after)?;
        let is_measured = |side: SideChoice| {
            let session = open.get(side.session);
            session.is_some_and(|open| {
                side.profile.is_some() || side.setup < open.session.plan.setups.len()
            })
        };
        if !is_measured(before) || !is_measured(after) {
            return None;
        }
        Some(ReportSubject {
            first: before.session,
            second: (after.session != before.session).then_some(after.session),
        })
    }

    /// The run is another one by now, or over.
    pub(crate) fn forget_run(&mut self) {
        self.run = None;
        let sides = [self.before, self.after].into_iter().flatten();
        if sides.into_iter().any(|side| side.session == LIVE) {
            self.found.forget();
        }
    }

    /// A session as it is compared. The run that goes on has its samples here alone.
    pub(crate) fn session_of<'a>(&'a self, open: &'a OpenSession) -> &'a Arc<Session> {
        let is_run = |side: Option<SideChoice>| side.is_some_and(|side| side.session == LIVE);
        let is_within_run = open.id == LIVE && is_run(self.before) && is_run(self.after);
        let run = self.run.as_ref().filter(|_| is_within_run);
        run.unwrap_or_else(|| open.comparable_session())
    }

    /// Fills empty sides and drops sides that are no longer there. A single session is compared within
    /// itself, its first setup with its last; of several of one network, the one measured first is the
    /// baseline.
    pub fn drop_missing_sides(&mut self, open: &OpenSessions) {
        let exists = |pick: &SideChoice| {
            open.get(pick.session).is_some_and(|open| {
                let has_setup = || {
                    is_comparable(open) && pick.setup < open.comparable_session().plan.setups.len()
                };
                let profile = pick.profile;
                profile.map_or_else(has_setup, |place| place < open.session.profiles.len())
            })
        };
        self.before = self.before.filter(|pick| self.is_chosen && exists(pick));
        self.after = self.after.filter(|pick| self.is_chosen && exists(pick));
        self.is_chosen = self.before.is_some() || self.after.is_some();
        (self.before, self.after) = match (self.before, self.after) {
            (None, None) => {
                let of_run = self.last_run.and_then(|run| sides_within(open.get(run)?));
                of_run.map_or_else(
                    || default_sides(open),
                    |(before, after)| (Some(before), Some(after)),
                )
            }
            (None, Some(after)) => (counterpart(open, after, false), Some(after)),
            (Some(before), None) => (Some(before), counterpart(open, before, true)),
            both => both,
        };
        let sides = self.before.zip(self.after);
        self.found.keep_if(|of| Some(*of) == sides);
        self.drop_other_profiles(open);
    }

    /// The sides that ought to be compared and are not yet.
    pub fn wanted(&self) -> Option<(SideChoice, SideChoice)> {
        let sides = self.before.zip(self.after)?;
        let is_wanted = !self.compares_profiles() && self.found.needs(&sides);
        is_wanted.then_some(sides)
    }
}

impl CompareState {
    /// Sets a side. If it is a whole session, the opposite side becomes one too, of another session where
    /// there is one: a session compared with itself has no differences.
    pub fn choose(&mut self, is_before: bool, pick: SideChoice, open: &OpenSessions) {
        let (side, other) = if is_before {
            (&mut self.before, &mut self.after)
        } else {
            (&mut self.after, &mut self.before)
        };
        *side = Some(pick);
        if let Some(other) = other {
            other.whole = pick.whole;
            if pick.whole {
                other.profile = None;
                other.point = None;
                let elsewhere = open
                    .iter()
                    .find(|open| open.id != pick.session && is_comparable(open));
                if other.session == pick.session
                    && let Some(elsewhere) = elsewhere
                {
                    other.session = elsewhere.id;
                    other.setup = 0;
                }
            }
        }
    }
}

/// What a session is called where all its setups stand together.
pub fn whole_name(sessions: &OpenSessions, open: &OpenSession) -> String {
    format!("{}, all setups", sessions.name(open))
}

/// Whether a session can be a side: it has setups, measured or published. A trace has none.
pub fn is_comparable(open: &OpenSession) -> bool {
    is_measured(open) || open.findings.claims.comparable.is_some()
}

fn is_measured(open: &OpenSession) -> bool {
    !open.session.is_published_only() && !open.session.plan.setups.is_empty()
}

/// The setups of a session that have a number.
pub fn comparable_setups(open: &OpenSession) -> impl Iterator<Item = usize> {
    let setups = 0..open.comparable_session().plan.setups.len();
    let own = open.session.plan.setups.len();
    let rows = open.comparable_rows();
    setups.filter(move |setup| *setup < own || rows.iter().any(|row| row.setup == *setup))
}

/// The measured sessions in the order in which they were measured.
fn by_time(open: &OpenSessions) -> Vec<&OpenSession> {
    let mut measured: Vec<&OpenSession> = open.iter().filter(|open| is_measured(open)).collect();
    measured.sort_by(|one, other| one.session.created.cmp(&other.session.created));
    measured
}

fn is_same_network(one: &OpenSession, other: &OpenSession) -> bool {
    one.id != other.id
        && conditions::is_one_network(&one.session.model, &other.session.model) == Some(true)
}

/// The default sides: of sessions of one network the first and the last one measured; else the first and
/// the last setup of a session; else sessions of different networks.
fn default_sides(open: &OpenSessions) -> (Option<SideChoice>, Option<SideChoice>) {
    let measured = by_time(open);
    let akin = measured.iter().find_map(|first| {
        let last = measured
            .iter()
            .rev()
            .find(|last| is_same_network(first, last))?;
        Some((*first, *last))
    });
    let mut opened = open.iter().filter(|open| is_measured(open));
    let has_several = |open: &&OpenSession| open.session.plan.setups.len() > 1;
    if let Some((first, last)) = akin {
        return (
            Some(SideChoice::of_setup(first.id, 0)),
            Some(same_setup_in(first, 0, last)),
        );
    }
    if let Some((before, after)) = opened.find(has_several).and_then(sides_within) {
        return (Some(before), Some(after));
    }
    let ends = measured.first().zip(measured.last());
    let before = ends.map(|(first, _)| SideChoice::of_setup(first.id, 0));
    let after = ends
        .filter(|(first, last)| first.id != last.id)
        .map(|(first, last)| same_setup_in(first, 0, last));
    match (before, after) {
        // What was published is the baseline of what was measured.
        (Some(own), None) => match counterpart(open, own, false) {
            Some(published) => (Some(published), Some(own)),
            None => (Some(own), None),
        },
        (None, None) => match published_sides(open) {
            (None, None) => profiles::first_and_last(open),
            published => published,
        },
        both => both,
    }
}

/// The first and the last setup of a session that was measured.
fn sides_within(open: &OpenSession) -> Option<(SideChoice, SideChoice)> {
    let last = open.session.plan.setups.len().checked_sub(1);
    let last = last.filter(|last| *last > 0 && is_measured(open))?;
    Some((
        SideChoice::of_setup(open.id, 0),
        SideChoice::of_setup(open.id, last),
    ))
}

/// The first and the last curve of a session that publishes some.
fn published_sides(open: &OpenSessions) -> (Option<SideChoice>, Option<SideChoice>) {
    let published = open.iter().find_map(|open| {
        let setups: Vec<usize> = comparable_setups(open).collect();
        let (first, last) = (*setups.first()?, *setups.last()?);
        (first != last).then(|| {
            (
                SideChoice::of_setup(open.id, first),
                SideChoice::of_setup(open.id, last),
            )
        })
    });
    published.unzip()
}

/// The side beside one that was chosen: of the session measured last, or first, of the same network where
/// there is one; another setup of its own session where that is alone; else what another session publishes.
fn counterpart(open: &OpenSessions, chosen: SideChoice, is_latest: bool) -> Option<SideChoice> {
    if chosen.profile.is_some() {
        return profiles::other_profile(open, chosen);
    }
    let own = open.get(chosen.session)?;
    let mut others = by_time(open);
    others.retain(|other| other.id != own.id);
    if is_latest {
        others.reverse();
    }
    let akin = others.iter().find(|other| is_same_network(own, other));
    if let Some(other) = akin.or_else(|| others.first()) {
        return Some(SideChoice {
            whole: chosen.whole,
            ..same_setup_in(own, chosen.setup, other)
        });
    }
    let others = comparable_setups(own).filter(|setup| *setup != chosen.setup);
    if let Some(setup) = others.last() {
        return Some(SideChoice::of_setup(own.id, setup));
    }
    let mut published = open.iter().filter(|other| other.id != own.id);
    let other = published.find(|other| is_comparable(other))?;
    Some(SideChoice::of_setup(
        other.id,
        comparable_setups(other).next()?,
    ))
}

/// The same setup in another session, where it has one, else its first.
pub fn same_setup_in(own: &OpenSession, setup: usize, other: &OpenSession) -> SideChoice {
    let spec = own.session.plan.setups.get(setup);
    let mut others = other.session.plan.setups.iter();
    let same = others.position(|other| Some(other) == spec);
    let first = || comparable_setups(other).next();
    SideChoice::of_setup(other.id, same.or_else(first).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use powerband_core::domain::session::Session;
    use powerband_findings::analysis::testing::session;

    fn opened(id: u64, session: &Session) -> OpenSession {
        OpenSession::from_session(SessionId(id), session.clone())
    }

    #[test]
    fn sides_of_one_network_are_proposed_first() {
        let other_network = |session: &mut Session| {
            session.model.name = "other".to_owned();
            session.model.sha256 = "ff".to_owned();
            session.model.parameters = 1_000;
        };
        let one = session(&["ort:cpu"], &[1]);
        let mut later = one.clone();
        later.created = "2031-01-01T00:00:00Z".to_owned();
        let mut two = session(&["ort:cpu", "tract:cpu"], &[1]);
        other_network(&mut two);
        two.created = "2032-01-01T00:00:00Z".to_owned();
        let sides = |sessions: &[&Session]| {
            let mut open = OpenSessions::default();
            for (id, session) in (1..).zip(sessions) {
                open.put(opened(id, session));
            }
            let mut state = CompareState::default();
            state.drop_missing_sides(&open);
            [state.before, state.after].map(|pick| pick.map(|pick| (pick.session.0, pick.setup)))
        };
        // Two of one network, although another was measured last.
        assert_eq!(sides(&[&one, &two, &later]), [Some((1, 0)), Some((3, 0))]);
        // Two setups of one session rather than two networks.
        assert_eq!(sides(&[&one, &two]), [Some((2, 0)), Some((2, 1))]);
        // Two networks where there is nothing else.
        let mut alone = later.clone();
        other_network(&mut alone);
        assert_eq!(sides(&[&one, &alone]), [Some((1, 0)), Some((2, 0))]);
        // A trace has no setup, and is no side.
        let trace = session(&[], &[1]);
        assert_eq!(sides(&[&trace, &one])[1], None);
        assert_eq!(sides(&[&trace, &one, &later])[0], Some((2, 0)));
    }

    #[test]
    fn both_sides_are_whole_or_none() {
        let open = OpenSessions::default();
        let mut state = CompareState {
            before: Some(SideChoice::of_setup(SessionId(1), 0)),
            after: Some(SideChoice {
                point: Some(Point::of_batch(4)),
                ..SideChoice::of_setup(SessionId(2), 1)
            }),
            ..CompareState::default()
        };
        let all = SideChoice {
            whole: true,
            ..SideChoice::of_setup(SessionId(1), 0)
        };
        state.choose(true, all, &open);
        let after = state.after.unwrap();
        assert_eq!(
            (after.whole, after.point, after.session),
            (true, None, SessionId(2))
        );
        state.choose(false, SideChoice::of_setup(SessionId(2), 1), &open);
        assert!(!state.before.unwrap().whole);
    }
}
