//! Design tokens: spacing, radii, type sizes and colour roles, for a dark and a light theme.
//!
//! The only file of the window with sizes; colours are in `chart::colours`.

use eframe::egui::{
    self, Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, FontTweak,
    Margin, Shadow, Stroke, Style, TextStyle, Theme, Ui, Visuals, vec2,
};

use powerband_core::base::fonts;
use powerband_findings::chart::colours::{self, Colours, Depth, Fill, Rgb};
use powerband_findings::chart::palette;

/// Steps of spacing.
pub(super) mod space {
    /// Between an icon and its word.
    pub(crate) const HAIR: f32 = 2.0;
    /// Inside small things.
    pub(crate) const TINY: f32 = 4.0;
    /// Between things that belong together.
    pub(crate) const SMALL: f32 = 8.0;
    /// Between cards.
    pub(crate) const MEDIUM: f32 = 14.0;
    /// Around a screen.
    pub(crate) const LARGE: f32 = 22.0;
    /// Between the cards of a scrolling screen and its edge, for the scroll bar.
    pub(crate) const EDGE: f32 = 2.0;
}

/// Sizes of fixed parts of the window.
pub(super) mod size {
    pub(crate) const RAIL: f32 = 56.0;
    /// Height of the strip at the foot.
    pub(crate) const STRIP: f32 = 32.0;
    /// Height of a control.
    pub(crate) const CONTROL: f32 = 28.0;
    /// Width of the focus ring.
    pub(crate) const FOCUS: f32 = 2.0;
    /// Between a control and that ring.
    pub(crate) const FOCUS_GAP: f32 = 1.0;
    /// Height of a row of a table.
    pub(crate) const ROW: f32 = 28.0;
    /// Below this width the library folds away by itself.
    pub(crate) const NARROW: f32 = 1100.0;
}

/// Sizes of type.
pub(super) mod text {
    /// Captions.
    pub(crate) const CAPTION: f32 = 11.0;
    /// Body.
    pub(crate) const BODY: f32 = 13.0;
    /// Titles of cards.
    pub(crate) const CARD: f32 = 14.0;
    /// Titles of screens.
    pub(crate) const SCREEN: f32 = 20.0;
    /// A number that matters.
    pub(crate) const BIG: f32 = 26.0;
    /// The one number that matters.
    pub(crate) const HUGE: f32 = 44.0;
}

/// Radius of cards.
pub(crate) const CARD_RADIUS: u8 = 10;
/// How much of its words' colour a pill has.
pub(crate) const PILL: f32 = 0.12;
/// Radius of controls.
pub(crate) const CONTROL_RADIUS: u8 = 6;

/// What a colour is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roles {
    /// Behind everything.
    pub ground: Color32,
    /// Behind the rail.
    pub rail: Color32,
    /// Cards and panels.
    pub panel: Color32,
    /// Controls and what is under the pointer.
    pub raised: Color32,
    /// Lines between things.
    pub line: Color32,
    /// Words.
    pub text: Color32,
    /// Words that matter less.
    pub quiet: Color32,
    /// Words that only help.
    pub faint: Color32,
    /// Selection, primary action, the thing under the pointer.
    pub accent: Color32,
    /// The primary action's ground.
    pub accent_fill: Color32,
    /// Words on that ground.
    pub on_accent: Color32,
    /// Better, done.
    pub good: Color32,
    /// Worse, failed.
    pub bad: Color32,
    /// Inconclusive.
    pub unsure: Color32,
    series: [Color32; palette::COLOURS],
}

/// A colour as egui has it.
pub(crate) const fn color(Rgb(red, green, blue): Rgb) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

const fn painted(colours: &Colours) -> Roles {
    let [first, second, third, fourth, fifth] = colours.series;
    Roles {
        ground: color(colours.ground),
        rail: color(colours.rail),
        panel: color(colours.panel),
        raised: color(colours.raised),
        line: color(colours.line),
        text: color(colours.text),
        quiet: color(colours.quiet),
        faint: color(colours.faint),
        accent: color(colours.accent),
        accent_fill: color(colours.accent_fill),
        on_accent: color(colours.on_accent),
        good: color(colours.good),
        bad: color(colours.bad),
        unsure: color(colours.unsure),
        series: [
            color(first),
            color(second),
            color(third),
            color(fourth),
            color(fifth),
        ],
    }
}

pub(super) const DARK: Roles = painted(&colours::DARK);

pub(super) const LIGHT: Roles = painted(&colours::LIGHT);

impl Roles {
    /// The colour of a series by its palette index.
    pub(super) fn series(&self, index: usize) -> Color32 {
        self.series[palette::colour(index)]
    }

    /// The colour of an area, as [`Colours::fill`] has it.
    pub(super) fn fill(&self, fill: Fill) -> Color32 {
        let hue = fill.hue.map_or(self.faint, |index| self.series(index));
        match fill.depth {
            Depth::Plain => hue,
            Depth::Soft => hue.lerp_to_gamma(self.panel, colours::SOFT as f32),
            Depth::Strong => hue.lerp_to_gamma(self.text, colours::STRONG as f32),
        }
    }

