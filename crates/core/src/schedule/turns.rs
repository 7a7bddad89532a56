//! Whose turn it is within a round: what was measured long enough ago goes first, so that other cases fill the time
//! by which the rounds of a case lie apart.

use crate::domain::case::CaseKey;

/// The place of the turn that is taken next, and when it is due: the first one that is due already, or where none
/// is, the one that is due first. Moments are in nanoseconds.
pub fn next_turn(due_ns: impl IntoIterator<Item = u64>, now_ns: u64) -> Option<(usize, u64)> {
    let mut soonest: Option<(usize, u64)> = None;
    for (place, due_ns) in due_ns.into_iter().enumerate() {
        if due_ns <= now_ns {
            return Some((place, due_ns));
        }
        if soonest.is_none_or(|(_, soonest_ns)| due_ns < soonest_ns) {
            soonest = Some((place, due_ns));
        }
    }
    soonest
}

/// The cases of one point together, in the order in which they come: what is compared takes turns.
pub fn by_point(cases: impl IntoIterator<Item = CaseKey>) -> Vec<Vec<CaseKey>> {
    let mut turns: Vec<Vec<CaseKey>> = Vec::new();
    for case in cases {
        let is_own = |turn: &&mut Vec<CaseKey>| turn.iter().any(|own| own.point == case.point);
        match turns.iter_mut().find(is_own) {
            Some(turn) => turn.push(case),
            None => turns.push(vec![case]),
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::point::Point;

    #[test]
    fn what_is_due_goes_first_and_else_what_is_due_soonest() {
        assert_eq!(
            next_turn([9, 3, 1], 4),
            Some((1, 3)),
            "the first that is due"
        );
        assert_eq!(next_turn([9, 7, 8], 4), Some((1, 7)));
        assert_eq!(next_turn([], 4), None);
    }

    #[test]
    fn cases_of_a_point_take_one_turn() {
        let case = |setup, batch| CaseKey {
            setup,
            point: Point::of_batch(batch),
        };
        let turns = by_point([case(1, 4), case(0, 4), case(0, 1), case(1, 1)]);
        assert_eq!(turns, [[case(1, 4), case(0, 4)], [case(0, 1), case(1, 1)]]);
    }
}
