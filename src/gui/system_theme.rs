//! The theme that follows the system.
//!
//! The window library does not know the desktop's wish on Linux, and shows the fallback. So a thread asks
//! the portal and waits for changes until the program ends, and what it hears becomes the fallback. Where
//! nobody answers, or the user chose a theme, that changes nothing.

use std::mem;
use std::thread;

use eframe::egui::{Context, Theme};

use super::portal::{self, Scheme};
use super::theme;

/// Has the window follow the desktop from now on. Does not wait for it.
pub fn follow(ctx: &Context) {
    let ctx = ctx.clone();
    let started = thread::Builder::new()
        .name("system-theme".to_owned())
        .spawn(move || {
            portal::follow_scheme(|scheme| {
                if adopt(&ctx, scheme) {
                    ctx.request_repaint();
                }
            });
        });
    // Without the thread it is as without a portal.
    drop(started);
}

/// Whether the desktop wants something else than before.
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
}