    /// The ground of a slice, on which words can be read: a series' colour or none of them, stronger or
    /// weaker.
    pub(super) fn tone(&self, series: Option<usize>, strength: f32) -> Color32 {
        let color = series.map_or(self.faint, |index| self.series(index));
        self.panel.lerp_to_gamma(color, strength.clamp(0.0, 1.0))
    }
}

/// The roles of the theme that is shown.
pub(super) fn roles(ui: &Ui) -> &'static Roles {
    if ui.visuals().dark_mode {
        &DARK
    } else {
        &LIGHT
    }
}

/// The colours of the theme that is shown, for figures.
pub(super) fn colours(ui: &Ui) -> &'static Colours {
    if ui.visuals().dark_mode {
        &colours::DARK
    } else {
        &colours::LIGHT
    }
}

/// Words in a weight between regular and bold.
pub(crate) fn medium() -> FontFamily {
    FontFamily::Name("medium".into())
}

/// Words in the weight of titles.
pub(crate) fn semibold() -> FontFamily {
    FontFamily::Name("semibold".into())
}

/// Icons.
pub(crate) fn icons() -> FontFamily {
    FontFamily::Name("icons".into())
}

/// Numbers in the weight of titles.
pub(crate) fn mono_semibold() -> FontFamily {
    FontFamily::Name("mono-semibold".into())
}

/// The proportional font at a size.
pub(super) fn text_font(size: f32) -> FontId {
    FontId::new(size, FontFamily::Proportional)
}

/// The font of numbers at a size.
pub(super) fn numbers(size: f32) -> FontId {
    FontId::new(size, FontFamily::Monospace)
}

/// How long folding takes, in seconds.
pub(crate) const FADE_S: f32 = 0.12;

/// The theme where neither the user nor the desktop wants one.
pub(crate) const FALLBACK: Theme = Theme::Dark;

/// Sets the fonts and both themes. Nothing can be drawn before.
pub(super) fn install(ctx: &Context) {
    ctx.set_fonts(definitions());
    for (theme, roles) in [(Theme::Dark, &DARK), (Theme::Light, &LIGHT)] {
        ctx.set_style_of(theme, style(theme, roles));
    }
    ctx.options_mut(|options| options.fallback_theme = FALLBACK);
}

fn definitions() -> FontDefinitions {
    let files = [
        ("text", fonts::TEXT),
        ("text-medium", fonts::TEXT_MEDIUM),
        ("text-semibold", fonts::TEXT_SEMIBOLD),
        ("mono", fonts::MONO),
        ("mono-semibold", fonts::MONO_SEMIBOLD),
        ("icons", fonts::ICONS),
    ];
    let mut definitions = FontDefinitions::empty();
    for (name, bytes) in files {
        let data = FontData::from_static(bytes).tweak(FontTweak {
            hinting: Some(false),
            ..FontTweak::default()
        });
        definitions.font_data.insert(name.to_owned(), data.into());
    }
    let families = [
        (FontFamily::Proportional, ["text", "mono", "icons"]),
        (FontFamily::Monospace, ["mono", "text", "icons"]),
        (medium(), ["text-medium", "mono", "icons"]),
        (semibold(), ["text-semibold", "mono", "icons"]),
        (mono_semibold(), ["mono-semibold", "text", "icons"]),
        (icons(), ["icons", "text", "mono"]),
    ];
    for (family, names) in families {
        definitions
            .families
            .insert(family, names.map(ToOwned::to_owned).to_vec());
    }
    definitions
}

fn style(theme: Theme, roles: &Roles) -> Style {
    let mut style = Style {
        visuals: visuals(theme, roles),
        animation_time: FADE_S,
        ..Style::default()
    };
    style.text_styles = [
        (TextStyle::Small, text_font(text::CAPTION)),
        (TextStyle::Body, text_font(text::BODY)),
        (TextStyle::Button, text_font(text::BODY)),
        (TextStyle::Heading, FontId::new(text::SCREEN, semibold())),
        (TextStyle::Monospace, numbers(text::BODY)),
    ]
    .into();
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(space::SMALL, space::TINY);
    spacing.button_padding = vec2(10.0, 5.0);
    spacing.interact_size = vec2(28.0, size::CONTROL);
    spacing.menu_margin = Margin::same(6);
    spacing.tooltip_width = 380.0;
    spacing.scroll = egui::style::ScrollStyle::floating();
    spacing.scroll.bar_width = 8.0;
    spacing.scroll.foreground_color = false;
    // The scroll bar overlaps the edge of cards; a background would cut them.
    spacing.scroll.active_background_opacity = 0.0;
    spacing.scroll.interact_background_opacity = 0.0;
    spacing.icon_width = 16.0;
    spacing.combo_width = 120.0;
    spacing.combo_height = 420.0;
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.35;
    style
}

