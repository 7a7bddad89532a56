//! What a page of results would have in it, before it is written.

use eframe::egui::{Id, Modal, Ui};

use crate::icon;
use crate::theme::{self, space};
use crate::widgets::{button, field, label};
use powerband_app::App;
use powerband_app::action::{Action, PageAction};
use powerband_app::page::PageOffer;

/// Shows it while it is open.
pub(crate) fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(offer) = &app.shared.window.page_offer else {
        return;
    };
    let modal = Modal::new(Id::unique("page-offer")).frame(theme::card(ui).inner_margin(22));
    let modal = modal.show(ui.ctx(), |ui| {
        ui.set_width(460.0);
        label::card_title(ui, "Share as a page");
        ui.add_space(space::TINY);
        label::quiet(
            ui,
            "One file that opens in any browser, with the same screens and without a connection.",
        );
        ui.add_space(space::SMALL);
        contents(ui, offer, actions);
        ui.add_space(space::MEDIUM);
        ui.horizontal(|ui| buttons(ui, offer, actions));
    });
    if modal.backdrop_response.clicked() {
        actions.push(Action::Page(PageAction::Dismiss));
    }
}

fn contents(ui: &mut Ui, offer: &PageOffer, actions: &mut Vec<Action>) {
    let facts = match &offer.facts {
        None => {
            label::quiet(ui, "Reading the sessions and their timelines\u{2026}");
            return;
        }
        Some(Err(reason)) => {
            label::trouble(ui, reason);
            return;
        }
        Some(Ok(facts)) => facts,
    };
    label::caption(ui, "In it");
    ui.label(&facts.contents);
    for note in &facts.notes {
        label::quiet(ui, note);
    }
    ui.add_space(space::SMALL);
    label::caption(ui, "Paths and names");
    if offer.is_anonymous {
        ui.label(
            "No path, and no known name of a user or a machine; check notes and names yourself",
        );
    } else {
        ui.label(&facts.private);
    }
    ui.add_space(space::TINY);
    let mut is_anonymous = offer.is_anonymous;
    let name = "Leave out paths and the names of users and machines";
    if field::check(ui, &mut is_anonymous, name).clicked() {
        actions.push(Action::Page(PageAction::Anonymous(is_anonymous)));
    }
}

fn buttons(ui: &mut Ui, offer: &PageOffer, actions: &mut Vec<Action>) {
    let can_save = matches!(offer.facts, Some(Ok(_)));
    ui.add_enabled_ui(can_save, |ui| {
        if button::primary(ui, Some(icon::SAVE), "Save the page\u{2026}").clicked() {
            actions.push(Action::Page(PageAction::Choose));
        }
    });
    if button::labelled(ui, None, "Cancel").clicked() {
        actions.push(Action::Page(PageAction::Dismiss));
    }
}
