//! Tooltips of texts that may be long: these are cut, and all of them is shown on a click.

use eframe::egui::text::LayoutJob;
use eframe::egui::{Context, Id, Label, LayerId, Popup, Pos2, Response, ScrollArea, TextStyle, Ui};

/// Most height of a tooltip, with the button for the rest of its text.
const MOST_HEIGHT: f32 = 240.0;
/// Height of that button.
const BUTTON: f32 = 36.0;
/// Part of the window's height that a whole text may have.
const WHOLE: f32 = 0.6;

/// The whole text of a tooltip that was cut, where it was asked for.
#[derive(Clone)]
struct WholeText {
    words: String,
    at: Pos2,
}

/// Shows a text as the tooltip of a control; of a long text its beginning, with a button that shows all of it.
pub(crate) fn on_hover(response: Response, words: &str) -> Response {
    response.on_hover_ui(|ui| beginning(ui, words))
}

fn beginning(ui: &mut Ui, words: &str) {
    let font = TextStyle::Body.resolve(ui.style());
    let width = ui.spacing().tooltip_width;
    let mut job = LayoutJob::simple(words.to_owned(), font, ui.visuals().text_color(), width);
    job.wrap.max_rows = ((MOST_HEIGHT - BUTTON) / ui.text_style_height(&TextStyle::Body)) as usize;
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    let is_cut = galley.elided;
    let shown = ui.label(galley);
    if is_cut && ui.button("Show all of it").clicked() {
        let words = words.to_owned();
        let at = shown.rect.left_top();
        ui.data_mut(|data| data.insert_temp(whole_id(), WholeText { words, at }));
        Popup::open_id(ui.ctx(), whole_id());
    }
}

fn whole_id() -> Id {
    Id::unique("whole-text-of-a-tooltip")
}

/// Shows the whole text that was asked for, until Escape or a click beside it.
pub(crate) fn show_whole_text(ctx: &Context) {
    let Some(WholeText { words, at }) = ctx.data(|data| data.get_temp(whole_id())) else {
        return;
    };
    let height = ctx.content_rect().height() * WHOLE;
    Popup::new(whole_id(), ctx.clone(), at, LayerId::background())
        .open_memory(None)
        .width(ctx.global_style().spacing.tooltip_width)
        .show(|ui| {
            ScrollArea::vertical().max_height(height).show(ui, |ui| {
                ui.add(Label::new(words).wrap().selectable(true));
            });
        });
}
