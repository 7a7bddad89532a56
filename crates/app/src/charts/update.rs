//! Actions on what is seen of charts.

use crate::action::Charts;
use crate::{App, Output};

impl App {
    pub(crate) fn charts(&mut self, change: Charts) {
        match change {
            Charts::Look(chart, view) => self.charts.look(self.screen, chart, view),
            Charts::LookAtAll => self.charts.look_at_all(self.screen),
            Charts::Step(zoom) => self.outputs.push(Output::Zoom(zoom)),
        }
    }
}
