//! Actions on what is seen of charts.

use crate::action::Charts;
use crate::parts::part::Layer;
use crate::{App, WindowRequest};

impl App {
    pub(crate) fn show_all_of_charts(&mut self, layer: Layer) -> bool {
        let is_zoomed = layer == Layer::Zoom && self.charts.is_zoomed(self.shared.screen);
        if is_zoomed {
            self.charts.look_at_all(self.shared.screen);
        }
        is_zoomed
    }

    pub(crate) fn charts(&mut self, change: Charts) {
        match change {
            Charts::Look(chart, view) => self.charts.set_view(self.shared.screen, chart, view),
            Charts::LookAtAll => self.charts.look_at_all(self.shared.screen),
            Charts::Step(zoom) => self.shared.outputs.push(WindowRequest::Zoom(zoom)),
        }
    }
}
