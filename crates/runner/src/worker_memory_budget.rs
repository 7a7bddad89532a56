//! Whether the workers of several setups can stay alive together.

/// Room that is left to other programs, as a share of what the new worker will need.
const SPARE: f64 = 0.2;
/// A worker needs about so many times its model's file before anything is known of it: the file, the
/// weights as the engine lays them out, and what flows through.
const TIMES_THE_MODEL: u64 = 3;
/// And so much for the engine itself, in bytes.
const ENGINE: u64 = 200 << 20;

/// What the session says where memory decides.
pub(crate) const SAID: &str = "Memory does not allow the workers to stay alive together: a setup's worker is started again for each round, loaded and warmed up anew.";

/// What a worker will need, in bytes: as much as the largest one did so far.
pub(super) fn need(peaks: impl IntoIterator<Item = u64>, model_bytes: u64) -> u64 {
    let guess = ENGINE.saturating_add(model_bytes.saturating_mul(TIMES_THE_MODEL));
    peaks.into_iter().max().unwrap_or(0).max(guess)
}

/// Whether that fits beside what lives already.
pub(super) fn has_room(available: u64, need: u64) -> bool {
    available as f64 >= need as f64 * (1.0 + SPARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn the_largest_worker_so_far_is_what_is_expected() {
        assert_eq!(need([GIB, 3 * GIB], 1_000), 3 * GIB);
        assert_eq!(need([], GIB), 3 * GIB + ENGINE);
        assert_eq!(need([], u64::MAX), u64::MAX);
    }

    #[test]
    fn some_room_is_left_to_others() {
        assert!(has_room(2 * GIB, GIB));
        assert!(!has_room(GIB, GIB));
        assert!(!has_room(0, u64::MAX));
    }
}
