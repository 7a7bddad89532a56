//! Everything about one session.

use super::document::Document;
use super::material::ReportInputs;
use super::{
    batches, circumstances, conclusions, devices, figures, fleet, journey, overview, pairs,
    profiles, published, requests,
};

/// Makes the report.
pub fn write(material: &ReportInputs<'_>) -> Document {
    let source = &material.first;
    let session = &source.session;
    let mut document = Document {
        title: session.name.clone(),
        subtitle: overview::subtitle(source),
        ..Document::default()
    };
    let way = journey::journey_of_report(source);
    let figures = figures::ReportFigures::new(material);
    document.section("Summary", overview::blocks(source));
    document.section(
        "Key findings",
        conclusions::findings(source, material.rules, &way),
    );
    document.section("Notes", conclusions::notes(source));
    document.section("Published numbers", published::tables(source));
    document.section("Inconsistent numbers", published::findings(source));
    let is_ladder = !session.plan.ladder.is_empty();
    let mut of_way = journey::blocks(source, &way);
    of_way.extend(figures.blocks(journey::figures(&way)));
    document.section(journey::title(&way), of_way);
    document.section("Requests", requests::blocks(source));
    document.section("Batch sizes", batches::table(source));
    let mut curves = figures.blocks(&["heat-map", "heat-map-tokens"]);
    curves.extend(figures.blocks(&["latency", "throughput", "efficiency", "memory", "energy"]));
    let shapes = batches::shapes(source);
    if !curves.is_empty() || !shapes.is_empty() {
        curves.extend(shapes);
    }
    document.section("Curves", curves);
    if !is_ladder {
        let found = pairs::comparisons_with_first(source);
        let all: Vec<_> = found.iter().flat_map(|one| &one.pairs).collect();
        let mut blocks = pairs::table(
            &all,
            &format!("powerband compare {} has them all", source.command_path()),
        );
        if !blocks.is_empty() {
            blocks.extend(pairs::means(&found));
            blocks.extend(figures.blocks(&["heat-map-comparison", "comparison"]));
        }
        document.section("The first setup vs. all others", blocks);
    }
    document.section("Machines compared", fleet::blocks(material, &figures));
    let mut time = profiles::blocks(source, material.rules);
    if !time.is_empty() {
        time.extend(figures.blocks(&["breakdown", "treemap"]));
    }
    document.section("Where the time goes", time);
    let mut watched = devices::blocks(source);
    watched.extend(figures.blocks(&["telemetry"]));
    document.section("Devices and energy", watched);
    let mut close = devices::accuracies(source);
    if !close.is_empty() {
        close.extend(figures.blocks(&["trade-off"]));
    }
    document.section("Accuracy", close);
    if !source.rows.is_empty() {
        document.section(
            "Flags and what they mean",
            conclusions::flags(source.measured()),
        );
    }
    document.section("Warnings of the run", conclusions::warnings(source));
    if source.is_published_alone() {
        return document;
    }
    document.section("Setups", circumstances::setups(source));
    document.section("Environment", circumstances::environment(source));
    document.section("Method", circumstances::method(source));
    document.section("How to repeat it", conclusions::repeat(source));
    document
}
