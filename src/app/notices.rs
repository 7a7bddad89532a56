//! What the user should know, newest last: shown for a while at the foot of the window, kept in the log.

use super::action::Action;

/// Most notices that are kept.
const KEPT: usize = 500;

/// How much a notice matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Something went as it should.
    Done,
    /// Worth knowing.
    Info,
    /// Something went wrong; stays until it is dismissed.
    Trouble,
}

/// One thing to know.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Counts up, so that a notice can be named.
    pub id: u64,
    /// How much it matters.
    pub weight: Weight,
    /// The whole message, which can be copied.
    pub text: String,
    /// What can be done about it, with the words on the button.
    pub offer: Option<(String, Action)>,
    /// When it came, in nanoseconds of the monotonic clock.
    pub at_ns: u64,
    /// Whether it is still shown over the screen.
    pub is_up: bool,
}

/// Every notice of this sitting.
#[derive(Debug, Default)]
pub struct Notices {
    all: Vec<Notice>,
    next: u64,
}

impl Notices {
    /// Adds one. The same words a second time replace the first.
    pub fn add(
        &mut self,
        weight: Weight,
        text: impl Into<String>,
        offer: Option<(String, Action)>,
        now_ns: u64,
    ) {
        let text = text.into();
        self.all.retain(|notice| notice.text != text);
        self.next += 1;
        self.all.push(Notice {
            id: self.next,
            weight,
            text,
            offer,
            at_ns: now_ns,
            is_up: true,
        });
        if self.all.len() > KEPT {
            self.all.remove(0);
        }
    }

    /// Takes one off the screen; the log keeps it.
    pub fn dismiss(&mut self, id: u64) {
        for notice in self.all.iter_mut().filter(|notice| notice.id == id) {
            notice.is_up = false;
        }
    }

    /// Takes down what has been up long enough to read. Trouble stays.
    pub fn age(&mut self, now_ns: u64) {
        for notice in &mut self.all {
            let long_enough = now_ns.saturating_sub(notice.at_ns) > reading_time_ns(notice);
            if notice.weight != Weight::Trouble && long_enough {
                notice.is_up = false;
            }
        }
    }

    /// Nanoseconds until the next one comes down by itself.
    pub fn next_change_ns(&self, now_ns: u64) -> Option<u64> {
        self.up()
            .filter(|notice| notice.weight != Weight::Trouble)
            .map(|notice| (notice.at_ns + reading_time_ns(notice)).saturating_sub(now_ns) + 1)
            .min()
    }

    /// Those on the screen, oldest first.
    pub fn up(&self) -> impl Iterator<Item = &Notice> {
        self.all.iter().filter(|notice| notice.is_up)
    }

    /// Those of the log, oldest first.
    pub fn all(&self) -> &[Notice] {
        &self.all
    }

    /// The newest one that is on the screen.
    pub fn newest_up(&self) -> Option<u64> {
        self.up().last().map(|notice| notice.id)
    }
}

/// Five seconds, and longer for something that can be undone or acted on.
fn reading_time_ns(notice: &Notice) -> u64 {
    if notice.offer.is_some() {
        15_000_000_000
    } else {
        5_000_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_stays_and_news_go() {
        let mut notices = Notices::default();
        notices.add(Weight::Done, "saved", None, 0);
        notices.add(Weight::Trouble, "disk full", None, 0);
        notices.age(6_000_000_000);
        let up: Vec<&str> = notices.up().map(|notice| notice.text.as_str()).collect();
        assert_eq!(up, ["disk full"]);
        assert_eq!(notices.all().len(), 2, "the log keeps both");
        notices.dismiss(notices.newest_up().unwrap());
        assert_eq!(notices.newest_up(), None);
    }

    #[test]
    fn the_same_words_do_not_pile_up() {
        let mut notices = Notices::default();
        for _ in 0..3 {
            notices.add(Weight::Trouble, "the folder is gone", None, 0);
        }
        assert_eq!(notices.all().len(), 1);
    }
}
