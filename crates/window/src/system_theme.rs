//! The theme and the motion that follow the system.
//!
//! The window library does not know the desktop's setting on Linux, and shows the fallback. So a thread asks
//! the portal and waits for changes until the program ends, and the answer becomes the fallback. Without a
//! portal, or where the user chose a theme, that changes nothing.

use std::mem;
use std::thread;

use eframe::egui::style::ScrollAnimation;
use eframe::egui::{Context, Theme};

use super::desktop::{self, DesktopSetting, Scheme};
use super::theme;

/// Makes the window follow the desktop from now on. Does not wait for it.
pub(super) fn follow(ctx: &Context) {
    let ctx = ctx.clone();
    let started = thread::Builder::new()
        .name("system-theme".to_owned())
        .spawn(move || {
            desktop::follow_settings(|setting| {
                let is_new = match setting {
                    DesktopSetting::Scheme(scheme) => adopt(&ctx, scheme),
                    DesktopSetting::ReducedMotion(is_reduced) => move_less(&ctx, is_reduced),
                };
                if is_new {
                    ctx.request_repaint();
                }
            });
        });
    // Without the thread the window behaves as without a portal.
    drop(started);
}

/// Whether the setting for reduced motion changed.
fn move_less(ctx: &Context, is_reduced: bool) -> bool {
    let (fade_s, scroll) = if is_reduced {
        (0.0, ScrollAnimation::none())
    } else {
        (theme::FADE_S, ScrollAnimation::default())
    };
    let mut is_new = false;
    ctx.all_styles_mut(|style| {
        is_new |= style.animation_time != fade_s;
        style.animation_time = fade_s;
        style.scroll_animation = scroll;
    });
    is_new
}

/// Starts with the desktop's settings of the last start: it is asked after the first frame.
pub(crate) fn begin_with(ctx: &Context, is_light: bool) {
    if is_light {
        adopt(ctx, Scheme::Light);
    }
}

/// Whether the desktop wants a light theme, as far as it is known.
pub(crate) fn is_light(ctx: &Context) -> bool {
    ctx.options(|options| options.fallback_theme == Theme::Light)
}

/// Whether the desktop's settings changed.
fn adopt(ctx: &Context, scheme: Scheme) -> bool {
    let wanted = match scheme {
        Scheme::Any => theme::FALLBACK,
        Scheme::Dark => Theme::Dark,
        Scheme::Light => Theme::Light,
    };
    ctx.options_mut(|options| mem::replace(&mut options.fallback_theme, wanted) != wanted)
}

#[cfg(test)]
mod tests {
    use eframe::egui::ThemePreference;

    use super::*;

    #[test]
    fn the_desktop_decides_where_the_user_did_not() {
        let ctx = Context::default();
        theme::install(&ctx);
        ctx.set_theme(ThemePreference::System);
        for (scheme, shown, is_new) in [
            (Scheme::Dark, Theme::Dark, false),
            (Scheme::Light, Theme::Light, true),
            (Scheme::Light, Theme::Light, false),
            (Scheme::Any, Theme::Dark, true),
            (Scheme::Light, Theme::Light, true),
        ] {
            assert_eq!(adopt(&ctx, scheme), is_new, "{scheme:?}");
            assert_eq!(ctx.theme(), shown, "{scheme:?}");
        }
        ctx.set_theme(ThemePreference::Dark);
        assert_eq!(ctx.theme(), Theme::Dark);
    }

    #[test]
    fn nothing_moves_where_the_desktop_wants_it_so() {
        let ctx = Context::default();
        theme::install(&ctx);
        let fade_s = || ctx.style_of(Theme::Light).animation_time;
        assert!(!move_less(&ctx, false));
        assert!(move_less(&ctx, true));
        assert_eq!(fade_s(), 0.0);
        assert!(move_less(&ctx, false));
        assert!(fade_s() > 0.0);
    }

    #[test]
    fn a_start_begins_with_the_theme_of_the_last() {
        let ctx = Context::default();
        theme::install(&ctx);
        begin_with(&ctx, false);
        assert!(!is_light(&ctx));
        begin_with(&ctx, true);
        assert!(is_light(&ctx));
    }
}
