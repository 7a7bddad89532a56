//! In the command palette: what can be done with what is selected.

use crate::App;
use crate::items;
use crate::palette_entries::entry::Offered;

pub(crate) fn entries(app: &App) -> Vec<Offered> {
    let selected = items::selected(app).into_iter();
    selected
        .flat_map(|item| {
            let name = items::name(app, &item);
            let groups = items::menu(app, &item).into_iter().flatten();
            groups.map(move |offered| Offered {
                title: format!("{name}: {}", offered.title),
                ..offered
            })
        })
        .collect()
}
