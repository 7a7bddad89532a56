//! A heat map of a comparison: how many times as fast each pair of cases is, with its verdict.

use super::cases::MapDimensions;
use super::{ColourScale, Content, HeatMap, MapAxis, MapCell, Panel};
use crate::analysis::comparison::CasePair;
use crate::analysis::dimensions;
use powerband_core::domain::point::Point;

/// The map of the pairs of each setup after; nothing where fewer than two dimensions vary.
pub fn map(pairs: &[CasePair]) -> Option<HeatMap> {
    let points: Vec<Point> = pairs.iter().map(point_of).collect();
    let sides = MapDimensions::from_points(&points)?;
    Some(between(pairs, &sides))
}

/// The same with chosen sides.
pub fn between(pairs: &[CasePair], sides: &MapDimensions) -> HeatMap {
    let points: Vec<Point> = pairs.iter().map(point_of).collect();
    let dimensions = dimensions::dimensions(&points);
    let side = |name: &str| {
        let found = dimensions.iter().find(|one| one.name == name);
        MapAxis {
            name: name.to_owned(),
            sizes: found.map_or_else(Vec::new, |one| one.sizes.clone()),
        }
    };
    let mut map = HeatMap {
        title: "Speed-up".to_owned(),
        x: side(sides.x),
        y: side(sides.y),
        fixed: dimensions::sizes_text(sides.at, |name| name != sides.x && name != sides.y),
        at: Some(sides.at),
        scale: ColourScale::of_ratios(
            "times as fast",
            pairs.iter().filter_map(|pair| Some(pair.ratio?.speed_up)),
        ),
        limit: None,
        panels: Vec::new(),
    };
    let mut setups: Vec<usize> = Vec::new();
    for pair in pairs {
        if !setups.contains(&pair.after.setup) {
            setups.push(pair.after.setup);
        }
    }
    let is_alone = setups.len() == 1;
    let (columns, rows) = (map.x.sizes.len(), map.y.sizes.len());
    for setup in setups {
        let mut cells = vec![MapCell::default(); columns * rows];
        let mut name = String::new();
        for pair in pairs.iter().filter(|pair| pair.after.setup == setup) {
            if !is_alone {
                name.clone_from(&pair.after.setup_label);
            }
            if let Some((column, row)) = map.cell_of_point(point_of(pair)) {
                cells[row * columns + column] = cell(pair);
            }
        }
        map.panels.push(Panel {
            name,
            colour: None,
            tag: setup as u64,
            cells,
        });
    }
    map
}

/// The point of a pair: that of the case before.
pub fn point_of(pair: &CasePair) -> Point {
    pair.before_point
}

fn cell(pair: &CasePair) -> MapCell {
    let Some(ratio) = pair.ratio else {
        let why = pair.verdict.reason.clone();
        let why = why.unwrap_or_else(|| "there is nothing to compare".to_owned());
        return MapCell::missing("no ratio", why);
    };
    MapCell {
        content: Content::Value(ratio.speed_up),
        call: Some(pair.verdict.call),
        ..MapCell::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::case_rows;
    use crate::analysis::comparison::{self, ComparedSide};
    use crate::analysis::testing::{measure_near, session};
    use crate::analysis::verdict::Call;

    #[test]
    fn a_ratio_with_its_verdict_for_each_point_of_both() {
        let mut session = session(&["ort:cpu", "tract:cpu"], &[1, 2, 3, 4]);
        for (batch, after) in [(1, 500), (2, 2_000), (3, 1_000)] {
            measure_near(&mut session, 0, batch, 1_000);
            measure_near(&mut session, 1, batch, after);
        }
        measure_near(&mut session, 0, 4, 1_000);
        let turned = |point: Point| {
            let place = point.batch() - 1;
            Point::of_batch(1 + place % 2).with("sequence", 32 << (place / 2))
        };
        for case in &mut session.cases {
            case.point = turned(case.point);
        }
        for point in &mut session.plan.points {
            *point = turned(*point);
        }
        let rows = case_rows::case_rows(&session);
        let side = |setup: usize| ComparedSide {
            session: &session,
            rows: &rows,
            setup,
            point: None,
        };
        let found = comparison::compare_setups(&side(0), &side(1));
        let map = map(&found.pairs).unwrap();
        let cells = &map.panels[0].cells;
        let calls: Vec<Option<Call>> = cells.iter().map(|cell| cell.call).collect();
        let (faster, slower, same) = (Call::Faster, Call::Slower, Call::Same);
        assert_eq!(calls, [Some(faster), Some(slower), Some(same), None]);
        assert_eq!(cells[3].content, Content::Outside, "one side has it alone");
        assert!((cells[0].value().unwrap() - 2.0).abs() < 1e-3);
        assert_eq!(map.panels[0].name, "", "the only setup needs no name");
        assert!((map.scale.high - 2.0).abs() < 1e-3);
        assert!(super::map(&found.pairs[..1]).is_none());
    }
}
