//! Looks for detached runs, collects and cancels them.

use super::work;
use crate::App;
use crate::action::{Action, Detached, Sessions};
use crate::inbox::{DetachedMessage, Message};
use crate::notices::Weight;

impl App {
    pub(crate) fn detached(&mut self, action: Detached) {
        if self.detached.is_busy {
            return;
        }
        self.detached.is_busy = true;
        let paths = self.place.paths.clone();
        let broken = |why| Message::Detached(DetachedMessage::Failed(why));
        self.jobs.spawn_or("detached", broken, move |outlet| {
            let failed = match action {
                Detached::Look => Ok(()),
                Detached::Collect(id) => work::collect(&paths, &id, outlet),
                Detached::Cancel(id) => work::cancel(&paths, &id),
            };
            if let Err(reason) = failed {
                outlet.send(Message::Detached(DetachedMessage::Failed(reason)));
            }
            work::look(&paths, outlet);
        });
    }

    pub(crate) fn detached_message(&mut self, message: DetachedMessage) {
        match message {
            DetachedMessage::Found(runs, trouble) => {
                self.detached.is_busy = false;
                self.detached.runs = runs;
                self.detached.trouble = trouble;
            }
            DetachedMessage::Collected(path, left) => {
                if let Some(left) = left {
                    self.say(Weight::Info, left);
                }
                self.act(Action::Sessions(Sessions::Open(vec![path])));
            }
            DetachedMessage::Failed(reason) => {
                self.detached.is_busy = false;
                self.say(Weight::Trouble, format!("Detached runs: {reason}"));
            }
        }
    }
}
