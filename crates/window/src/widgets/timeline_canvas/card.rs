//! The tooltip at the pointer.

use eframe::egui::{Label, Pos2, Response, RichText, Tooltip, Ui};

use super::card_text::CardText;
use super::{Hand, TimelineContent, device_lanes};
use crate::theme::{self, space, text};
use crate::widgets::label;
use powerband_core::base::humanize;
use powerband_findings::analysis::timeline::slice_facts;
use powerband_findings::chart::timeline::exact;

/// Characters of a name that are shown; kernels can have thousands.
pub(super) const LONGEST_NAME: usize = 400;

/// Arguments that the tooltip shows: the first short ones.
const MOST_ARGUMENTS: usize = 4;
/// What a short one is, in letters.
const LONGEST_ARGUMENT: usize = 60;

/// Facts of a slice.
pub(crate) fn of_slice(
    shown: &TimelineContent<'_>,
    slice: usize,
) -> (String, Vec<(&'static str, String)>) {
    let (trace, timeline) = (shown.trace, shown.timeline);
    let found = trace.slice(slice);
    let start = found.start_ns.saturating_sub(timeline.origin_ns) as f64;
    let mut pairs = vec![
        ("Kind", found.kind.title().to_owned()),
        ("Duration", humanize::duration_ns(found.duration_ns as f64)),
        ("Start", exact(start, 1.0)),
    ];
    if let Some(track) = trace.tracks.get(found.track as usize) {
        pairs.push(("Track", format!("{}, {}", track.group, track.name)));
    }
    if found.op > 0 {
        let words = humanize::shorten(trace.names.get(found.op), LONGEST_NAME);
        pairs.push(("Operator", words));
    }
    let name = trace.names.get(found.name);
    let name = if name.is_empty() {
        "Without a name"
    } else {
        name
    };
    (humanize::shorten(name, LONGEST_NAME), pairs)
}

/// What is under the pointer: a slice, several, or a lane.
pub(super) fn under_hand(
    shown: &TimelineContent<'_>,
    hand: &Hand<'_>,
    at: Pos2,
    hit: Option<(usize, std::ops::Range<usize>)>,
) -> Option<CardText> {
    if hand.parts.lanes.contains(at) {
        return device_lanes::under_hand(shown, hand, at);
    }
    let (row, range) = hit?;
    let row = shown.timeline.rows.get(row)?;
    if range.len() == 1 {
        let slice = row.slice(range.start);
        let (title, pairs) = of_slice(shown, slice);
        let pairs = pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let arguments = slice_facts::arguments(shown.trace, slice).into_iter();
        let arguments = arguments.filter(|(_, value)| value.chars().count() <= LONGEST_ARGUMENT);
        return Some(CardText {
            title,
            pairs: pairs.chain(arguments.take(MOST_ARGUMENTS)).collect(),
        });
    }
    let kind = row.dominant(range.clone());
    let busy = row.busy_ns(range.clone()) as f64;
    let (from, _) = row.times(range.start);
    let (_, to) = row.times(range.end - 1);
    let span = to.abs_diff(from) as f64;
    let what = humanize::pluralised(range.len() as u64, "slice");
    Some(CardText {
        title: format!("{what}, too short to separate at this zoom"),
        pairs: vec![
            ("Mostly".to_owned(), kind.title().to_owned()),
            ("Total".to_owned(), humanize::duration_ns(busy)),
            ("Within".to_owned(), humanize::duration_ns(span)),
        ],
    })
}

/// Shows it beside the pointer.
pub(super) fn show(ui: &Ui, response: &Response, words: &CardText) {
    let tooltip = Tooltip::for_widget(response).at_pointer().gap(14.0);
    tooltip.show(|ui| {
        let roles = theme::roles(ui);
        ui.set_max_width(360.0);
        ui.spacing_mut().item_spacing.y = space::HAIR;
        let title = RichText::new(&words.title).family(theme::semibold());
        ui.add(Label::new(title.color(roles.text)).wrap());
        for (name, value) in &words.pairs {
            if value.chars().count() > 34 {
                label::faint(ui, name);
                let value = RichText::new(value).font(theme::numbers(text::CAPTION));
                ui.add(Label::new(value).wrap());
            } else {
                label::pair(ui, name, value);
            }
        }
    });
    // The card moves with the pointer.
    if response.ctx.input(|input| input.pointer.is_moving()) {
        ui.request_repaint();
    }
}
