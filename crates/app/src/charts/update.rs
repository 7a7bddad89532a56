//! Actions on what is seen of charts.

use crate::WindowRequest;
use crate::action::Charts;
use crate::parts::layer::Layer;
use crate::shared::Shared;

impl Shared {
    pub(crate) fn show_all_of_charts(&mut self, layer: Layer) -> bool {
        let is_zoomed = layer == Layer::Zoom && self.charts.is_zoomed(self.screen);
        if is_zoomed {
            self.charts.look_at_all(self.screen);
        }
        is_zoomed
    }

    pub(crate) fn charts(&mut self, change: Charts) {
        match change {
            Charts::Look(chart, view) => self.charts.set_view(self.screen, chart, view),
            Charts::LookAtAll => self.charts.look_at_all(self.screen),
            Charts::Step(zoom) => self.outputs.push(WindowRequest::Zoom(zoom)),
        }
    }
}
