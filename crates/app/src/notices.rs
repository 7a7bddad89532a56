//! Notices to the user, newest last: shown for a while at the foot of the window, and in the log.

use super::action::Action;
use super::option_names::without_options;

/// Most notices in the log.
const KEPT: usize = 500;

/// The level of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Something succeeded.
    Done,
    /// Worth knowing.
    Info,
    /// A problem; stays until it is dismissed.
    Trouble,
    /// A question; stays until it is answered, and the log shows its button.
    Question,
}

impl NoticeLevel {
    /// Whether it stays until the user dismisses it.
    fn stays(self) -> bool {
        matches!(self, Self::Trouble | Self::Question)
    }
}

/// A message to the user.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Counts up, so that a notice can be named.
    pub id: u64,
    /// How much it matters.
    pub weight: NoticeLevel,
    /// The whole message.
    pub text: String,
    /// The action it offers, with the button's label.
    pub offer: Option<(String, Action)>,
    /// When it came, in nanoseconds of the monotonic clock.
    pub at_ns: u64,
    /// Whether it is still shown over the screen.
    pub is_up: bool,
}

/// Every notice since the window opened.
#[derive(Debug, Default)]
pub struct Notices {
    all: Vec<Notice>,
    next: u64,
}

impl Notices {
    /// Adds one. It replaces a notice with the same text.
    pub fn add(
        &mut self,
        weight: NoticeLevel,
        text: impl Into<String>,
        offer: Option<(String, Action)>,
        now_ns: u64,
    ) {
        let text = without_options(text);
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

    /// Dismisses one; the log keeps it.
    pub(crate) fn dismiss(&mut self, id: u64) {
        for notice in self.all.iter_mut().filter(|notice| notice.id == id) {
            notice.is_up = false;
        }
    }

    /// Withdraws offers that were taken or no longer apply.
    pub fn withdraw_offers(&mut self, is_settled: impl Fn(&Action) -> bool) {
        for notice in &mut self.all {
            let offered = notice.offer.as_ref();
            if offered.is_some_and(|(_, action)| is_settled(action)) {
                notice.offer = None;
                notice.is_up = false;
            }
        }
    }

    /// Dismisses the notice with this text because it no longer holds. The log keeps it.
    pub(crate) fn withdraw(&mut self, text: &str) {
        for notice in self.all.iter_mut().filter(|notice| notice.text == text) {
            notice.offer = None;
            notice.is_up = false;
        }
    }

    /// Dismisses notices that have been shown long enough to read. Problems and questions stay.
    pub fn age(&mut self, now_ns: u64) {
        for notice in &mut self.all {
            let long_enough = now_ns.saturating_sub(notice.at_ns) > reading_time_ns(notice);
            if !notice.weight.stays() && long_enough {
                notice.is_up = false;
            }
        }
    }

    /// Nanoseconds until the next one is dismissed by itself.
    pub fn next_change_ns(&self, now_ns: u64) -> Option<u64> {
        self.on_screen()
            .filter(|notice| !notice.weight.stays())
            .map(|notice| (notice.at_ns + reading_time_ns(notice)).saturating_sub(now_ns) + 1)
            .min()
    }

    /// Those on the screen, oldest first.
    pub fn on_screen(&self) -> impl Iterator<Item = &Notice> {
        self.all.iter().filter(|notice| notice.is_up)
    }

    /// Those of the log, oldest first.
    pub fn all(&self) -> &[Notice] {
        &self.all
    }

    /// The newest one that is on the screen.
    pub fn newest_up(&self) -> Option<u64> {
        self.on_screen().last().map(|notice| notice.id)
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
    use crate::action::RunAction;

    #[test]
    fn trouble_stays_and_news_go() {
        let mut notices = Notices::default();
        notices.add(NoticeLevel::Done, "saved", None, 0);
        notices.add(NoticeLevel::Trouble, "disk full", None, 0);
        notices.age(6_000_000_000);
        let up: Vec<&str> = notices
            .on_screen()
            .map(|notice| notice.text.as_str())
            .collect();
        assert_eq!(up, ["disk full"]);
        assert_eq!(notices.all().len(), 2, "the log keeps both");
        notices.dismiss(notices.newest_up().unwrap());
        assert_eq!(notices.newest_up(), None);
    }

    #[test]
    fn a_question_stays_until_it_is_answered() {
        let mut notices = Notices::default();
        let recover = Action::Run(RunAction::Recover);
        let offer = Some(("Recover".to_owned(), recover.clone()));
        notices.add(NoticeLevel::Question, "a run was interrupted", offer, 0);
        notices.age(60_000_000_000);
        assert_eq!(notices.on_screen().count(), 1);
        assert_eq!(notices.next_change_ns(0), None);
        notices.dismiss(notices.newest_up().unwrap());
        assert!(notices.all()[0].offer.is_some(), "the log still offers it");
        notices.withdraw_offers(|action| *action == recover);
        assert!(notices.all()[0].offer.is_none());
    }

    #[test]
    fn what_is_no_longer_so_comes_down() {
        let mut notices = Notices::default();
        notices.add(NoticeLevel::Done, "a is in the trash", None, 0);
        notices.add(NoticeLevel::Done, "b is in the trash", None, 0);
        notices.withdraw("a is in the trash");
        let up: Vec<&str> = notices
            .on_screen()
            .map(|notice| notice.text.as_str())
            .collect();
        assert_eq!(up, ["b is in the trash"]);
        assert_eq!(notices.all().len(), 2, "the log keeps both");
    }

    #[test]
    fn the_same_words_do_not_pile_up() {
        let mut notices = Notices::default();
        for _ in 0..3 {
            notices.add(NoticeLevel::Trouble, "the folder is gone", None, 0);
        }
        assert_eq!(notices.all().len(), 1);
    }
}
