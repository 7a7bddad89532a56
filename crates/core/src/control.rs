//! What may be asked of a run while it goes on: a rest, leaving a case out and taking it back, stopping.
//!
//! Copies share one state: the run has one, the window or the command line the others. The run looks at it
//! between visits; only leaving a case out and a cancelled token reach into a visit. Where machines are measured at the
//! same time, each has a handle of its own, which receives requests for that machine's setups only.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::cancel::CancelToken;
use crate::domain::case::CaseKey;

/// How often a resting run looks at its token, which a signal handler raises without waking it.
const LOOK: Duration = Duration::from_millis(200);

/// A handle that pauses, skips and stops a run.
#[derive(Clone, Debug, Default)]
pub struct Control {
    cancel: CancelToken,
    shared: Arc<Shared>,
    /// The setups whose requests this handle receives; nothing for all of them.
    setups: Option<Arc<BTreeSet<usize>>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<ControlState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ControlState {
    paused: bool,
    /// Cases that are not wanted any more, until the run has taken note.
    unwanted: BTreeSet<CaseKey>,
    /// Cases that were left out and are wanted again, until the run has taken note.
    wanted_again: BTreeSet<CaseKey>,
    /// Setups whose rounds are all measured, so that no case of theirs is taken back any more; nothing for all of them.
    measured: Vec<Option<Arc<BTreeSet<usize>>>>,
    /// The visits in progress: at most one for each handle of a run.
    visits: Vec<ActiveVisit>,
}

/// A visit that is going on.
#[derive(Debug)]
struct ActiveVisit {
    case: CaseKey,
    /// Ends it.
    stop: CancelToken,
    /// Whether it still waits for a worker that starts or loads the model.
    is_starting: bool,
}

impl Control {
    /// A handle whose token exists already, for example because signals raise it.
    pub fn new(cancel: CancelToken) -> Self {
        Self {
            cancel,
            shared: Arc::default(),
            setups: None,
        }
    }

    /// A handle for a part of the run that measures these setups alone.
    pub fn for_setups(&self, setups: BTreeSet<usize>) -> Self {
        Self {
            setups: Some(Arc::new(setups)),
            ..self.clone()
        }
    }

    /// The token that stops the run.
    pub fn token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Stops the run; what was measured is kept.
    pub fn cancel(&self) {
        self.cancel.cancel();
        self.shared.changed.notify_all();
    }

    /// Whether the run was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Lets the run rest once the visit that is going on is over.
    pub fn pause(&self) {
        self.state().paused = true;
        self.shared.changed.notify_all();
    }

    /// Ends the rest.
    pub fn resume(&self) {
        self.state().paused = false;
        self.shared.changed.notify_all();
    }

    /// Whether a rest was asked for; the run may still be in its last visit before it.
    pub fn is_paused(&self) -> bool {
        self.state().paused
    }

    /// Leaves a case out from its next visit on, or at once where its worker is not ready yet.
    ///
    /// Nothing is measured by then, and where the worker hangs that visit would not come to its end.
    pub fn skip(&self, case: CaseKey) {
        self.leave_out(case, |visit| visit.is_starting);
    }

    /// Leaves a case out; a visit to it that is going on is ended with its worker.
    pub fn skip_now(&self, case: CaseKey) {
        self.leave_out(case, |_visit| true);
    }

    /// Takes a case back that was left out: it is measured in the rounds that are left, and its missed rounds
    /// follow. False where every round is measured already.
    pub fn take_back(&self, case: CaseKey) -> bool {
        let mut state = self.state();
        let has_ended = |setups: &Option<_>| is_among(setups.as_ref(), case);
        if state.measured.iter().any(has_ended) {
            return false;
        }
        // A wish that the run has not heard yet is withdrawn.
        if !state.unwanted.remove(&case) {
            state.wanted_again.insert(case);
        }
        drop(state);
        self.shared.changed.notify_all();
        true
    }

    /// Takes the cases that are wanted again; each is given once.
    pub fn take_wanted_again(&self) -> BTreeSet<CaseKey> {
        self.take_own(&mut self.state().wanted_again)
    }

    /// Ends the rounds, unless a case was taken back that the run has not heard of.
    pub fn ends_rounds(&self) -> bool {
        let mut state = self.state();
        let is_over = !self.has_own(&state.wanted_again);
        if is_over {
            state.measured.push(self.setups.clone());
        }
        is_over
    }

