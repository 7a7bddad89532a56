//! A legend with input: a click shows or hides, a double click shows one alone, hovering highlights one.
//! With very many series a button shows those beyond the first.

use eframe::egui::accesskit::Role;
use eframe::egui::{
    Button, Color32, CursorIcon, Label, Response, RichText, Sense, Ui, WidgetInfo, vec2,
};

use super::{marker, menu};
use crate::theme::{self, space, text};
use powerband_app::App;
use powerband_app::action::{Action, Curves};
use powerband_app::curves::LegendEntry;
use powerband_app::curves::claims::is_published;
use powerband_app::curves::models::{ModelGroup, is_alone};
use powerband_app::items::MenuTarget;
use powerband_core::base::humanize;
use powerband_findings::chart::layout::labels::OmittedLabel;

/// More entries than this would push the charts down, so a button shows them.
const MOST: usize = 24;
/// The same where a row holds one or two entries.
const FEW: usize = 6;
/// Below this width it does.
const NARROW: f32 = 640.0;
/// Letters of a name; all of them on hover.
const NAME: usize = 44;
/// Why the legend says it.
const NO_ROOM: &str = "There is no room for these words on the chart";
/// Room for a marker.
const MARKER: f32 = 16.0;

/// Shows it, with what the charts below have no room for; returns the user's actions.
pub(crate) fn show(
    ui: &mut Ui,
    app: &App,
    left_out: &[OmittedLabel],
    actions: &mut Vec<Curves>,
    asked: &mut Vec<Action>,
) {
    let entries = &app.curves.drawn.legend;
    let id = ui.scope_id().with("legend");
    let has_all = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let most = if ui.available_width() < NARROW {
        FEW
    } else {
        MOST
    };
    let seen = if has_all { entries.len() } else { most };
    let names: Vec<&str> = entries.iter().map(|item| item.name.as_str()).collect();
    let short = humanize::shorten_apart(&names, NAME);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(space::MEDIUM, space::TINY);
        let mut hovered = None;
        let models = &app.curves.drawn.models;
        let mut before = None;
        for (item, short) in entries.iter().zip(short).take(seen) {
            if models.len() > 1 && before != Some(item.model) {
                before = Some(item.model);
                model(ui, models, item.model, actions);
            }
            let notes = || left_out.iter().filter(|one| one.series == Some(item.id));
            let in_one_row = entry_width(ui, &short, notes());
            if in_one_row > ui.available_size_before_wrap().x {
                ui.end_row();
            }
            let response = entry(ui, item, short);
            // A hidden series cannot be highlighted: all visible ones would fade.
            let is_meant = response.hovered() || response.has_focus();
            if is_meant && item.shown {
                hovered = Some(item.id);
            }
            menu::of_item(&response, app, &MenuTarget::Series(item.id), asked);
            if response.double_clicked() {
                actions.push(Curves::OnlySeries(item.id));
            } else if response.clicked() {
                actions.push(Curves::ToggleSeries(item.id));
            }
            for note in notes() {
                ui.add_space(-space::SMALL);
                let words = RichText::new(&note.text).size(text::CAPTION);
                let words = words.color(theme::roles(ui).quiet);
                ui.add(Label::new(words).extend()).on_hover_text(NO_ROOM);
            }
        }
        if entries.len() > most && rest(ui, entries.len() - most, has_all) {
            ui.data_mut(|data| data.insert_temp(id, !has_all));
        }
        if let Some(id) = hovered {
            actions.push(Curves::Highlight(Some(id)));
        }
    });
}

/// Width of an entry with the notes behind it, which stand in its row.
fn entry_width<'a>(ui: &Ui, name: &str, notes: impl Iterator<Item = &'a OmittedLabel>) -> f32 {
    let width = |text: &str, size| {
        let font = theme::text_font(size);
        let galley = ui
            .painter()
            .layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER);
        galley.size().x
    };
    let notes = notes.map(|note| width(&note.text, text::CAPTION) + space::MEDIUM);
    MARKER + width(name, text::BODY) + notes.sum::<f32>()
}

/// The name of a model before its series, which shows these alone.
fn model(ui: &mut Ui, models: &[ModelGroup], place: usize, actions: &mut Vec<Curves>) {
    let Some(model) = models.get(place) else {
        return;
    };
    if place > 0 {
        ui.end_row();
    }
    let short = humanize::shorten(&model.name, NAME);
    let words = RichText::new(short).color(theme::roles(ui).quiet);
    let is_alone = is_alone(models, place);
    let help = if is_alone {
        "Click to show every model"
    } else {
        "Click to show this model only"
    };
    let button = Button::new(words).small().min_size(vec2(0.0, 20.0));
    let response = ui.add(button);
    let response = response.accessible_name(format!("Model {}", model.name));
    if response
        .on_hover_text(format!("{}\n{help}", model.name))
        .clicked()
    {
        actions.push(if is_alone {
            Curves::ShowAll
        } else {
            Curves::OnlyModel(place)
        });
    }
}

/// The button for the entries beyond the first; returns whether it was clicked.
fn rest(ui: &mut Ui, count: usize, has_all: bool) -> bool {
    let words = if has_all {
        "Show fewer".to_owned()
    } else {
        format!("Show {} more", humanize::count(count as u64))
    };
    let words = RichText::new(words).color(theme::roles(ui).quiet);
    // As low as the entries beside it.
    ui.add(Button::new(words).small()).clicked()
}

/// One piece of the row with its own painting, so that the row wraps between entries.
fn entry(ui: &mut Ui, item: &LegendEntry, short: String) -> Response {
    let roles = theme::roles(ui);
    let color = if item.shown { roles.text } else { roles.faint };
    let galley = ui
        .painter()
        .layout_no_wrap(short, theme::text_font(text::BODY), color);
    let size = vec2(MARKER + galley.size().x, galley.size().y.max(20.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let series = roles.series(item.colour);
    let series = if item.shown {
        series
    } else {
        series.gamma_multiply(0.4)
    };
    let at = rect.left_center() + vec2(6.0, 0.0);
    marker::paint(ui.painter(), at, item.colour, 4.0, series);
    if is_published(item.id) {
        marker::hollow(ui.painter(), at, item.colour, roles.ground);
    }
    let words = rect.left_center() + vec2(MARKER, -galley.size().y / 2.0);
    ui.painter().galley(words, galley, color);
    let name = format!("Series {}", item.name);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, item.shown, &name));
    let doing = if item.shown {
        "Click to hide"
    } else {
        "Click to show"
    };
    response
        .on_hover_cursor(CursorIcon::PointingHand)
        .on_hover_text(format!(
            "{}\n{}\n{doing}, double click to show it alone",
            item.name, item.explained
        ))
}