fn visuals(theme: Theme, roles: &Roles) -> Visuals {
    let mut visuals = match theme {
        Theme::Dark => Visuals::dark(),
        Theme::Light => Visuals::light(),
    };
    let line = Stroke::new(1.0, roles.line);
    visuals.override_text_color = None;
    visuals.weak_text_color = Some(roles.quiet);
    visuals.panel_fill = roles.ground;
    visuals.window_fill = roles.panel;
    visuals.window_stroke = line;
    visuals.window_corner_radius = CornerRadius::same(CARD_RADIUS);
    visuals.menu_corner_radius = CornerRadius::same(CARD_RADIUS);
    visuals.window_shadow = Shadow::NONE;
    visuals.popup_shadow = Shadow::NONE;
    visuals.extreme_bg_color = roles.raised;
    visuals.text_edit_bg_color = Some(roles.raised);
    visuals.faint_bg_color = roles.raised;
    visuals.code_bg_color = roles.raised;
    visuals.hyperlink_color = roles.accent;
    visuals.warn_fg_color = roles.accent;
    visuals.error_fg_color = roles.bad;
    visuals.selection.bg_fill = roles.accent.gamma_multiply(0.28);
    // The colour of words on that ground, and the edge of the field that the cursor is in.
    visuals.selection.stroke = Stroke::new(1.0, roles.text);
    visuals.disabled_alpha = 0.45;
    let widgets = &mut visuals.widgets;
    for (widget, fill, edge, words) in [
        (
            &mut widgets.noninteractive,
            roles.panel,
            roles.line,
            roles.text,
        ),
        (&mut widgets.inactive, roles.raised, roles.line, roles.text),
        (&mut widgets.hovered, roles.raised, roles.faint, roles.text),
        (&mut widgets.active, roles.line, roles.faint, roles.text),
        (&mut widgets.open, roles.raised, roles.faint, roles.text),
    ] {
        widget.bg_fill = fill;
        widget.weak_bg_fill = fill;
        widget.bg_stroke = Stroke::new(1.0, edge);
        widget.fg_stroke = Stroke::new(1.0, words);
        widget.corner_radius = CornerRadius::same(CONTROL_RADIUS);
        widget.expansion = 0.0;
    }
    visuals
}

/// A card: panel colour, a line around it, no shadow.
pub(super) fn card(ui: &Ui) -> egui::Frame {
    let roles = roles(ui);
    egui::Frame::new()
        .fill(roles.panel)
        .stroke(Stroke::new(1.0, roles.line))
        .corner_radius(CornerRadius::same(CARD_RADIUS))
        .inner_margin(Margin::symmetric(16, 14))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast ratio as WCAG 2 defines it.
    fn contrast(a: Color32, b: Color32) -> f64 {
        let channel = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.040_45 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        let luminance = |c: Color32| {
            0.2126 * channel(c.r()) + 0.7152 * channel(c.g()) + 0.0722 * channel(c.b())
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn words_can_be_read_on_every_ground() {
        for roles in [&DARK, &LIGHT] {
            for ground in [roles.ground, roles.rail, roles.panel, roles.raised] {
                for (words, least) in [
                    (roles.text, 4.5),
                    (roles.quiet, 4.5),
                    (roles.accent, 4.5),
                    (roles.good, 4.5),
                    (roles.bad, 4.5),
                    (roles.unsure, 4.5),
                    (roles.faint, 3.0),
                ] {
                    let found = contrast(words, ground);
                    assert!(found >= least, "{words:?} on {ground:?}: {found:.2}");
                }
            }
            assert!(contrast(roles.on_accent, roles.accent_fill) >= 4.5);
        }
    }

    #[test]
    fn words_can_be_read_in_their_pills() {
        for roles in [&DARK, &LIGHT] {
            for ground in [roles.ground, roles.panel, roles.raised] {
                for words in [roles.good, roles.bad, roles.unsure, roles.quiet] {
                    let fill = ground.blend(words.gamma_multiply(PILL));
                    let found = contrast(words, fill);
                    assert!(found >= 4.5, "{words:?} on {ground:?}: {found:.2}");
                }
            }
        }
    }

    #[test]
    fn words_can_be_read_where_they_are_selected() {
        for (theme, roles) in [(Theme::Dark, &DARK), (Theme::Light, &LIGHT)] {
            let selection = visuals(theme, roles).selection;
            for ground in [roles.ground, roles.rail, roles.panel, roles.raised] {
                let fill = ground.blend(selection.bg_fill);
                let found = contrast(selection.stroke.color, fill);
                assert!(found >= 4.5, "{theme:?} on {ground:?}: {found:.2}");
            }
        }
    }

    #[test]
    fn words_can_be_read_on_slices() {
        let series = (0..palette::COLOURS).map(Some).chain([None]);
        for (roles, series) in [&DARK, &LIGHT].into_iter().flat_map(|roles| {
            let series = series.clone();
            series.map(move |series| (roles, series))
        }) {
            let found = contrast(
                roles.text,
                roles.tone(series, powerband_findings::chart::timeline::TONES.1),
            );
            assert!(found >= 4.5, "{series:?}: {found:.2}");
        }
    }

    #[test]
    fn series_stand_out_from_the_panel() {
        for roles in [&DARK, &LIGHT] {
            for index in 0..palette::COLOURS {
                assert!(
                    contrast(roles.series(index), roles.panel) >= 3.0,
                    "series {index}"
                );
            }
        }
    }
}
