//! Numbers of damaged files, clamped so that no later sum of times, calls or bytes overflows.

use crate::Imported;

/// Together no more than this in a file: four years in nanoseconds. A hundred such files are one session.
const MOST: u64 = 1 << 57;

/// Clamps impossible numbers, with a note.
pub fn clamp(imported: &mut Imported) {
    let mut cut = imported.trace.cut();
    let mut times = Budget::default();
    let mut calls = Budget::default();
    for total in &mut imported.totals {
        cut += times.clamp_to_rest(&mut total.total_ns);
        cut += calls.clamp_to_rest(&mut total.calls);
    }
    let mut launches = Budget::default();
    for counter in &mut imported.counters {
        cut += launches.clamp_to_rest(&mut counter.launches);
    }
    // Several results of one case become rounds, which are added up.
    let mut samples = Budget::default();
    let mut typical = Budget::default();
    let mut tokens = Budget::default();
    for reported in &mut imported.reported {
        cut += reported
            .samples_ns
            .iter_mut()
            .map(|sample| samples.clamp_to_rest(sample))
            .sum::<u64>();
        if let Some(time) = &mut reported.typical_ns {
            cut += typical.clamp_to_rest(time);
        }
        if let Some(generation) = &mut reported.tokens {
            let first = generation.first_token_ns.iter_mut();
            let all = first.chain(&mut generation.later_token_ns);
            cut += all.map(|time| tokens.clamp_to_rest(time)).sum::<u64>();
        }
    }
    if cut > 0 {
        imported.note(format!(
            "{cut} times or counts are larger than any run can have; they were cut"
        ));
    }
}

/// What the numbers of a list have used of the limit.
#[derive(Default)]
struct Budget {
    spent: u64,
}

impl Budget {
    /// Clamps a number to what is left of the limit; returns 1 where that changed it.
    fn clamp_to_rest(&mut self, number: &mut u64) -> u64 {
        let held = (*number).min(MOST - self.spent);
        self.spent += held;
        u64::from(std::mem::replace(number, held) != held)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::imported;

    #[test]
    fn times_that_cannot_be_are_cut_and_told() {
        let row = "\"a\",1,18446744073709551615,1,50.0\n";
        let text = format!(
            "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n{}",
            row.repeat(3)
        );
        let read = imported(text).unwrap();
        let sum: u64 = read.totals.iter().map(|total| total.total_ns).sum();
        assert_eq!(sum, super::MOST);
        let notes = read.notes.join("\n");
        assert!(notes.contains("larger than any run"), "{notes}");
    }

    #[test]
    fn rounds_of_one_case_can_be_added_up() {
        let row = "4,84.2,279,1604,33669,233,11731,18,1,4718446744073709551616,1,1,1\n";
        let text = format!(
            "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency\n{}",
            row.repeat(9)
        );
        let read = imported(text).unwrap();
        let times = read.reported.iter().filter_map(|told| told.typical_ns);
        let rounds: Vec<u64> = times.collect();
        assert_eq!((rounds.len(), rounds.iter().sum()), (9, super::MOST));
    }
}
