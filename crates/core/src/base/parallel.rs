//! The same work for many items, on several threads.

use std::num::NonZero;
use std::thread;

/// As many threads as the machine has.
pub fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Does the work for each item on so many threads; the results are in the order of the items.
pub fn map_on_threads<Item: Sync, T: Send>(
    items: &[Item],
    n_threads: usize,
    work: impl Fn(&Item) -> T + Sync,
) -> Vec<T> {
    let part = items.len().div_ceil(n_threads.max(1)).max(1);
    let work = &work;
    thread::scope(|scope| {
        let mut parts = items.chunks(part);
        let first = parts.next().unwrap_or_default();
        let others: Vec<_> = parts
            .map(|part| {
                let own = move || part.iter().map(work).collect::<Vec<_>>();
                let named = thread::Builder::new().name("part".to_owned());
                (part, named.spawn_scoped(scope, own))
            })
            .collect();
        let mut results: Vec<_> = first.iter().map(work).collect();
        for (part, other) in others {
            match other.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(found)) => results.extend(found),
                // A panic goes on in this thread, whose owner reports it.
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(_no_thread) => results.extend(part.iter().map(work)),
            }
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u32> = (0..100).collect();
        for n_threads in [0, 1, 3, 200] {
            let doubled = map_on_threads(&items, n_threads, |item| item * 2);
            assert!(
                doubled
                    .iter()
                    .zip(0..)
                    .all(|(found, item)| *found == item * 2)
            );
        }
        assert!(map_on_threads(&[], 4, |item: &u32| *item).is_empty());
    }
}
