//! Every order of what a source's thread and its owner do: a reading is kept once, or its device is lost.
//!
//! The threads share what one lock guards, so that each step is whole. The steps are made here by one thread, on the
//! sampler's own code, in all orders in which two threads can make them.

use super::*;
use OrderStep::{Answer, Ask, Fetch};
use powerband_core::domain::telemetry::Quantity;

/// A source may be silent for so long.
const PATIENCE_NS: u64 = 10;
/// Time from one step to the next: one is within the patience, two are not.
const STEP_NS: u64 = 6;

#[derive(Clone, Copy, Debug, PartialEq)]
enum OrderStep {
    /// The source's thread begins to ask.
    Ask,
    /// It has an answer.
    Answer,
    /// The owner fetches what there is, and sets aside what does not answer.
    Fetch,
}

/// Every order in which each thread keeps its own.
fn orders(source: &[OrderStep], owner: &[OrderStep]) -> Vec<Vec<OrderStep>> {
    let (Some((own, rest)), Some((other, others))) = (source.split_first(), owner.split_first())
    else {
        return vec![[source, owner].concat()];
    };
    let begun_with = |first: OrderStep, then: Vec<Vec<OrderStep>>| {
        let whole = move |rest: Vec<OrderStep>| [vec![first], rest].concat();
        then.into_iter().map(whole)
    };
    let own_first = begun_with(*own, orders(rest, owner));
    let other_first = begun_with(*other, orders(source, others));
    own_first.chain(other_first).collect()
}

struct Nothing;

impl DeviceReader for Nothing {
    fn devices(&self) -> &[WatchedDevice] {
        &[]
    }

    fn read(&mut self, _device: usize, _workers: &[u32]) -> Result<Values, DeviceGone> {
        Err(DeviceGone("never asked".to_owned()))
    }
}

/// A source of one device and its owner. Its thread does nothing.
fn by_hand() -> (Sampler, SourceReader) {
    let shared = Arc::new(Shared {
        stop: AtomicBool::new(false),
        workers: Mutex::default(),
        caught: Mutex::new(SampledReadings::default()),
    });
    let state = Arc::new(LineState::default());
    let asker = SourceReader {
        watch: Box::new(Nothing),
        title: "Test",
        devices: vec![(0, 0)],
        odd: Vec::new(),
        state: Arc::clone(&state),
        shared: Arc::clone(&shared),
    };
    let until_stopped = Arc::clone(&shared);
    let idle = thread::Builder::new()
        .name("idle".to_owned())
        .spawn(move || {
            while !until_stopped.stop.load(Ordering::Relaxed) {
                thread::park_timeout(Duration::from_millis(1));
            }
        });
    let line = SourceThread {
        title: "Test",
        places: vec![0],
        state,
        thread: Some(idle.unwrap()),
    };
    let sampler = Sampler {
        lines: vec![line],
        names: vec!["GPU 0".to_owned()],
        shared,
        patience_ns: PATIENCE_NS,
    };
    (sampler, asker)
}

/// What was fetched in an order of steps, and whether the source was set aside. `last_is_gone`: the second answer is
/// that the device is gone.
fn fetched(order: &[OrderStep], last_is_gone: bool) -> (SampledReadings, bool) {
    let (mut sampler, mut asker) = by_hand();
    let (mut all, mut kept) = (SampledReadings::default(), Vec::new());
    let (mut n_answers, mut is_asked, mut is_gone) = (0, true, false);
    let times = (STEP_NS..).step_by(STEP_NS as usize);
    for (at_ns, step) in times.zip(order.iter().chain(&[Fetch])) {
        match step {
            Ask if is_asked => asker.state.asked_ns.store(at_ns, Ordering::Relaxed),
            Answer if is_asked => {
                n_answers += 1;
                let gone = last_is_gone && n_answers == 2;
                let answer = if gone {
                    Err(DeviceGone("unplugged".to_owned()))
                } else {
                    Ok(vec![(Quantity::Power, 1.0)])
                };
                is_asked = asker.take_in(0, at_ns, answer);
                is_gone = is_asked && gone;
                kept.extend((is_asked && !gone).then_some(at_ns));
            }
            Ask | Answer => {}
            Fetch => {
                let caught = sampler.fetch_at(at_ns);
                let is_lost = !all.lost.is_empty();
                assert!(
                    !is_lost || caught == SampledReadings::default(),
                    "{order:?}: {caught:?}"
                );
                all.readings.extend(caught.readings);
                all.lost.extend(caught.lost);
            }
        }
    }
    let times: Vec<u64> = all.readings.iter().map(|one| one.at_ns).collect();
    assert_eq!(times, kept, "{order:?}: each once");
    assert!(all.lost.len() <= 1, "{order:?}: {:?}", all.lost);
    let is_set_aside = asker.state.set_aside.load(Ordering::Relaxed);
    assert_eq!(all.lost.len() == 1, is_gone || is_set_aside, "{order:?}");
    (all, is_set_aside)
}

#[test]
fn a_reading_is_kept_once_or_its_device_is_lost() {
    let all = orders(&[Ask, Answer, Ask, Answer], &[Fetch, Fetch, Fetch]);
    assert_eq!(all.len(), 35);
    let mut n_set_aside = 0;
    for order in &all {
        for last_is_gone in [false, true] {
            let (_, is_set_aside) = fetched(order, last_is_gone);
            n_set_aside += usize::from(is_set_aside);
        }
    }
    assert!(
        n_set_aside > 10,
        "late answers are among them: {n_set_aside}"
    );
}