    fn leave_out(&self, case: CaseKey, ends: impl Fn(&ActiveVisit) -> bool) {
        let mut state = self.state();
        state.unwanted.insert(case);
        state.wanted_again.remove(&case);
        let visits = state.visits.iter().filter(|visit| visit.case == case);
        for visit in visits.filter(|visit| ends(visit)) {
            visit.stop.cancel();
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Takes the cases that are not wanted any more; each is given once.
    pub fn take_unwanted(&self) -> BTreeSet<CaseKey> {
        self.take_own(&mut self.state().unwanted)
    }

    /// Opens a visit. Its token is raised with the run's, or when the case is left out.
    pub fn begin_visit(&self, case: CaseKey) -> CancelToken {
        let stop = self.cancel.part();
        let mut state = self.state();
        if state.unwanted.contains(&case) {
            stop.cancel();
        }
        state.visits.retain(|visit| !self.is_own(visit.case));
        state.visits.push(ActiveVisit {
            case,
            stop: stop.clone(),
            is_starting: false,
        });
        stop
    }

    /// The visit has to wait for a worker; outside a visit this means nothing.
    pub fn begin_start(&self) {
        let ControlState {
            unwanted, visits, ..
        } = &mut *self.state();
        for visit in visits.iter_mut().filter(|visit| self.is_own(visit.case)) {
            visit.is_starting = true;
            // An observer that saw the visit may have left the case out before the start.
            if unwanted.contains(&visit.case) {
                visit.stop.cancel();
            }
        }
    }

    /// The worker is ready.
    pub fn end_start(&self) {
        let visits = &mut self.state().visits;
        for visit in visits.iter_mut().filter(|visit| self.is_own(visit.case)) {
            visit.is_starting = false;
        }
    }

    /// Closes the visit.
    pub fn end_visit(&self) {
        let visits = &mut self.state().visits;
        visits.retain(|visit| !self.is_own(visit.case));
    }

    /// Waits until a resting run has something to do: going on, stopping, or leaving a case out.
    pub fn rest(&self) {
        let mut state = self.state();
        while state.paused
            && !self.has_own(&state.unwanted)
            && !self.has_own(&state.wanted_again)
            && !self.cancel.is_cancelled()
        {
            state = self
                .shared
                .changed
                .wait_timeout(state, LOOK)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Waits for so long, unless there is something to heed: a rest, a case that is left out or taken back, the end.
    /// Comes back now and then in any case.
    pub fn wait(&self, limit: Duration) {
        let state = self.state();
        let is_asked = state.paused
            || self.has_own(&state.unwanted)
            || self.has_own(&state.wanted_again)
            || self.cancel.is_cancelled();
        if !is_asked {
            let changed = self.shared.changed.wait_timeout(state, limit.min(LOOK));
            drop(changed.unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn is_own(&self, case: CaseKey) -> bool {
        is_among(self.setups.as_ref(), case)
    }

    fn has_own(&self, cases: &BTreeSet<CaseKey>) -> bool {
        cases.iter().any(|case| self.is_own(*case))
    }

    fn take_own(&self, cases: &mut BTreeSet<CaseKey>) -> BTreeSet<CaseKey> {
        cases.extract_if(.., |case| self.is_own(*case)).collect()
    }

    fn state(&self) -> MutexGuard<'_, ControlState> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a case is of these setups; of all of them, where nothing is given.
fn is_among(setups: Option<&Arc<BTreeSet<usize>>>, case: CaseKey) -> bool {
    setups.is_none_or(|setups| setups.contains(&case.setup))
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::domain::point::Point;

    const CASE: CaseKey = CaseKey {
        setup: 0,
        point: Point::of_batch(1),
    };

    #[test]
    fn a_rest_ends_with_each_thing_that_is_to_be_done() {
        let deeds: [fn(&Control); 5] = [
            Control::resume,
            Control::cancel,
            |control| control.skip(CASE),
            |control| {
                control.take_back(CASE);
            },
            // As a signal handler does it: no thread is woken.
            |control| control.token().cancel(),
        ];
        for deed in deeds {
            let control = Control::default();
            control.pause();
            let watcher = control.clone();
            let resting = thread::Builder::new()
                .name("resting".to_owned())
                .spawn(move || watcher.rest())
                .unwrap();
            thread::sleep(Duration::from_millis(30));
            assert!(!resting.is_finished());
            let asked = Instant::now();
            deed(&control);
            resting.join().unwrap();
            assert!(asked.elapsed() < Duration::from_secs(5));
        }
    }

    #[test]
    fn a_wait_between_rounds_ends_with_each_thing_that_is_asked() {
        let deeds: [fn(&Control); 4] = [
            Control::pause,
            Control::cancel,
            |control| control.skip(CASE),
            |control| control.token().cancel(),
        ];
        for deed in deeds {
            let control = Control::default();
            let begun = Instant::now();
            control.wait(Duration::from_millis(20));
            assert!(begun.elapsed() >= Duration::from_millis(19), "it waits");
            deed(&control);
            let asked = Instant::now();
            for _ in 0..50 {
                control.wait(Duration::from_mins(1));
            }
            assert!(asked.elapsed() < Duration::from_secs(8), "50 waits");
        }
    }

    #[test]
    fn a_case_is_taken_back_until_the_rounds_are_over() {
        let control = Control::default();
        control.skip(CASE);
        assert!(control.take_back(CASE));
        assert!(
            control.take_unwanted().is_empty(),
            "the run never hears of it"
        );
        assert!(control.take_wanted_again().is_empty());
        control.skip(CASE);
        assert_eq!(control.take_unwanted().len(), 1);
        assert!(control.take_back(CASE) && !control.ends_rounds());
        assert_eq!(control.take_wanted_again().len(), 1);
        assert!(control.ends_rounds());
        assert!(!control.take_back(CASE));
    }

    #[test]
    fn skipping_at_once_ends_the_visit_of_that_case_alone() {
        let control = Control::default();
        let token = control.begin_visit(CASE);
        control.skip_now(CaseKey {
            setup: 0,
            point: Point::of_batch(2),
        });
        control.skip(CASE);
        assert!(!token.is_cancelled());
        control.skip_now(CASE);
        assert!(token.is_cancelled() && !control.is_cancelled());
        control.end_visit();
        assert_eq!(control.take_unwanted().len(), 2);
        assert!(control.take_unwanted().is_empty());
    }

    #[test]
    fn a_visit_that_waits_for_its_worker_ends_when_it_is_asked_once() {
        let control = Control::default();
        control.begin_start();
        let token = control.begin_visit(CASE);
        control.begin_start();
        control.skip(CaseKey {
            setup: 0,
            point: Point::of_batch(2),
        });
        assert!(!token.is_cancelled());
        control.skip(CASE);
        assert!(token.is_cancelled() && !control.is_cancelled());

        let control = Control::default();
        let token = control.begin_visit(CASE);
        control.begin_start();
        control.end_start();
        control.skip(CASE);
        assert!(!token.is_cancelled());
        // Another worker is started in the same visit.
        control.begin_start();
        assert!(token.is_cancelled());
    }

    #[test]
    fn a_handle_for_some_setups_is_own_them_alone() {
        let whole = Control::default();
        let [first, second] = [0, 1].map(|setup| whole.for_setups(BTreeSet::from([setup])));
        let other = CaseKey { setup: 1, ..CASE };
        let (visit, other_visit) = (first.begin_visit(CASE), second.begin_visit(other));
        second.end_visit();
        let again = second.begin_visit(other);
        whole.skip_now(other);
        assert!(again.is_cancelled() && !visit.is_cancelled() && !other_visit.is_cancelled());
        assert!(first.take_unwanted().is_empty());
        assert_eq!(second.take_unwanted(), BTreeSet::from([other]));
        assert!(first.ends_rounds());
        assert!(!whole.take_back(CASE) && whole.take_back(other));
        assert!(!second.ends_rounds() && first.take_wanted_again().is_empty());
        assert_eq!(second.take_wanted_again(), BTreeSet::from([other]));
        whole.cancel();
        assert!(visit.is_cancelled() && second.is_cancelled());
    }

    #[test]
    fn a_case_that_was_left_out_just_before_its_visit_is_not_visited() {
        let control = Control::default();
        control.skip_now(CASE);
        assert!(control.begin_visit(CASE).is_cancelled());
    }
}
